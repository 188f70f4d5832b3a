"""What the contract says of itself: an answer is held to the description it was given."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from cardoffers_cli.http.contract.messages import Problem
from cardoffers_cli.http.contract.openapi import document
from cardoffers_cli.http.contract.routes import find_route
from cardoffers_cli.kernel.words.json_text import dumps

if TYPE_CHECKING:
    from doors import Reply


@cache
def description() -> Any:
    """Return the description as a client reads it."""
    return json.loads(dumps(document()))


def faults_of(method: str, path: str, reply: Reply) -> list[str]:
    """Return how an answer differs from what is said of it: status, type, headers, body."""
    try:
        route, _ = find_route(method, path.partition("?")[0])
    except Problem:
        return []
    operation = description()["paths"][route.template][route.method.lower()]
    told = operation["responses"].get(str(reply.status))
    if told is None:
        return [f"the status {reply.status} is not described"]
    kind = reply.headers.get("content-type")
    if kind not in told["content"]:
        return [f"the type {kind} is not described"]
    return [*_missing_headers(told, reply), *_wrong_body(told["content"][kind]["schema"], reply)]


def _missing_headers(told: Any, reply: Reply) -> list[str]:
    headers = description()["components"]["headers"]
    required = [name for name in told["headers"] if headers[name].get("required")]
    return [f"no header {name}" for name in required if name.lower() not in reply.headers]


def _wrong_body(schema: Any, reply: Reply) -> list[str]:
    whole = {**schema, "components": description()["components"]}
    validator = Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER)
    return [error.message for error in validator.iter_errors(json.loads(reply.body))]
