"""Lines that fit on a screen: broken between words, never within a command that can be copied."""

import re
import shutil
import textwrap

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
    whole = _QUOTED.sub(lambda found: found[0].replace(" ", _STAYS), line)
    lines = textwrap.wrap(
        whole, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace(_STAYS, " ")
