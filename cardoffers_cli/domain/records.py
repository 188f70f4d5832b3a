"""Records: rows as frozen classes, whose fields say what a column means.

What leaves `services/` and `jobs/` is a record. Its fields are the columns of the statement it is
read by, which the test that binds all statements holds, and the fields of the JSON it is written
as. Who knows the class writes `row.amount`; who is told the name of a field, as the columns of a
sheet and the writer of JSON are, writes `row["amount"]`: a record is a mapping of its fields too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cache
from typing import Any, Self, dataclass_transform

from cardoffers_cli.domain.money import quantize

Amount = Decimal
"""Money, in the `currency` of the same record and with that currency's decimals."""


@dataclass_transform(frozen_default=True, kw_only_default=True, eq_default=False)
class Record(Mapping[str, Any]):
    """A frozen dataclass of named fields; equal to any mapping of the same fields and values."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(frozen=True, kw_only=True, eq=False)(cls)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Return the record of a row: each `Amount` with the decimals of its currency.

        Raises `TypeError` where the columns of the row are not the fields.
        """
        amounts = {name: row[name] for name in _amounts(cls) if row.get(name) is not None}
        return cls(
            **{**row, **{name: quantize(amounts[name], row["currency"]) for name in amounts}}
        )

    @classmethod
    def cut(cls, other: Record) -> Self:
        """Return the record of the fields that another one has too; it may have more."""
        return cls(**{each.name: other[each.name] for each in fields(cls)})  # type: ignore[arg-type]

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __len__(self) -> int:
        return len(self.__dict__)


@cache
def _amounts(shape: type[Record]) -> tuple[str, ...]:
    """Return the fields that are amounts, by how their type is written."""
    return tuple(each.name for each in fields(shape) if str(each.type).startswith("Amount"))  # type: ignore[arg-type]
