"""What a command shows beside its JSON: sheets and free text, and in which style."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.sheets.sheets import Sheet


@dataclass(frozen=True)
class Text:
    """Free lines among the sheets, in tables and Markdown only."""

    lines: Sequence[str]
    title: str | None = None


Block = Sheet | Text


@dataclass(frozen=True)
class Style:
    """The form to show, and for whom; `mode` is that of the file it goes to, if to any.

    A page says what it is of: the command as its `title`, the moment, and where it is from.
    """

    format: Format
    is_terminal: bool = False
    has_colour: bool = False
    raw: bool = False
    mode: int = 0o600
    title: str = ""
    as_of: datetime | None = None
    about: tuple[str, ...] = ()


# Counts drawn with the block elements of Unicode: a bar, and a line of days.


_EIGHTHS = " ▏▎▍▌▋▊▉"
_FULL = "█"
_HEIGHTS = "▁▂▃▄▅▆▇█"


def bar(count: int, most: int, width: int) -> str:
    """Draw a count as a bar, in eighths of a letter; what is not nothing is seen."""
    eighths = max(count * width * 8 // most, 1) if count else 0
    full, remainder = divmod(eighths, 8)
    return _FULL * full + _EIGHTHS[remainder] * bool(remainder)


def sparkline(counts: Sequence[int]) -> str:
    """Draw counts as a line, one letter each: none is lowest, one already stands higher."""
    most, steps = max(counts, default=0) or 1, len(_HEIGHTS) - 1
    return "".join(_HEIGHTS[-(-count * steps // most)] for count in counts)
