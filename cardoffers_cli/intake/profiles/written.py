"""How amounts and times are written in an institution's layout, as both readings need it.

What is said of an amount here in plain Python is said of columns in `translation.py`; a property
test holds them together. Imports neither polars nor pydantic.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cardoffers_cli.intake.conditions import searching
from cardoffers_cli.intake.fields import SERIAL
from cardoffers_cli.kernel.words.findings import make_finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cardoffers_cli.intake.layout_model import AmountSource, Profile
    from cardoffers_cli.kernel.words.findings import Finding

UNREADABLE = "?"
"""What stands in the place of a text that is not as the profile says: no rule lets it pass."""

_BLANK = r"[ \x{a0}\x{202f}]*"
_MINUS = r"[-\x{2212}]"
NEGATIVE = rf"{_MINUS}|\("
_GROUP = {" ": r"[ \x{a0}\x{202f}]", "'": r"['\x{2019}]"}
"""Marks between thousands that are written in more than one way."""

AMBIGUOUS, SKIPPED = "timestamp_ambiguous", "timestamp_skipped"
TURNED = "date_turned"
FAULTS = {
    AMBIGUOUS: "comes twice, as the clocks went back,",
    SKIPPED: "did not come, as the clocks went forward,",
}
"""What can be wrong with a local hour, by its code."""
TURNED_TEXT = rf"{SERIAL}|^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?: [0-9:.]+)?$"
"""Days that are counted, and what a date cell of a sheet is read as."""

_MOST_AMOUNTS = 100_000


def amount_pattern(source: AmountSource) -> str:
    """Return the pattern of what an amount may look like."""
    point = escaped(source.decimal)
    number = "[0-9]+"
    if source.thousands:
        group = _GROUP.get(source.thousands, escaped(source.thousands))
        number = rf"(?:[0-9]+|[0-9]{{1,3}}(?:{group}[0-9]{{2,3}})*{group}[0-9]{{3}})"
    if not source.minor_units:
        number = rf"(?:{number}(?:{point}[0-9]+)?|{point}[0-9]+)"
    currency = rf"(?:{escaped(source.currency)}{_BLANK})?" if source.currency else ""
    behind = rf"(?:{_BLANK}{escaped(source.currency)})?" if source.currency else ""
    sign = rf"(?:[+]|{_MINUS}){_BLANK}"
    forms = [
        rf"{currency}(?:{sign})?{number}{behind}",
        rf"{sign}{currency}{number}{behind}",
        rf"{currency}{number}{_BLANK}(?:[+]|{_MINUS}){behind}",
    ]
    if source.parentheses:
        forms += [rf"\({currency}{number}{behind}\)", rf"{currency}\({number}\){behind}"]
    return f"^(?:{'|'.join(forms)})$"


def escaped(text: str) -> str:
    """Write a text as a pattern of itself."""
    return "".join(f"\\x{{{ord(letter):x}}}" for letter in text)


class PlainAmounts(dict[str, str]):
    """The amounts of texts: a mapping that reads what it is asked for, and remembers it a while.

    An amount is as `amounts.plain_amounts` has it: digits with a point, `UNREADABLE`, or empty.
    """

    def __init__(self, source: AmountSource, decimals: int, *, as_written: bool = False) -> None:
        super().__init__()
        self._source = source
        self._decimals = decimals
        self._is_negated = source.negate and not as_written
        self._is_written_so = searching(amount_pattern(source))
        self._is_negative = searching(NEGATIVE)
        self._others = re.compile(f"[^0-9{re.escape(source.decimal)}]")
        self[""] = ""

    def __missing__(self, text: str) -> str:
        if len(self) >= _MOST_AMOUNTS:
            self.clear()
            self[""] = ""
        amount = self[text] = self._read(text)
        return amount

    def _read(self, text: str) -> str:
        if self._is_written_so(text) is None:
            return UNREADABLE
        source, decimals = self._source, self._decimals
        bare = text.replace(source.currency, "") if source.currency else text
        bare = self._others.sub("", bare).replace(",", ".")
        if source.minor_units:
            bare = bare.lstrip("0").zfill(decimals + 1)
            bare = f"{bare[:-decimals]}.{bare[-decimals:]}" if decimals else bare
        elif bare.startswith("."):
            bare = f"0{bare}"
        is_negative = (self._is_negative(text) is not None) != self._is_negated
        return f"-{bare}" if is_negative else bare


def messages_of(profile: Profile, zone: str | None) -> Mapping[str, str]:
    """Return what is said where a value is not as the profile says, by code.

    Times that name no zone are in that of the profile, or else in `zone`.
    """
    amount, time = profile.fields.amount, profile.fields.transacted_at
    messages = {}
    if amount:
        messages["amount_invalid"] = f"amount is not written as the profile says: {_form(amount)}"
    if time:
        messages |= {
            "timestamp_invalid": f"transacted_at is not written as {time.format}, "
            "or not a real time",
            **{
                code: f"transacted_at {what} in {time.zone or zone}"
                for code, what in FAULTS.items()
            },
            TURNED: f"transacted_at is not written as {time.format}: a spreadsheet has turned "
            "it into a date of its own",
        }
    return messages


def refunds_told(refunds: int) -> Finding:
    """Return what is said of a file among whose rows are refunds."""
    are = "row is a refund" if refunds == 1 else "rows are refunds"
    message = f"{refunds:,} {are}, as the profile says: an import takes them as such"
    return make_finding("refunds_among", message)


def _form(source: AmountSource) -> str:
    """Say how amounts are written, by an example."""
    if source.minor_units:
        return "digits without a decimal mark"
    example = f"{source.currency}1{source.thousands}234{source.decimal}50"
    return f"as {example}, or ({example})" if source.parentheses else f"as {example}"
