"""Records: rows as frozen classes, whose fields say what a column means.

The fields of a record are the columns of the statement it is read by, which the test that binds all
statements holds, and the fields of the JSON it is written as. A record is a mapping of its fields
too, as the columns of a sheet ask for them by name. A field that is `if_any()` is left out of that
mapping while it is None; others are there as null. A member that is called as a word of Python has
a field with an underscore behind it. A sheet of records has a column for each field; what else is
said of a column stands with its field, as `shown`; which fields are columns (`*` are all that are
not named, `-name` is none), and what people see first, as `sheet` and `first` of the class. Classes
share their methods, as to write and compile them for each costs more than to read the module.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from datetime import date
from decimal import Decimal
from functools import cache
from inspect import get_annotations
from itertools import chain
from typing import Any, ClassVar, Literal, NamedTuple, NoReturn, Self, dataclass_transform
from uuid import UUID

from cardoffers_cli.kernel.words.money import quantize

Amount = Decimal
"""Money, in the `currency` of the same record and with that currency's decimals."""

Kind = Literal[
    "text", "id", "integer", "money", "moment", "date", "flag", "number", "share", "change"
]
"""What a column holds: how it is written, and where it stands."""

_IF_ANY = "if any"
_SHOWN = "shown"
_PLAIN = (type(None), bool, int, float, Decimal, date, UUID)
"""What a `repr` shows of a record: text may be a token, a secret or a name."""


def shown(
    title: str | None = None,
    kind: Kind | None = None,
    *,
    gives_way: int = 0,
    instead: tuple[str, ...] = (),
    inside: Mapping[str, Any] | None = None,
    default: Any = MISSING,
) -> Any:
    """Say what its type does not of the column of a field (`kernel/sheets/sheets.py`).

    A field that is a mapping has a column for each name `inside`, which is `shown` itself.
    """
    within = {name: member.metadata[_SHOWN] for name, member in (inside or {}).items()}
    settings: dict[str, Any] = {"title": title, "kind": kind, "gives_way": gives_way}
    settings.update(instead=instead, inside=within)
    filled = {name: value for name, value in settings.items() if value}
    return field(default=default, metadata={_SHOWN: filled} if filled else {})


def if_any(title: str | None = None, kind: Kind | None = None, *, gives_way: int = 0) -> Any:
    """Return the default of a field that a record has only where there is something to tell."""
    more = shown(title, kind, gives_way=gives_way).metadata
    return field(default=None, metadata={**more, _IF_ANY: True})


@cache
def _names(shape: type[Record]) -> dict[str, None]:
    """Return the names of the fields, in their order."""
    return dict.fromkeys(member.name for member in fields(shape))  # type: ignore[arg-type]


@cache
def _optional(shape: type[Record]) -> frozenset[str]:
    """Return the fields that are left out while they are None."""
    return frozenset(member.name for member in fields(shape) if _IF_ANY in member.metadata)  # type: ignore[arg-type]


@dataclass_transform(
    frozen_default=True, kw_only_default=True, eq_default=False, field_specifiers=(shown,)
)
class Record(Mapping[str, Any]):
    """A frozen dataclass of named fields; equal to any mapping of the same fields and values."""

    _is_plain: ClassVar[bool]
    """Whether every field is a member, of the same name."""
    _fields: ClassVar[Mapping[str, str]]
    """The field of each member that there may be, but of those that vary."""

    _sheet: ClassVar[tuple[tuple[str, ...], tuple[str, ...]]] = ((), ())
    """The columns of a sheet, where these are not all fields, and which people see first."""

    def __init_subclass__(cls, *, sheet: str = "", first: str = "") -> None:
        super().__init_subclass__()
        dataclass(init=False, repr=False, eq=False, match_args=False)(cls)
        cls._is_plain = not _optional(cls) and not any(name[-1] == "_" for name in _names(cls))
        cls._fields = {name.rstrip("_"): name for name in _names(cls)}
        columns, seen = cls._sheet
        # `*` are all other names, and what stands behind a `-` is none.
        listed = sheet.split()
        others = [name for name in cls._fields if not {name, f"-{name}"} & {*listed}]
        spread = (others if name == "*" else [name] for name in listed if name[0] != "-")
        cls._sheet = (tuple(chain.from_iterable(spread)) or columns, tuple(first.split()) or seen)

    def __init__(self, **values: Any) -> None:
        names = _names(type(self))
        if values.keys() != names.keys():
            values = {**dict(_defaults(type(self))), **values}
            shape = type(self)
            if wrong := sorted(values.keys() ^ _names(shape).keys()):
                raise TypeError(f"{shape.__name__} lacks or does not know: {', '.join(wrong)}")
        self.__dict__.update({name: values[name] for name in names})

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __repr__(self) -> str:
        members = (f"{name}={_told(value)}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({', '.join(members)})"

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
    def all_of(cls, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[Self]:
        """Return the records of many rows, whose columns are so named, as `of` does of one."""
        if names != [*_names(cls)]:
            return [cls.of(dict(zip(names, row, strict=True))) for row in rows]
        amounts, records = _amounts(cls), []
        for row in rows:
            record = cls.__new__(cls)
            values = record.__dict__
            values.update(zip(names, row, strict=True))
            for name in amounts:
                if (amount := values[name]) is not None:
                    values[name] = quantize(amount, values["currency"])
            records.append(record)
        return records

    @classmethod
    def part(cls, row: Mapping[str, Any], **others: Any) -> Self:
        """Return the record of some columns of a row, and of `others` in place of its own."""
        return cls.of({**{name: row[name] for name in _names(cls) if name in row}, **others})

    @classmethod
    def cut(cls, other: Record) -> Self:
        """Return the record of the fields that another one has too; it may have more."""
        return cls(**{name: other.__dict__[name] for name in _names(cls)})

    def __getitem__(self, name: str) -> Any:
        value = self.__dict__[self._fields[name]]
        if value is None and name in _optional(type(self)):
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.members())

    def __len__(self) -> int:
        return len(self.members())

    def items(self) -> ItemsView[str, Any]:
        """Return the fields with their values, as any mapping does."""
        return self.members().items()

    def members(self) -> Mapping[str, Any]:
        """Return the fields that are not left out."""
        if self._is_plain:
            return self.__dict__
        left_out = _optional(type(self))
        return {
            name.rstrip("_"): value
            for name, value in self.__dict__.items()
            if value is not None or name not in left_out
        }


class OpenRecord(Record):
    """A record with `others` behind its fields: what is parsed from text has members that vary."""

    others: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Return the record of a row, and in `others` what of it is no field."""
        own = {name: value for name, value in row.items() if name in _names(cls)}
        others = {name: value for name, value in row.items() if name not in own}
        return super().of({**own, "others": others})

    def __getitem__(self, name: str) -> Any:
        return self.members()[name]

    def members(self) -> Mapping[str, Any]:
        """Return the fields that are not left out, and the others behind them."""
        own = {name: value for name, value in super().members().items() if name != "others"}
        return {**own, **self.others}


def _told(value: Any) -> str:
    """Write a value without any text that it may hold."""
    if isinstance(value, (Record, *_PLAIN)):
        return repr(value)
    return f"<{type(value).__name__}>"


def _defaults(shape: type[Record]) -> Iterator[tuple[str, Any]]:
    """Yield the fields that need not be given, with the values that they have then."""
    for member in fields(shape):  # type: ignore[arg-type]
        if member.default is not MISSING:
            yield member.name, member.default
        elif member.default_factory is not MISSING:
            yield member.name, member.default_factory()


@cache
def _amounts(shape: type[Record]) -> tuple[str, ...]:
    """Return the fields that are amounts, by how their type is written."""
    return tuple(member.name for member in fields(shape) if str(member.type).startswith("Amount"))  # type: ignore[arg-type]


class Member(NamedTuple):
    """What the class of a record says of one member: the name of its type, and what it means."""

    name: str
    kind: str
    is_nullable: bool
    is_optional: bool
    says: str | None


def sheet_of(shape: type[Record]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which columns a sheet of records has, none for all, and which people see first."""
    return shape._sheet  # noqa: SLF001


def shown_of(shape: type[Record]) -> Mapping[str, Mapping[str, Any]]:
    """Return what is said of the column of each member of which anything is."""
    return {
        member.name.rstrip("_"): member.metadata[_SHOWN]
        for member in fields(shape)  # type: ignore[arg-type]
        if _SHOWN in member.metadata
    }


_TYPE = re.compile(
    r"""(?:Annotated\[)?(?P<kind>.*?)(?P<null> \| None)?(?:, (?P<says>["'].*["'])\])?"""
)


def members_of(shape: type[Any]) -> Iterator[Member]:
    """Yield the members of a record, or of a dictionary that is typed, as their types are written.

    What `Annotated` says of a type is what the member means.
    """
    optional = _optional(shape) if issubclass(shape, Record) else frozenset()
    classes = (base for base in reversed(shape.__mro__) if base is not Record)
    types = {name: of for base in classes for name, of in get_annotations(base).items()}
    for name, written in types.items():
        match = _TYPE.fullmatch(getattr(written, "__forward_arg__", written))
        if match is None:
            raise TypeError(f"{shape.__name__}.{name} has a type that cannot be read")
        yield Member(
            name=name.rstrip("_"),
            kind=match["kind"],
            is_nullable=match["null"] is not None and name not in optional,
            is_optional=name in optional,
            says=match["says"] and literal_eval(match["says"]),
        )
