"""What the money of a sheet adds up to, while its rows go by."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.files.sheets import Column, Sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cardoffers_cli.files.sheets import Row

_LONGEST_NAME = 31
"""Letters of the name of a worksheet."""
_SUFFIX = " totals"


class Totals:
    """The sums of every column of money, apart by the columns that `Sheet.totals_by` names."""

    def __init__(self, sheet: Sheet) -> None:
        self._name = sheet.name[: _LONGEST_NAME - len(_SUFFIX)] + _SUFFIX
        self._by = [column for column in sheet.columns if column.name in sheet.totals_by]
        self._money = [column for column in sheet.columns if column.kind == "money"]
        self._groups: dict[tuple[str, ...], dict[str, Any]] = {}

    def watched(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows as they come, and add each up."""
        for row in rows:
            self._add(row)
            yield row

    def sheet(self) -> Sheet:
        """Return what was added up so far: a row for each group, and how many rows it has."""
        columns = (*self._by, Column("rows", kind="integer"), *self._money)
        return Sheet(self._name, columns, [group for _, group in sorted(self._groups.items())])

    def _add(self, row: Row) -> None:
        key = tuple(column.cell(row) for column in self._by)
        if key not in self._groups:
            first = {column.name: column.value(row) for column in self._by}
            nothing = dict.fromkeys((column.name for column in self._money), Decimal(0))
            self._groups[key] = {**first, "rows": 0, **nothing}
        group = self._groups[key]
        group["rows"] += 1
        for column in self._money:
            group[column.name] += column.value(row) or 0
