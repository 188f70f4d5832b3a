"""Every endpoint with every sort of key, through both doors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.http.contract.routes import BATCH, FEED, ROUTES, TRANSACTION
from described import faults_of
from sizes import one_in
from tables import key_text, read
from work import kept

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job
    from doors import Door

EVENT = {
    "cardholder_token": "ann",
    "card_token": "card",
    "card_acceptor_id": "M1",
    "amount": 20,
    "transaction_ref": "a1",
    "transacted_at": "2026-06-01T09:00:00Z",
}


@dataclass(frozen=True)
class Endpoint:
    """A call that a key with the scope may make; it leaves no row that another call would see."""

    scope: str
    status: int
    body: Any = None


ENDPOINTS = {
    "POST /api/v1/transactions": Endpoint("transactions", 200, EVENT),
    "POST /api/v1/transactions/batch": Endpoint("transactions", 202, {"transactions": [EVENT]}),
    "POST /api/v1/transactions/simulate": Endpoint("transactions", 200, EVENT),
    "GET /api/v1/offers?cardholder_token=ann": Endpoint("offers", 200),
    "POST /api/v1/offers/bread/add": Endpoint(
        "offers", 200, {"cardholder_token": "ann", "card_token": "card"}
    ),
    "GET /api/v1/reporting/redemptions": Endpoint("reporting", 200),
    "GET /api/v1/reporting/settlements": Endpoint("reporting", 200),
    "GET /api/v1/reporting/funnel": Endpoint("reporting", 200),
}

ACCESS = """
key           offers           transactions     reporting
none          unauthenticated  unauthenticated  unauthenticated
unknown       unauthenticated  unauthenticated  unauthenticated
mistyped      unauthenticated  unauthenticated  unauthenticated
both          token_revoked    token_revoked    token_revoked
revoked       token_revoked    token_revoked    token_revoked
expired       token_expired    token_expired    token_expired
offers        -                scope_missing    scope_missing
transactions  scope_missing    -                scope_missing
reporting     scope_missing    scope_missing    -
legacy        -                -                -
alderall      -                -                -
"""
"""What an endpoint of each scope answers a key; `-` lets it in."""

STATUS = {
    "unauthenticated": (401, "Unauthorized"),
    "token_revoked": (403, "Token revoked"),
    "token_expired": (403, "Token expired"),
    "scope_missing": (403, "Forbidden"),
}
CASES = [
    (row["key"], place, row[endpoint.scope])
    for row in read(ACCESS)
    for place, endpoint in ENDPOINTS.items()
]


def key_sent(name: str) -> str | None:
    """Return what is sent for a key of the table; the mistyped one would open everything."""
    if name == "none":
        return None
    if name == "mistyped":
        good = key_text("alderall")
        return good[:-1] + ("0" if good[-1] != "0" else "1")
    return key_text(name)


def test_what_is_taken_together_is_no_work_of_its_own() -> None:
    assert [TRANSACTION, BATCH, FEED] == [route for route in ROUTES if not route.is_alone]


def test_the_table_has_every_endpoint_with_a_key() -> None:
    templates = {place.partition("?")[0].replace("bread", "{id}") for place in ENDPOINTS}
    assert {f"{route.method} {route.template}" for route in ROUTES if route.scope} == templates


@pytest.mark.parametrize(("key", "place", "code"), CASES)
@one_in(4)
def test_a_key_opens_what_its_scopes_say(
    door: Door, key: str, place: str, code: str | None
) -> None:
    method, path = place.split(" ")
    endpoint = ENDPOINTS[place]
    reply = door.call(method, path, key=key_sent(key), body=endpoint.body)
    assert code == reply.code
    assert [] == faults_of(method, path, reply)
    if code is None:
        assert endpoint.status == reply.status
    else:
        problem = reply.document
        assert STATUS[code] == (reply.status, problem["title"])
        assert f"urn:cardoffers:problem:{code}" == problem["type"]
        assert problem["request_id"] == reply.headers["x-request-id"]
        assert ("www-authenticate" in reply.headers) == (reply.status == 401)


@pytest.mark.parametrize("key", ["none", "mistyped", "expired"])
def test_the_key_is_asked_about_before_anything_else(door: Door, key: str) -> None:
    """Nothing of a call is looked at whose key is refused: not its body, not its query."""
    for place in ENDPOINTS:
        method, path = place.partition("?")[0].split(" ")
        body = b"{" if method == "POST" else None
        reply = door.call(method, f"{path}?never=1", key=key_sent(key), body=body, headers={})
        assert reply.status in {401, 403}


def test_a_refused_call_changes_nothing(door: Door, job: Job) -> None:
    log = ("acts", "api_keys")
    before = kept(job, *log)
    for key, place, code in CASES:
        if code and key in {"revoked", "reporting"}:
            method, path = place.replace("ann", "new").split(" ")
            body = {**(ENDPOINTS[place].body or {}), "cardholder_token": "new"}
            door.call(method, path, key=key_sent(key), body=body if method == "POST" else None)
    assert before == kept(job, *log)


def test_the_description_is_open_to_everybody(door: Door) -> None:
    for key in ("none", "unknown", "revoked", "alderall"):
        reply = door.call("GET", "/openapi.json", key=key_sent(key))
        assert (200, "application/json") == (reply.status, reply.headers["content-type"])
        assert reply.document["openapi"].startswith("3.1")
