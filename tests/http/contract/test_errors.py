"""Every refusal that is not about the key, through both doors, and which of two goes first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.http.contract.gate import BODY_BYTES, BODY_VALUES
from cardoffers_cli.http.contract.openapi import REFUSALS
from described import faults_of
from doors import open_door
from sizes import slow
from tables import key_text, uid
from work import found, kept

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job
    from doors import Door

SINGLE, BATCH, SIMULATE = (f"POST /api/v1/transactions{end}" for end in ("", "/batch", "/simulate"))
FEED = "GET /api/v1/offers?cardholder_token=ann"
REDEMPTIONS, SETTLEMENTS, FUNNEL = (
    f"GET /api/v1/reporting/{name}" for name in ("redemptions", "settlements", "funnel")
)
EVENT = {
    "cardholder_token": "ann",
    "card_token": "card",
    "card_acceptor_id": "M1",
    "amount": 20,
    "transaction_ref": "e1",
    "transacted_at": "2026-06-01T11:00:00Z",
}
CARDS = {"cardholder_token": "ann", "card_token": "card"}
JSON = "application/json"


def event(**changes: Any) -> dict[str, Any]:
    return {name: value for name, value in {**EVENT, **changes}.items() if value != "-"}


def add(offer: str) -> str:
    return f"POST /api/v1/offers/{offer}/add"


def twice(body: dict[str, Any]) -> bytes:
    """Return a body that names its first field twice, with the same value."""
    name, value = next(iter(body.items()))
    return json.dumps(body).replace("{", f'{{"{name}": {json.dumps(value)}, ', 1).encode()


ERRORS: list[tuple[str, Any, int, str]] = [
    # no such path, or not by this method
    ("GET /", None, 404, "not_found"),
    ("GET /api/v1", None, 404, "not_found"),
    ("GET /api/v2/offers", None, 404, "not_found"),
    ("GET /api/v1/offers/", None, 404, "not_found"),
    ("GET /API/v1/offers", None, 404, "not_found"),
    ("POST /api/v1/offers//add", CARDS, 404, "not_found"),
    ("POST /api/v1/offers/a/b/add", CARDS, 404, "not_found"),
    ("GET /api/v1/transactions", None, 405, "method_not_allowed"),
    ("DELETE /api/v1/offers", None, 405, "method_not_allowed"),
    ("POST /api/v1/reporting/funnel", {}, 405, "method_not_allowed"),
    ("POST /openapi.json", {}, 405, "method_not_allowed"),
    # too large
    (f"{FEED}&segment={'x' * 9000}", None, 414, "target_too_long"),
    # not JSON
    (SINGLE, b"", 400, "malformed"),
    (SINGLE, b"{", 400, "malformed"),
    (SIMULATE, b'{"amount": NaN}', 400, "malformed"),
    (BATCH, b'{"transactions": [1,]}', 400, "malformed"),
    (BATCH, b"\xff", 400, "malformed"),
    (BATCH, b"[" * 100_000, 400, "malformed"),
    (add("bread"), b"cardholder_token=ann", 400, "malformed"),
    # JSON of another shape
    (SINGLE, [EVENT], 422, "invalid"),
    (SINGLE, twice(EVENT), 422, "invalid"),
    (SINGLE, {}, 422, "invalid"),
    (SIMULATE, "text", 422, "invalid"),
    (SIMULATE, twice(EVENT), 422, "invalid"),
    (BATCH, [EVENT], 422, "invalid"),
    (BATCH, {}, 422, "invalid"),
    (BATCH, {"transactions": EVENT}, 422, "invalid"),
    (BATCH, {"transactions": [EVENT] * 1001}, 422, "batch_too_large"),
    (add("bread"), [CARDS], 422, "invalid"),
    (add("bread"), twice(CARDS), 422, "invalid"),
    # values
    (SINGLE, event(cardholder_token="-"), 422, "invalid"),  # noqa: S106
    (SINGLE, event(amount="20"), 422, "invalid"),
    (SINGLE, event(amount=20.001), 422, "invalid"),
    (SINGLE, event(card_token="4111111111111111"), 422, "invalid"),  # noqa: S106
    (SIMULATE, event(transacted_at="2026-06-01T11:00:00"), 422, "invalid"),
    (SIMULATE, event(cardholder_token="ann@example.com"), 422, "invalid"),  # noqa: S106
    (add("bread"), {**CARDS, "card_token": "5555 5555 5555 4444"}, 422, "invalid"),
    (add("bread"), {"cardholder_token": "ann"}, 422, "invalid"),
    ("GET /api/v1/offers", None, 422, "invalid"),
    (f"{FEED}&limit=0", None, 422, "invalid"),
    (f"{FEED}&limit=101", None, 422, "invalid"),
    (f"{FEED}&page=2", None, 422, "invalid"),
    (f"{REDEMPTIONS}?limit=1001", None, 422, "invalid"),
    (f"{REDEMPTIONS}?from=2026-06-01", None, 422, "invalid"),
    (f"{REDEMPTIONS}?status=settled", None, 422, "invalid"),
    (f"{SETTLEMENTS}?status=lost", None, 422, "invalid"),
    (f"{FUNNEL}?from=2026-07-01T00:00:00Z", None, 422, "invalid"),
    (f"{FUNNEL}?limit=5", None, 422, "invalid"),
    (f"{REDEMPTIONS}?cursor=", None, 422, "cursor_invalid"),
    (f"{REDEMPTIONS}?cursor=AAAA", None, 422, "cursor_invalid"),
    (f"{SETTLEMENTS}?cursor=%00", None, 422, "cursor_invalid"),
    # rules
    (SINGLE, event(institution_id=str(uid("brook"))), 403, "institution_mismatch"),
    (SIMULATE, event(institution_id=str(uid("brook"))), 403, "institution_mismatch"),
    (add("nothing"), CARDS, 404, "offer_not_found"),
    (add("theirs"), CARDS, 404, "offer_not_found"),
    (add("%00"), CARDS, 404, "offer_not_found"),
    (add("%FF"), CARDS, 404, "offer_not_found"),
    (add("%2e%2e%2fbread"), CARDS, 404, "offer_not_found"),
    (add("closed"), CARDS, 409, "offer_not_available"),
    (add("spent"), CARDS, 409, "offer_not_available"),
    (add("old"), CARDS, 409, "offer_not_available"),
    (add("film"), CARDS, 403, "segment_not_eligible"),
    (add("film"), {**CARDS, "segment": "silver"}, 403, "segment_not_eligible"),
    (
        add("film"),
        {**CARDS, "cardholder_token": "full", "segment": "gold"},
        409,
        "max_active_offers",
    ),
]


@pytest.mark.parametrize(("place", "body", "status", "code"), ERRORS, ids=range(len(ERRORS)))
def test_a_refusal_is_a_problem_as_described(
    door: Door, place: str, body: Any, status: int, code: str
) -> None:
    method, path = place.split(" ")
    reply = door.call(method, path, key="alderall", body=body)
    assert (status, code) == (reply.status, reply.code)
    assert "application/problem+json" == reply.headers["content-type"]
    assert [] == faults_of(method, path, reply)
    problem = reply.document
    assert status == problem["status"]
    assert (status == 422) == ("errors" in problem)
    assert {"pointer", "code", "detail"} >= {
        name for each in problem.get("errors", ()) for name in each
    }
    assert ("allow" in reply.headers) == (status == 405)


@slow
def test_every_code_that_is_described_has_its_row() -> None:
    elsewhere = {
        "test_access": {"unauthenticated", "token_revoked", "token_expired", "scope_missing"},
        "below": {"rate_limited", "body_too_large", "unsupported_media_type", "headers_too_large"},
        "a fault, and time": {"internal", "busy", "body_too_slow"},
    }
    assert REFUSALS.keys() == {code for *_, code in ERRORS if code != "not_found"}.union(
        *elsewhere.values()
    )


def test_what_is_refused_leaves_only_its_rejected_rows(door: Door, job: Job) -> None:
    """Support finds an event that was not accepted, and the last use of its key; else no trace."""
    own = ("rejects", "imports", "runs", "api_keys")
    keys = "select * exclude (last_used_at) from api_keys order by key_id"
    before = kept(job, *own), found(job, keys)
    for place, body, *_ in ERRORS:
        method, path = place.split(" ")
        door.call(method, path, key="alderall", body=body)
    assert before == (kept(job, *own), found(job, keys))


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 415, "unsupported_media_type"),
        ({"content-type": "text/csv"}, 415, "unsupported_media_type"),
        ({"content-type": "application/json; charset=latin-1"}, 415, "unsupported_media_type"),
        ({"content-type": JSON, "content-encoding": "gzip"}, 415, "unsupported_media_type"),
        ({"content-type": JSON, "x-long": "x" * 17_000}, 431, "headers_too_large"),
    ],
)
def test_headers_are_held_to_their_rules(
    request: pytest.FixtureRequest, door: Door, headers: Any, status: int, code: str
) -> None:
    if not headers and "command" in request.node.name:
        pytest.skip("the command says application/json where nothing is said")
    reply = door.call("POST", "/api/v1/transactions", key="alderall", body=EVENT, headers=headers)
    assert (status, code) == (reply.status, reply.code)


def test_a_body_is_at_most_8_mib(door: Door) -> None:
    body = b"{" + b" " * (BODY_BYTES - 1)
    reply = door.call("POST", "/api/v1/transactions/batch", key="alderall", body=body)
    assert (400, "malformed") == (reply.status, reply.code)
    reply = door.call("POST", "/api/v1/transactions/batch", key="alderall", body=body + b" ")
    assert (413, "body_too_large") == (reply.status, reply.code)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b"[" * BODY_VALUES),
        (413, b"[" * (BODY_VALUES + 1)),
        (413, b"[" * BODY_BYTES),
        (413, b'{"a":' * 200_000),
        (413, b"[" + b"[]," * 200_000 + b"[]]"),
        (413, b"[" + b"1.5," * 200_000 + b"1]"),
        (400, b'{"amount":' + b"9" * 5_000_000 + b"}"),
        (400, b'{"amount":1e' + b"9" * 5_000_000 + b"]"),
        (422, b'{"amount":1e999999999999}'),
        (422, b'{"note":"' + b"\\u0061" * 200_000 + b'"}'),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_body_holds_so_many_values(door: Door, status: int, body: bytes) -> None:
    for path in ("/api/v1/transactions", "/api/v1/transactions/batch"):
        reply = door.call("POST", path, key="alderall", body=body)
        assert status == reply.status


GOES_FIRST: list[tuple[str, str | None, Any, int]] = [
    ("POST /api/v1/nowhere", None, b"{" + b" " * BODY_BYTES, 404),
    ("GET /api/v1/offers/bread/add?x=1", None, None, 405),
    ("POST /api/v1/offers/none/add", None, b"{" + b" " * BODY_BYTES, 413),
    ("POST /api/v1/offers/none/add?x=1", "unknown", b"{", 401),
    ("POST /api/v1/offers/none/add?x=1", "expired", b"{", 403),
    ("POST /api/v1/offers/none/add?x=1", "reporting", b"{", 403),
    ("POST /api/v1/offers/none/add?x=1", "offers", b"{", 400),
    ("POST /api/v1/offers/none/add", "offers", b"{}", 422),
    ("POST /api/v1/offers/none/add", "offers", CARDS, 404),
    ("POST /api/v1/offers/closed/add", "offers", {**CARDS, "cardholder_token": "full"}, 409),
    ("POST /api/v1/offers/film/add", "offers", {**CARDS, "cardholder_token": "full"}, 403),
    (
        "POST /api/v1/offers/film/add",
        "offers",
        {**CARDS, "cardholder_token": "full", "segment": "gold"},
        409,
    ),
]
"""One fault repaired a row."""


@pytest.mark.parametrize(("place", "key", "body", "status"), GOES_FIRST, ids=range(len(GOES_FIRST)))
def test_faults_are_told_in_their_order(
    door: Door, place: str, key: str | None, body: Any, status: int
) -> None:
    method, path = place.split(" ")
    assert status == door.call(method, path, key=key, body=body).status


@slow
@pytest.mark.parametrize("kind", ["command", "server"])
def test_reports_are_limited_for_each_key_through_both_doors_together(
    kind: str, fresh: Job
) -> None:
    """What one door counted the other knows, also after a restart; other keys are not concerned."""
    funnel = ("GET", "/api/v1/reporting/funnel")
    with open_door("command", fresh, reporting_calls_per_minute="3") as door:
        assert [200, 200] == [door.call(*funnel, key="legacy").status for _ in range(2)]
    with open_door(kind, fresh, reporting_calls_per_minute="3") as door:
        assert 200 == door.call(*funnel, key="legacy").status
        reply = door.call(*funnel, key="legacy")
        assert (429, "rate_limited") == (reply.status, reply.code)
        assert 1 <= int(reply.headers["retry-after"]) <= 60
        assert [] == faults_of(*funnel, reply)
        assert 200 == door.call(*funnel, key="reporting").status
        assert 200 == door.call("GET", "/api/v1/offers?cardholder_token=ann", key="legacy").status


def test_no_value_of_a_refused_call_is_repeated(door: Door, job: Job) -> None:
    """Neither to the caller nor in the log of the server, which knows no key either."""
    canary = "kanarie4111111111111111"
    body = {**CARDS, "cardholder_token": f"{canary}@example.com", canary: canary}
    for method, path, content in [
        ("POST", "/api/v1/transactions", {**EVENT, **body}),
        ("POST", "/api/v1/transactions/batch", {"transactions": [{**EVENT, **body}, canary]}),
        ("POST", "/api/v1/transactions/simulate", {**EVENT, **body}),
        ("POST", f"/api/v1/offers/{canary}/add", body),
        ("POST", f"/api/v1/offers/{canary}/add", CARDS),
        ("GET", f"/api/v1/offers?cardholder_token={canary}@example.com&{canary}=1", None),
        ("GET", f"/api/v1/reporting/redemptions?cursor={canary}&from={canary}", None),
        ("GET", f"/api/v1/{canary}", None),
    ]:
        reply = door.call(method, path, key="alderall", body=content)
        assert b"kanarie" not in reply.body
        assert "kanarie" not in repr(reply.headers)
    log = job.path.with_name("serve.log")
    written = log.read_text() if log.exists() else ""
    assert "kanarie" not in written
    assert key_text("alderall") not in written
