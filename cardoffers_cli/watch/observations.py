"""What a finding of the watch means to people, and what to do next.

To add a code, add it to `findings.toml`, and to the table of its section in `docs/watch.md`.
"""

from __future__ import annotations

import json
import tomllib
from decimal import Decimal
from importlib.resources import files
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

MEANINGS = {
    code: WatchMeaning(says=table["says"], then=table["then"].replace("{accept}", _ANY))
    for code, table in tomllib.loads(
        files(__package__).joinpath("findings.toml").read_text("utf-8")
    ).items()
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
