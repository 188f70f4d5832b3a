"""The signing secrets a command checks with: from a private file, stdin or the environment.

Never from a flag: a shell keeps its history, and every process can see another's arguments.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

from cardoffers_cli.cli.kernel.options import option
from cardoffers_cli.files.private import read_private_file

VARIABLE = "CARDOFFERS_WEBHOOK_SECRET"
_LONGEST = 4096

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
