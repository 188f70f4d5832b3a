"""The audits that are SQL: statements of `audits.sql` of a slice that select what must not be.

Most of them are about one purchase or one redemption, with all that belongs to it. So they can be
asked about a part of the store: the purchases and redemptions that later runs brought or touched,
each with all of its rows. After `show_part` temporary tables with those rows stand in the place of
the tables of the store, for the statements, and for the views that they read.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.binding import declared
from cardoffers_cli.kernel.store.statements import sql_folder, statement, statements
from cardoffers_cli.kernel.words.events import EVENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store


_PART = "kernel/store/audited_part"

OF_A_PART = frozenset(
    {
        *("amounts_add_up", "amounts_follow_their_version", "attempts_are_consecutive"),
        *("attempts_end", "decided_once", "events_say_what_happened"),
        *("events_follow_attempts", "moves_are_legal", "nothing_is_sent_after_success"),
        *("nothing_points_nowhere", "numbers_unique", "one_entry_per_redemption"),
        *("one_event_per_subject", "one_redemption_per_purchase"),
        *("looks_are_indexed", "references_are_indexed", "waiting_is_what_waits"),
        *("redemptions_fit_their_purchase", "reversals_are_given_back", "settlements_keep_apart"),
        *("states_follow_moves", "transaction_refs_unique", "versions_were_in_force"),
    }
)
"""The audits that look at each purchase or redemption alone, and find its faults in a part."""


@cache
def audits() -> Mapping[str, str]:
    """Return the address of every audit by its name."""
    folders = sorted(entry.name for entry in sql_folder().iterdir())
    stems = [f"{it}/audits" for it in folders if (sql_folder() / it / "audits.sql").is_file()]
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
