"""Values that are better not typed into a command line, where others can read them.

A shell keeps its history and every process can see another's arguments, so `-` in place of a token
means the next line of standard input.
"""

import sys
from collections.abc import Iterator

from cardoffers_cli.domain.errors import UsageError

_LONGEST = 4096  # bytes; no token is as long


def typed(*given: str) -> Iterator[str]:
    """Yield each value as given, or the next line of standard input for `-`."""
    for value in given:
        yield _line() if value == "-" else value


def _line() -> str:
    line = sys.stdin.buffer.readline(_LONGEST)
    if not line:
        raise UsageError(
            "Standard input has no line for every -.",
            code="input_missing",
            hint="Send one value a line, in the order of the options in --help.",
        )
    return line.decode(errors="replace").rstrip("\r\n")
