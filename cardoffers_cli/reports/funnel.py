"""The funnel: how many saw offers, added them and redeemed them in a window of time.

A view and an impression count when they occurred, an added offer by the `added_at` of its link
(whoever made it, the add operation or a file), a redemption when it was created, whatever became of
it since. Windows are half-open, UTC; one that ends now includes what happens at this moment.

Those counts are of other things and other people, so none is a part of the one before. The
cardholders are: who saw offers, who of them had added any, and who of these redeemed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


By = Literal["day", "offer", "merchant"]
_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, kw_only=True)
class Window:
    """A stretch of time, its start included, its end excluded unless it is now."""

    from_at: datetime
    to_at: datetime
    ends_now: bool = False


class FunnelCounts(Record):
    """The five counts of a funnel (rules.md#funnel)."""

    widget_views: int
    unique_cardholders: int
    offer_impressions: int
    offer_add_successes: int
    redemptions: int


class FunnelPeople(Record):
    """How many cardholders `saw` offers, had `added` any of them, and `redeemed` of these.

    Each is a part of the one before; `all_who_redeemed` has those too who saw or added none here.
    """

    saw: int
    added: int
    redeemed: int
    all_who_redeemed: int


class FunnelDay(Record):
    """The five counts of one day, written as ISO 8601 has it.

    `redemptions` are those decided on the day, `purchase_day_redemptions` those of its purchases.
    """

    day: str = shown(kind="date")
    widget_views: int = shown("views")
    unique_cardholders: int = shown("cardholders")
    offer_impressions: int = shown("shown")
    offer_add_successes: int = shown("added")
    redemptions: int = shown("decided", gives_way=1)
    purchase_day_redemptions: int = shown("purchased")


class FunnelOffer(Record, sheet="* -widget_views -unique_cardholders"):
    """The five counts of one offer; a view is of no single one, so two of them are None."""

    offer_id: str = shown("offer id", "id", gives_way=2)
    title: str | None = shown("offer")
    merchant_name: str = shown("merchant", gives_way=1)
    offer_impressions: int = shown("shown")
    offer_add_successes: int = shown("added")
    redemptions: int = shown("redemptions")
    widget_views: None
    unique_cardholders: None


class FunnelMerchant(Record, sheet="* -widget_views -unique_cardholders"):
    """The five counts of one merchant; a view is of no single one, so two of them are None."""

    merchant_id: UUID = shown("merchant id", gives_way=1)
    merchant_name: str = shown("merchant")
    offer_impressions: int = shown("shown")
    offer_add_successes: int = shown("added")
    redemptions: int = shown("redemptions")
    widget_views: None
    unique_cardholders: None


FunnelRow = FunnelDay | FunnelOffer | FunnelMerchant
COUNTED: Mapping[By, type[FunnelRow]] = {
    "day": FunnelDay,
    "offer": FunnelOffer,
    "merchant": FunnelMerchant,
}
"""What a funnel is counted by."""


def count_funnel(store: Store, institution_id: UUID, window: Window) -> FunnelCounts:
    """Return the five counts of a funnel."""
    parameters = _parameters(institution_id, window)
    return store.records(FunnelCounts, "reports/funnel:count", **parameters)[0]


def count_people(store: Store, institution_id: UUID, window: Window) -> FunnelPeople:
    """Return how many cardholders took which step."""
    parameters = _parameters(institution_id, window)
    return store.records(FunnelPeople, "reports/funnel:people", **parameters)[0]


def count_by(store: Store, institution_id: UUID, window: Window, by: By) -> list[FunnelRow]:
    """Return the five counts for each day of the window, or each offer or merchant with any.

    Days are those of UTC; a cardholder who came on two days is counted on both, so unique
    cardholders do not add up to the funnel's. A redemption counts on the day it was decided, and as
    `purchase_day_redemptions` on that of its purchase. A view is of no single offer: rows of offers
    and merchants have neither views nor unique cardholders (None), and the most redeemed come
    first. An offer counts for the merchant it is of now.
    """
    parameters = _parameters(institution_id, window)
    if by == "day":
        return [*store.records(FunnelDay, "reports/funnel:by_day", **parameters)]
    rows = store.rows(f"reports/funnel:by_{by}", **parameters)
    none = {"widget_views": None, "unique_cardholders": None}
    return [COUNTED[by].of({**row, **none}) for row in rows]


def _parameters(institution_id: UUID, window: Window) -> Mapping[str, Any]:
    to_at = window.to_at + _INSTANT if window.ends_now else window.to_at
    return {"institution_id": institution_id, "from_at": window.from_at, "to_at": to_at}


# The funnel: its steps in order, and how many of one step go on to the next.
#
# A conversion is a rate, not money: it is divided, and rounded half up to four decimals. It passes
# 1 where one count of the step before leads to several, as a view does to offers shown, so people
# are shown the shares of cardholders alone, each a part of the one before.


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


def share(part: int, total: int) -> Decimal | None:
    """Return the part as a share of the whole; of nothing there is none."""
    if not total:
        return None
    return (Decimal(part) / total).quantize(_FOUR_DECIMALS, ROUND_HALF_UP)


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
