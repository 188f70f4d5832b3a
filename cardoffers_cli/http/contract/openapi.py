"""The contract described as OpenAPI 3.1, made of `ROUTES` and of what the handlers read.

To describe a new endpoint, add its table to `openapi.toml`, and the shapes of its bodies to
`schemas.py` or `schemas.toml`. What every endpoint with a key, a body or a query may be refused for
is added here by itself.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cardoffers_cli import __version__
from cardoffers_cli.http.contract import offers, reports
from cardoffers_cli.http.contract.messages import JSON_TYPE, PROBLEM_TYPE, Answer
from cardoffers_cli.http.contract.routes import ROUTES, Route
from cardoffers_cli.http.contract.schemas import (
    CARDHOLDER,
    EXAMPLES,
    OFFER_ID,
    SCHEMAS,
    Schema,
    ref,
)
from cardoffers_cli.kernel.words.events import EVENTS
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.signing import V2

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cardoffers_cli.http.contract.parameters import Parameter
    from cardoffers_cli.kernel.words.events import EventKind


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What there is to say of one endpoint beside its route, as `openapi.toml` has it."""

    summary: str
    answers: Mapping[str, tuple[str, str]]
    refusals: Sequence[str] = ()
    query: Sequence[Parameter] = ()
    path: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    such_as: str = ""
    media_type: str = JSON_TYPE


_TABLES = tomllib.loads(files(__package__).joinpath("openapi.toml").read_text("utf-8"))
_QUERIES = {
    "GET /api/v1/offers": offers.FEED,
    "GET /api/v1/reporting/redemptions": reports.PAGE,
    "GET /api/v1/reporting/settlements": reports.LEDGER_PAGE,
    "GET /api/v1/reporting/funnel": reports.WINDOW,
}
OPERATIONS = {
    name: Operation(query=_QUERIES.get(name, ()), **table)
    for name, table in _TABLES["operations"].items()
}

_SENT = (
    "POSTed to the webhook URL of the institution, signed with its signing secret. Verify"
    f" {V2}, the HMAC-SHA256 of the timestamp, a dot and the raw body, and refuse a timestamp"
    " older than 5 minutes. The same bytes are sent on every attempt; an event may come more"
    " than once, and is told by its"
)
_ALWAYS = (
    "method_not_allowed",
    "body_too_large",
    "target_too_long",
    "headers_too_large",
    "internal",
)
_WITH_KEY = ("unauthenticated", "token_revoked", "token_expired", "scope_missing", "busy")
_WITH_BODY = ("malformed", "body_too_slow", "unsupported_media_type", "invalid")
_LIMITED = ("rate_limited",)

REFUSALS: Mapping[str, tuple[int, str]] = {
    code: (status, meaning) for code, (status, meaning) in _TABLES["refusals"].items()
}
"""The status of every code of a refusal, and what it means."""

_HEADERS_OF = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}


@cache
def describe() -> Answer:
    """Answer with the description; it is the same for everybody."""
    return Answer.of(200, document())


@cache
def document() -> Mapping[str, Any]:
    """Return the description of every endpoint."""
    paths: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for route in ROUTES:
        paths[route.template][route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.1",
        "info": {**_TABLES["info"], "version": __version__},
        "servers": [{"url": "/"}],
        "paths": paths,
        "webhooks": {kind.name: {"post": _webhook(kind)} for kind in EVENTS.values()},
        "components": {
            "schemas": SCHEMAS,
            "headers": _TABLES["headers"],
            "securitySchemes": _TABLES["securitySchemes"],
        },
    }


def _webhook(kind: EventKind) -> Mapping[str, Any]:
    content = {JSON_TYPE: {"schema": ref(kind.schema), "example": EXAMPLES[kind.schema]}}
    return {
        "summary": kind.summary,
        "description": kind.description.replace("{sent}", _SENT),
        "operationId": kind.name.replace(".", "_"),
        **_TABLES["webhook"],
        "requestBody": {"required": True, "content": content},
    }


def _operation(route: Route) -> Mapping[str, Any]:
    operation = OPERATIONS[f"{route.method} {route.template}"]
    words = route.template.replace("{", "").replace("}", "").replace(".", "_").strip("/")
    codes = codes_of(route)
    by_status: defaultdict[int, list[str]] = defaultdict(list)
    for code, (status, _) in REFUSALS.items():
        if code in codes:
            by_status[status].append(code)
    refusals = {str(status): _refusal(status, own) for status, own in by_status.items()}
    headers = ("X-Snapshot-At",) if route.is_read else ()
    described: dict[str, Any] = {
        "summary": operation.summary,
        "operationId": f"{route.method.lower()}_{words.replace('/', '_')}",
        "security": [{"apiKey": []}] if route.scope else [],
        "parameters": [*_parameters(operation)],
        "responses": {
            **{
                status: _response(says, operation.media_type, ref(schema), headers)
                for status, (schema, says) in operation.answers.items()
            },
            **refusals,
        },
    }
    described["x-codeSamples"] = [{"lang": "Shell", "label": "curl", "source": curl(route)}]
    if route.scope:
        described["description"] = f"The API key needs the scope `{route.scope}`."
    if operation.body:
        content = {"schema": ref(operation.body), "example": EXAMPLES[operation.body]}
        described["requestBody"] = {"required": True, "content": {JSON_TYPE: content}}
    return described


def curl(route: Route) -> str:
    """Return a call of an endpoint as it is typed, with BASE_URL and API_KEY in the environment."""
    operation = OPERATIONS[f"{route.method} {route.template}"]
    query = f"?{operation.such_as}".format(cardholder=CARDHOLDER) if operation.such_as else ""
    parts = [f'curl -sS "$BASE_URL{route.template.format(id=OFFER_ID)}{query}"']
    if route.scope:
        parts.append('-H "Authorization: Bearer $API_KEY"')
    if operation.body:
        parts.append(f"-H 'Content-Type: {JSON_TYPE}'")
        parts.append(f"-d '{dumps(EXAMPLES[operation.body])}'")
    return " \\\n  ".join(parts)


def _parameters(operation: Operation) -> Iterator[Schema]:
    for name, says in operation.path.items():
        schema = {"type": "string", "minLength": 1}
        yield {"name": name, "in": "path", "required": True, "description": says, "schema": schema}
    for parameter in operation.query:
        yield {
            "name": parameter.name,
            "in": "query",
            "required": parameter.required,
            "description": parameter.says,
            "schema": parameter.schema,
        }


def codes_of(route: Route) -> set[str]:
    """Return the codes that a call of an endpoint may be refused with."""
    operation = OPERATIONS[f"{route.method} {route.template}"]
    return {
        *_ALWAYS,
        *(_WITH_KEY if route.scope else ()),
        *(_WITH_BODY if operation.body else ()),
        *(("invalid",) if operation.query else ()),
        *(_LIMITED if route.is_limited else ()),
        *operation.refusals,
    }


def _refusal(status: int, codes: Sequence[str]) -> Schema:
    says = " ".join(f"`{code}`: {REFUSALS[code][1]}" for code in codes)
    spec = {"status": {"enum": [status]}, "code": {"enum": codes}}  # generators merge no const
    schema = {"allOf": [ref("Problem"), {"properties": spec}]}
    return _response(says, PROBLEM_TYPE, schema, _HEADERS_OF.get(status, ()))


def _response(says: str, kind: str, schema: Schema, headers: Sequence[str]) -> Schema:
    return {
        "description": says,
        "headers": {
            name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *headers)
        },
        "content": {kind: {"schema": schema}},
    }
