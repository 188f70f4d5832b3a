"""How a file of rows is to be read, as options of the commands that take one.

The words of the options, and what they come to: the layout, the rules, the reading.
"""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cardoffers_cli.kernel.cli.commands import zone
from cardoffers_cli.kernel.cli.options import option
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.row_kinds import BY_NAME, PURCHASES

if TYPE_CHECKING:
    from cardoffers_cli.intake.chunks import FileReading
    from cardoffers_cli.intake.layout_model import Profile
    from cardoffers_cli.kernel.cli.context import CommandContext


def delimiter(value: str) -> str:
    """Read what separates fields: one character, or `tab`, also as a shell writes it."""
    mark = {"tab": "\t", "\\t": "\t"}.get(value, value)
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n':
        raise typer.BadParameter("one ASCII character, such as ; or | or tab, and not a quote")
    return mark


def currency_decimals(currency: str | None) -> int:
    """Return the decimals of a currency, 2 where none is given; raise `UsageError`."""
    from cardoffers_cli.kernel.words.money import MINOR_UNITS

    if currency is None:
        return 2
    if currency not in MINOR_UNITS:
        raise UsageError.from_table("intake", "currency_unknown", currency=currency)
    return MINOR_UNITS[currency]


def layout_of(profile: Path | None, delimiter: str, sheet: str | None = None) -> "Profile | None":
    """Read the profile that was named, if one was; one that makes tokens is refused."""
    from cardoffers_cli.intake.layout_model import read_profile, refuse_raw_keys

    if profile is None:
        return None
    if delimiter != "," or sheet:
        named = "sheet" if sheet else "delimiter"
        raise UsageError(
            f"--profile and --{named} exclude each other.",
            hint=f"The {named} stands in the profile: leave --{named} out.",
        )
    layout = read_profile(profile)
    refuse_raw_keys(layout, profile)
    return layout


def layout_for(
    context: "CommandContext",
    institution: str,
    layout: "Profile | None",
    *,
    is_other: bool,
    to_write: bool = False,
) -> "Profile | None":
    """Return the profile that was named, or else the one that an institution keeps, and say so.

    None is looked for where it is said that the file `is_other`: in our own layout, or another.
    What is `to_write` is read by the profile of the store itself, never by that of a snapshot.
    """
    if layout is not None or is_other:
        return layout
    from cardoffers_cli.intake.layouts import kept_layout

    if to_write:
        with context.job.store(read_only=True) as store:
            profile = kept_layout(store, institution)
    else:
        from cardoffers_cli.kernel.store.reading import reading

        with reading(context.job) as source:
            profile = kept_layout(source.store, institution)
    if profile is not None:
        context.note(
            f"Read by the profile that {institution} keeps; --no-profile reads our own layout."
        )
    return profile


def checked_as(
    now: datetime,
    currency: str | None,
    delimiter: str,
    profile: Path | None,
    *,
    zone: str | None,
    sheet: str | None = None,
    kind: str | None = None,
    allow_unterminated: bool = False,
    token_key: bytes | None = None,
) -> "FileReading":
    """Return how files are read that are checked, by the rules that an import reads them by."""
    from cardoffers_cli.intake.chunks import FileReading

    return FileReading(
        now=now,
        currency=currency,
        decimals=currency_decimals(currency),
        delimiter=delimiter,
        assume_timezone=zone,
        unterminated=None if allow_unterminated else "error",
        profile=layout_of(profile, delimiter, sheet),
        token_key=token_key,
        sheet=sheet,
        kind=BY_NAME[kind or PURCHASES.name],
        is_kind_given=kind is not None,
    )


Delimiter = Annotated[str, option("What separates the fields of a CSV file.", callback=delimiter)]


Currency = Annotated[str | None, option("The currency of the amounts (ISO 4217) [2 decimals].")]


LayoutProfile = Annotated[
    Path | None,
    option("The layout of the file, if not our own: see `cardoffers profile`.", metavar="P.toml"),
]


NoProfile = Annotated[
    bool, option("The file is in our own layout, not by the kept profile.", "--no-profile")
]


Kind = Annotated[
    Literal["purchases", "refunds", "credits"] | None,
    option("What the rows are [as the names in the file say; else purchases]."),
]


SheetName = Annotated[
    str | None,
    option("The sheet of a workbook, by name or number [first that fits].", metavar="SHEET"),
]


Timezone = Annotated[
    str | None,
    option("Accept times without an offset, as times of this zone.", metavar="ZONE", callback=zone),
]


AllowUnterminated = Annotated[
    bool, option("Take a last line without a line end: it was not cut off.")
]


YesItIs = Annotated[
    bool, option("Take it although it looks like another's, or sent before; logged.", "--yes-it-is")
]


YesItIsWhole = Annotated[
    bool, option("Take it although it looks like half a file.", "--yes-it-is-whole")
]


Errors = Annotated[Path | None, option("Write every finding, one a line, as CSV.", metavar="FILE")]


Valid = Annotated[Path | None, option("Write the good rows, byte for byte.", metavar="FILE")]


Rejected = Annotated[
    Path | None, option("Write the other rows as they came, card numbers masked.", metavar="FILE")
]


RawRejected = Annotated[
    bool, option("Leave card numbers and e-mail addresses in --rejected as they came.")
]
