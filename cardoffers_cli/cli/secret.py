"""The signing secrets a command checks with: from a private file, stdin or the environment.

Never from a flag: a shell keeps its history, and every process can see another's arguments.
"""

import os
import stat
import sys
from pathlib import Path
from typing import Annotated

import typer

from cardoffers_cli.domain.errors import NotFound, Refused

VARIABLE = "CARDOFFERS_WEBHOOK_SECRET"
_LONGEST = 4096
_OTHERS_MAY = 0o077

SecretFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help=f"A private file with the signing secret, or several, one a line; - is stdin "
        f"[{VARIABLE}].",
    ),
]


def read_secrets(file: Path | None) -> list[str]:
    """Return the secrets, one a line; none where none was given."""
    if file is None:
        text = os.environ.get(VARIABLE, "")
    elif file == Path("-"):
        text = sys.stdin.buffer.read(_LONGEST).decode("utf-8", "replace")
    else:
        text = _private(file)
    return [line.strip() for line in text.splitlines() if line.strip()]


def _private(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            if stat.S_IMODE(os.fstat(opened.fileno()).st_mode) & _OTHERS_MAY:
                raise Refused(
                    f"The secret in {file} can be read by others.",
                    code="secret_file_open",
                    hint=f"Make it private: chmod 600 {file}",
                )
            return opened.read(_LONGEST).decode("utf-8", "replace")
    except FileNotFoundError:
        raise NotFound(f"There is no file {file}.", code="file_missing") from None
    except IsADirectoryError:
        raise NotFound(f"{file} is a folder.", code="file_missing") from None
