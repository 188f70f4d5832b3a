from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.answers.timelines import tell_timeline
from cardoffers_cli.intake.documents import parse_marked
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.river.events import EventCall, take_events
from complaints import complaints, redemption
from tables import uid
from work import found as rows
from work import job, new_store, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

LINKS = """
    select link_id(institution_id, cardholder_token, offer_id)
    from links join cardholders using (institution_id, cardholder_no) join offers using (offer_no)
    where offer_id = 'A'
    order by added_at, cardholder_token
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job on the scene of `complaints`, which these tests only look at."""
    return complaints(tmp_path_factory.mktemp("complaints"))


def told(made: Job, id_: str, institution: str = "alder") -> dict[str, Any]:
    return tell_timeline(id_, institution, made)


def events(found: dict[str, Any]) -> list[str]:
    """Return the events as lines."""
    return [
        f"{each['happened_at']:%d %H:%M:%S} {each['event']}: {each['detail']}"
        for each in found["events"]
    ]


def expected(found: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(each["event"], each["overdue"], each["times"]) for each in found["expected"]]


WON = [
    "20 00:00:00 enrolled: A",
    "20 00:00:00 enrolled: B",
    "01 08:00:00 bought: bakery",
    "01 12:00:00 received: alder.csv, line 2",
    "01 12:00:00 came again: the same (alder.csv, line 15)",
    "01 12:00:00 decided: redeemed",
    "01 12:00:00 pending: matched (A)",
    "01 12:00:05 not delivered: attempt 1: status 502",
    "03 12:00:00 settled: hold ended (A)",
]


def test_a_purchase_is_told_from_the_enrolment_to_the_money(made: Job) -> None:
    found = told(made, "won")
    assert ("ref", "alder") == (found["kind"], found["institution"])
    assert WON == events(found)
    assert [None, None, "12 d 8 h", "4 h", None, None, None, "5 s", "1 d 23 h"] == [
        each["gap"] for each in found["events"]
    ]
    assert {"tester"} == {each["actor"] for each in found["events"][3:]}
    assert [("delivered", True, 1)] == expected(found)


def ids(made: Job, sql: str) -> list[str]:
    return [str(row[0]) for row in rows(made, sql)]


def test_every_id_of_a_purchase_leads_to_it(made: Job) -> None:
    id_ = redemption(made, "won")
    entries = (
        "select redemption_id, entry_id from ledger_entries join redemptions using (redemption_no)"
    )
    entry = {str(each): str(entry) for each, entry in rows(made, entries)}[id_]
    of_the_offer = [line for line in WON if line != "20 00:00:00 enrolled: B"]
    for found_by, each in (("redemption", id_), ("entry", entry)):
        by_id = told(made, each)
        assert (found_by, of_the_offer) == (by_id["kind"], events(by_id))


def test_the_id_of_a_purchase_leads_to_it_where_calls_tell_it(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder", purchases="institution ref\nalder tx-1")
    transaction = ids(made, "select transaction_id(institution_id, 'tx-1') from institutions")[0]
    with pytest.raises(NotFound):
        told(made, transaction)
    with made.store() as store:
        (taken,) = take_events(store, find_institution(store, "alder"), [call("tx-2")], made)
    assert taken.receipt.first is not None
    for id_ in (transaction, str(taken.receipt.first["transaction_id"])):
        assert "transaction" == told(made, id_)["kind"]


def call(ref: str) -> EventCall:
    """Return what a caller sent: one purchase."""
    purchase = {"cardholder_token": "ann", "card_token": "card", "card_acceptor_id": "M1"}
    when = {"transaction_ref": ref, "transacted_at": "2026-06-01T09:00:00Z"}
    items, marked = parse_marked(json.dumps([{**purchase, **when, "amount": 20}]).encode())
    usual = {"body_sha256": "0" * 64, "size_bytes": 1, "key_prefix": "co_live_abcd"}
    return EventCall(call_id=uid(ref), items=items, marked=marked, **usual)


def test_a_reversal_is_told_with_what_it_still_owes(made: Job) -> None:
    found = told(made, "second")
    assert "01 12:00:00 came again: other content (alder.csv, line 16)" in events(found)
    assert "03 12:00:00 reversed: goods returned (B)" == events(found)[-1]
    assert [("deducted", False, 1)] == expected(found)


@pytest.mark.parametrize(
    ("ref", "last", "waits"),
    [
        ("waits", "03 12:00:00 received: later.csv, line 2", [("decided", False, 1)]),
        ("unknown", "01 12:00:00 decided: merchant_unresolved", [("merchant known", False, 1)]),
        ("small", "01 12:00:00 decided: not_redeemed", []),
        (
            "free",
            (
                "01 12:00:00 rejected: amount_not_positive: amount is zero or negative"
                " (alder.csv, line 14)"
            ),
            [],
        ),
    ],
)
def test_the_next_thing_expected_is_told(
    made: Job, ref: str, last: str, waits: list[tuple[Any, ...]]
) -> None:
    found = told(made, ref)
    assert (last, waits) == (events(found)[-1], expected(found))


def test_what_waits_for_a_moment_is_overdue_after_it(made: Job) -> None:
    early = job(made.path, now=made.now - timedelta(days=3))
    assert [("delivered", False, 1)] == expected(told(early, "won"))


def test_a_settlement_is_told_as_a_whole(made: Job) -> None:
    (settlement,) = ids(
        made,
        "select settlement_id from settlements join institutions using (institution_id)"
        " where slug = 'alder'",
    )
    found = told(made, settlement)
    assert "settlement" == found["kind"]
    assert [
        ("received", 2, "41.00"),
        ("decided", 2, "41.00"),
        ("pending", 2, "5.00"),
        ("not delivered", 1, "3.00"),
        ("settled", 2, "5.00"),
        ("reversed", 1, "2.00"),
    ] == [(each["event"], each["times"], str(each["amount"])) for each in found["events"]]


def test_an_import_is_told_with_what_it_did_not_bring(made: Job) -> None:
    (id_,) = ids(made, "select import_id from imports where file_name like '%alder.csv'")
    found = told(made, id_)
    assert "import" == found["kind"]
    assert {
        ("received", "alder.csv", 12),
        ("rejected", "amount_not_positive", 1),
        ("came again", "the same", 1),
        ("came again", "other content", 1),
        ("decided", "redeemed", 2),
        ("decided", "not_redeemed", 8),
        ("decided", "merchant_unresolved", 2),
    } <= {(each["event"], each["detail"], each["times"]) for each in found["events"]}


def test_a_link_is_told_with_the_purchases_that_were_held_against_it(made: Job) -> None:
    ann, _, _, cat = ids(made, LINKS)  # in the order in which they were added; dan is of brook
    found = told(made, ann)
    assert ("link", 1, 3) == (
        found["kind"],
        events(found).count("20 00:00:00 enrolled: A"),
        sum("bought: bakery" in line for line in events(found)),
    )
    assert [
        "01 12:00:00 bought: bakery",
        "01 12:00:00 received: alder.csv, line 9",
        "01 12:00:00 decided: not_redeemed",
        "01 14:00:00 enrolled: A",
    ] == events(told(made, cat))


@pytest.mark.parametrize("id_", ["theirs", "nope", "", "00000000-0000-4000-8000-000000000000"])
def test_what_is_unknown_or_of_others_is_not_found(made: Job, id_: str) -> None:
    with pytest.raises(NotFound) as caught:
        told(made, id_)
    assert "not_received" == caught.value.code


def test_ids_of_others_are_not_found(made: Job) -> None:
    theirs = [
        *ids(made, "select redemption_id from redemptions where redemption_no = 1"),
        *ids(made, "select import_id from imports where import_no = 1"),
        *ids(made, "select entry_id from ledger_entries where redemption_no = 1"),
    ]
    for id_ in theirs:
        assert told(made, id_, "brook")["events"]
        with pytest.raises(NotFound):
            told(made, id_)


def test_a_near_miss_is_suggested(made: Job) -> None:
    with pytest.raises(NotFound) as caught:
        told(made, "tx-oo1o")
    assert "Did you mean TX-0010?" == caught.value.hint
