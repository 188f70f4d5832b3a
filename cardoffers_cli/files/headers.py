"""Read the header of a delimited file and say precisely what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.domain.findings import Finding, make_finding
from cardoffers_cli.files.delimited import Layout, LineFault, split_fields
from cardoffers_cli.files.lines import MAX_LINE_BYTES
from cardoffers_cli.files.sources import unusable

if TYPE_CHECKING:
    from collections.abc import Sequence

_DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_SHOWN_NAME = 40


@dataclass(frozen=True, kw_only=True)
class Names:
    """The columns a kind of file may have.

    `required` names columns that must stand in the header; `a|b` means one of them. `ignored`
    columns are known and left out, with a warning.
    """

    known: Sequence[str]
    required: Sequence[str] = ()
    ignored: Sequence[str] = ()


def read_header(
    line: bytes, names: Names, *, delimiter: str, number: int
) -> tuple[Layout, list[Finding]]:
    """Read the header line; return its layout and one warning for each column that is ignored.

    Columns to be left out get names that start with a space, which no known name does. Raises
    `FileUnusable` with the codes of a header (decisions, Reading transaction files).
    """
    given = _given_names(line, delimiter, number)
    _check(given, names, line, delimiter, number)
    layout = Layout(
        names=tuple(
            name if name in names.known else f" {position}"
            for position, name in enumerate(given, start=1)
        ),
        delimiter=delimiter,
    )
    return layout, [
        _left_out(name, position, names, number)
        for position, name in enumerate(given, start=1)
        if name not in names.known
    ]


def _given_names(line: bytes, delimiter: str, number: int) -> list[str]:
    if b"\0" in line:
        raise unusable("file_binary", "The header holds NUL bytes.", line=number)
    if len(line) > MAX_LINE_BYTES:
        raise unusable("header_missing", "The first line is too long for a header.", line=number)
    try:
        return split_fields(line.decode(), delimiter)
    except UnicodeDecodeError:
        raise unusable("file_encoding", "The header is not UTF-8.", line=number) from None
    except LineFault as fault:
        raise unusable(
            "header_missing", f"The first line is not a header: {fault.message}.", line=number
        ) from None


def _check(given: list[str], names: Names, line: bytes, delimiter: str, number: int) -> None:
    alike = {_folded(name): name for name in names.known}
    if not any(_folded(name) in alike for name in given):
        _refuse_delimiter(line, alike, delimiter, number)
        raise unusable(
            "header_missing", "The first line holds none of the known column names.", line=number
        )
    for name in names.known:
        if given.count(name) > 1:
            raise unusable(
                "header_column_duplicate", f"The header names {name} twice.", line=number
            )
    missing = [
        wanted.split("|")
        for wanted in names.required
        if not any(name in given for name in wanted.split("|"))
    ]
    if missing:
        _refuse_missing(missing, given, number)


def _refuse_delimiter(line: bytes, alike: dict[str, str], delimiter: str, number: int) -> None:
    for other, spoken in _DELIMITERS.items():
        if other == delimiter:
            continue
        parts = line.decode().replace(_QUOTE, "").split(other)
        if len(parts) > 1 and any(_folded(part) in alike for part in parts):
            raise unusable(
                "header_delimiter",
                f"The columns of the header are separated by {spoken}.",
                hint=f"Add --delimiter '{other}'." if other != "\t" else r"Add --delimiter '\t'.",
                line=number,
            )


def _refuse_missing(missing: list[list[str]], given: list[str], number: int) -> None:
    """Name every column that is missing at once, and those among them that are only misspelled."""
    lacking = [" or ".join(alternatives) for alternatives in missing]
    alike = set(map(_folded, given))
    near = [name for alternatives in missing for name in alternatives if _folded(name) in alike]
    one = len(near) == 1
    raise unusable(
        "header_column_missing",
        f"The header lacks the column{'s' if len(lacking) > 1 else ''} {', '.join(lacking)}.",
        hint=f"{'A column is' if one else 'Columns are'} named almost so: write "
        f"{'it' if one else 'them'} exactly {', '.join(near)}, in lower case without spaces."
        if near
        else None,
        line=number,
    )


_QUOTE = '"'


def _folded(name: str) -> str:
    return "".join(name.casefold().replace("-", "_").split()).replace("_", "")


def _left_out(name: str, position: int, names: Names, number: int) -> Finding:
    if name in names.ignored:
        return make_finding(
            "column_ignored", f"the column {name} is ignored", line=number, column=name
        )
    shown = _shown(name) or f"number {position}"
    return make_finding(
        "column_unknown",
        f"the column {shown} is not known and is ignored",
        line=number,
        column=shown,
    )


def _shown(name: str) -> str | None:
    """Return a column's name if it can only be a name, and not a value that must not be printed."""
    is_name = name.replace("_", "").replace(" ", "").isalpha() and len(name) <= _SHOWN_NAME
    return name if is_name and name.isascii() else None
