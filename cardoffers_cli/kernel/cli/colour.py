"""Lines on a screen: where they are folded, and what colour means in them.

Red is wrong, yellow needs attention, green is good. A tone is told by a word of the contract in a
column that says a state, or by the word that a line begins with. The text says the same, so that
nothing is lost where there is no colour.
"""

from __future__ import annotations

import re
import shutil
import textwrap

BAD, WARNING, GOOD = "red", "yellow", "green"

_WORDS = {
    BAD: "error failed exhausted rejected duplicate_conflict",
    WARNING: "warning unfinished findings stopped merchant_unresolved due",
    GOOD: "settled delivered redeemed finished imported done",
}
_TONES = {word: tone for tone, words in _WORDS.items() for word in words.split()}
_TONES["broken off"] = WARNING
_FLAGS = {"true": GOOD, "false": BAD}
_STATES = {"level", "state", "status", "webhook_state", "reason", "outcome"}
_CODES = {BAD: "\x1b[31m", WARNING: "\x1b[33m", GOOD: "\x1b[32m"}
_PLAIN = "\x1b[0m"


def tone_of(column: str, cell: str) -> str:
    """Return the colour of a cell, by the name of its column; none for most."""
    if column == "ok":
        return _FLAGS.get(cell, "")
    return _TONES.get(cell, "") if column in _STATES else ""


def tone_of_line(line: str) -> tuple[str, int]:
    """Return the colour that a line begins with, and for how many letters."""
    word, colon, _ = line.partition(":")
    tone = {"error": BAD, "warning": WARNING}.get(word.lower(), "") if colon else ""
    return tone, len(word) + 1 if tone else 0


def painted(text: str) -> str:
    """Return a text for a terminal that knows colours, its first word in its colour."""
    tone, letters = tone_of_line(text)
    return f"{_CODES[tone]}{text[:letters]}{_PLAIN}{text[letters:]}" if tone else text


_QUOTED = re.compile("`[^`]*`")
_STAYS = "\x00"
"""In the place of a space that is no place to break; no text that is shown has one."""


def folded(text: str) -> str:
    """Return a text with its lines folded to the width of the terminal."""
    width = shutil.get_terminal_size().columns
    return "\n".join(_folded(line, width) for line in text.split("\n"))


def _folded(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    text = _QUOTED.sub(lambda match: match[0].replace(" ", _STAYS), line)
    lines = textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace(_STAYS, " ")
