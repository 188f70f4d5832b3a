"""The funnel: its steps in order, and how many of one step go on to the next.

A conversion is a rate, not money: it is divided, and rounded half up to four decimals. It passes 1
where one count of the step before leads to several, as a view does to offers shown, so people are
shown the shares of cardholders alone, each a part of the one before.
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
"""The counts of a funnel, from its wide end to its narrow one (rules.md#funnel)."""

LABELS = dict(
    zip(
        STEPS,
        ("Views", "Cardholders who viewed", "Offers shown", "Offers added", "Redemptions"),
        strict=True,
    )
)
"""The steps for the eye."""

VOLUMES = tuple(step for step in STEPS if step != "unique_cardholders")
"""The steps that count what happened, and not whom it happened to."""

PEOPLE = {
    "saw": "Saw offers",
    "added": "had added one",
    "redeemed": "redeemed",
}
"""The cardholders, each a part of the one before, for the eye."""

_FOUR_DECIMALS = Decimal("0.0001")


def share(part: int, whole: int) -> Decimal | None:
    """Return the part as a share of the whole; of nothing there is none."""
    if not whole:
        return None
    return (Decimal(part) / whole).quantize(_FOUR_DECIMALS, ROUND_HALF_UP)


def conversions(counts: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Yield `step`, `count`, `conversion` and `overall` (from the first step).

    A conversion is divided by the count of `conversion_of`, the step before, which may be of other
    things or people: it is a rate, and no part.
    """
    first = STEPS[0]
    yield {
        "step": first,
        "count": counts[first],
        "conversion": None,
        "overall": None,
        "conversion_of": None,
    }
    for before, step in pairwise(STEPS):
        yield {
            "step": step,
            "count": counts[step],
            "conversion": share(counts[step], counts[before]),
            "overall": share(counts[step], counts[first]),
            "conversion_of": before,
        }


def people(counts: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Yield `step`, `count`, and `share`, the part of the step before, of the cardholders."""
    before: int | None = None
    for step, label in PEOPLE.items():
        count = counts[step]
        yield {
            "step": label if before is None else f"of these, {label}",
            "count": count,
            "share": None if before is None else share(count, before),
        }
        before = count


def compared(counts: Mapping[str, int], previous: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Yield the same with `previous`, the count of the window before, and the `change` from it."""
    for row in conversions(counts):
        before = previous[row["step"]]
        yield {**row, "previous": before, "change": share(row["count"] - before, before)}


def people_compared(
    counts: Mapping[str, int], previous: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    """Yield the cardholders with `previous` and `change`."""
    for row, name in zip(people(counts), PEOPLE, strict=True):
        before = previous[name]
        yield {**row, "previous": before, "change": share(row["count"] - before, before)}


def volumes(
    counts: Mapping[str, int], previous: Mapping[str, int] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield `step`, its `label` and `count` of what happened, compared with what did before."""
    for step in VOLUMES:
        count = counts[step]
        row = {"step": step, "label": LABELS[step], "count": count}
        if previous is None:
            yield row
        else:
            before = previous[step]
            yield {**row, "previous": before, "change": share(count - before, before)}
