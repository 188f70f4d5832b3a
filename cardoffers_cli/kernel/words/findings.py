"""What can be wrong with a row or a file, as data: the codes, their levels and how to mend them.

A finding (rules.md#findings) never quotes its value: it names line, column and rule. The codes are
stable (they stand in reports, JSON and tests) and `findings.toml` is their only list: `help
findings`, the grouped summary of `validate` and the rules of `intake/rules.py` all read it. To add
a code, write its table there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import chain
from typing import Literal, get_args

from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.sentences import sentence

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """One cause found in one row, or in the whole file when it has no line."""

    line: int | None
    transaction_ref: str | None
    column: str | None
    code: str
    level: Level
    message: str


@dataclass(frozen=True, kw_only=True)
class Example:
    """Lines that have a finding, and the same lines mended; without a header, whole files.

    `bad_encoding` is how the bad lines must be written to be bad.
    """

    bad: str
    mended: str
    header: str = (
        "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at"
    )
    bad_encoding: str = "utf-8"


@dataclass(frozen=True)
class Code:
    """A kind of finding: what it means, what mends it, why it matters; some have an example."""

    code: str
    level: Level
    summary: str
    fix: str
    why: str
    example: Example | None = None

    @property
    def advice(self) -> str:
        """The fix as a sentence, for the hint of an error."""
        return f"{sentence(self.fix)}."


def read_codes(text: str) -> Mapping[str, Mapping[str, Code]]:
    """Return the codes of tables, by what they are said of.

    Raises `TypeError` where the table of a code lacks something, or has what is not known.
    """
    return {
        of: {code: _code(code, **table) for code, table in tables.items()}
        for of, tables in tomllib.loads(text).items()
    }


def _code(code: str, *, level: Level, summary: str, fix: str, why: str, **example: str) -> Code:
    if level not in get_args(Level):
        raise TypeError(f"findings.toml: {code} has the unknown level {level!r}")
    return Code(code, level, summary, fix, why, Example(**example) if example else None)


@cache
def _tables() -> Mapping[str, Mapping[str, Code]]:
    return read_codes(files(__package__).joinpath("findings.toml").read_text("utf-8"))


class _Codes(Mapping[str, Code]):
    """The codes of some tables of `findings.toml`, which is read when the first is asked for."""

    def __init__(self, *tables: str) -> None:
        self._tables = tables

    @cached_property
    def _codes(self) -> Mapping[str, Code]:
        return dict(chain.from_iterable(_tables()[table].items() for table in self._tables))

    def __getitem__(self, code: str) -> Code:
        return self._codes[code]

    def __iter__(self) -> Iterator[str]:
        return iter(self._codes)

    def __len__(self) -> int:
        return len(self._codes)


CODES = _Codes("rows")
"""Every code a row, or a file that was read, can be given."""

FILE_CODES = _Codes("files")
"""Every code for a file that cannot be read at all (`FileUnusable`)."""

CATALOGUE_CODES = _Codes("rows", "catalogue")
"""Every code a row of a catalogue file can be given; some of rows in a catalogue's words."""

DROP_CODES = _Codes("drop")
"""Every code that is said of a file in the drop folder, and of no row.

One file is apart from the others: whatever is said here of one, the night of the others is whole.
"""

PICKUP_CODES = _Codes("pickup")
"""Every code that is said of fetching."""

BANK_CODES = _Codes("bank")
"""Every code that is said of an entry of a bank's file.

The entry is left out, whatever else the file has is taken; a file that is cut off, or not what it
says, is refused whole.
"""


def make_finding(
    code: str,
    message: str,
    *,
    line: int | None = None,
    transaction_ref: str | None = None,
    column: str | None = None,
    level: Level | None = None,
) -> Finding:
    """Make a finding with the level its code has in `CODES`, if none is given."""
    return Finding(line, transaction_ref, column, code, level or CODES[code].level, message)


def unusable(
    code: str, message: str, *, hint: str | None = None, line: int | None = None
) -> FileUnusable:
    """Make the error of a file that cannot be read at all; the hint is the code's own if none."""
    entry = FILE_CODES.get(code) or DROP_CODES[code]
    return FileUnusable(message, code=code, hint=hint or entry.advice, line=line)
