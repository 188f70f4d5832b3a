"""When a budget will be spent, at the rate of the days just past.

The rate is what redemptions took from the budget in the last 28 days or since the offer began if
that is later, though never over less than a day. What was reversed took nothing. The run-out day is
the first day (UTC) whose cumulated spend at that rate exceeds the budget. An offer whose budget
does not cover one more redemption in full is spent already (rules.md#budgets). The day has a band:
the run-out days at the rates of the quickest and of the slowest of the last four weeks, two at
least; a slowest week that would not spend the budget before the offer ends leaves it open. Amounts
are exact: the moment is found in whole microseconds, by an integer division that is rounded down.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

RECENT = timedelta(days=28)
"""How far back the rate is measured."""
_SHORTEST = timedelta(days=1)
_WEEK = timedelta(days=7)
_FEWEST_WEEKS = 2
_MICROSECOND = timedelta(microseconds=1)
_EXACT = Context(prec=60)
"""More digits than the largest amount in its smallest unit, times the microseconds of 28 days."""


@dataclass(frozen=True, kw_only=True)
class BudgetUse:
    """What is known of an offer's budget at a moment.

    `spent_amount` is all that redemptions hold of it, `recent_amount` the part of the recent days;
    `next_amount` is what one more redemption would take. `budget_amount` None is no budget.
    """

    budget_amount: Decimal | None
    spent_amount: Decimal
    recent_amount: Decimal
    next_amount: Decimal
    starts_at: datetime
    expires_at: datetime
    last_redeemed_at: datetime | None


@dataclass(frozen=True)
class BudgetForecast:
    """What becomes of a budget: `state`, and the day that it says, if any.

    States are `no_budget`, `spent`, `runs_out` and `not_at_this_rate` (not before the offer ends).
    """

    state: str
    day: date | None = None

    @property
    def text(self) -> str:
        """The outlook in words, for the eye."""
        match self.state:
            case "no_budget":
                return "no budget"
            case "spent" if self.day is None:
                return "too small for one"
            case "spent":
                return f"spent on {self.day}"
            case "runs_out":
                return f"runs out on {self.day}"
            case _:
                return "not at this rate"


@dataclass(frozen=True)
class DateRange:
    """The first and the last day on which a budget may run out; None for not before it ends."""

    first: date
    last: date | None


def outlook(burn: BudgetUse, now: datetime) -> BudgetForecast:
    """Return what becomes of a budget, seen from a moment."""
    if burn.budget_amount is None:
        return BudgetForecast("no_budget")
    remaining = burn.budget_amount - burn.spent_amount
    if remaining < burn.next_amount:
        last = burn.last_redeemed_at
        return BudgetForecast("spent", last.date() if last else None)
    reached_at = _reached_at(remaining, burn.recent_amount, rate_length(burn.starts_at, now), now)
    if reached_at is None or reached_at >= burn.expires_at:
        return BudgetForecast("not_at_this_rate")
    return BudgetForecast("runs_out", reached_at.date())


def band(burn: BudgetUse, weeks: Sequence[Decimal], now: datetime) -> DateRange | None:
    """Return the band of a run-out day from what each of the last weeks spent, the last first.

    None where no budget runs out, or where the offer is too young to tell.
    """
    if outlook(burn, now).state != "runs_out" or burn.budget_amount is None:
        return None
    full = weeks[: (now - burn.starts_at) // _WEEK]
    if len(full) < _FEWEST_WEEKS:
        return None
    unspent = burn.budget_amount - burn.spent_amount
    first, last = (_reached_at(unspent, amount, _WEEK, now) for amount in (max(full), min(full)))
    if first is None or first >= burn.expires_at:
        return None
    return DateRange(first.date(), last.date() if last and last < burn.expires_at else None)


def planned_share(burn: BudgetUse, now: datetime) -> Decimal:
    """Return the part of a budget that would be spent by now if it were spent evenly."""
    run, length = now - burn.starts_at, burn.expires_at - burn.starts_at
    share = Decimal(run // _MICROSECOND) / Decimal(max(length // _MICROSECOND, 1))
    return min(max(share, Decimal(0)), Decimal(1)).quantize(Decimal("0.0001"), ROUND_HALF_UP)


def rate_length(starts_at: datetime, now: datetime) -> timedelta:
    """Return the length of time that the rate of an offer is measured over."""
    return max(_SHORTEST, min(RECENT, now - starts_at))


def spent_share(burn: BudgetUse) -> Decimal | None:
    """Return the spent part of a budget as a share with four decimals, half up; None without one.

    A share is no money: it may be divided and rounded.
    """
    if not burn.budget_amount:
        return None
    share = _EXACT.divide(burn.spent_amount, burn.budget_amount)
    return share.quantize(Decimal("0.0001"), ROUND_HALF_UP)


def _reached_at(
    remaining: Decimal, recent: Decimal, length: timedelta, now: datetime
) -> datetime | None:
    """Return when cumulated spend reaches the budget, or None if that is beyond the calendar."""
    if recent <= 0:
        return None
    product = _EXACT.multiply(remaining, Decimal(length // _MICROSECOND))
    try:
        return now + timedelta(microseconds=int(_EXACT.divide_int(product, recent)))
    except OverflowError:
        return None
