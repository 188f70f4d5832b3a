"""The counts that are kept: of purchases, of redemptions by match, offer and state, of links.

What is asked every day must cost the same however much there is, so sums of what grows for years
are kept. Numbers of purchases, redemptions and runs only grow, so the kept counts say how far they
go (`counted_up_to`), and the views of `river/views.sql` put what came after on top. Who changes
much (`import`, `match`, `settle`, a catalogue) calls `keep_counts` at the end of its transaction.
Redemptions are counted by their match, as all of a match have one moment. What is counted stays
counted when purchases leave the store for its archive. Not kept is what one narrow column tells as
fast. `doctor --strict` counts everything again (`river/audits.sql`), and `recount` begins anew.
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
