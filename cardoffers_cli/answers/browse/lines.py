"""Lines without a look, which the screen and the conversation share.

A line's `tone` says what it is for the eye; the words alone say everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.kernel.words.visible import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Tone = Literal["plain", "title", "strong", "faint"]

_LONGEST = 200
"""Letters of a name or a detail that are shown; nobody reads on."""


@dataclass(frozen=True)
class Line:
    """One line, as long as it may be; where it is broken, what follows is set in by `indent`."""

    text: str
    tone: Tone = "plain"
    indent: int = 0


EMPTY = Line("")


def broken(lines: Iterable[Line], width: int) -> Iterator[Line]:
    """Yield lines that fit a width, broken between words."""
    for line in lines:
        indent = " " * min(line.indent, width // 2)
        parts = wrap(line.text, width, subsequent_indent=indent, break_on_hyphens=False)
        yield from (Line(part, line.tone) for part in parts or [""])


def pair(word: str, meaning: str, width: int) -> Line:
    """Return a line of two columns, a word and what it means."""
    return Line(f"{word:<{width}} {meaning}", indent=width + 1)


def words(code: str) -> str:
    """Write a code as words: `not_matched_yet` is `not matched yet`."""
    return code.replace("_", " ")


def named(text: Any) -> str:
    """Return a name from outside, what acts or hides in it escaped, and cut where it is endless."""
    return shortened(str(text), _LONGEST)
