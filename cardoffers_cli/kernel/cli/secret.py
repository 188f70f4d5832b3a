"""What is better not typed into a command line: signing secrets, and tokens.

A shell keeps its history, and every process can see another's arguments. So secrets come from a
private file, stdin or the environment, and `-` in place of a token means the next line of stdin.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from cardoffers_cli.kernel.cli.options import option
from cardoffers_cli.kernel.disk.outputs import read_private_file
from cardoffers_cli.kernel.words.errors import UsageError

VARIABLE = "CARDOFFERS_WEBHOOK_SECRET"
_LONGEST = 4096  # bytes; no secret and no token is as long

SecretFile = Annotated[
    Path | None,
    option(
        f"A private file with the signing secret, or several, one a line; - is stdin [{VARIABLE}].",
        metavar="FILE",
    ),
]


def read_secrets(file: Path | None) -> list[str]:
    """Return the secrets, one a line; none where none was given."""
    if file is None:
        text = os.environ.get(VARIABLE, "")
    elif file == Path("-"):
        text = sys.stdin.buffer.read(_LONGEST).decode("utf-8", "replace")
    else:
        text = read_private_file(file)
    return [line.strip() for line in text.splitlines() if line.strip()]


def typed(*values: str) -> Iterator[str]:
    """Yield each value as given, or the next line of standard input for `-`."""
    for value in values:
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
