"""The contract described as OpenAPI 3.1, made of `ROUTES` and of what the handlers read.

To describe a new endpoint, add its line to `OPERATIONS`, and the shapes of its bodies to
`schemas.py`. What every endpoint with a key, a body or a query may be refused for is added here by
itself.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from cardoffers_cli import __version__
from cardoffers_cli.http.contract import offers, reports
from cardoffers_cli.http.contract.messages import HTML_TYPE, JSON_TYPE, PROBLEM_TYPE, Answer
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
from cardoffers_cli.kernel.words.signing import TIMESTAMP, V1, V2

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cardoffers_cli.http.contract.parameters import Parameter
    from cardoffers_cli.kernel.words.events import EventKind


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What there is to say of one endpoint beside its route.

    `answers` are the name of the schema and a description by status; `refusals` are the codes
    that other endpoints do not have; `body` names a schema. `such_as` is a query for the example.
    """

    summary: str
    answers: Mapping[int, tuple[str, str]]
    refusals: Sequence[str] = ()
    query: Sequence[Parameter] = ()
    path: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    such_as: str = ""
    media_type: str = JSON_TYPE


OPERATIONS: Mapping[str, Operation] = {
    "POST /api/v1/transactions": Operation(
        summary="Send one transaction event; sent again, it is a duplicate and harmless.",
        body="TransactionEvent",
        answers={
            202: ("TransactionReceipt", "Accepted; it is matched with the next match."),
            200: ("TransactionReceipt", "The transaction_ref was received before."),
        },
        refusals=["institution_mismatch"],
    ),
    "POST /api/v1/transactions/batch": Operation(
        summary="Send many events; one that is invalid or known does not fail the others.",
        body="TransactionBatch",
        answers={202: ("BatchReceipt", "What became of the events, by their index.")},
        refusals=["batch_too_large"],
    ),
    "POST /api/v1/transactions/simulate": Operation(
        summary="Ask what an event would come to. Nothing is written, nothing is used up.",
        body="TransactionEvent",
        answers={200: ("Simulation", "The outcome, with every check that was made.")},
        refusals=["institution_mismatch"],
    ),
    "GET /api/v1/offers": Operation(
        summary="Read the offers a cardholder is eligible for.",
        query=offers.FEED,
        such_as=f"cardholder_token={CARDHOLDER}&locale=es&personalize=true",
        answers={200: ("OfferFeed", "The offers in the order of the program, or by affinity.")},
    ),
    "POST /api/v1/offers/{id}/add": Operation(
        summary="Add an offer for a cardholder.",
        path={"id": "The offer's id."},
        body="AddRequest",
        answers={
            201: ("AddedOffer", "Added; from now on purchases can redeem it."),
            200: ("AddedOffer", "It was added before."),
        },
        refusals=[
            "offer_not_found",
            "offer_not_available",
            "segment_not_eligible",
            "max_active_offers",
        ],
    ),
    "GET /api/v1/reporting/redemptions": Operation(
        summary="Read redemptions, newest first.",
        query=reports.PAGE,
        such_as="from=2026-10-01T00:00:00Z&limit=100",
        answers={200: ("RedemptionPage", "A page; none is skipped or repeated in the next.")},
        refusals=["cursor_invalid"],
    ),
    "GET /api/v1/reporting/settlements": Operation(
        summary="Read ledger entries, newest first.",
        query=reports.LEDGER_PAGE,
        such_as="status=settled&from=2026-10-01T00:00:00Z",
        answers={200: ("LedgerPage", "A page; none is skipped or repeated in the next.")},
        refusals=["cursor_invalid"],
    ),
    "GET /api/v1/reporting/funnel": Operation(
        summary="Count views, impressions, added offers and redemptions.",
        query=reports.WINDOW,
        such_as="from=2026-10-01T00:00:00Z&to=2026-11-01T00:00:00Z",
        answers={200: ("Funnel", "The counts of the window, the last 30 days if none is named.")},
    ),
    "GET /openapi.json": Operation(
        summary="Read this description.", answers={200: ("Description", "An OpenAPI document.")}
    ),
    "GET /docs": Operation(
        summary="Read this description as a page, which loads nothing from elsewhere.",
        answers={200: ("Page", "A page in HTML.")},
        media_type=HTML_TYPE,
    ),
    "GET /healthz": Operation(
        summary="See that the server answers; the store is not asked, which may be busy.",
        answers={200: ("Health", "It answers.")},
    ),
    "GET /readyz": Operation(
        summary="See that the store can be had within two seconds, so that calls are answered.",
        answers={200: ("Readiness", "Calls are answered.")},
        refusals=["busy"],
    ),
}

_SIGNATURE = "^sha256=[0-9a-f]{64}$"
_SENT = (
    "POSTed to the webhook URL of the institution, signed with its signing secret. Verify"
    f" {V2}, the HMAC-SHA256 of the timestamp, a dot and the raw body, and refuse a timestamp"
    " older than 5 minutes. The same bytes are sent on every attempt; an event may come more"
    " than once, and is told by its"
)
_WEBHOOK = {
    "security": [],
    "parameters": [
        {
            "name": name,
            "in": "header",
            "required": True,
            "description": says,
            "schema": {"type": "string", "pattern": pattern},
        }
        for name, says, pattern in (
            (V1, "sha256= and the HMAC-SHA256 of the raw body.", _SIGNATURE),
            (TIMESTAMP, "Unix time in seconds, of this attempt.", "^[0-9]+$"),
            (V2, "sha256= and the HMAC-SHA256 of `<timestamp>.<raw body>`.", _SIGNATURE),
        )
    ],
    "responses": {
        "2XX": {"description": "Received; it is not sent again. The body is not looked at."},
        "default": {
            "description": "Anything else, a redirect, or no answer within 15 seconds: tried again"
            " up to 8 times, within about two hours."
        },
    },
}

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
    "malformed": (400, "The body is not JSON."),
    "unauthenticated": (401, "The API key is missing, mistyped or unknown."),
    "token_revoked": (403, "The API key was revoked."),
    "token_expired": (403, "The API key has expired."),
    "scope_missing": (403, "The API key lacks the scope."),
    "institution_mismatch": (403, "The institution_id is not that of the API key."),
    "segment_not_eligible": (403, "The offer is limited to segments, and not to this one."),
    "offer_not_found": (404, "The program has no such offer."),
    "method_not_allowed": (405, "The path answers other methods only."),
    "body_too_slow": (408, "The body did not arrive in time."),
    "offer_not_available": (409, "The offer is not active now, or its budget is spent."),
    "max_active_offers": (409, "The cardholder has as many active offers as the program allows."),
    "body_too_large": (413, "The body is larger than 8 MiB, or holds too many values."),
    "target_too_long": (414, "The path and the query are too long."),
    "unsupported_media_type": (415, f"The body is not sent as {JSON_TYPE} in UTF-8."),
    "invalid": (422, "A value cannot be used; `errors` says which and why."),
    "batch_too_large": (422, "The batch holds too many events; none was taken."),
    "cursor_invalid": (422, "The cursor is damaged, or was made for something else."),
    "rate_limited": (429, "Too many calls with this key within a minute."),
    "headers_too_large": (431, "The headers are too large."),
    "internal": (500, "The service failed; sending the call again is safe."),
    "busy": (503, "The service is busy with a long job; nothing was done."),
}
"""The status of every code of a refusal, and what it means."""

HEADERS: Mapping[str, Schema] = {
    "X-Request-Id": {
        "description": "Names the call in the log; asked for when something went wrong.",
        "required": True,
        "schema": {"type": "string", "format": "uuid"},
    },
    "X-Snapshot-At": {
        "description": "Sent where a long job is running: when what is shown was written.",
        "schema": {"type": "string", "format": "date-time"},
    },
    "Retry-After": {
        "description": "Seconds to wait.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    },
    "WWW-Authenticate": {
        "description": "The scheme of authentication.",
        "required": True,
        "schema": {"type": "string"},
    },
    "Allow": {
        "description": "The methods that the path answers.",
        "required": True,
        "schema": {"type": "string"},
    },
}
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
        "info": {
            "title": "Card-linked offers",
            "version": __version__,
            "description": "Amounts are exact decimals, times are ISO 8601 in UTC.",
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "webhooks": {kind.name: {"post": _webhook(kind)} for kind in EVENTS.values()},
        "components": {
            "schemas": {
                **SCHEMAS,
                "Description": {"type": "object"},
                "Page": {"type": "string"},
                "Health": {"type": "object", "properties": {"status": {"const": "ok"}}},
                "Readiness": {"type": "object", "properties": {"status": {"const": "ready"}}},
            },
            "headers": HEADERS,
            "securitySchemes": {
                "apiKey": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An institution's API key: `co_live_` and what follows.",
                }
            },
        },
    }


def _webhook(kind: EventKind) -> Mapping[str, Any]:
    content = {JSON_TYPE: {"schema": ref(kind.schema), "example": EXAMPLES[kind.schema]}}
    return {
        "summary": kind.summary,
        "description": kind.description.replace("{sent}", _SENT),
        "operationId": kind.name.replace(".", "_"),
        **_WEBHOOK,
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
        "parameters": [*_path(operation), *map(_query, operation.query)],
        "responses": {
            **{
                str(status): _response(says, operation.media_type, ref(schema), headers)
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
    query = f"?{operation.such_as}" if operation.such_as else ""
    parts = [f'curl -sS "$BASE_URL{route.template.format(id=OFFER_ID)}{query}"']
    if route.scope:
        parts.append('-H "Authorization: Bearer $API_KEY"')
    if operation.body:
        parts.append(f"-H 'Content-Type: {JSON_TYPE}'")
        parts.append(f"-d '{dumps(EXAMPLES[operation.body])}'")
    return " \\\n  ".join(parts)


def _path(operation: Operation) -> Iterator[Schema]:
    for name, says in operation.path.items():
        schema = {"type": "string", "minLength": 1}
        yield {"name": name, "in": "path", "required": True, "description": says, "schema": schema}


def _query(parameter: Parameter) -> Schema:
    return {
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
