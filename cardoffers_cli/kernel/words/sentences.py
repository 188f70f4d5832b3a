"""Sentences, and figures as these carry them: shares, amounts, days, lists, comparisons.

Tables have the exact figure; a sentence has one that is read at once. A share and a mean are no
money: they may be divided, and are rounded half up.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.money import quantize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date


_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_TENTH = Decimal("0.1")
_LEAST, _MOST = Decimal("0.001"), Decimal("0.999")
_TWICE = 2


def sentence(text: str, name: str | None = None) -> str:
    """Begin a message with a capital; the name of a field at its beginning stays as it is."""
    if name and text.startswith(name):
        return text
    return f"{text[0].upper()}{text[1:]}"


def percent(share: Decimal | None, *, signed: bool = False) -> str:
    """Write a share: `14.9 %`; one that is not quite nothing, or not quite all, says so.

    A change has its sign: `+14.9 %`.
    """
    if share is None:
        return ""
    figure = (share * 100).quantize(_TENTH, ROUND_HALF_UP) + 0  # and never -0.0
    if signed:
        return f"{figure:+,} %"
    if 0 < share < _LEAST:
        return "under 0.1 %"
    if _MOST < share < 1:
        return "over 99.9 %"
    return f"{figure:,} %"


def amount_text(amount: Decimal, currency: str) -> str:
    """Write an amount: `GBP 2,341.50`."""
    return f"{currency} {quantize(amount, currency):,}"


def amounts_text(amounts: Mapping[str, Decimal], *, otherwise: str = "nothing") -> str:
    """Write amounts by currency: `GBP 7.50 and MXN 740.00`; zeros are left out."""
    return listed(
        [
            amount_text(amounts[currency], currency)
            for currency in sorted(amounts)
            if amounts[currency]
        ],
        otherwise=otherwise,
    )


def day_text(day: date) -> str:
    """Write a day whose year is known: `4 October`."""
    return f"{day.day} {_MONTHS[day.month - 1]}"


def short_day_text(day: date) -> str:
    """Write a day below a column: `4 Oct`."""
    return f"{day.day} {_MONTHS[day.month - 1][:3]}"


def date_text(day: date) -> str:
    """Write a day: `4 October 2026`."""
    return f"{day_text(day)} {day.year}"


def month_text(day: date) -> str:
    """Write the month of a day: `October 2026`."""
    return f"{_MONTHS[day.month - 1]} {day.year}"


def listed(words: Sequence[str], *, otherwise: str = "") -> str:
    """Write words as a list: `a, b and c`."""
    *others, last = words or (otherwise,)
    return f"{', '.join(others)} and {last}" if others else last


def mean(values: Sequence[Decimal | int]) -> Decimal | None:
    """Return the mean of some values; of none there is none."""
    return sum(map(Decimal, values), Decimal(0)) / len(values) if values else None


def compared(value: Decimal | int, before: Decimal | int | None, *, fewer: str = "less") -> str:
    """Write how a value stands to the one before: `12 % more than`, `2.3 times`, `as much as`.

    Nothing can be said against nothing. `fewer` is the word for what is counted.
    """
    if not before:
        return ""
    ratio = Decimal(value) / Decimal(before)
    if ratio >= _TWICE:
        return f"{ratio.quantize(_TENTH, ROUND_HALF_UP)} times"
    change = ((ratio - 1) * 100).quantize(Decimal(1), ROUND_HALF_UP)
    if not change:
        return "as many as" if fewer == "fewer" else "as much as"
    return f"{abs(change)} % {'more' if change > 0 else fewer} than"


def is_unusual(value: Decimal | int, before: Sequence[Decimal | int]) -> bool:
    """Whether a count stands out from at least three before it, by more than chance.

    It is less than half or more than twice their mean, and further from it than three times the
    root of the mean, which is what chance leaves of a count.
    """
    usual = mean(before) if len(before) > _TWICE else None
    if usual is None:
        return False
    far = abs(Decimal(value) - usual)
    return far * far > 9 * usual and not usual / _TWICE <= value <= usual * _TWICE


# Numbers of things in sentences: `1 purchase`, `1,200 purchases`.


def counted(count: int, one: str, many: str | None = None) -> str:
    """Write a number before its noun; `many` is for a noun whose plural is not made with an s."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
