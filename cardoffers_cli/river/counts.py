"""The counts that are kept: of purchases, of redemptions by match, offer and state, of links.

What is asked every day must cost the same however much there is. Purchases, decisions and the
ledger grow for years, so sums of them are kept. Writers need not know: purchases and redemptions
are numbered in the order in which they are written, and a change of state, as a link, carries its
run, and all of these only grow. So the kept counts say how far they go (`counted_up_to`), and the
views of `river/views.sql` count what came after where it stands and put it on top. A call that
takes an event or adds an offer writes no count. Who changes much (`import`, `match`, `settle`, a
catalogue) calls `keep_counts` at the end of its transaction, so that little is left to be counted.

Redemptions are counted by their match, not by day: all redemptions of a match have one moment, so
any window of time is a sum of whole rows, and days are as well. What is counted stays counted when
purchases leave the store for its archive. Not kept is what one narrow column tells as fast: events
by state, distinct cardholders, entries on hold (15 ms of CPU for 1.7 million).

`doctor --strict` counts everything again (`river/audits.sql`), and `recount` begins anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store

_KEPT = (
    *("purchase_counts", "redemption_counts", "purchase_day_counts", "offer_counts"),
    "counted_up_to",
)


def keep_counts(store: Store) -> None:
    """Count what came since the last time, in the caller's transaction; nothing new writes nothing.

    Call it when everything else is written: a change that the same run made later would be lost.
    """
    store.execute("river/counts:purchases")
    changes = store.make("river/counts:changes")
    store.execute("river/counts:redemptions", changes)
    store.execute("river/counts:purchase_days", changes)
    offers = store.make("river/counts:offers")
    store.execute("river/counts:forget_offer_counts")
    store.execute("river/counts:keep_offers", offers)
    store.execute("river/counts:up_to")
    store.drop(changes, offers)


def recount(store: Store) -> None:
    """Forget every kept count, and count all there is, in the caller's transaction."""
    for table in _KEPT:
        store.execute(f"river/counts:forget_{table}")
    keep_counts(store)
