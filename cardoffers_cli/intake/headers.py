"""Read the header of a file: what is wrong with it precisely, and which kind of rows it means.

The kind is told by the names, in our own layout (rules.md#row-kinds).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.intake.lines import MAX_LINE_BYTES, Layout, LineFault, split_fields
from cardoffers_cli.kernel.words.findings import Finding, make_finding, unusable
from cardoffers_cli.kernel.words.row_kinds import KINDS, PURCHASES
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from cardoffers_cli.kernel.words.errors import FileUnusable
    from cardoffers_cli.kernel.words.row_kinds import RowKind


_FROM_ACCOUNT = "institution_id"
DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_SHOWN_NAME = 40
_MOST_SHOWN = 20
_NAME = re.compile(r"[^\W\d_](?:[ _-]?[^\W\d_])*(?:[ _-]?[0-9]{1,2})?")
"""Words of letters, with a short number behind them if any, as no token or reference is."""


@dataclass(frozen=True, kw_only=True)
class Names:
    """The columns a kind of file may have.

    `required` names columns that must stand in the header; `a|b` means one of them. `ignored`
    columns are known and left out, with a warning. `own` are names that no other file has.
    """

    known: Sequence[str]
    required: Sequence[str] = ()
    ignored: Sequence[str] = ()
    own: Sequence[str] = ()

    @classmethod
    def of(cls, kind: RowKind) -> Names:
        """Return those of files of a kind of rows; the institution comes from the account."""
        return cls(
            known=tuple(name for name in kind.columns if name != _FROM_ACCOUNT),
            required=kind.in_header,
            ignored=(_FROM_ACCOUNT,),
            own=("cardholder_token", "instrument_token", kind.moment),
        )

    def met_in(self, header: Sequence[str]) -> float:
        """Return which share of the required names, or their like, stand in a header."""
        matches = [_are_in(wanted.split("|"), header) for wanted in self.required]
        return sum(matches) / len(matches) if matches else float(_are_known(header, self))

    def are_in(self, line: bytes) -> bool:
        """Say whether a header, however it is separated, has a name that no other file has."""
        text = folded(line.decode(errors="replace"))
        return any(folded(name) in text for name in self.own)


def nameless() -> Finding:
    """Say of a file that no column of it names a merchant."""
    message = "no column names a merchant: the rows can be taken, and none of them can earn"
    return make_finding("merchant_missing", message)


def read_header(
    line: bytes, names: Names, *, delimiter: str, number: int
) -> tuple[Layout, list[Finding]]:
    """Read the header line; return its layout and one warning for each column that is ignored.

    What is not known is quoted only where it can be nothing but names.

    Columns to be left out get names that start with a space, which no known name does. Raises
    `FileUnusable` with the codes of a header (rules.md#unusable-files).
    """
    header = _given_names(line, names, delimiter, number)
    _check(header, names, line, delimiter, number)
    named = (
        name if name in names.known else f" {position}"
        for position, name in enumerate(header, start=1)
    )
    return Layout(names=tuple(named), delimiter=delimiter), [
        make_finding("column_ignored", f"the column {name} is ignored", line=number, column=name)
        if name in names.ignored
        else unknown_column(name, position, line=number)
        for position, name in enumerate(header, start=1)
        if name not in names.known
    ]


def _given_names(line: bytes, names: Names, delimiter: str, number: int) -> list[str]:
    if b"\0" in line:
        raise unusable("file_binary", "The header holds NUL bytes.", line=number)
    if len(line) > MAX_LINE_BYTES:
        raise unusable("header_missing", "The first line is too long for a header.", line=number)
    try:
        return split_fields(line.decode(), delimiter)
    except UnicodeDecodeError:
        raise unusable("file_encoding", "The header is not UTF-8.", line=number) from None
    except LineFault as fault:
        _refuse_delimiter(line, names, delimiter, number)
        raise unusable(
            "header_missing", f"The first line is not a header: {fault.message}.", line=number
        ) from None


def _check(header: list[str], names: Names, line: bytes, delimiter: str, number: int) -> None:
    if not _are_known(header, names):
        _refuse_delimiter(line, names, delimiter, number)
        if _are_known(parts_of(line, delimiter), names):
            raise unusable(
                "header_quotes",
                "The quotes of the header are not those of its fields: they stand around the whole"
                " line, or are apostrophes.",
                line=number,
            )
        raise _without_names(line, names, number)
    for name in names.known:
        if header.count(name) > 1:
            raise unusable(
                "header_column_duplicate", f"The header names {name} twice.", line=number
            )
    missing = [
        wanted for wanted in names.required if not any(name in header for name in wanted.split("|"))
    ]
    if missing:
        raise _lacking(missing, header, number)


def _are_in(wanted: Iterable[str], names: Iterable[str]) -> bool:
    """Whether one of some names is given, or almost so."""
    return not set(map(folded, wanted)).isdisjoint(map(folded, names))


def _are_known(parts: Iterable[str], names: Names) -> bool:
    return _are_in(names.known, parts)


def _refuse_delimiter(line: bytes, names: Names, delimiter: str, number: int) -> None:
    """Refuse a header whose names are known once they are parted by something else."""
    # what mostly separates them, then the sign that is met most
    signs = Counter(char for char in line.decode() if char.isascii() and char.isprintable())
    others = [char for char, _ in signs.most_common() if not (char.isalnum() or char in _IN_NAMES)]
    for other in (*DELIMITERS, *others[:1]):
        parts = parts_of(line, other)
        if other != delimiter and len(parts) > 1 and _are_known(parts, names):
            spoken = DELIMITERS.get(other, f"the character {other}")
            raise unusable(
                "header_delimiter",
                f"The columns of the header are separated by {spoken}.",
                hint=f"Add --delimiter '{other}'." if other != "\t" else r"Add --delimiter '\t'.",
                line=number,
            )


def parts_of(line: bytes, delimiter: str) -> list[str]:
    """Split a line, whatever its quotes are."""
    return _QUOTES.sub("", line.decode(errors="replace")).split(delimiter)


def _without_names(line: bytes, names: Names, number: int) -> FileUnusable:
    """Say what the first line holds where it has none of the names."""
    delimiter = max(DELIMITERS, key=lambda candidate: len(parts_of(line, candidate)))
    parts = parts_of(line, delimiter)
    seen = [shown_name(part.strip()) for part in parts]
    between = f", separated by {DELIMITERS[delimiter]}" if len(parts) > 1 else ""
    what = f"{counted(len(parts), 'field')}{between}"
    named = [name for name in seen if name]
    are_names = len(named) == len(seen)
    listing = f": {', '.join(named[:_MOST_SHOWN])}" if are_names else ", which are no names"
    return unusable(
        "header_missing",
        f"The first line holds none of the known column names, but {what}{listing}.",
        hint=f"Put the column names first. They are: {', '.join(names.known)}.",
        line=number,
    )


def _lacking(missing: list[str], header: list[str], number: int) -> FileUnusable:
    almost = set(map(folded, header))
    alternatives = [name for wanted in missing for name in wanted.split("|")]
    near = [name for name in alternatives if folded(name) in almost]
    columns = [wanted.replace("|", " or ") for wanted in missing]
    word = "column" if len(columns) == 1 else "columns"
    hint = f"A column is named almost so: write it exactly {', '.join(near)}, in lower case without"
    return unusable(
        "header_column_missing",
        f"The header lacks the {word} {', '.join(columns)}.",
        hint=f"{hint} spaces." if near else None,
        line=number,
    )


_QUOTES = re.compile("[\"'\u2018-\u201f]")
_IN_NAMES = " _-\"'"


def folded(name: str) -> str:
    """Return a name as it is compared with those that are almost so."""
    return "".join(name.casefold().replace("-", "_").split()).replace("_", "")


def unknown_column(name: str, position: int, *, line: int | None = None) -> Finding:
    """Return the warning of a column, or a field of JSON, that is not known."""
    label = shown_name(name) or f"number {position}"
    message = f"the column {label} is not known and is ignored"
    return make_finding("column_unknown", message, line=line, column=label)


def shown_name(name: str) -> str | None:
    """Return a column's name if it can only be a name, and not a value that must not be printed."""
    return name if len(name) <= _SHOWN_NAME and _NAME.fullmatch(name) else None


_KEY = re.compile(rb'"([A-Za-z0-9_ -]{1,40})"[ \t\r\n]*:[ \t\r\n]*(\[)?')
"""A name in JSON, and whether a list stands behind it."""


def row_kind_of(head: bytes, otherwise: RowKind) -> RowKind:
    """Return the kind whose own names a file begins with; where it has none, `otherwise`.

    The list of a JSON object decides by its name. A file that has names of several kinds is of the
    one of which it lacks least, and of the first of these.
    """
    names, lists = _names_in(head)
    listed = [kind for kind in KINDS if kind.list_key in lists]
    named = [kind for kind in KINDS if not names.isdisjoint(map(folded, kind.own))]
    return min(listed or named, key=lambda kind: _missing(kind, names), default=otherwise)


def is_of_other_kind(head: bytes) -> bool:
    """Whether a file begins with all names of a kind that no profile describes: not purchases."""
    names, _ = _names_in(head)
    return any(_missing(kind, names) == 0 for kind in KINDS if kind is not PURCHASES)


def _missing(kind: RowKind, names: Collection[str]) -> int:
    wanted = (entry.split("|") for entry in kind.in_header)
    return sum(not any(folded(name) in names for name in alternatives) for alternatives in wanted)


def _names_in(head: bytes) -> tuple[set[str], set[str]]:
    """Return the names that a file begins with, and those among them that name a list."""
    start = head.lstrip()
    if start.startswith((b"{", b"[")):
        keys = _KEY.findall(start)
        return (
            {folded(name.decode()) for name, _ in keys},
            {name.decode() for name, is_list in keys if is_list},
        )
    line = start.splitlines()[0] if start else b""
    parts = (part for sign in DELIMITERS for part in parts_of(line, sign))
    return set(map(folded, parts)), set()
