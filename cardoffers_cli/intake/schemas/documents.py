"""A format as JSON Schema, for other tools.

A schema refuses no row that `cardoffers validate` takes (rules.md#formats-for-others), but asks for
text as text: a catalogue's identifier that is a JSON number is read too, and has lost its zeros
already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cardoffers_cli.intake.schemas.formats import FieldFormat, FileFormat

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
