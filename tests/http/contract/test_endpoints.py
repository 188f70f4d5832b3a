"""What the endpoints answer when all is well, through both doors, as described."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from described import faults_of
from doors import DOORS, open_door
from sizes import slow
from tables import uid
from work import found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.kernel.store.job import Job
    from doors import Door

EVENT = {
    "cardholder_token": "ann",
    "card_token": "card",
    "card_acceptor_id": "M1",
    "amount": 20,
    "transaction_ref": "e1",
    "transacted_at": "2026-06-01T11:00:00Z",
}
CARDS = {"cardholder_token": "zoe", "card_token": "card"}


@pytest.fixture(params=DOORS)
def own_door(request: pytest.FixtureRequest, fresh: Job) -> Iterator[Door]:
    with open_door(request.param, fresh) as door:
        yield door


def answered(door: Door, place: str, body: Any = None, key: str = "alderall") -> Any:
    """Return status and document of an answer that is as described."""
    method, path = place.split(" ")
    reply = door.call(method, path, key=key, body=body)
    assert [] == faults_of(method, path, reply)
    return reply.status, reply.document


def test_a_feed_is_read_and_noted(own_door: Door, fresh: Job) -> None:
    status, feed = answered(own_door, "GET /api/v1/offers?cardholder_token=zoe&limit=2")
    assert (200, 3, False) == (status, feed["total"], feed["personalized"])
    assert ["bread", "cake"] == [offer["id"] for offer in feed["offers"]]
    assert "reason" not in feed["offers"][0]
    noted = "select event from engagement join cardholders using (cardholder_no)"
    noted += " where cardholder_token = 'zoe' order by event"
    assert [("offer_impression",), ("offer_impression",), ("widget_view",)] == found(fresh, noted)


def test_a_feed_may_be_personal_and_of_a_segment(door: Door) -> None:
    words = "cardholder_token=ann&segment=gold&personalize=true&prefer_categories=x,LEISURE"
    _, feed = answered(door, f"GET /api/v1/offers?{words}")
    assert [
        ("film", "preferred_category", False),
        ("bread", "past_merchant", True),
        ("cake", "past_merchant", False),
        ("tea", "past_merchant", False),
    ] == [(offer["id"], offer["reason"], offer["added"]) for offer in feed["offers"]]


@slow
def test_an_offer_is_added_once(own_door: Door) -> None:
    place = "POST /api/v1/offers/film/add"
    status, first = answered(own_door, place, {**CARDS, "segment": "gold", "more": [1]})
    assert (201, "added") == (status, first["status"])
    status, again = answered(own_door, place, CARDS)
    assert (200, {**first, "status": "already_added"}) == (status, again)


@slow
def test_an_add_finds_its_offer_behind_escapes(own_door: Door) -> None:
    assert 201 == answered(own_door, "POST /api/v1/offers/%62read/add", CARDS)[0]


def test_a_simulation_says_what_and_why_and_uses_up_nothing(own_door: Door, fresh: Job) -> None:
    place = "POST /api/v1/transactions/simulate"
    status, item = answered(own_door, place, EVENT)
    assert 200 == status
    assert {
        "simulated": True,
        "transaction_ref": "e1",
        "outcome": "match",
        "reason": "redeemed",
        "merchant_id": str(uid("bakery")),
        "offer_id": "bread",
        "merchant_funded_amount": Decimal("3.30"),
        "commission_amount": Decimal("0.30"),
        "institution_payout_amount": Decimal("3.00"),
        "currency": "GBP",
        "evaluations": [
            {"offer_id": "bread", "outcome": "redeemed", "expected": None, "actual": None},
            {"offer_id": "cake", "outcome": "not_enrolled", "expected": None, "actual": None},
            {"offer_id": "tea", "outcome": "not_enrolled", "expected": None, "actual": None},
        ],
    } == item
    assert (200, item) == answered(own_door, place, EVENT)
    assert (202, "accepted") == _received(own_door, EVENT)
    assert (200, item) == answered(own_door, place, EVENT)
    assert (200, "duplicate") == _received(own_door, EVENT)
    assert [(6,)] == found(fresh, "select count(*) from purchases")


def _received(door: Door, event: Any) -> tuple[int, str]:
    status, receipt = answered(door, "POST /api/v1/transactions", event)
    return status, receipt["status"]


@pytest.mark.parametrize("report", ["redemptions", "settlements"])
def test_a_report_is_the_envelope_of_the_contract(door: Door, report: str) -> None:
    status, page = answered(door, f"GET /api/v1/reporting/{report}?limit=2")
    assert (200, 2, 2) == (status, len(page["data"]), page["pagination"]["limit"])
    cursor = page["pagination"]["next_cursor"]
    _, rest = answered(door, f"GET /api/v1/reporting/{report}?limit=5&cursor={cursor}")
    assert {"limit": 5, "next_cursor": None} == rest["pagination"]
    rows = [*page["data"], *rest["data"]]
    assert {"a1", "a2", "a3"} == {row["transaction_ref"] for row in rows}
    assert {"pending"} == {row["status"] for row in rows}
    assert 100 == answered(door, f"GET /api/v1/reporting/{report}")[1]["pagination"]["limit"]
    for window in ("from=2026-06-02T00:00:00Z", "to=2026-06-01T14:00:00%2B02:00"):
        assert [] == answered(door, f"GET /api/v1/reporting/{report}?{window}")[1]["data"]


def test_settlements_are_of_a_status(door: Door) -> None:
    place = "GET /api/v1/reporting/settlements?status"
    assert 3 == len(answered(door, f"{place}=pending")[1]["data"])
    assert 0 == len(answered(door, f"{place}=settled")[1]["data"])


def test_a_funnel_is_of_the_last_30_days(door: Door) -> None:
    _, funnel = answered(door, "GET /api/v1/reporting/funnel", key="brookall")
    days = [funnel["window"][end][:10] for end in ("from", "to")]
    assert ["2026-05-02", "2026-06-01"] == days
    assert 1 == funnel["data"]["widget_views"]
    words = "from=2026-05-01T00:00:00Z&to=2026-06-01T10:00:00Z"
    _, funnel = answered(door, f"GET /api/v1/reporting/funnel?{words}", key="brookall")
    assert "2026-06-01T10:00:00.000Z" == funnel["window"]["to"]
    assert 0 == funnel["data"]["widget_views"]
