"""Counts drawn with the block elements of Unicode: a bar, and a line of days."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_EIGHTHS = " ▏▎▍▌▋▊▉"
_FULL = "█"
_HEIGHTS = "▁▂▃▄▅▆▇█"


def bar(count: int, most: int, width: int) -> str:
    """Draw a count as a bar, in eighths of a letter; what is not nothing is seen."""
    eighths = max(count * width * 8 // most, 1) if count else 0
    full, rest = divmod(eighths, 8)
    return _FULL * full + _EIGHTHS[rest] * bool(rest)


def sparkline(counts: Sequence[int]) -> str:
    """Draw counts as a line, one letter each: none is lowest, one already stands higher."""
    most, steps = max(counts, default=0) or 1, len(_HEIGHTS) - 1
    return "".join(_HEIGHTS[-(-count * steps // most)] for count in counts)
