"""Resolve: every purchase that is not decided yet gets its merchant, where somebody knows it.

Purchases are numbered in the order in which they come, and a match looks at every one that is
there, so one number, the watermark, tells those that nobody looked at. Those that were looked at in
vain, as nobody knew their merchant, are copied to `unresolved_purchases`; a match takes up the ones
whose merchant is known by now and leaves the rest. `keep_waiting` writes both in the transaction
that keeps the decisions of a run: so it is the same for every engine. The audit
`waiting_is_what_waits` counts again. Considered as well: a copy of every purchase that waits, which
costs each import a second row, and each match as many deletes; ranges for each import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.river.handles import Resolutions, Undecided, Waiting

if TYPE_CHECKING:
    from cardoffers_cli.archive.duck import Engine
    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store


def find_waiting(store: Store) -> Waiting:
    """Find what a match has to look at, among all that waits."""
    known_now = store.make("river/resolve:known_now")
    return Waiting(
        watermark=store.make("river/resolve:watermark"),
        known_now=known_now,
        refunded=find_refunded(store),
        still_unknown=store.value("river/resolve:still_unknown", known_now),
    )


def find_refunded(store: Store) -> Table:
    """Name what came back of purchases by refunds that are linked."""
    return store.make("river/resolve:refunded")


def find_undecided(engine: Engine, waiting: Waiting) -> Undecided:
    """Find the purchases that are not decided yet and can be.

    They are computed here, for how many there are behind a watermark an engine cannot tell: DuckDB
    takes 50 million for some hundred, and the join with their merchants for one that fits.
    """
    tables = engine.run("undecided", waiting.watermark, waiting.known_now)
    return Undecided(
        purchases=tables["undecided"],
        said_unknown=tables["said_unknown"],
        refunded=waiting.refunded,
        still_unknown=waiting.still_unknown,
    )


def find_all_waiting(store: Store) -> Undecided:
    """Name the purchases that wait for a match, also those that it need not look at."""
    return Undecided(
        purchases=store.make("river/resolve:all_waiting"),
        said_unknown=store.make("river/resolve:none_said"),
        refunded=find_refunded(store),
    )


def find_not_redeemed(engine: Engine, refunded: Table) -> Undecided:
    """Name all purchases that never redeemed, for a rematch: it reads the whole history."""
    tables = engine.define("rematch")
    return Undecided(
        purchases=tables["undecided"], said_unknown=tables["said_unknown"], refunded=refunded
    )


def purchases_of_import(store: Store, import_no: int) -> Undecided:
    """Take the purchases of one import alone, which are few."""
    return Undecided(
        purchases=store.define("river/resolve:of_import", import_no=import_no),
        said_unknown=store.define("river/resolve:none_said"),
        refunded=store.define("river/resolve:none_refunded"),
    )


def one_purchase(store: Store, purchase_no: int) -> Undecided:
    """Take one purchase, whatever was decided of it."""
    return Undecided(
        purchases=store.make("river/resolve:of_purchase", purchase_no=purchase_no),
        said_unknown=store.make("river/resolve:none_said"),
        refunded=find_refunded(store),
    )


def keep_waiting(store: Store, *, run_no: int) -> None:
    """Write what waits once the decisions of a run are kept, or listed, in that transaction."""
    for change in ("leave", "wait", "advance"):
        store.execute(f"river/resolve:{change}", run_no=run_no)


def resolve(engine: Engine, undecided: Undecided) -> Resolutions:
    """Find the merchant of each of these purchases, and what refunds have left of it."""
    tables = engine.run("resolve", undecided.purchases, undecided.refunded)
    return Resolutions(
        rows=tables["resolutions"],
        said_unknown=undecided.said_unknown,
        still_unknown=undecided.still_unknown,
    )
