"""What is asked of each column of a kind of files, gathered from what reads them; JSON Schema.

For transaction files the rule table says what a column must be (`limits.py` reads its conditions);
what catalogue files ask is in `catalogue/formats.py`.

Some rules no schema can state: check digits, what other rows hold, the clock, two columns that must
agree. They are in `FileFormat.beyond`, and `cardoffers validate` is their judge. A schema refuses
no row that it takes (rules.md#formats-for-others), but asks for text as text: a catalogue's
identifier that is a JSON number is read too, and has lost its zeros already.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.intake import fields, rules
from cardoffers_cli.intake.conditions import Both, Missing
from cardoffers_cli.intake.headers import Names
from cardoffers_cli.intake.schemas.limits import TextLimits, limits_of
from cardoffers_cli.kernel.sheets.exports import read_tables
from cardoffers_cli.kernel.words import json_text, row_kinds
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.findings import CODES
from cardoffers_cli.kernel.words.money import MINOR_UNITS

if TYPE_CHECKING:
    from cardoffers_cli.intake.rules import Rule
    from cardoffers_cli.kernel.words.findings import Code
    from cardoffers_cli.kernel.words.row_kinds import RowKind


_USUAL_DECIMALS = 2
"""Decimals of an amount where no currency is named, as `validate` takes it."""


@dataclass(frozen=True, kw_only=True)
class FieldFormat:
    """One column: what it holds, whether every row has it, and what its text must be like.

    An empty cell means `default`. In JSON it is a text, a number within `numbers` (keywords of JSON
    Schema), a flag, or any of these; where it `may_be_text`, its text will do as well. Of a list
    each `item`, which is a pattern, comes once. `codes` are those of the findings made in it.
    """

    name: str
    says: str
    example: str = ""
    is_needed: bool = False
    default: str | None = None
    json: Literal["text", "number", "flag", "any"] = "text"
    limits: tuple[TextLimits, ...] = ()
    may_be_text: bool = False
    item: str | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)
    codes: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The words of which the text is one, where it is."""
        first, *others = [limits.words for limits in self.limits if limits.words] or [()]
        return tuple(word for word in first if all(word in words for words in others))

    @property
    def longest(self) -> int | None:
        """The most characters that the text may have."""
        return min((limits.longest for limits in self.limits if limits.longest), default=None)

    @property
    def has(self) -> tuple[str, ...]:
        """The patterns that the text has, for others to read."""
        return tuple(fields.portable(pattern) for limits in self.limits for pattern in limits.has)

    @property
    def lacks(self) -> tuple[str, ...]:
        """The patterns that the text has not, for others to read."""
        lacked = dict.fromkeys(pattern for limits in self.limits for pattern in limits.lacks)
        if fields.NOT_VISIBLE_ASCII in lacked:
            lacked.pop(fields.INVISIBLE, None)  # it lacks all of that too
        return () if self.words else tuple(map(fields.portable, lacked))


@dataclass(frozen=True, kw_only=True)
class FileFormat:
    """A kind of files: its columns, those of which a row has one, and what no schema can say.

    `list_key` names the list in a JSON document. `in_header` are groups of columns of which a CSV
    header has one. Of each group of `one_of` a row has one. JSON has columns that CSV has not
    (`only_json`), and other fields of any kind, whose names and texts lack the patterns `unknown`.
    `beyond` are the codes of errors that no schema finds, or not in all cases; `judge` is the
    command that does.
    """

    name: str
    list_key: str
    judge: str
    fields: tuple[FieldFormat, ...]
    one_of: tuple[tuple[str, ...], ...] = ()
    in_header: tuple[tuple[str, ...], ...] = ()
    only_json: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    meanings: Mapping[str, Code] = field(default_factory=dict)

    @property
    def in_csv(self) -> tuple[FieldFormat, ...]:
        """The columns that a CSV file may have."""
        return tuple(column for column in self.fields if column.name not in self.only_json)

    @property
    def beyond_json(self) -> tuple[str, ...]:
        """The codes that JSON Schema does not find: its numbers have no text with decimals."""
        numbers = [item for item in self.fields if item.json == "number" and not item.may_be_text]
        counted = [code for item in numbers for code in item.codes if code in _OF_TEXT]
        return (*self.beyond, *counted)

    @property
    def codes(self) -> tuple[Code, ...]:
        """What can be wrong in a column, each code once, in the order of the columns."""
        names = dict.fromkeys(code for column in self.fields for code in column.codes)
        return tuple(self.meanings[name] for name in names)


def with_columns(form: FileFormat, columns: Sequence[str]) -> FileFormat:
    """Keep some columns; of a group of which one is left, every row has that."""
    by_name = {column.name: column for column in form.fields}
    needed = [(column.name,) for column in form.fields if column.is_needed]
    lacking = [group for group in (*needed, *form.in_header) if not {*group}.intersection(columns)]
    if wrong := [name for name in columns if name not in by_name] or lacking:
        named = wrong[0] if isinstance(wrong[0], str) else " or ".join(wrong[0])
        says = "has no column" if isinstance(wrong[0], str) else "needs the column"
        raise UsageError.from_table("intake", "columns_unfit", form=form, says=says, named=named)
    groups = [tuple(name for name in group if name in columns) for group in form.one_of]
    alone = {group[0] for group in groups if len(group) == 1}
    chosen = (by_name[name] for name in dict.fromkeys(columns))
    return replace(
        form,
        fields=tuple(
            replace(column, is_needed=column.is_needed or column.name in alone) for column in chosen
        ),
        one_of=tuple(group for group in groups if len(group) > 1),
        in_header=(),
    )


def rules_digest() -> str:
    """Return the SHA-256 of the rules for rows of every kind, in their order, with all they ask.

    What a function tells that a rule asks is the program's, whose version stands beside it.
    """
    contents = [
        [
            *(rule.code, CODES[rule.code].level, rule.column, rule.message),
            [kind.name for kind in rule.kinds],
            re.sub(" at 0x[0-9a-f]+", "", repr(rule.broken)),  # its place in memory
        ]
        for rule in rules.RULES
    ]
    return hashlib.sha256(json_text.dumps(contents).encode()).hexdigest()


# What the rules of a kind of rows ask of each column


CARD_NUMBER = "card_number"
"""The code that a field may have of which all rows together tell."""

_OF_TEXT = {"amount_precision"}
"""Codes that only the text of a number shows."""

IN_PART = {"value_invalid"}
"""Codes of which a schema finds some cases only: a day such as 31 February has the form of one."""


def format_of_rows(kind: RowKind, currency: str | None) -> FileFormat:
    """Return the format of a kind of rows, its amounts in a currency."""
    table = [rule for rule in rules.RULES if rule.holds_of(kind)]
    errors = [rule for rule in table if CODES[rule.code].level == "error"]
    values = {
        "program_currency": currency,
        "decimals": MINOR_UNITS[currency] if currency else _USUAL_DECIMALS,
        **dict.fromkeys((f"declared_{name}" for name in fields.TOKENS), False),
        "assumed": False,
        "caller": None,
    }
    descriptions = _TOLD[kind.name]
    ignored = Names.of(kind).ignored
    groups = {group: rule.code for rule in errors if (group := _group(rule, kind))}
    stated = {"required_missing", *groups.values()}
    described: list[FieldFormat] = []
    beyond: dict[str, None] = {CARD_NUMBER: None}
    for column in kind.columns:
        may_hold = column in (*fields.REFERENCES, *fields.IDENTIFIERS, *fields.FREE_TEXTS)
        codes = [CARD_NUMBER] if may_hold else []
        own = [rule for rule in errors if rule.column == column]
        limits, others = limits_of(own, column, values)
        beyond |= dict.fromkeys(code for code in others if code not in stated)
        is_number = column == "amount"
        codes += [rule.code for rule in table if rule.column == column]
        described.append(
            FieldFormat(
                name=column,
                says=descriptions[column][2],
                example=descriptions[column][1],
                is_needed=column in kind.required,
                default=kind.further.get(column),
                json="number" if is_number else "any" if column in ignored else "text",
                limits=tuple(limits),
                numbers={"exclusiveMinimum": 0, "exclusiveMaximum": 10**12} if is_number else {},
                codes=tuple(dict.fromkeys(codes)),
            )
        )
    unknown, _ = limits_of([rule for rule in errors if rule.column is None], fields.OTHERS, values)
    return FileFormat(
        name=kind.name,
        list_key=kind.list_key,
        judge="validate",
        fields=tuple(described),
        one_of=tuple(groups),
        in_header=tuple(tuple(entry.split("|")) for entry in kind.in_header if "|" in entry),
        only_json=tuple(ignored),
        unknown=tuple(fields.portable(pattern) for limit in unknown for pattern in limit.lacks),
        beyond=tuple(beyond),
        meanings=CODES,
    )


def _read_told() -> dict[str, dict[str, list[str]]]:
    """Return name, example and meaning of each column, by kind of rows and name.

    Raises `LookupError` where a kind has a column that is not told, or another.
    """
    tables = read_tables(__package__, "transactions.txt")
    descriptions = {
        name: {line.split()[0]: re.split(" {2,}", line) for line in tables[name]}
        for name in row_kinds.BY_NAME
    }
    for name, kind in row_kinds.BY_NAME.items():
        if wrong := descriptions[name].keys() ^ {*kind.columns}:
            raise LookupError(
                f"intake/schemas/transactions.txt, {name}: {', '.join(sorted(wrong))}"
            )
    return descriptions


_TOLD = _read_told()


def _group(rule: Rule, kind: RowKind) -> tuple[str, ...]:
    """Return the columns of which a rule asks one, where that is what it asks."""
    match rule.broken:
        case Both(Missing(), Missing()):
            return tuple(name for name in kind.columns if name in rule.broken.columns)
    return ()


Document = Mapping[str, Any]


def json_schema(form: FileFormat) -> Document:
    """Return the format as JSON Schema: of one row, as JSON Lines has them, and of a whole file.

    The schema of a file that is an array, or an object with one, is its definition `file`.
    """
    rows: Document = {"type": "array", "items": {"$ref": "#"}}
    listed = {"type": "object", "required": [form.list_key], "properties": {form.list_key: rows}}
    unknown = _lacking(form.unknown)
    inside = {"$ref": "#/$defs/unknown"}
    filled = {"type": "string", "minLength": 1}
    groups = [
        {"anyOf": [{"required": [name], "properties": {name: filled}} for name in group]}
        for group in form.one_of
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": form.name,
        "description": _description(form),
        "type": "object",
        "required": [field.name for field in form.fields if field.is_needed],
        "properties": {field.name: _property(field) for field in form.fields},
        **({"allOf": groups} if groups else {}),
        "propertyNames": unknown,
        "additionalProperties": inside,
        "$defs": {
            "unknown": {
                **unknown,
                "items": inside,
                "propertyNames": unknown,
                "additionalProperties": inside,
            },
            "file": {"anyOf": [rows, listed]},
        },
    }


def _lacking(patterns: Sequence[str]) -> Document:
    schemas = [{"pattern": pattern} for pattern in patterns]
    return {"not": {"type": "string", "anyOf": schemas}} if schemas else {}


def _property(field: FieldFormat) -> Document:
    """Return the schema of a value, which may be left out, null or empty where it is not needed.

    Each pattern that its text has stands by itself, for people to read.
    """
    has = [{"pattern": pattern} for pattern in field.has] if not field.words else []
    text = {
        **({"maxLength": field.longest} if field.longest else {}),
        **({"enum": [*field.words]} if field.words else {}),
        **({"allOf": has} if has else {}),
        **_lacking(field.lacks),
    }
    filled = {"type": "string", **({"minLength": 1} if field.is_needed else {}), **text}
    values: dict[str, Document] = {
        "text": filled,
        "flag": {"type": "boolean"},
        "number": {"type": "number", **field.numbers},
        "any": text,
    }
    ways = [values[field.json]]
    if field.may_be_text and field.json != "text":
        ways.append(filled)
    if field.item:
        items = {"type": "string", "pattern": field.item}
        ways.append({"type": "array", "items": items, "uniqueItems": True, "minItems": 1})
    if not field.is_needed:
        ways.insert(0, {"enum": [None, "", *([[]] if field.item else [])]})
    return {"description": field.says, **(ways[0] if len(ways) == 1 else {"anyOf": ways})}


def _description(form: FileFormat) -> str:
    """Return in words what the members of a schema cannot state."""
    header = [f"A CSV header has {' or '.join(group)}." for group in form.in_header]
    rows = [f"Every row has {' or '.join(group)}." for group in form.one_of]
    beyond = ", ".join(form.beyond_json)
    judge = f"`cardoffers {form.judge}` alone finds, in some cases or all: {beyond}."
    return " ".join([*header, *rows, *([judge] if beyond else [])])
