r"""Text that shows what it holds: control, bidi and zero-width characters as escapes.

A terminal obeys such characters, and a reader does not see them; `\x1b` and `\u202e` are seen.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_CONTROLS = "\x00-\x1f\x7f-\x9f"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_SURROGATES = "\ud800-\udfff"
_HIDDEN = re.compile(f"[{_CONTROLS}{_INVISIBLE}{_SURROGATES}]")
_CONTROL = re.compile(f"[{_CONTROLS}]")
_NAMED = {
    **{chr(point): f"\\x{point:02x}" for point in range(0x80)},
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}


def visible(text: str, *, keep: str = "") -> str:
    """Escape every character that acts or hides, except those to keep."""
    return escaped(text, lambda hidden: hidden if hidden in keep else _escape(hidden))


def escaped(text: str, escape: Callable[[str], str]) -> str:
    """Write every character that acts or hides in another form."""
    return _HIDDEN.sub(lambda match: escape(match[0]), text)


def controls_visible(text: str) -> str:
    """Escape control characters only, so that a line stays one line and a field one field."""
    return _CONTROL.sub(lambda match: _escape(match[0]), text)


def shortened(text: str, most: int = 80) -> str:
    """Return a name as a sentence can carry it: hidden characters escaped, the rest cut off."""
    printable = visible(text)
    return printable if len(printable) <= most else f"{printable[: most - 1]}…"


def _escape(character: str) -> str:
    return _NAMED.get(character) or character.encode("ascii", "backslashreplace").decode()
