"""The funnel: its steps in order, and how many of one step go on to the next.

A conversion is a rate, not money: it is divided, and rounded half up to four decimals. It passes 1
where one count of the step before leads to several, as a view does to offers shown, so people are
shown the shares of cardholders alone, each a part of the one before.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record, shown

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


class FunnelStep(Record):
    """A step of the funnel, as a share of `conversion_of`, the step before, and of the first.

    The step before may be of other things or people: a conversion is a rate, and no part.
    """

    step: str
    count: int
    conversion: Decimal | None
    overall: Decimal | None
    conversion_of: str | None


class PeopleStep(Record):
    """A step of the cardholders, in words, and the part of the step before that it is."""

    step: str = shown("cardholders")
    count: int
    share: Decimal | None = shown("of the step before", "share")


class VolumeStep(Record, sheet="label count"):
    """How often something happened, with what it is called."""

    step: str
    label: str = shown("what happened")
    count: int


class PreviousWindow(Record):
    """The count of the window before, and the change from it as a share of it."""

    previous: int = shown("before")
    change: Decimal | None = shown(kind="change")


class ComparedStep(PreviousWindow, FunnelStep, sheet="* conversion_of"):
    """A step of the funnel beside that of the window before."""


class ComparedPeople(PreviousWindow, PeopleStep):
    """A step of the cardholders beside that of the window before."""


class ComparedVolume(PreviousWindow, VolumeStep, sheet="label count previous change"):
    """How often something happened, beside how often it did before."""


def conversions(counts: Mapping[str, int]) -> Iterator[FunnelStep]:
    """Yield the steps of the funnel."""
    first = STEPS[0]
    for before, step in zip((None, *STEPS), STEPS, strict=False):
        yield FunnelStep(
            step=step,
            count=counts[step],
            conversion=share(counts[step], counts[before]) if before else None,
            overall=share(counts[step], counts[first]) if before else None,
            conversion_of=before,
        )


def people(counts: Mapping[str, int]) -> Iterator[PeopleStep]:
    """Yield the steps of the cardholders."""
    for before, step in zip((None, *PEOPLE), PEOPLE, strict=False):
        yield PeopleStep(
            step=f"of these, {PEOPLE[step]}" if before else PEOPLE[step],
            count=counts[step],
            share=share(counts[step], counts[before]) if before else None,
        )


def compared(counts: Mapping[str, int], previous: Mapping[str, int]) -> Iterator[ComparedStep]:
    """Yield the steps of the funnel beside those of the window before."""
    for row in conversions(counts):
        yield ComparedStep(**row, **_before(row.count, previous[row.step]))


def people_compared(
    counts: Mapping[str, int], previous: Mapping[str, int]
) -> Iterator[ComparedPeople]:
    """Yield the steps of the cardholders beside those of the window before."""
    for row, name in zip(people(counts), PEOPLE, strict=True):
        yield ComparedPeople(**row, **_before(row.count, previous[name]))


def volumes(
    counts: Mapping[str, int], previous: Mapping[str, int] | None = None
) -> Iterator[VolumeStep]:
    """Yield how often each thing happened, beside how often before where that is known."""
    for step in VOLUMES:
        row = VolumeStep(step=step, label=LABELS[step], count=counts[step])
        yield ComparedVolume(**row, **_before(row.count, previous[step])) if previous else row


def _before(count: int, before: int) -> PreviousWindow:
    return PreviousWindow(previous=before, change=share(count - before, before))
