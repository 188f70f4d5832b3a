"""What a call carries: the values in its query, or as text in its body, and JSON; read strictly.

A parameter says how its text is read and what OpenAPI says of it, so that the description cannot
differ from the rule. Everything that is wrong with the values of a call is told at once, and none
of them is repeated. The name of an unknown parameter is, as a pointer, unless a token could hide in
it. JSON has its limits, exact numbers, and no field named twice.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from cardoffers_cli.http.contract.messages import JSON_TYPE, Problem, invalid
from cardoffers_cli.intake import fields
from cardoffers_cli.intake.chunks import check_token
from cardoffers_cli.intake.documents import JsonFault, has_repeated, parse_marked
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.moments import parse_moment
from cardoffers_cli.kernel.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from cardoffers_cli.http.contract.messages import Call


QUERY = "/query"
"""What pointers to parameters of the query begin with; those into a body begin with its field."""

_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PLAIN_NAME = re.compile(r"[A-Za-z_-]{1,40}", re.ASCII)
_DIGITS = re.compile(r"[0-9]{1,9}", re.ASCII)
_WITH_OFFSET = re.compile(fields.WITH_OFFSET, re.ASCII)
_WITHOUT_OFFSET = re.compile(fields.WITHOUT_OFFSET, re.ASCII)
_FLAGS = {"true": True, "false": False}


class Fault(ValueError):
    """A value that cannot be used; the code is stable, the detail does not repeat the value."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail


@dataclass(frozen=True)
class Parameter:
    """One parameter: `read` makes its value from text or raises `Fault`.

    `schema` is its JSON Schema; a default in it is the value of a parameter that is not sent.
    """

    name: str
    says: str
    read: Callable[[str], Any]
    schema: Mapping[str, Any] = field(default_factory=dict)
    required: bool = False


def token(name: str, says: str) -> Parameter:
    """Return a required token, held to the rules of transaction files."""

    def read(text: str) -> str:
        try:
            check_token(name, text)
        except UsageError as error:
            raise Fault(error.code, error.message) from None
        return text

    schema = CARDHOLDER_SCHEMA if name == "cardholder_token" else TOKEN_SCHEMA
    return Parameter(name, says, read, schema, required=True)


TOKEN_SCHEMA: Mapping[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": fields.TOKEN_LENGTH,
    "pattern": "^[!-~]+$",
    "not": {
        "anyOf": [
            {"pattern": pattern}
            for pattern in (fields.E_MAIL, fields.PLACEHOLDER, fields.SPREADSHEET)
        ]
    },
    "examples": ["9f1c8a70f3d24be5a6c17e0d4b8f62ad93e5c0b7a1d84f6e2c39b50a7d8e1f46"],
}
"""What JSON Schema can say of a token; that it is no card number stands in its description."""

CARDHOLDER_SCHEMA: Mapping[str, Any] = {
    **TOKEN_SCHEMA,
    "not": {"anyOf": [*TOKEN_SCHEMA["not"]["anyOf"], {"pattern": fields.NOBODY}]},
}


def text(name: str, says: str, longest: int) -> Parameter:
    """Return text of any kind."""

    def read(value: str) -> str:
        if len(value) > longest:
            raise Fault("too_long", f"{name} has more than {longest} characters.")
        return value

    return Parameter(name, says, read, {"type": "string", "maxLength": longest})


def whole(name: str, says: str, most: int, usual: int | None = None) -> Parameter:
    """Return a whole number from 1."""

    def read(value: str) -> int:
        if not _DIGITS.fullmatch(value) or not 1 <= int(value) <= most:
            raise Fault("number_invalid", f"{name} is not a whole number from 1 to {most}.")
        return int(value)

    schema = {"type": "integer", "minimum": 1, "maximum": most}
    return Parameter(name, says, read, schema if usual is None else {**schema, "default": usual})


def flag(name: str, says: str) -> Parameter:
    """Return a choice that is off unless it is sent as `true`."""

    def read(value: str) -> bool:
        if value not in _FLAGS:
            raise Fault("flag_invalid", f"{name} is neither true nor false.")
        return _FLAGS[value]

    return Parameter(name, says, read, {"type": "boolean", "default": False})


def one_of(name: str, says: str, words: Sequence[str]) -> Parameter:
    """Return one of a few words."""

    def read(value: str) -> str:
        if value not in words:
            raise Fault("value_unknown", f"{name} is none of {', '.join(words)}.")
        return value

    return Parameter(name, says, read, {"type": "string", "enum": list(words)})


def moment(name: str, says: str) -> Parameter:
    """Return a moment; it reads as naive UTC."""
    schema = {"type": "string", "format": "date-time", "pattern": fields.WITH_OFFSET}
    return Parameter(name, says, lambda value: _moment(name, value), schema)


def _moment(name: str, value: str) -> datetime:
    if _WITHOUT_OFFSET.fullmatch(value):
        detail = f"{name} names no time zone: end it with Z or an offset."
        raise Fault("timestamp_no_offset", detail)
    if _WITH_OFFSET.fullmatch(value):
        with suppress(ValueError):
            return parse_moment(value)
    detail = f"{name} is not YYYY-MM-DDTHH:MM:SS with Z or an offset, or not a real time."
    sent_bare = " In an address a + must be sent as %2B." if " " in value else ""
    raise Fault("timestamp_invalid", detail + sent_bare)


def read_query(query: str, parameters: Sequence[Parameter]) -> Mapping[str, Any]:
    """Return the value of every known parameter; raise `Problem` with all that is wrong."""
    sent: dict[str | None, list[str | None]] = {}
    for piece in filter(None, query.split("&")):
        name, _, value = piece.partition("=")
        sent.setdefault(_decoded(name), []).append(_decoded(value))
    names = {parameter.name for parameter in parameters}
    errors = [error for name, values in sent.items() for error in _sent_wrong(name, values, names)]
    values = {name: values[0] for name, values in sent.items() if name is not None}
    return _read(values, parameters, QUERY, errors)


def read_fields(body: Mapping[str, Any], parameters: Sequence[Parameter]) -> Mapping[str, Any]:
    """Return the value of every known field of a body; null is as if it were not sent.

    Raises `Problem` with all that is wrong.
    """
    names = {parameter.name for parameter in parameters}
    sent = {name: value for name, value in body.items() if name in names and value is not None}
    errors = [
        _error(f"/{name}", "text_invalid", f"{name} is not text.")
        for name, value in sent.items()
        if not isinstance(value, str)
    ]
    return _read(sent, parameters, "", errors)


def _read(
    sent: Mapping[str, Any], specs: Sequence[Parameter], place: str, errors: list[dict[str, str]]
) -> Mapping[str, Any]:
    """Read the parameters that nothing is wrong with yet; refuse with everything that is."""
    wrong = {error["pointer"] for error in errors}
    values: dict[str, Any] = {}
    for parameter in specs:
        pointer = f"{place}/{parameter.name}"
        if pointer in wrong:
            continue
        try:
            values[parameter.name] = _value(parameter, sent.get(parameter.name))
        except Fault as fault:
            errors.append(_error(pointer, fault.code, fault.detail))
    if errors:
        raise replace(invalid(**errors[0]), errors=errors)
    return values


def _value(parameter: Parameter, sent: str | None) -> Any:
    if sent is not None:
        return parameter.read(sent)
    if parameter.required:
        raise Fault("required_missing", f"{parameter.name} is missing.")
    return parameter.schema.get("default")


def _decoded(escaped: str) -> str | None:
    """Return the text of a percent-encoded one; None unless it is UTF-8 and well escaped."""
    if not escaped.isascii() or _BROKEN_ESCAPE.search(escaped):
        return None
    try:
        return unquote_to_bytes(escaped.replace("+", " ")).decode()
    except UnicodeError:
        return None


def _sent_wrong(
    name: str | None, values: Sequence[str | None], names: AbstractSet[str]
) -> Iterator[dict[str, str]]:
    """Yield what is wrong with how a parameter was sent."""
    if name is None:
        yield _error(QUERY, "encoding", "A name of the query is not percent-encoded UTF-8.")
    elif name not in names:
        pointer = f"{QUERY}/{name}" if _PLAIN_NAME.fullmatch(name) else QUERY
        yield _error(pointer, "parameter_unknown", "There is no parameter of this name here.")
    elif len(values) > 1:
        yield _error(f"{QUERY}/{name}", "parameter_repeated", f"{name} is sent more than once.")
    elif values[0] is None:
        yield _error(f"{QUERY}/{name}", "encoding", f"{name} is not percent-encoded UTF-8.")


def _error(pointer: str, code: str, detail: str) -> dict[str, str]:
    name = pointer.rpartition("/")[2]
    return {"pointer": pointer, "code": code, "detail": sentence(detail, name)}


_REPEATED = "The object names a field twice."


def json_value(call: Call) -> tuple[Any, bool]:
    """Return the body as `intake.documents.parse_marked` reads it.

    Raises `Problem`: 415 for another type of content, 400 for a text that is not JSON.
    """
    kind, _, parameters = call.headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().replace('"', "")
    if kind.strip().lower() != JSON_TYPE or charset not in {"", "charset=utf-8"}:
        raise Problem(
            415, "unsupported_media_type", f"Send the body as {JSON_TYPE}, in UTF-8, and say so."
        )
    if "content-encoding" in call.headers:
        raise Problem(
            415,
            "unsupported_media_type",
            "Send the body as it is, without a content encoding.",
            headers={"accept-encoding": "identity"},
        )
    try:
        return parse_marked(call.body)
    except JsonFault as fault:
        place = f"line {fault.line}, column {fault.column}" if call.body.strip() else "it is empty"
        raise Problem(400, "malformed", f"The body is not JSON: {place}.") from None


def json_object(call: Call) -> dict[str, Any]:
    """Return the body, an object that names no field twice; raise `Problem`."""
    value, marked = json_value(call)
    if not isinstance(value, dict):
        raise invalid("", "not_an_object", "The body is not a JSON object.")
    if marked and has_repeated(value):
        raise invalid("", "duplicate_key", _REPEATED)
    return value
