"""Transaction events: one call with one event, or a batch (rules.md#events), or one simulated.

What a call says is read here; the events of all calls that wait are then taken together. An event
that is not accepted is kept as a rejected row, so that support finds it. Of a simulated one nothing
is written (rules.md#simulation).
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from itertools import groupby
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cardoffers_cli.http.contract.messages import Answer, Problem, invalid
from cardoffers_cli.http.contract.parameters import json_object, json_value
from cardoffers_cli.http.contract.routes import BATCH, Route
from cardoffers_cli.intake.documents import is_repeated
from cardoffers_cli.intake.fields import COLUMNS
from cardoffers_cli.river.events import MOST_ITEMS, EventCall
from cardoffers_cli.river.simulate import simulate_event

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.http.contract.gate import Caller
    from cardoffers_cli.http.contract.messages import Call
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.river.events import EventCallResult


if TYPE_CHECKING:
    Row = dict[str, Any]


def read_events(route: Route, caller: Caller, call: Call) -> EventCall:
    """Return the events a call carries; raise `Problem` where the call itself will not do."""
    value, marked = json_value(call)
    return EventCall(
        call_id=UUID(call.request_id),
        items=_batch(value) if route is BATCH else [value],
        body_sha256=sha256(call.body).hexdigest(),
        size_bytes=len(call.body),
        key_prefix=caller.key.prefix,
        marked=marked,
    )


def answer_events(route: Route, result: EventCallResult) -> Answer:
    """Return what a call is answered; raise `Problem` for a single event that is not accepted."""
    return _answer_batch(result) if route is BATCH else _answer_single(result)


def _batch(value: Any) -> list[Any]:
    if not isinstance(value, dict):
        raise invalid("", "not_an_object", "The body is not an object with transactions.")
    if is_repeated(value):
        raise invalid("", "duplicate_key", "The object names a field twice.")
    items = value.get("transactions")
    if not isinstance(items, list):
        raise invalid("/transactions", "required_missing", "There is no array of transactions.")
    if len(items) > MOST_ITEMS:
        detail = f"A batch holds {MOST_ITEMS} transactions at most. Nothing of it was taken."
        error = {"pointer": "/transactions", "code": "batch_too_large", "detail": detail}
        raise Problem(422, "batch_too_large", detail, [error])
    return items


def _answer_single(result: EventCallResult) -> Answer:
    if result.receipt.errors:
        raise refusal(result.receipt.errors)
    purchase = result.receipt.first or {}
    is_duplicate = purchase["is_duplicate"]
    document = {
        "transaction_id": purchase["transaction_id"],
        "transaction_ref": purchase["transaction_ref"],
        "status": "duplicate" if is_duplicate else "accepted",
        "conflict": purchase["is_conflict"],
        "received_at": purchase["received_at"],
    }
    status = 200 if is_duplicate else 202
    return Answer.of(status, document, unknown_fields=result.unknown_fields)


def refusal(errors: Sequence[Mapping[str, Any]]) -> Problem:
    """Return why a single event is not accepted; whose event it is comes before what is wrong."""
    if any(error["code"] == "institution_mismatch" for error in errors):
        return Problem(
            403, "institution_mismatch", "The institution_id is not that of the API key."
        )
    return Problem(
        422, "invalid", "The event cannot be accepted.", [_error(error, "") for error in errors]
    )


def _answer_batch(result: EventCallResult) -> Answer:
    invalid_items = []
    for item, group in groupby(result.receipt.errors, key=lambda error: error["item"]):
        errors = list(group)
        invalid_items.append(
            {
                "index": item,
                "transaction_ref": errors[0]["transaction_ref"],
                "code": errors[0]["code"],
                "errors": [_error(error, f"/transactions/{item}") for error in errors],
            }
        )
    repeated = result.receipt.repeated
    document = {
        "received": result.received,
        "accepted": result.received - len(invalid_items) - len(repeated),
        "duplicates": len(repeated),
        "invalid": invalid_items,
        "duplicate_items": [
            {
                "index": row["item"],
                "transaction_ref": row["transaction_ref"],
                "conflict": row["is_conflict"],
            }
            for row in repeated
        ],
    }
    return Answer.of(202, document, unknown_fields=result.unknown_fields)


def _error(error: Mapping[str, Any], place: str) -> dict[str, str]:
    pointer = f"{place}/{error['field']}" if error["field"] else place
    return {"pointer": pointer, "code": error["code"], "detail": error["message"]}


def simulate(
    store: Store, caller: Caller, call: Call, _parameters: Mapping[str, str], job: Job
) -> Answer:
    """Answer with the outcome of one event, with every check that was made."""
    event = json_object(call)
    simulated = simulate_event(store, caller.institution, event, job)
    if simulated.item is None:
        raise refusal(simulated.errors)
    unknown = len(event.keys() - set(COLUMNS))
    return Answer.of(
        200, {"simulated": True, **replace(simulated.item, line=None)}, unknown_fields=unknown
    )
