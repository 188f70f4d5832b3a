"""The findings in the rows of a file, kept small: a number for each kind, and the reference."""

from __future__ import annotations

from array import array
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from cardoffers_cli.kernel.words.findings import Finding

_SHOWN_LINES = 20

Kind = tuple[str | None, str, str, str]
"""Column, code, level and message."""


class RowFindings:
    """All findings in rows, in the order they were made."""

    def __init__(self) -> None:
        self._kinds: dict[Kind, int] = {}
        self._lines = array("Q")
        self._kind_of = array("I")
        self._references: list[str | None] = []

    def add(self, finding: Finding) -> None:
        """Keep a finding, which has a line."""
        kind = (finding.column, finding.code, finding.level, finding.message)
        self._lines.append(finding.line or 0)
        self._kind_of.append(self._kinds.setdefault(kind, len(self._kinds)))
        self._references.append(finding.transaction_ref)

    def show_references(self, references: Mapping[int, str]) -> None:
        """Put references into the findings of their lines, which left them out."""
        for place, line in enumerate(self._lines):
            if line in references:
                self._references[place] = references[line]

    def error_lines(self) -> set[int]:
        """Return the lines with an error."""
        return {line for line, (_, _, level, _) in self._pairs() if level == "error"}

    def nameless(self) -> set[int]:
        """Return the lines of the rows that name no merchant."""
        return {line for line, (_, code, _, _) in self._pairs() if code == "merchant_missing"}

    def masked_fields(self) -> list[tuple[int, str]]:
        """Return the fields that `river/judge.py:fields_to_mask` does, in order."""
        codes = {"card_number", "personal_data"}
        return sorted(
            {
                (line, column or "")
                for line, (column, code, level, _) in self._pairs()
                if code in codes or (column is None and level == "error")
            }
        )

    def in_order(self) -> Iterator[Mapping[str, Any]]:
        """Yield every finding in the order of the file, as `findings.write_findings` takes them."""
        kinds = [*self._kinds]

        def order(place: int) -> tuple[int, bool, str, str]:
            column, code, _, _ = kinds[self._kind_of[place]]
            return self._lines[place], column is not None, column or "", code

        for place in sorted(range(len(self._lines)), key=order):
            column, code, level, message = kinds[self._kind_of[place]]
            yield {
                "line": self._lines[place],
                "transaction_ref": self._references[place],
                "field": column,
                "code": code,
                "level": level,
                "message": message,
            }

    def by_code(self, only: Collection[int] | None = None) -> Iterator[Mapping[str, Any]]:
        """Yield the findings by code, errors first, then what is found in most rows.

        Of `only` some lines, where these are named.
        """
        lines: dict[tuple[str, str], set[int]] = defaultdict(set)
        for line, (_, code, level, _) in self._pairs():
            if only is None or line in only:
                lines[level, code].add(line)
        for level, code in sorted(lines, key=lambda key: (key[0], -len(lines[key]), key[1])):
            found = lines[level, code]
            yield {
                "code": code,
                "level": level,
                "row_count": len(found),
                "lines": sorted(found)[:_SHOWN_LINES],
            }

    def _pairs(self) -> Iterator[tuple[int, Kind]]:
        kinds = [*self._kinds]
        return ((line, kinds[kind]) for line, kind in zip(self._lines, self._kind_of, strict=True))
