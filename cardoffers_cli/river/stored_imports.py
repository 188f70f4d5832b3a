"""The records of imported files: one per file, with its counts and sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.interning import next_number, numbered_up_to
from cardoffers_cli.kernel.words.records import Record, shown
from cardoffers_cli.kernel.words.visible import shortened

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


_NEXT = "river/stored_imports:next_no"

FEWEST_ALIKE = 10
"""How many rows, or tokens, must be alike: fewer prove nothing, even if they are all of a file."""
_DRAWN = 1024
"""How many rows, and tokens, of a file tell whether all of them are to be looked for elsewhere."""
_REFS = {"purchases": "purchase_refs", "refunds": "refunds", "credits": "credits"}
_KNOWN = {
    "purchases": "known_purchases",
    "refunds": "known_refunds_refunded_at",
    "credits": "known_credits_credited_at",
}


class ListedFile(Record, sheet="* -files"):
    """A file with what it brought: how many redemptions stand, settled, were sent as webhooks.

    Of one that is held nothing was taken. `files` says how many there are that were asked for.
    """

    import_id: UUID | None = shown("import")
    institution: str = shown(gives_way=4)
    file: str
    sha256: str = shown("digest", gives_way=12)
    kind_of_rows: str | None = shown("kind", gives_way=8)
    imported_at: datetime = shown("taken at", gives_way=2)
    imported_by: str = shown("by", gives_way=9)
    accepted: int = shown("rows")
    amount_accepted: Amount = shown("sum")
    currency: str = shown(gives_way=5)
    redeemed: int = shown(gives_way=3)
    settled: int = shown(gives_way=6)
    told: int = shown(gives_way=7)
    state: str
    withdrawn_at: datetime | None = shown("withdrawn at", gives_way=10)
    withdrawn_by: str | None = shown("withdrawn by", gives_way=11)
    reason: str | None = shown(gives_way=1)
    files: int


class RejectedCode(Record):
    """How many errors of one code there were in files of one institution, in how many rows."""

    institution: str
    code: str
    errors: int
    rows: int
    files: int


def next_import_no(store: Store) -> int:
    """Return the number the next import gets, in the caller's transaction."""
    return next_number(store, _NEXT)


@dataclass(frozen=True)
class EarlierImport:
    """The first import of the same bytes: what the file was called, and when it was taken."""

    import_id: UUID
    file_name: str
    imported_at: datetime

    def told(self) -> str:
        """Return it for a sentence: the same file as NAME, taken on DAY."""
        return f"the same file as {shortened(self.file_name)}, taken on {self.imported_at:%Y-%m-%d}"


def earlier_import(store: Store, institution_id: UUID, sha256: str) -> EarlierImport | None:
    """Return the first import of the same bytes into the same institution, if there was one."""
    row = store.row(
        "river/stored_imports:earlier", institution_id=institution_id, file_sha256=sha256
    )
    return EarlierImport(**row) if row else None


class OtherOwner(Record):
    """The institution whose file another one seems to be, and how much of it says so."""

    institution_id: UUID
    institution: str
    alike: int
    among: int


def find_other_owner(
    store: Store,
    kind: str,
    rows: Table,
    tokens: Table,
    *,
    institution_id: UUID,
    file_sha256: str,
) -> tuple[str, OtherOwner] | None:
    """Return whose staged rows of a kind are, if they are another institution's.

    With it comes what says so (rules.md#whose-file): `digest`, `rows` or `tokens`. A few rows are
    drawn first: where one other may have a quarter of these, more are looked for, and then all. Of
    a file of which another one has half, that misses less than one in a billion.
    """
    others = "river/stored_imports:others"
    if not store.memory.recall(others, (others,), lambda: store.value(others)):
        return None
    of = {"institution_id": institution_id}
    drawn = store.rows(
        f"river/stored_imports:drawn_{_REFS[kind]}",
        *(rows, tokens),
        **of,
        drawn=_DRAWN,
        file_sha256=file_sha256,
    )[0]
    if drawn["is_known"]:
        address = "river/stored_imports:digest_elsewhere"
        if owner := store.record(OtherOwner, address, **of, file_sha256=file_sha256):
            return "digest", owner
    for evidence in ("rows", "tokens"):
        every = drawn[f"{evidence}_every"]
        if not _may_be(drawn[f"{evidence}_alike"], drawn[f"{evidence}_among"], every):
            continue
        for part in sorted({every, 1}, reverse=True):
            if evidence == "rows":
                sample = store.make("river/stored_imports:asked_rows", rows, every=part)
                known_rows = store.make(f"river/stored_imports:{_KNOWN[kind]}", sample)
            else:
                sample = store.make("river/stored_imports:asked_tokens", tokens, every=part)
                known_rows = store.make("river/stored_imports:known_tokens", sample, **of)
            owner = store.record(OtherOwner, "river/stored_imports:most", sample, known_rows, **of)
            store.drop(known_rows, sample)
            if owner is None or not _may_be(owner.alike, owner.among, part):
                break
            if part == 1:
                return evidence, owner
    return None


def _may_be(alike: int, among: int, every: int) -> bool:
    """Whether so many alike are half of all, or may be where one in `every` was looked at."""
    return alike >= FEWEST_ALIKE and alike * (2 if every == 1 else 4) >= among


def record_calls(store: Store, calls: Table, **parameters: Any) -> None:
    """Write the records of the calls that were staged, whose numbers begin at `import_no`."""
    written = store.execute("river/stored_imports:record_calls", calls, **parameters)
    numbered_up_to(store, _NEXT, parameters["import_no"] + written - 1)


def rejects_by_code(
    store: Store,
    *,
    institution_id: UUID | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    after_run_no: int | None = None,
    to_run_no: int | None = None,
) -> list[RejectedCode]:
    """Return why rows were not accepted.

    The window is of when files were imported; run numbers restrict it as in `reports/questions`.
    """
    return store.records(
        RejectedCode,
        "river/stored_imports:rejects_by_code",
        institution_id=institution_id,
        from_at=from_at,
        to_at=to_at,
        after_run_no=after_run_no,
        to_run_no=to_run_no,
    )
