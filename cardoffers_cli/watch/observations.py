"""What a finding of the watch means to people, and what to do next.

To add a code, add it to `MEANINGS`, and to the table of its section in `docs/watch.md`.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date


class WatchMeaning(NamedTuple):
    """What a finding says of its subject; what to do about it."""

    says: str
    then: str


FILE_MISSED, FILE_LATE = "file_missed", "file_late"
TOLD_ONCE = frozenset({FILE_MISSED, FILE_LATE})
"""Codes that a nightly run tells once, whatever becomes of the finding."""

_USUAL = ("usual", "expected", "most_of_others")
"""What figures call that which was to be expected."""
_ANY = "find out why, then cardoffers watch accept FINDING --reason WHY"
_ASK = f"ask the institution whether the file is right; {_ANY}"
_LOOK = f"look at what they bought with cardoffers browse; {_ANY}"

MEANINGS: dict[str, WatchMeaning] = {
    FILE_MISSED: WatchMeaning(
        "a file that is expected did not come by its deadline",
        "ask for the file, and put it into the drop folder or import it; `cardoffers arrivals`"
        " shows what came",
    ),
    FILE_LATE: WatchMeaning(
        "a file that is expected came after its deadline",
        "nothing, if that is rare; `cardoffers institution set INST --expects` sets another one",
    ),
    "rows_unusual": WatchMeaning("far more or fewer rows than in the files before", _ASK),
    "amount_unusual": WatchMeaning("the sum is far from that of the files before", _ASK),
    "median_amount_unusual": WatchMeaning("amounts are far from those of the files before", _ASK),
    "invalid_unusual": WatchMeaning("far more rows are invalid than before", _ASK),
    "duplicates_unusual": WatchMeaning("far more rows were known already than before", _ASK),
    "unknown_merchants_unusual": WatchMeaning(
        "far more purchases of unknown merchants than before",
        f"cardoffers report unresolved; {_ANY}",
    ),
    "new_cardholders_unusual": WatchMeaning(
        "far more new cardholders than before: tokens may have been made anew", _ASK
    ),
    "redeemed_unusual": WatchMeaning("far fewer of the purchases redeem than before", _ASK),
    "cardholders_unknown": WatchMeaning("half of the cardholders were never seen before", _ASK),
    "file_wholly_known": WatchMeaning("every row was known already", _ASK),
    "merchant_silent": WatchMeaning("no purchase of a merchant that every file has many of", _ASK),
    "instrument_shared": WatchMeaning("one card or account of three cardholders or more", _LOOK),
    "cardholder_busy": WatchMeaning("far more redemptions than 99.9 % of cardholders have", _LOOK),
    "merchant_concentrated": WatchMeaning(
        "five cardholders or fewer earned 80 % of its cashback", _LOOK
    ),
    "refund_after_settlement": WatchMeaning(
        "bought, settled, and given back within three days", _LOOK
    ),
}
"""Code -> what it means. What is not here is told by its code."""


class Observation(NamedTuple):
    """What was found: of what, on which day, in exact numbers.

    `subject` names a file, or what has a number or an id; it never holds a token.
    """

    code: str
    subject: str
    about_on: date
    figures: Mapping[str, int | Decimal | str]


def watch_meaning(code: str) -> WatchMeaning:
    """Return what a finding of a code means."""
    return MEANINGS.get(code) or WatchMeaning(code.replace("_", " "), _ANY)


def read_figures(text: str) -> Mapping[str, Any]:
    """Read the figures of a finding; numbers come back exact."""
    figures: Mapping[str, Any] = json.loads(text, parse_float=Decimal)
    return figures


def measured(figures: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what was found, what was expected, and the deviations between them, None if unknown.

    What is a part of others is expected to be as large a part as it usually is.
    """
    value = next(iter(figures.values()), None)
    usual = next((figures[name] for name in _USUAL if name in figures), None)
    if "usual_share" in figures:
        usual = round(figures["usual_share"] * figures["among"], 2)
    is_number = isinstance(value, (int, Decimal))
    return {
        "value": value if is_number else None,
        "expected": usual if is_number else None,
        "z": figures.get("deviations"),
    }


def figures_text(figures: Mapping[str, Any]) -> str:
    """Write figures for people: their names in words, each with its number."""
    return ", ".join(
        f"{name.replace('_', ' ')} {_number(value)}" for name, value in figures.items()
    )


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, (int, Decimal)) else str(value)
