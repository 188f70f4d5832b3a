"""The options that several commands share, each an alias to be used as an annotation.

Modules of commands do without `from __future__ import annotations`: Typer reads the annotations
when it runs. The options of every command stand in `commands.py`.
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from cardoffers_cli.kernel.cli import completing
from cardoffers_cli.kernel.cli.commands import moment
from cardoffers_cli.kernel.disk.outputs import read_private_file
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.ids import MOST_ROWS


def option(about: str, *names: str, **more: Any) -> Any:
    """Declare an option by what it is about; its names, where they are not the parameter's."""
    return typer.Option(*names, help=about, **more)


def argument(metavar: str, about: str, **more: Any) -> Any:
    """Declare an argument by the word for it and what it is about."""
    return typer.Argument(metavar=metavar, help=about, **more)


By = Literal["day", "offer", "merchant"]
"""What a report can be taken apart by."""


institution_option = partial(
    typer.Option, "--institution", "-i", metavar="INST", autocompletion=completing.institutions
)
Institution = Annotated[str, institution_option(help="The institution: slug or id.")]
AnyInstitution = Annotated[str | None, institution_option(help="Only this one: slug or id.")]
AskedInstitution = Annotated[
    str | None,
    institution_option(
        help="The institution: slug or id [CARDOFFERS_INSTITUTION, else the only one]."
    ),
]
AllInstitutions = Annotated[bool, option("Look at every institution.", "--all-institutions")]
ErasureFile = Annotated[
    Path | None, option("The newest list of erasures.", "--erasures", exists=True, dir_okay=False)
]
DryRun = Annotated[bool, option("Show what would be done; write nothing.", "--dry-run")]
"""Stands on everything that writes (rules.md#dry-runs)."""
Engine = Annotated[
    str | None,
    option("Compute on Spark Connect at sc://host:port [DuckDB here].", "--engine", metavar="URL"),
]
Yes = Annotated[bool, option("Confirm without being asked.", "--yes")]
Raw = Annotated[bool, option("Leave cells unguarded that a spreadsheet could run.", "--raw")]
From = Annotated[
    str | None, option("From here on, included.", "--from", metavar="TIME", callback=moment)
]
To = Annotated[str | None, option("Up to here, excluded.", "--to", metavar="TIME", callback=moment)]
Limit = Annotated[int, option("Rows of one page.", "--limit", min=1, max=1000)]
Cursor = Annotated[str | None, option("The next_cursor of the page before.", "--cursor")]
All = Annotated[bool, option("Every row, in place of one page.", "--all")]


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How many rows are wanted, from where on, and whether as they are."""

    limit: int
    all_rows: bool
    raw: bool = False
    cursor: str | None = None

    def refuse_cursor(self, other: str) -> None:
        """Refuse a cursor beside another option, under which there are no pages."""
        if self.cursor:
            raise UsageError(f"{other} and --cursor exclude each other.", hint="Leave one out.")

    @property
    def most(self) -> int:
        """The rows that are asked for at most."""
        return MOST_ROWS if self.all_rows else self.limit


# What is better not typed into a command line: signing secrets, and tokens.
#
# A shell keeps its history, and every process can see another's arguments. So secrets come from a
# private file, stdin or the environment, and `-` in place of a token means the next line of stdin.


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
        raise UsageError.from_table("kernel/cli", "input_missing")
    return line.decode(errors="replace").rstrip("\r\n")
