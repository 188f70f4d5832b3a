"""The funnel: its steps in order, and how many of one step go on to the next.

A conversion is a share, not money: it is divided, and rounded half up to four decimals. It passes 1
where one count of the step before leads to several, as a view does to impressions.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STEPS = (
    "widget_views",
    "unique_cardholders",
    "offer_impressions",
    "offer_add_successes",
    "redemptions",
)
"""The counts of a funnel, from its wide end to its narrow one (specification, Funnel)."""

LABELS = dict(
    zip(STEPS, ("Views", "Cardholders", "Impressions", "Added", "Redemptions"), strict=True)
)
"""The steps for the eye."""

_FOUR_DECIMALS = Decimal("0.0001")


def share(part: int, whole: int) -> Decimal | None:
    """Return the part as a share of the whole; of nothing there is none."""
    if not whole:
        return None
    return (Decimal(part) / whole).quantize(_FOUR_DECIMALS, ROUND_HALF_UP)


def conversions(counts: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Yield `step`, `count`, `conversion` (from the step before) and `overall` (from the first)."""
    first = STEPS[0]
    yield {"step": first, "count": counts[first], "conversion": None, "overall": None}
    for before, step in pairwise(STEPS):
        yield {
            "step": step,
            "count": counts[step],
            "conversion": share(counts[step], counts[before]),
            "overall": share(counts[step], counts[first]),
        }


def compared(counts: Mapping[str, int], previous: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Yield the same with `previous`, the count of the window before, and the `change` from it."""
    for row in conversions(counts):
        before = previous[row["step"]]
        yield {**row, "previous": before, "change": share(row["count"] - before, before)}


def share_text(share: Decimal | None) -> str:
    """Write a share as people read it: `26.0%`, or `4.5x` where one led to several."""
    if share is None:
        return ""
    return f"{share:,.1f}x" if share > 1 else f"{share:.1%}"
