"""Schemas: the shapes of bodies as JSON Schema, made of the constants that the rules use.

What is answered from the store has the members of its record: their types, which of them may be
null or left out, and what they mean; what no rule has a part in stands in `schemas.toml`.
`openapi.py` refers to schemas by name. Objects stay open: fields may be added to answers, and
fields of a request that nobody knows are ignored.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from importlib.resources import files
from typing import Any

from cardoffers_cli.http.contract.offers import ADD
from cardoffers_cli.http.contract.parameters import TOKEN_SCHEMA
from cardoffers_cli.http.contract.reports import MOST_ROWS, STATES
from cardoffers_cli.intake import fields
from cardoffers_cli.kernel.words.events import EVENTS, EventKind
from cardoffers_cli.kernel.words.ids import mask
from cardoffers_cli.kernel.words.records import members_of
from cardoffers_cli.kernel.words.row_kinds import FREE_TEXTS
from cardoffers_cli.offers.feed import PROGRAM_ORDER, WEIGHTS, FeedOffer
from cardoffers_cli.offers.work import AddedLink, FeedResult
from cardoffers_cli.reports.funnel import FunnelCounts
from cardoffers_cli.reports.questions import LedgerEntry, OfferNamed, Redemption
from cardoffers_cli.river.events import MOST_ITEMS
from cardoffers_cli.river.outcomes import OfferEvaluation, SimulatedPurchase

Schema = Mapping[str, Any]


def ref(name: str) -> Schema:
    """Refer to a schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: Schema, optional: Schema | None = None, **others: Any) -> Schema:
    properties = {**required, **(optional or {})}
    return {"type": "object", "required": list(required), "properties": properties, **others}


def _of(shape: type[Any], *, without: str = "", **own: Schema) -> Schema:
    """Describe the members of a record; `own` are the schemas of those that types do not tell."""
    required: dict[str, Schema] = {}
    optional: dict[str, Schema] = {}
    for member in members_of(shape):
        schema = own[member.name] if member.name in own else _KINDS[member.kind]
        schema = _or_null(schema) if member.is_nullable else schema
        if member.name != without:
            place = optional if member.is_optional else required
            place[member.name] = _says(member.says, schema) if member.says else schema
    return _object(required, optional)


def _list(items: Schema, **others: Any) -> Schema:
    return {"type": "array", "items": items, **others}


def _or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def _or_absent(schema: Schema) -> Schema:
    return {"anyOf": [schema, ref("Absent")]}


def _words(words: Sequence[str]) -> Schema:
    return {"type": "string", "enum": list(words)}


def _says(description: str, schema: Schema) -> Schema:
    return {**schema, "description": description}


_TEXT: Schema = {"type": "string"}
_ID: Schema = {"type": "string", "format": "uuid"}
_MOMENT: Schema = {"type": "string", "format": "date-time"}
_MONEY: Schema = {"type": "number", "description": "Exact, with the decimals of its currency."}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_FLAG: Schema = {"type": "boolean"}
_KINDS: Mapping[str, Schema] = {
    "str": _TEXT,
    "UUID": _ID,
    "datetime": _MOMENT,
    "Amount": _MONEY,
    "int": _COUNT,
    "bool": _FLAG,
    "Any": {},
}
"""The schema of a type, by how the fields of records write it."""


def _event(kind: EventKind) -> Schema:
    """Describe the body of an event."""
    types = {"id": _ID, "text": _TEXT, "amount": _MONEY, "moment": _MOMENT}
    types["masked"] = _REDEMPTION["properties"]["cardholder_token_masked"]
    parts = {
        name: _says(says, types[of]) if says else types[of]
        for name, (of, _, says) in kind.fields.items()
    }
    optional = {name: parts.pop(name) for name, field in kind.fields.items() if field[1]}
    return _object({"event": {"const": kind.name}, **parts}, optional, description=kind.carries)


def _example(kind: EventKind) -> Schema:
    """Return the body of an example, with its exact amounts."""
    text = kind.example.replace("{cardholder}", CARDHOLDER).replace("{masked}", mask(CARDHOLDER))
    return dict(json.loads(text, parse_float=Decimal))


_VISIBLE: Schema = {
    "type": "string",
    "pattern": f"^[^{fields.portable(fields.INVISIBLE)[1:]}*$",
    "description": "Text without invisible characters.",
}
"""Text of the optional fields, the rule's pattern in the syntax of ECMA-262."""

_NOT_OF_PROGRAMS = {
    "not": {
        "anyOf": [
            {"pattern": pattern}
            for pattern in (fields.PLACEHOLDER, fields.SPREADSHEET, fields.TURNED)
        ]
    }
}
_INSTRUMENTS = ("card_token", "instrument_token")

_EVENT = _object(
    {
        "cardholder_token": _says(
            "Opaque, stable per cardholder.", {**ref("Token"), "not": {"pattern": fields.NOBODY}}
        ),
        "amount": {
            "type": "number",
            "exclusiveMinimum": 0,
            "exclusiveMaximum": 10**12,
            "description": "In the institution's currency; further decimals than it has are zeros.",
        },
        "transaction_ref": {
            "type": "string",
            "minLength": 1,
            "maxLength": fields.REF_LENGTH,
            "pattern": "^[!-~]+$",
            **_NOT_OF_PROGRAMS,
            "description": "Unique per institution; a second event with it is a duplicate.",
        },
        "transacted_at": {
            "type": "string",
            "pattern": fields.WITH_OFFSET,
            "description": "ISO 8601 with Z or an offset, at most 24 hours ahead.",
        },
    },
    {
        **{name: _or_absent(ref("Token")) for name in _INSTRUMENTS},
        "instrument_type": _or_absent(_words(fields.INSTRUMENT_TYPES)),
        "merchant_identifier_type": _or_absent(_words(fields.IDENTIFIER_TYPES)),
        "merchant_id": _says(
            "The service's own id, where the merchant is known already.",
            _or_absent({"type": "string", "pattern": fields.UUID}),
        ),
        "currency": _says(
            "That of the program (ISO 4217), or an error.",
            _or_absent({"type": "string", "pattern": "^[A-Z]{3}$"}),
        ),
        "institution_id": _says(
            "That of the API key, or an error.",
            _or_absent({"type": "string", "pattern": fields.UUID}),
        ),
        **{name: _or_absent(_VISIBLE) for name in FREE_TEXTS},
        **{name: _or_absent({**_VISIBLE, **_NOT_OF_PROGRAMS}) for name in fields.IDENTIFIERS},
    },
    anyOf=[{"required": [name], "properties": {name: ref("Token")}} for name in _INSTRUMENTS],
    description=(
        "A purchase. One of card_token and instrument_token is needed; where both come, they are"
        " the same. card_acceptor_id is a merchant_identifier of the type card_acceptor. Real card"
        " numbers are refused in every field."
    ),
)

_PAGINATION = _object(
    {
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS},
        "next_cursor": _says("Null at the end.", _or_null(_TEXT)),
    }
)


_REDEMPTION = _of(Redemption, status=_words(STATES), offer=_of(OfferNamed))


_SIMULATED = _of(
    SimulatedPurchase,
    without="line",  # an event has none
    outcome=_words(("match", "no_match")),
    evaluations=_list(_of(OfferEvaluation)),
)


def _page(item: str) -> Schema:
    return _object({"data": _list(ref(item)), "pagination": _PAGINATION})


SCHEMAS: Mapping[str, Schema] = {
    "Token": _says(
        "An opaque token made by the institution. A real card number or an e-mail address is"
        " refused, and printed nowhere; so are words such as NULL and what a spreadsheet makes of"
        " a token.",
        TOKEN_SCHEMA,
    ),
    "Absent": {"enum": ["", None], "description": "As if the field were not sent."},
    "TransactionEvent": _EVENT,
    "TransactionBatch": _object(
        {
            "transactions": _list(
                {
                    "anyOf": [
                        ref("TransactionEvent"),
                        {"description": "Anything else is answered as invalid, by its index."},
                    ]
                },
                maxItems=MOST_ITEMS,
            )
        }
    ),
    "Simulation": _object({"simulated": {"const": True}, **_SIMULATED["properties"]}),
    "Offer": _of(
        FeedOffer,
        reason=_words([*WEIGHTS, PROGRAM_ORDER]),
        reward_type=_words(["percent"]),
        cashback_percent={"type": "number"},
    ),
    "OfferFeed": _of(FeedResult, offers=_list(ref("Offer"))),
    "AddRequest": _object(
        {field.name: _says(field.says, field.schema) for field in ADD if field.required},
        {
            field.name: _says(field.says, _or_null(field.schema))
            for field in ADD
            if not field.required
        },
    ),
    "AddedOffer": _of(AddedLink, status=_words(("added", "already_added"))),
    "Redemption": _REDEMPTION,
    "RedemptionPage": _page("Redemption"),
    "LedgerEntry": _of(LedgerEntry, status=_words(STATES)),
    "LedgerPage": _page("LedgerEntry"),
    "Funnel": _object(
        {"window": _object({"from": _MOMENT, "to": _MOMENT}), "data": _of(FunnelCounts)}
    ),
    **{kind.schema: _event(kind) for kind in EVENTS.values()},
    **tomllib.loads(files(__package__).joinpath("schemas.toml").read_text("utf-8")),
}

CARDHOLDER: str = TOKEN_SCHEMA["examples"][0]
OFFER_ID = "of-12"
"""A cardholder and an offer, for examples."""

_TOKENS = {"cardholder_token": CARDHOLDER, "card_token": "c_5d41402abc4b2a76b9719d911017c592"}
_PURCHASE = {
    **_TOKENS,
    "card_acceptor_id": "000001234567890",
    "amount": 25,
    "transaction_ref": "2026-05-01-000017",
    "transacted_at": "2026-05-01T12:30:00Z",
}
EXAMPLES: Mapping[str, Any] = {
    "TransactionEvent": _PURCHASE,
    "TransactionBatch": {"transactions": [_PURCHASE]},
    "AddRequest": _TOKENS,
    **{kind.schema: _example(kind) for kind in EVENTS.values()},
}
"""A body of each kind that can be sent, and of the events that institutions are sent."""
