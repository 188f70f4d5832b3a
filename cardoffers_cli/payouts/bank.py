"""What banks said, kept entry by entry (rules.md#bank-entries): take more in, list it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


class BankEntryRow(Record):
    """What a bank said of one payment; `number` is the statement that it is of, if it is known.

    One that does not count says what another message told before it. `entries` says how many there
    are that were asked for.
    """

    entry_id: UUID = shown(gives_way=8)
    status: str
    direction: str = shown(gives_way=1)
    number: str | None = shown("statement")
    institution: str | None = shown(gives_way=2)
    payment_id: str | None = shown("payment", gives_way=6)
    trace: str | None
    amount: Amount | None
    currency: str | None
    booked_at: datetime | None = shown("booked", gives_way=3)
    code: str | None
    bank_ref: str | None = shown("reference", gives_way=5)
    file: str = shown(gives_way=7)
    place: str = shown(gives_way=7)
    received_at: datetime
    message: str = shown(gives_way=7)
    counts: bool = shown(gives_way=7)
    is_unknown: bool
    entries: int


def is_known_file(store: Store, sha256: str) -> bool:
    """Whether a file of the same bytes was taken in before."""
    return bool(store.value("payouts/bank:is_known", sha256=sha256))


def keep_file(store: Store, **values: Any) -> int:
    """Write that a file was taken in; return its number."""
    number = int(store.value("payouts/bank:next_no"))
    store.execute("payouts/bank:keep_file", bank_file_no=number, **values)
    return number


def keep_entries(store: Store, bank_file_no: int, said: Sequence[Mapping[str, Any]]) -> int:
    """Write entries but those that are there; return how many are new."""
    return store.execute("payouts/bank:keep_entries", bank_file_no=bank_file_no, said=said)


def list_entries(
    store: Store,
    *,
    institution_id: UUID | None = None,
    number: str | None = None,
    entry_no: int | None = None,
    unknown: bool = False,
    limit: int | None = None,
) -> list[BankEntryRow]:
    """Return what banks said, the newest first; `unknown` asks for what no payout explains."""
    return store.records(
        BankEntryRow,
        "payouts/bank:listed",
        institution_id=institution_id,
        number=number,
        entry_no=entry_no,
        unknown=unknown,
        limit=limit,
    )
