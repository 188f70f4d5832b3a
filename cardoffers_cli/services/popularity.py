"""How many cardholders of an institution have added each offer.

Counting millions of links would be most of the work of a personal feed, so counts are kept. They
need no care by those who make links: every link knows its run, runs only grow, and what came after
the last count is counted and put on top. When that has become much, the sum is kept anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID

    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store

MOST_UNCOUNTED = 100_000


def count_links(store: Store, institution_id: UUID, *, keep: bool) -> Table:
    """Make the table of the numbers of links by offer; keep it when it took long to count.

    With `keep=False` nothing is written, so a store opened for reading will do.
    """
    owned = {"institution_id": institution_id}
    counted_to = store.value("services/popularity:counted_to", **owned)
    totals = store.make("services/popularity:link_totals", **owned, counted_to=counted_to)
    if keep and store.value("services/popularity:new_links", totals) > MOST_UNCOUNTED:
        store.execute("services/popularity:forget", **owned)
        store.execute("services/popularity:keep", totals, **owned)
    return totals
