"""The CSV files of statements and invoices: bytes that never change, and their digests.

Each is one table, so that any program reads it: rows of its head, its lines, and rows of its end,
each with its `kind`. Amounts stand in the last column of amounts where they add up, and everything
else in `value`: carried_in + entry lines + adjustment lines = carried_out + payable of a statement,
and the lines of an invoice make its amount.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.exports import csv_cell
from cardoffers_cli.kernel.sheets.sheets import guarded_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cardoffers_cli.kernel.sheets.sheets import Column

TAXES = ("tax_id", "tax_note")
"""What is said of tax: it comes from the catalogue, and nothing is computed of it."""


@dataclass(frozen=True, kw_only=True)
class SealedForm:
    """How a file is made: the columns of its lines, its head, and its amounts before and behind.

    The names are those that JSON has. Fields `passing` through stand in the head where there
    are any: so what has none has the bytes that it always had.
    """

    columns: tuple[Column, ...]
    head: tuple[str, ...]
    passing: tuple[str, ...]
    before: tuple[str, ...]
    behind: tuple[str, ...]

    def pieces(
        self, document: Mapping[str, Any], lines: Iterable[Sequence[str]]
    ) -> Iterator[bytes]:
        """Yield the file of a document piece by piece; `lines` are those of its lines, as CSV."""
        header = ",".join([*(column.name for column in self.columns), "value"])
        names = (*self.head, *(name for name in self.passing if document.get(name)))
        head = (self._row(name, document, value=guarded_text(document[name])) for name in names)
        yield _joined([header, *head, *(self._amount(name, document) for name in self.before)])
        for some in lines:
            yield _joined(some)
        yield _joined([self._amount(name, document) for name in self.behind])

    def digest(self, document: Mapping[str, Any], lines: Iterable[Sequence[str]]) -> str:
        """Return the SHA-256 of the file, in hex."""
        digest = hashlib.sha256()
        for piece in self.pieces(document, lines):
            digest.update(piece)
        return digest.hexdigest()

    def _amount(self, name: str, document: Mapping[str, Any]) -> str:
        return self._row(name, document, amount=guarded_text(document[name]))

    def _row(
        self, kind: str, document: Mapping[str, Any], *, amount: str = "", value: str = ""
    ) -> str:
        """Write a row that is no line: its kind, the currency, and an amount or a value."""
        cells = {"kind": kind, "currency": document["currency"], self.columns[-1].name: amount}
        texts = [cells.get(column.name, "") for column in self.columns]
        return ",".join(map(csv_cell, [*texts, value]))


def taxes(document: Mapping[str, Any]) -> Mapping[str, str]:
    """Return what a statement or invoice says of tax, by what a page calls it."""
    return {name.replace("_", " "): document[name] for name in TAXES if document.get(name)}


def _joined(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
