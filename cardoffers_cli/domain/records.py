"""Records: rows as frozen classes, whose fields say what a column means.

What leaves `services/` and `jobs/` is a record. Its fields are the columns of the statement it is
read by, which the test that binds all statements holds, and the fields of the JSON it is written
as. Who knows the class writes `row.amount`; who is told the name of a field, as the columns of a
sheet and the writer of JSON are, writes `row["amount"]`: a record is a mapping of its fields too. A
field that is `if_any()` is left out of that mapping while it is None; others are there as null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cache
from typing import Any, Self, dataclass_transform

from cardoffers_cli.domain.money import quantize

Amount = Decimal
"""Money, in the `currency` of the same record and with that currency's decimals."""


_IF_ANY = "if any"


def if_any() -> Any:
    """Return the default of a field that a record has only where there is something to tell."""
    return field(default=None, metadata={_IF_ANY: True})


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
    def part(cls, row: Mapping[str, Any], **others: Any) -> Self:
        """Return the record of some columns of a row, and of `others` in place of its own."""
        own = {each.name: row[each.name] for each in fields(cls) if each.name in row}  # type: ignore[arg-type]
        return cls.of({**own, **others})

    @classmethod
    def cut(cls, other: Record) -> Self:
        """Return the record of the fields that another one has too; it may have more."""
        return cls(**{each.name: getattr(other, each.name) for each in fields(cls)})  # type: ignore[arg-type]

    def __getitem__(self, name: str) -> Any:
        value = self.__dict__[name]
        if value is None and name in _optional(type(self)):
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        left_out = _optional(type(self))
        return (
            name
            for name, value in self.__dict__.items()
            if value is not None or name not in left_out
        )

    def __len__(self) -> int:
        return sum(1 for _ in self)


class OpenRecord(Record):
    """A record with `others` behind its fields: what is parsed from text has members that vary."""

    others: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Return the record of a row, and in `others` what of it is no field."""
        names = {each.name for each in fields(cls)}
        others = {name: value for name, value in row.items() if name not in names}
        own = {name: value for name, value in row.items() if name in names}
        return super().of({**own, "others": others})

    def __getitem__(self, name: str) -> Any:
        is_other = name == "others" or name in self.others
        return self.others[name] if is_other else super().__getitem__(name)

    def __iter__(self) -> Iterator[str]:
        yield from (name for name in super().__iter__() if name != "others")
        yield from self.others


@cache
def _optional(shape: type[Record]) -> frozenset[str]:
    """Return the fields that are left out while they are None."""
    return frozenset(each.name for each in fields(shape) if _IF_ANY in each.metadata)  # type: ignore[arg-type]


@cache
def _amounts(shape: type[Record]) -> tuple[str, ...]:
    """Return the fields that are amounts, by how their type is written."""
    return tuple(each.name for each in fields(shape) if str(each.type).startswith("Amount"))  # type: ignore[arg-type]
