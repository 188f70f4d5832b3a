"""Doctor: ask the whole store for what must not be, and change nothing.

Most audits are statements of `audits.sql` of a slice, each of which selects the rows that offend;
the rest look at the files. One that cannot be made because of damage has found it, and the others
go on. An example shows numbers, ids and names, never a token. To add one, add its statement; name
it in `QUICK` too if it is cheap on a large store. Most are about one purchase or one redemption, so
they can be asked about a part of the store: those that later runs brought or touched. After
`show_part` temporary tables with those rows stand in the place of the tables of the store.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from cardoffers_cli.archive.archive import archive_of
from cardoffers_cli.copies.work import copy_fault
from cardoffers_cli.kernel.store import acts, journal, signing_secrets, usage_journal
from cardoffers_cli.kernel.store.binding import declared
from cardoffers_cli.kernel.store.blocks import damaged_blocks
from cardoffers_cli.kernel.store.card_numbers import card_numbers
from cardoffers_cli.kernel.store.erasures import is_marked, own_list
from cardoffers_cli.kernel.store.layout import leftovers
from cardoffers_cli.kernel.store.opening import current, lock_for, must_exist
from cardoffers_cli.kernel.store.statements import sql_folder, statement, statements
from cardoffers_cli.kernel.words.errors import Refused, StoreDamaged
from cardoffers_cli.kernel.words.events import EVENTS
from cardoffers_cli.kernel.words.records import Record, shown
from cardoffers_cli.privacy.erasures import unknown_to
from cardoffers_cli.storage.file_changes import look_at, unanswered, watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


_PART = "storage/audited_part"

OF_A_PART = frozenset(
    {
        *("amounts_add_up", "amounts_follow_their_version", "attempts_are_consecutive"),
        *("attempts_end", "decided_once", "events_say_what_happened"),
        *("events_follow_attempts", "moves_are_legal", "nothing_is_sent_after_success"),
        *("nothing_points_nowhere", "numbers_unique", "one_entry_per_redemption"),
        *("one_event_per_subject", "one_redemption_per_purchase"),
        *("looks_are_indexed", "references_are_indexed", "waiting_is_what_waits"),
        *("redemptions_fit_their_purchase", "reversals_are_given_back"),
        *("states_follow_moves", "transaction_refs_unique", "versions_were_in_force"),
    }
)
"""The audits that look at each purchase or redemption alone, and find its faults in a part."""


@cache
def audits() -> Mapping[str, str]:
    """Return the address of every audit by its name."""
    slices = sorted(entry.name for entry in sql_folder().iterdir())
    stems = [f"{each}/audits" for each in slices if (sql_folder() / each / "audits.sql").is_file()]
    return {name: f"{stem}:{name}" for stem in stems for name in statements(stem)}


def offending(store: Store, name: str) -> tuple[int, dict[str, Any] | None]:
    """Return how many rows offend against an audit, and the first of them."""
    rows, first = 0, None
    for tables, parameters in _asked(store, audits()[name]):
        for page in store.pages(audits()[name], *tables, **parameters):
            first = first or page[0]
            rows += len(page)
    return rows, first


def _asked(store: Store, address: str) -> Iterator[tuple[list[Table], Mapping[str, Any]]]:
    """Yield what a statement is asked with: one about events, of each kind what happened of it."""
    if "happened" not in declared(address).handed:
        yield [], {}
        return
    sql = statement(address)
    for kind in EVENTS.values():
        happened = store.define(f"river/publish:{kind.what}", first_run_no=0, last_run_no=2**62)
        how = {"kind": kind.name, "is_always": kind.always, "moot_when": kind.moot_when}
        values = {**how, "kinds": [*EVENTS]}
        yield [happened], {key: value for key, value in values.items() if f"${key}" in sql}


def is_mostly_new(store: Store, after_run_no: int) -> bool:
    """Return whether more purchases came after a run than before."""
    came = store.rows(f"{_PART}:came", after_run_no=after_run_no)[0]
    return bool(2 * came["new_purchases"] > came["purchases"])


def show_part(store: Store, after_run_no: int) -> None:
    """Let the store show only what runs after one touched, until the transaction is undone.

    The archive has no part: call it for a store without one.
    """
    last_import_no = store.value(f"{_PART}:last_import", after_run_no=after_run_no)
    ends = store.rows(f"{_PART}:ends", after_run_no=after_run_no, last_import_no=last_import_no)[0]
    redemption_no, purchase_no = ends["redemption_no"], ends["purchase_no"]
    changed = store.make(
        f"{_PART}:changed_redemptions", after_run_no=after_run_no, redemption_no=redemption_no
    )
    purchases = store.make(
        f"{_PART}:touched_purchases", changed, after_run_no=after_run_no, purchase_no=purchase_no
    )
    redemptions = store.make(f"{_PART}:touched_redemptions", changed, purchases)
    for name in statements(_PART):
        kind, _, table = name.partition("_")
        if table and kind in {"purchases", "redemptions"}:
            store.execute(f"{_PART}:{name}", purchases if kind == "purchases" else redemptions)


if TYPE_CHECKING:
    Found = tuple[int, Mapping[str, Any] | None]

COPIES, TAKEN_FILES = "copies_are_recent", "taken_files_are_as_read"
OF_STEPS = frozenset({TAKEN_FILES, COPIES})
"""The audits for which a nightly run has steps of their own; `COPIES` is the last of all."""
_AGAIN = "cardoffers privacy reapply"
_ANSWER = "cardoffers privacy reapply --from FILE"
_COMPACT = "cardoffers store compact"
_MASK = "cardoffers store mask-card-numbers, or cardoffers institution set INST --numbers"

QUICK = frozenset(
    f"""
    amounts_add_up budgets_hold call_book_is_whole documents_add_up documents_follow_each_other
    erased_stay_erased imports_add_up journal_balances journal_is_the_stores no_leftover_files
    one_entry_per_redemption one_event_per_subject payouts_pay_their_statement security_log_is_whole
    settlements_add_up signing_secrets_are_there {TAKEN_FILES} {COPIES}
    """.split()
)
"""The audits that are done without `--strict`."""

SELDOM = frozenset(
    {
        *("every_block_is_whole", "no_card_numbers"),
        *("purchases_are_counted", "redemptions_are_counted", "purchase_days_are_counted"),
    }
)
"""The audits that read everything there is, and have no part: not of every night."""


class Audit(Record):
    """One question to the store: how many rows offend, and one of them."""

    name: str = shown("audit")
    ok: bool
    rows: int
    example: Mapping[str, Any] | None = shown(gives_way=1)


class DoctorReport(Record):
    """Every audit that was made, and whether all of them are clean."""

    ok: bool
    audits: list[Audit]


def _nobody(name: str) -> None:
    """Tell nobody."""


def doctor(
    job: Job, *, strict: bool = False, tell: Callable[[str], None] = _nobody
) -> DoctorReport:
    """Audit a store that may have lost commits.

    `tell` hears of each audit before it is made.
    """
    must_exist(job.path)
    opening = job.opening(read_only=True)
    with lock_for(opening), current(opening) as store:
        results = examine(store, job.path, strict=strict, tell=tell)
        tell(COPIES)
        results.append(_copies(job, store))
    return DoctorReport(ok=all(audit.ok for audit in results), audits=results)


def examine(
    store: Store,
    path: Path | None,
    *,
    strict: bool = True,
    but: frozenset[str] = frozenset(),
    tell: Callable[[str], None] = _nobody,
) -> list[Audit]:
    """Audit the open store of `path`, the quick audits only unless `strict`, and none of `but`.

    Without a path it is a copy, and what stands beside a store is not looked at.
    """
    return [
        _examined(store, path, name, tell)
        for name in names(strict=strict)[:-1]
        if name not in but and (path is not None or name not in _BESIDE)
    ]


def examine_part(
    store: Store,
    path: Path,
    *,
    after_run_no: int,
    but: frozenset[str] = frozenset(),
    tell: Callable[[str], None] = _nobody,
) -> list[Audit]:
    """Audit what runs after one touched in the open store of `path`, by none of `but`.

    What looks at each purchase or redemption alone looks at those, and what is left to `SELDOM` is
    not asked; everything else is of the whole store. Call it outside of transactions.
    """
    chosen = [name for name in names()[:-1] if name not in but | SELDOM]
    by_name = {}
    try:
        with store.transaction(keep=False):
            show_part(store, after_run_no)
            for name in chosen:
                if name in OF_A_PART:
                    by_name[name] = _examined(store, path, name, tell)
    except StoreDamaged:  # there is no part of what cannot be read: the audits tell
        return examine(store, path, but=but, tell=tell)
    for name in chosen:
        if name not in by_name:
            by_name[name] = _examined(store, path, name, tell)
    return [by_name[name] for name in chosen]


def _examined(store: Store, path: Path | None, name: str, tell: Callable[[str], None]) -> Audit:
    tell(name)
    try:
        rows, example = _ask(store, path, name)
    except StoreDamaged as error:  # the others may have an answer all the same
        rows, example = 1, {"fault": error.code}
    return Audit(name=name, ok=rows == 0, rows=rows, example=example)


def names(*, strict: bool = True) -> list[str]:
    """Return the names of the audits, in their order."""
    every = [*_BESIDE, *_INSIDE, *audits()]
    return [*(name for name in every if strict or name in QUICK), COPIES]


def _ask(store: Store, path: Path | None, name: str) -> Found:
    """Return how many rows offend, and the first of them."""
    if name in _INSIDE:
        return _INSIDE[name](store)
    if path is not None and name in _BESIDE:
        return _BESIDE[name](store, path)
    return offending(store, name)


def _listed(rows: Sequence[Mapping[str, Any]]) -> Found:
    return len(rows), rows[0] if rows else None


def _journal(store: Store, path: Path) -> Found:
    try:
        if replaced_by := journal.replaced_by(path):
            return 1, {"fault": journal.REPLACED, "replaced_by": replaced_by}
        return _listed([line.document() for line in journal.wrong(store, path)])
    except StoreDamaged as error:
        return 1, {"fault": error.code}


def _secrets(store: Store, path: Path) -> Found:
    """Find institutions whose signing secret is gone, and a file of secrets that is no good."""
    try:
        slugs = signing_secrets.missing(store, signing_secrets.read_secrets(path))
    except (Refused, StoreDamaged) as error:
        return 1, {"fault": error.code}
    return _listed([{"institution": slug} for slug in slugs])


def _erasures(store: Store, path: Path) -> Found:
    """Find erasures that the store lost, or may have lost, or that freed blocks may hold yet."""
    try:
        listed = own_list(path)
    except (Refused, StoreDamaged) as error:
        return 1, {"fault": error.code}
    missing = unknown_to(store, listed.erasures)
    rows = [{"erasure_id": erasure.erasure_id, "next": _AGAIN} for erasure in missing]
    since = listed.unknown_since
    unknown = [{"fault": "erasures_unknown", "since": since, "next": _ANSWER}] if since else []
    unwritten = [{"fault": "not_compacted", "next": _COMPACT}] if is_marked(path) else []
    return _listed([*rows, *unknown, *unwritten])


def _copies(job: Job, store: Store) -> Audit:
    """Find a newest copy that is too old; that there is none at all is told, and no fault."""
    code, said = copy_fault(job, store) or ("", "")
    old = int(code == "copy_old")
    example = {"fault": code, "message": said} if code else None
    return Audit(name=COPIES, ok=not old, rows=old, example=example)


def _taken_files(store: Store, _path: Path) -> Found:
    changes = unanswered(store, look_at(watched(store)))
    return _listed([change.document() for change in changes])


def _parts(store: Store) -> Found:
    archive = archive_of(store)
    return _listed(archive.faults() if archive else [])


def _card_numbers(store: Store) -> Found:
    places = card_numbers(store)
    first = {**places[0], "next": _MASK} if places else None
    return sum(place["card_numbers"] for place in places), first


_BESIDE: dict[str, Callable[[Store, Path], Found]] = {
    # First: the others may need room, which is such a file.
    "no_leftover_files": lambda _, path: _listed(
        [{"file": str(file.relative_to(path.parent))} for file in leftovers(path)]
    ),
    "every_block_is_whole": lambda _, path: _listed(
        [{"file": path.name, "block": block} for block in damaged_blocks(path)]
    ),
    "journal_is_the_stores": _journal,
    "signing_secrets_are_there": _secrets,
    "call_book_is_whole": lambda _, path: _listed(usage_journal.faults(path)),
    "erased_stay_erased": _erasures,
    TAKEN_FILES: _taken_files,
}
_INSIDE: dict[str, Callable[[Store], Found]] = {
    "security_log_is_whole": lambda store: _listed(acts.faults(store)),
    "history_is_whole": _parts,
    "no_card_numbers": _card_numbers,
}
