"""How a personal feed is ordered, and the reason an offer gives (rules.md#personal-order).

Every signal that holds for an offer adds its weight to the score; equal scores stand in program
order. Each weight is more than all later ones together, so what the reader asks for comes before
what the cardholder did, and that before what others do: the order and the reasons tell one story.

| signal | weight | it holds when |
|---|---|---|
| preferred_merchant | 16 | a hint names the offer's merchant, by id or by name |
| preferred_category | 8 | a hint names the merchant's category |
| past_merchant | 4 | the cardholder bought from the merchant in the last 90 days |
| past_category | 2 | the cardholder bought from a merchant of the category then |
| popular | 1 | the offer is among the ten with most links of the institution's cardholders |

Hints are compared without regard to case, used in memory and kept nowhere.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

WEIGHTS: Mapping[str, int] = {
    "preferred_merchant": 16,
    "preferred_category": 8,
    "past_merchant": 4,
    "past_category": 2,
    "popular": 1,
}
"""The weight of each signal, in the order in which they give the reason."""

PAST = timedelta(days=90)
MOST_POPULAR = 10
PROGRAM_ORDER = "program_order"


def reason(signals: Mapping[str, Any]) -> str:
    """Return the first signal that holds, else the program's order."""
    return next((signal for signal in WEIGHTS if signals[signal]), PROGRAM_ORDER)


def hints(text: str | None) -> tuple[str, ...]:
    """Return the hints of a comma-separated list."""
    return tuple(hint.strip() for hint in (text or "").split(",") if hint.strip())
