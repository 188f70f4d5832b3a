"""Bodies: JSON within its limits, exact numbers, no field named twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.http.contract.messages import JSON_TYPE
from cardoffers_cli.http.contract.problems import Problem, invalid
from cardoffers_cli.intake.documents import JsonFault, has_repeated, parse_marked

if TYPE_CHECKING:
    from cardoffers_cli.http.contract.messages import Call

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
