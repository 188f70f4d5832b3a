"""The options that several commands share, each an alias to be used as an annotation.

Modules of commands do without `from __future__ import annotations`: Typer reads the annotations
when it runs. The options of every command stand in `everywhere.py`.
"""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from cardoffers_cli.cli.kernel import completing
from cardoffers_cli.cli.kernel.everywhere import moment

By = Literal["day", "offer", "merchant"]
"""What a report can be taken apart by."""


def delimiter(value: str) -> str:
    """Read what separates fields: one character, or `tab`, also as a shell writes it."""
    found = {"tab": "\t", "\\t": "\t"}.get(value, value)
    if len(found) != 1 or not found.isascii() or found in '"\r\n':
        raise typer.BadParameter("one ASCII character, such as ; or | or tab, and not a quote")
    return found


def zone(value: str | None) -> str | None:
    """Check that an option names a time zone."""
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(value).key if value else None
    except (KeyError, ValueError, OSError):
        raise typer.BadParameter(
            f"{value!r} is no time zone; write one such as Europe/London"
        ) from None


institution_option = partial(
    typer.Option,
    "--institution",
    "-i",
    metavar="INST",
    autocompletion=completing.institutions,
)
Institution = Annotated[str, institution_option(help="The institution: slug or id.")]
AnyInstitution = Annotated[str | None, institution_option(help="Only this one: slug or id.")]
AskedInstitution = Annotated[
    str | None,
    institution_option(
        help="The institution: slug or id [CARDOFFERS_INSTITUTION, else the only one]."
    ),
]
AllInstitutions = Annotated[
    bool, typer.Option("--all-institutions", help="Look at every institution.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done; write nothing.")]
"""Stands on everything that writes (rules.md#dry-runs)."""
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine", metavar="URL", help="Compute on Spark Connect at sc://host:port [DuckDB here]."
    ),
]
Delimiter = Annotated[
    str, typer.Option(callback=delimiter, help="What separates the fields of a CSV file.")
]
Timezone = Annotated[
    str | None,
    typer.Option(
        metavar="ZONE",
        callback=zone,
        help="Accept times without an offset, as times of this zone.",
    ),
]
AllowUnterminated = Annotated[
    bool, typer.Option(help="Take a last line without a line end: it was not cut off.")
]
Errors = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write every finding, one a line, as CSV.")
]
Valid = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the good rows, byte for byte.")
]
Rejected = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the other rows as they came, card numbers masked."),
]
RawRejected = Annotated[
    bool, typer.Option(help="Leave card numbers and e-mail addresses in --rejected as they came.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Confirm without being asked.")]
Raw = Annotated[
    bool, typer.Option("--raw", help="Leave cells unguarded that a spreadsheet could run.")
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="TIME", callback=moment, help="From here on, included."),
]
To = Annotated[
    str | None,
    typer.Option("--to", metavar="TIME", callback=moment, help="Up to here, excluded."),
]
Limit = Annotated[int, typer.Option("--limit", min=1, max=1000, help="Rows of one page.")]
Cursor = Annotated[str | None, typer.Option("--cursor", help="The next_cursor of the page before.")]
All = Annotated[bool, typer.Option("--all", help="Every row, in place of one page.")]
