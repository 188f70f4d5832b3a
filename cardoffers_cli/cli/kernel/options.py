"""The options that every command has, and those that several share.

`everywhere` declares the first kind once; `Command` and `Group` add them to each command, so that
they work before its name and after it. What was given lands in `Options`, as `ctx.obj`; flags that
were not given stay None here, and `settings.py` looks on in the environment and the file.

A shared option of single commands is an alias to be used as an annotation. Modules of commands do
without `from __future__ import annotations`: Typer reads the annotations when it runs.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from cardoffers_cli.cli.kernel import completing
from cardoffers_cli.domain.moments import parse_moment


class Format(StrEnum):
    """The forms in which data can be shown."""

    table = "table"
    tsv = "tsv"
    csv = "csv"
    json = "json"
    jsonl = "jsonl"
    md = "md"
    html = "html"
    parquet = "parquet"
    xlsx = "xlsx"


@dataclass
class Options:
    """What the command line said, before the command or after it."""

    store: Path | None = None
    config: Path | None = None
    as_of: datetime | None = None
    lock_wait: int | None = None
    engine: str | None = None
    format: Format | None = None
    output: Path | None = None
    quiet: bool = False
    no_color: bool = False
    debug: bool = False


def moment(value: str | None) -> datetime | None:
    """Read an option's moment, as a naive datetime in UTC."""
    try:
        return parse_moment(value) if value else None
    except ValueError:
        raise typer.BadParameter(
            f"{value!r} is not a time; write 2026-03-01 or 2026-03-01T06:00:00Z"
        ) from None


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


def everywhere(
    *,
    store: Annotated[
        Path | None,
        typer.Option(help="The store [CARDOFFERS_STORE, else ./cardoffers.duckdb]."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="Configuration, TOML [CARDOFFERS_CONFIG].")
    ] = None,
    as_of: Annotated[
        str | None, typer.Option(metavar="TIME", callback=moment, help="The clock, if not now.")
    ] = None,
    lock_wait: Annotated[
        int | None,
        typer.Option(min=0, metavar="SECONDS", help="How long to wait for a busy store [60]."),
    ] = None,
    format: Annotated[  # noqa: A002  the flag's name
        Format | None,
        typer.Option(
            metavar="FORMAT",
            help=f"One of {', '.join(Format)} [table on a terminal, else tsv].",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to a file; its suffix is a format.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes, no progress.")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colours [NO_COLOR].")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Say where an unexpected error was.")
    ] = False,
) -> None:
    """Declare the options of every command."""


Institution = Annotated[
    str,
    typer.Option(
        "--institution",
        "-i",
        metavar="INST",
        help="The institution: slug or id.",
        autocompletion=completing.institutions,
    ),
]
AnyInstitution = Annotated[
    str | None,
    typer.Option(
        "--institution",
        "-i",
        metavar="INST",
        help="Only this one: slug or id.",
        autocompletion=completing.institutions,
    ),
]
AskedInstitution = Annotated[
    str | None,
    typer.Option(
        "--institution",
        "-i",
        metavar="INST",
        help="The institution: slug or id [CARDOFFERS_INSTITUTION, else the only one].",
        autocompletion=completing.institutions,
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


class _Shared(TyperOption):
    """An option of every command: it keeps what was given in `Options`.

    One that was not given is not looked at, because Typer would import pydantic for it.
    """

    def process_value(self, ctx: Any, value: Any) -> None:
        """Keep the value; of two, the one nearer to the end of the line holds."""
        if value is None or value is False:
            return
        setattr(ctx.ensure_object(Options), self.name, super().process_value(ctx, value))


@cache
def everywhere_params() -> list[Any]:
    """Return the parameters that `everywhere` declares, made once."""
    declaration = typer.Typer(add_completion=False)
    declaration.command()(everywhere)
    params: list[Any] = get_command(declaration).params
    for param in params:
        param.expose_value = False
        param.__class__ = _Shared  # Typer makes every option a TyperOption
    return params


class _Everywhere:
    """Adds the options of every command, and gives them a section of their own in the help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the command's own parameters, then those of every command."""
        own: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in own:
            if getattr(param, "is_flag", False) and param.default is None:
                param.default = False  # for None, Typer would import pydantic
        return [*own, *everywhere_params()]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse, with a place where the options of every command are kept."""
        ctx.ensure_object(Options)
        return super().parse_args(ctx, args)  # type: ignore[misc,no-any-return]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections of the help, the options of every command last."""
        shared = everywhere_params()
        own = [param for param in self.get_params(ctx) if param not in shared]
        sections = {
            "Arguments": [param for param in own if param.param_type_name == "argument"],
            "Options": [param for param in own if param.param_type_name == "option"],
        }
        for title, params in sections.items():
            _write_section(ctx, formatter, title, params)
        if isinstance(self, TyperGroup):
            self.format_commands(ctx, formatter)
        _write_section(ctx, formatter, "Everywhere", shared)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the docstring; indented paragraphs (examples) keep their lines."""
        text = _keep_indented(getattr(self, "help", None) or "")
        if text:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(text)


def _write_section(ctx: Any, formatter: Any, title: str, params: list[Any]) -> None:
    records = [record for param in params if (record := param.get_help_record(ctx))]
    if records:
        with formatter.section(title):
            formatter.write_dl(records)


def _keep_indented(text: str) -> str:
    paragraphs = text.partition("\f")[0].strip().split("\n\n")
    return "\n\n".join(f"\b\n{part}" if part.startswith("  ") else part for part in paragraphs)


class Command(_Everywhere, TyperCommand):
    """A command with the options of every command."""


class Group(_Everywhere, TyperGroup):
    """A group of commands with the options of every command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse; nothing at all means that somebody wants to look around."""
        looks_around = not args and not ctx.resilient_parsing
        return super().parse_args(ctx, ["--help"] if looks_around else args)
