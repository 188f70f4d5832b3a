"""Merchants with their identifiers: find one by what people know of it, list them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.kernel.words.nearest import did_you_mean, nearest
from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cardoffers_cli.catalogue.questions import FieldChange
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


class Merchant(Record, sheet="name category identifiers merchant_id"):
    """A merchant, what it sells, and what purchases call it, each `type:identifier`.

    It pays an invoice within `net_days`, 30 where none are set; the tax fields stand on it. One
    that is changed has its `changes`.
    """

    merchant_id: UUID = shown(kind="text")
    name: str
    category: str | None = shown(gives_way=2)
    identifiers: Sequence[str] | None = shown(gives_way=1)
    net_days: int | None = if_any("net days", gives_way=5)
    tax_id: str | None = if_any("tax id", gives_way=4)
    tax_note: str | None = if_any("tax note", gives_way=6)
    address: str | None = if_any(gives_way=6)
    country: str | None = if_any(gives_way=5)
    dry_run: bool | None = if_any()
    changes: Sequence[FieldChange] | None = if_any()


def list_merchants(job: Job) -> list[Merchant]:
    """Return every merchant with its identifiers, by name."""
    with job.store(read_only=True) as store:
        return find(store)


def find_merchant(store: Store, text: str) -> Merchant:
    """Return the merchant of an id, of its beginning, of a name, or the latest one.

    Raises `NotFound`, and `UsageError` where several have the name.
    """
    named = find(store, name=text)
    if len(named) > 1:
        ids = ", ".join(str(row.merchant_id) for row in named[:5])
        raise UsageError.from_table("catalogue", "merchant_ambiguous", text=text, ids=ids)
    merchants = named or find(store, merchant_id=whole_id(store, "merchant", text))
    if not merchants:
        names = [row.name for row in find(store)]
        raise NotFound(
            f"There is no merchant {text!r}.",
            code="merchant_not_found",
            hint=did_you_mean(nearest(text, names)) or "`cardoffers merchant list` shows them.",
        )
    return merchants[0]


def find(
    store: Store, *, name: str | None = None, merchant_id: str | None = None
) -> list[Merchant]:
    """Return the merchants of a name, or the one of an id, or all of them."""
    return store.records(Merchant, "catalogue/merchants:list", name=name, merchant_id=merchant_id)
