"""Two institutions never see or touch each other's rows, by whatever a call can name.

Each endpoint is tried with a key of `alder` and everything of `brook` that a call can carry: its
ids, offers, tokens, references and cursors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from doors import DOORS, open_door
from sizes import slow
from tables import select, uid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.kernel.store.job import Job
    from doors import Door

EVENT = {
    "cardholder_token": "bea",
    "card_token": "card",
    "card_acceptor_id": "M1",
    "amount": 20,
    "transaction_ref": "b2",
    "transacted_at": "2026-06-01T10:30:00Z",
}
BEA = {"cardholder_token": "bea", "card_token": "card"}


@pytest.fixture(params=DOORS)
def own_door(request: pytest.FixtureRequest, fresh: Job) -> Iterator[Door]:
    """Each door into a situation that this test alone changes."""
    with open_door(request.param, fresh) as door:
        yield door


OWNED = "select table_name from duckdb_columns() where column_name = 'institution_id' order by all"


def rows_of(job: Job, institution: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of an institution, but of the log of refused keys."""
    with job.store(read_only=True) as store:
        return {
            table: select(
                store, f"from {table} where institution_id = '{uid(institution)}' order by all"
            )
            for (table,) in select(store, OWNED)
            if table not in {"acts", "api_keys"}
        }


def pages(door: Door, report: str, key: str, **query: str) -> tuple[list[str], list[str]]:
    """Return the refs of every row of a report, a row a page, and the cursors between."""
    refs: list[str] = []
    cursors: list[str] = []
    while True:
        asked = {"limit": "1", **query, **({"cursor": cursors[-1]} if cursors else {})}
        words = "&".join(f"{name}={value}" for name, value in asked.items())
        page = door.call("GET", f"/api/v1/reporting/{report}?{words}", key=key).document
        refs += [row["transaction_ref"] for row in page["data"]]
        if page["pagination"]["next_cursor"] is None:
            return refs, cursors
        cursors.append(page["pagination"]["next_cursor"])


@slow
@pytest.mark.parametrize("report", ["redemptions", "settlements"])
def test_a_report_shows_its_own_rows_and_takes_no_foreign_cursor(door: Door, report: str) -> None:
    ours, _ = pages(door, report, "alderall")
    theirs, cursors = pages(door, report, "brookall")
    assert ({"a1", "a2", "a3"}, {"b1", "b2"}) == (set(ours), set(theirs))
    for cursor in cursors:
        path = f"/api/v1/reporting/{report}?limit=1&cursor={cursor}"
        reply = door.call("GET", path, key="alderall")
        assert (422, "cursor_invalid") == (reply.status, reply.code)
        assert 200 == door.call("GET", path, key="brookall").status


def test_a_cursor_is_good_for_its_report_and_its_filters_only(door: Door) -> None:
    _, (cursor, *_) = pages(door, "redemptions", "alderall")
    for path in (
        f"settlements?cursor={cursor}",
        f"redemptions?cursor={cursor}&from=2026-01-01T00:00:00Z",
        f"redemptions?cursor={cursor[:-1]}",
        f"redemptions?cursor={cursor[::-1]}",
    ):
        reply = door.call("GET", f"/api/v1/reporting/{path}", key="alderall")
        assert (422, "cursor_invalid") == (reply.status, reply.code)


def test_a_funnel_counts_its_own(door: Door) -> None:
    counts = {
        key: door.call("GET", "/api/v1/reporting/funnel?to=2026-06-02T00:00:00Z", key=key).document
        for key in ("reporting", "brookall")
    }
    assert (3, 2) == tuple(each["data"]["redemptions"] for each in counts.values())
    assert (4, 2) == tuple(each["data"]["offer_add_successes"] for each in counts.values())


def test_a_feed_shows_the_own_program_and_the_own_links(door: Door) -> None:
    """A token that both institutions use stands for two cardholders."""
    ours = door.call("GET", "/api/v1/offers?cardholder_token=bea", key="alderall").document
    theirs = door.call("GET", "/api/v1/offers?cardholder_token=bea", key="brookall").document
    assert {"bread": False, "cake": False, "tea": False} == {
        offer["id"]: offer["added"] for offer in ours["offers"]
    }
    assert {"bread": False, "theirs": True} == {
        offer["id"]: offer["added"] for offer in theirs["offers"]
    }


def test_a_simulation_knows_only_the_own_links(door: Door) -> None:
    item = door.call("POST", "/api/v1/transactions/simulate", key="alderall", body=EVENT).document
    assert "no_match" == item["outcome"]
    outcomes = {each["offer_id"]: each["outcome"] for each in item["evaluations"]}
    assert {"not_enrolled"} == set(outcomes.values())


CALLS: list[tuple[str, str, Any, int]] = [
    ("POST", "/api/v1/transactions", EVENT, 202),
    ("POST", "/api/v1/transactions", {**EVENT, "institution_id": str(uid("brook"))}, 403),
    (
        "POST",
        "/api/v1/transactions/batch",
        {"transactions": [{**EVENT, "transaction_ref": "b1", "cardholder_token": "ann"}]},
        202,
    ),
    (
        "POST",
        "/api/v1/transactions/batch",
        {"transactions": [{**EVENT, "institution_id": str(uid("brook"))}]},
        202,
    ),
    ("POST", "/api/v1/transactions/simulate", EVENT, 200),
    (
        "POST",
        "/api/v1/transactions/simulate",
        {**EVENT, "institution_id": str(uid("brook"))},
        403,
    ),
    ("GET", "/api/v1/offers?cardholder_token=bea", None, 200),
    ("GET", "/api/v1/offers?cardholder_token=bea&personalize=true", None, 200),
    ("POST", "/api/v1/offers/theirs/add", BEA, 404),
    ("POST", "/api/v1/offers/bread/add", BEA, 201),
    ("GET", "/api/v1/reporting/redemptions", None, 200),
    ("GET", "/api/v1/reporting/settlements", None, 200),
    ("GET", "/api/v1/reporting/funnel", None, 200),
    ("GET", f"/api/v1/offers?cardholder_token=bea&institution_id={uid('brook')}", None, 422),
    ("GET", f"/api/v1/reporting/redemptions?institution=brook&i={uid('brook')}", None, 422),
]


def test_no_call_of_one_changes_a_row_of_the_other(own_door: Door, fresh: Job) -> None:
    before, ours = rows_of(fresh, "brook"), rows_of(fresh, "alder")
    for method, path, body, status in CALLS:
        reply = own_door.call(method, path, key="alderall", body=body)
        assert status == reply.status, path
        for name in (b"theirs", str(uid("brook")).encode(), b"brook"):
            assert name not in reply.body
    assert before == rows_of(fresh, "brook")
    assert ours != rows_of(fresh, "alder")
