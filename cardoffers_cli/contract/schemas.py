"""Schemas: the shapes of bodies as JSON Schema, made of the constants that the rules use.

`openapi.py` refers to them by name. Objects stay open: fields may be added to answers, and fields
of a request that nobody knows are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from cardoffers_cli.contract.offers import ADD
from cardoffers_cli.contract.parameters import TOKEN_SCHEMA
from cardoffers_cli.contract.reports import MOST_ROWS, STATES
from cardoffers_cli.domain.funnel import STEPS
from cardoffers_cli.domain.personal import PROGRAM_ORDER, WEIGHTS
from cardoffers_cli.domain.tokens import mask
from cardoffers_cli.files.fields import (
    FREE_TEXTS,
    IDENTIFIER_TYPES,
    IDENTIFIERS,
    INSTRUMENT_TYPES,
    INVISIBLE,
    PLACEHOLDER,
    REF_LENGTH,
    SPREADSHEET,
    UUID,
)
from cardoffers_cli.files.timestamps import WITH_OFFSET
from cardoffers_cli.jobs.events import MOST_ITEMS

Schema = Mapping[str, Any]


def ref(name: str) -> Schema:
    """Refer to a schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: Schema, optional: Schema | None = None, **others: Any) -> Schema:
    properties = {**required, **(optional or {})}
    return {"type": "object", "required": list(required), "properties": properties, **others}


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
_MASKED = _says("The first and the last 4 characters around an ellipsis.", _TEXT)

_INVISIBLE = re.sub(r"\\x\{(\w+)\}", lambda found: rf"\u{found[1]:0>4}", INVISIBLE)
_VISIBLE: Schema = {
    "type": "string",
    "pattern": f"^[^{_INVISIBLE[1:]}*$",
    "description": "Text without invisible characters.",
}
"""Text of the optional fields, the rule's pattern in the syntax of ECMA-262."""

_INSTRUMENTS = ("card_token", "instrument_token")

_EVENT = _object(
    {
        "cardholder_token": _says("Opaque, stable per cardholder.", ref("Token")),
        "amount": {
            "type": "number",
            "exclusiveMinimum": 0,
            "exclusiveMaximum": 10**12,
            "description": "In the institution's currency; further decimals than it has are zeros.",
        },
        "transaction_ref": {
            "type": "string",
            "minLength": 1,
            "maxLength": REF_LENGTH,
            "pattern": "^[!-~]+$",
            "not": {"anyOf": [{"pattern": each} for each in (PLACEHOLDER, SPREADSHEET)]},
            "description": "Unique per institution; a second event with it is a duplicate.",
        },
        "transacted_at": {
            "type": "string",
            "pattern": WITH_OFFSET,
            "description": "ISO 8601 with Z or an offset, at most 24 hours ahead.",
        },
    },
    {
        **{name: _or_absent(ref("Token")) for name in _INSTRUMENTS},
        "instrument_type": _or_absent(_words(INSTRUMENT_TYPES)),
        "merchant_identifier_type": _or_absent(_words(IDENTIFIER_TYPES)),
        "merchant_id": _says(
            "The service's own id, where the merchant is known already.",
            _or_absent({"type": "string", "pattern": UUID}),
        ),
        "currency": _says(
            "That of the program (ISO 4217), or an error.",
            _or_absent({"type": "string", "pattern": "^[A-Z]{3}$"}),
        ),
        "institution_id": _says(
            "That of the API key, or an error.", _or_absent({"type": "string", "pattern": UUID})
        ),
        **{name: _or_absent(_VISIBLE) for name in FREE_TEXTS},
        **{name: _or_absent({**_VISIBLE, "not": {"pattern": SPREADSHEET}}) for name in IDENTIFIERS},
    },
    anyOf=[{"required": [name], "properties": {name: ref("Token")}} for name in _INSTRUMENTS],
    description=(
        "A purchase. One of card_token and instrument_token is needed; where both come, they are"
        " the same. card_acceptor_id is a merchant_identifier of the type card_acceptor. Real card"
        " numbers are refused in every field."
    ),
)

_AMOUNTS = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")

_PAGINATION = _object(
    {
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS},
        "next_cursor": _says("Null at the end.", _or_null(_TEXT)),
    }
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
    "TransactionReceipt": _object(
        {
            "transaction_id": _ID,
            "transaction_ref": _TEXT,
            "status": _words(("accepted", "duplicate")),
            "conflict": _says("A duplicate whose content differs from the first one.", _FLAG),
            "received_at": _says("When the first one was received.", _MOMENT),
        }
    ),
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
    "BatchReceipt": _object(
        {
            "received": _COUNT,
            "accepted": _COUNT,
            "duplicates": _COUNT,
            "invalid": _list(
                _object(
                    {
                        "index": _COUNT,
                        "transaction_ref": _or_null(_TEXT),
                        "code": _TEXT,
                        "errors": _list(ref("Error"), minItems=1),
                    }
                )
            ),
            "duplicate_items": _list(
                _object({"index": _COUNT, "transaction_ref": _TEXT, "conflict": _FLAG})
            ),
        },
        description="received = accepted + duplicates + the length of invalid.",
    ),
    "Simulation": _object(
        {
            "simulated": {"const": True},
            "transaction_ref": _TEXT,
            "outcome": _words(("match", "no_match")),
            "reason": _says("What decided: `redeemed`, or why not.", _TEXT),
            "merchant_id": _or_null(_ID),
            "offer_id": _or_null(_TEXT),
            **{name: _or_null(_MONEY) for name in _AMOUNTS},
            "currency": _TEXT,
            "evaluations": _list(
                _object(
                    {
                        "offer_id": _TEXT,
                        "outcome": _TEXT,
                        "expected": {"description": "What the check asked for, if anything."},
                        "actual": {"description": "What was there."},
                    }
                )
            ),
        }
    ),
    "Offer": _object(
        {
            "id": _TEXT,
            "title": _TEXT,
            "description": _TEXT,
            "merchant_id": _ID,
            "min_spend": _MONEY,
            "cashback_amount": _MONEY,
            "currency": _TEXT,
            "starts_at": _MOMENT,
            "expires_at": _MOMENT,
            "added": _says("Whether the cardholder has added it.", _FLAG),
        },
        {"reason": _says("Only when personalize is true.", _words([*WEIGHTS, PROGRAM_ORDER]))},
    ),
    "OfferFeed": _object(
        {
            "offers": _list(ref("Offer")),
            "total": _says("Offers the cardholder may see, before the limit.", _COUNT),
            "personalized": _FLAG,
        }
    ),
    "AddRequest": _object(
        {field.name: _says(field.says, field.schema) for field in ADD if field.required},
        {
            field.name: _says(field.says, _or_null(field.schema))
            for field in ADD
            if not field.required
        },
    ),
    "AddedOffer": _object(
        {"status": _words(("added", "already_added")), "cardholder_offer_id": _ID}
    ),
    "Redemption": _object(
        {
            "id": _ID,
            "created_at": _MOMENT,
            "status": _words(STATES),
            **dict.fromkeys(_AMOUNTS, _MONEY),
            "currency": _TEXT,
            "offer": _object({"id": _TEXT, "title": _TEXT, "merchant_name": _TEXT}),
            "cardholder_token_masked": _MASKED,
            "institution": _says("Its slug.", _TEXT),
            "transaction_ref": _TEXT,
        }
    ),
    "RedemptionPage": _page("Redemption"),
    "LedgerEntry": _object(
        {
            "id": _ID,
            "redemption_id": _ID,
            "offer_id": _TEXT,
            "merchant_id": _ID,
            "transaction_ref": _TEXT,
            "currency": _TEXT,
            **dict.fromkeys(_AMOUNTS, _MONEY),
            "status": _words(STATES),
            "created_at": _MOMENT,
            "settles_at": _MOMENT,
            "settled_at": _or_null(_MOMENT),
            "reversed_at": _or_null(_MOMENT),
            "reversal_reason": _or_null(_TEXT),
            "settlement_id": _or_null(_ID),
            "institution": _says("Its slug.", _TEXT),
        }
    ),
    "LedgerPage": _page("LedgerEntry"),
    "Funnel": _object(
        {
            "window": _object({"from": _MOMENT, "to": _MOMENT}),
            "data": _object(dict.fromkeys(STEPS, _COUNT)),
        }
    ),
    "RedemptionEvent": _object(
        {
            "event": {"const": "redemption.completed"},
            "redemption_id": _says("By which a receiver knows an event that it had.", _ID),
            "institution_id": _ID,
            "offer_id": _TEXT,
            "cardholder_token": _says("In full, to find the cardholder.", _TEXT),
            "cardholder_token_masked": _MASKED,
            "institution_payout_amount": _says(
                "What the cardholder is to be credited, with the decimals of its currency.", _MONEY
            ),
            "occurred_at": _says("With milliseconds.", _MOMENT),
        },
        {
            "transaction_ref": _says("The institution's reference of the purchase.", _TEXT),
            "currency": _says("ISO 4217.", _TEXT),
        },
        description="What a redemption webhook carries.",
    ),
    "Error": _object(
        {
            "pointer": _says("A JSON pointer into the body, or /query/ and a parameter.", _TEXT),
            "code": _TEXT,
            "detail": _TEXT,
        }
    ),
    "Problem": _object(
        {
            "type": {"type": "string", "format": "uri"},
            "title": _TEXT,
            "status": {"type": "integer"},
            "detail": _TEXT,
            "code": _says("Stable: programs may rely on it.", _TEXT),
            "request_id": _ID,
        },
        {"errors": _list(ref("Error"))},
        description="Problem details (RFC 9457). No value of the request is repeated in them.",
    ),
}

CARDHOLDER: str = TOKEN_SCHEMA["examples"][0]
OFFER_ID = "of-12"
"""A cardholder and an offer, for examples."""

_TOKENS = {
    "cardholder_token": CARDHOLDER,
    "card_token": "c_5d41402abc4b2a76b9719d911017c592",
}
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
    "RedemptionEvent": {
        "event": "redemption.completed",
        "redemption_id": "f5883288-d7c6-8ee2-abbe-4bacf1232757",
        "institution_id": "3f0c9c4e-5d0b-4f43-9a86-6f3a1f1d2c11",
        "offer_id": OFFER_ID,
        "cardholder_token": CARDHOLDER,
        "cardholder_token_masked": mask(CARDHOLDER),
        "institution_payout_amount": Decimal("1.50"),
        "occurred_at": "2026-05-01T13:00:00.000Z",
        "transaction_ref": _PURCHASE["transaction_ref"],
        "currency": "GBP",
    },
}
"""A body of each kind that can be sent, and of the event that institutions are sent."""
