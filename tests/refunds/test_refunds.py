"""What a person sees of refunds, and decides of them."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from approving import approved
from cardoffers_cli.answers.find import find
from cardoffers_cli.answers.search import PurchaseFilter
from cardoffers_cli.answers.timelines import tell_timeline
from cardoffers_cli.answers.why import plain_answers, why
from cardoffers_cli.archive.export import export
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.words.errors import CardoffersError, UsageError
from cardoffers_cli.night.status import status
from cardoffers_cli.refunds.apply import apply_refunds
from cardoffers_cli.refunds.linking import (
    MESSAGES,
    RefundLink,
    dismiss_refund,
    link_refund,
    link_refunds,
)
from cardoffers_cli.refunds.questions import refund_rows, show_refund, suggestions
from cardoffers_cli.river.engines import match_purchases
from sizes import slow
from tables import NOON, select
from work import found, job, kept, new_store, once, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

REFUNDS = """
ref     original  cardholder  identifier  amount  at
named   p1        ann         M1          20.00   2026-06-02T12:00:00Z
lost    nobody    ann         M1          20.00   2026-06-02T12:00:00Z
one     -         ann         M1          25.00   2026-06-03T12:00:00Z
part    -         ann         M1          5.00    2026-06-03T12:00:00Z
none    -         ben         M1          5.00    2026-06-03T12:00:00Z
late    -         ann         M1          5.00    2027-06-03T12:00:00Z
early   -         ann         M1          5.00    2026-05-31T12:00:00Z
"""


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return with_refunds(tmp_path)


@once
def with_refunds(folder: Path) -> Job:
    """Make a store of three purchases of ann's that redeemed, and refunds, none of them applied."""
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder\nbrook",
        merchants="merchant\nbakery",
        identifiers="identifier merchant\nM1 bakery\nM2 bakery",
        offers="offer merchant min_spend\nA bakery 10.00",
        links="cardholder offer\nann A\nben A",
        purchases="""
        ref  cardholder  identifier  amount  card   at
        p1   ann         M1          20.00   card   2026-06-01T12:00:00Z
        p2   ann         M1          25.00   card   2026-06-01T13:00:00Z
        p3   ann         M1          25.01   watch  2026-06-02T13:00:00Z
        p4   ann         M2          25.00   card   2026-06-02T13:00:00Z
        p5   ben         M1          4.99    card   2026-06-02T13:00:00Z
        """,
        refunds=REFUNDS,
    )
    match_purchases(made)
    return made


def states(made: Job, *names: str) -> list[tuple[Any, ...]]:
    rows, _ = refund_rows(made, "alder", limit=100)
    return sorted(tuple(row[name] for name in ("refund_ref", *names)) for row in rows)


@slow
def test_a_list_says_how_far_each_is_and_how_many_it_may_be_of(made: Job) -> None:
    names = ("state", "outcome", "transaction_ref", "candidates", "exact_candidates")
    assert {("waiting", None, None)} == {each[1:4] for each in states(made, *names)}
    apply_refunds(made)
    assert [
        ("early", "waiting", None, None, 0, 0),
        ("late", "waiting", None, None, 0, 0),
        ("lost", "waiting", "purchase_not_received", None, None, None),
        ("named", "linked", "reversed", "p1", None, None),
        ("none", "waiting", None, None, 0, 0),
        ("one", "waiting", None, None, 2, 1),
        ("part", "waiting", None, None, 2, 0),
    ] == states(made, *names)
    assert ([], 0) == refund_rows(made, "brook", limit=9)
    rows, refunds = refund_rows(made, None, state="waiting", limit=2, everywhere=True)
    assert (["late", "none"], 6) == ([row.refund_ref for row in rows], refunds)


@slow
def test_candidates_are_ranked_by_amount_then_instrument_then_lag(made: Job) -> None:
    ranked = [
        tuple(each[name] for name in ("refund_ref", "rank", "transaction_ref", "lag_days"))
        for each in suggestions(made, "alder")
    ]
    assert [
        ("one", 1, "p2", 1),
        ("one", 2, "p3", 0),
        ("part", 1, "p2", 1),
        ("part", 2, "p1", 2),
        ("part", 3, "p3", 0),
    ] == ranked
    (first, *_) = suggestions(made, "alder")
    assert (True, True, Decimal("25.00")) == (
        first.equal_amount,
        first.same_instrument,
        first.remaining,
    )


def test_a_person_links_a_refund_and_it_takes_back(made: Job) -> None:
    said = RefundLink(refund_ref="one", transaction_ref="p2", reason=" till receipt ")
    before = kept(made)
    dry = link_refund(made, "alder", said, dry_run=True)
    assert before == kept(made)
    assert (True, "reversed", Decimal(0)) == (dry.is_linked, dry.outcome, dry.net_after)
    assert {**dry, "dry_run": False} == link_refund(made, "alder", said)
    shown = show_refund(made, "alder", "one")
    assert ("linked", "person", "tester", "till receipt", "p2") == tuple(
        shown[name] for name in ("state", "how", "actor", "reason", "transaction_ref")
    )
    assert [("p2",)] == found(
        made, "select transaction_ref from redemption_facts where status = 'reversed'"
    )
    assert [("refunded",)] == found(
        made, "select reason from ledger_moves where status = 'reversed'"
    )


def test_a_refund_of_its_purchases_own_moment_may_be_of_it(made: Job) -> None:
    at = "2026-06-01T13:00:00Z"
    tell(made, refunds=f"ref original cardholder identifier at amount\nsame - ann M1 {at} 25.00")
    assert [("p2", 0)] == [
        (each.transaction_ref, each.lag_days)
        for each in suggestions(made, "alder")
        if each.refund_ref == "same"
    ]
    said = RefundLink(refund_ref="same", transaction_ref="p2", reason="till receipt")
    assert link_refund(made, "alder", said).is_linked


# The refund and the purchase that are named, and why they are not linked
REFUSED = [
    ("nothing", "p1", "refund_not_found"),
    ("one", "p9", "purchase_not_received"),
    ("one", "p1", "refund_exceeds_purchase"),
    ("one", "p5", "refund_of_other_cardholder"),
    ("early", "p1", "refund_before_purchase"),
    ("named", "p2", "refund_not_waiting"),
]


@pytest.mark.parametrize(("refund", "purchase", "code"), REFUSED)
def test_what_cannot_be_linked_is_refused_and_goes_on_waiting(
    made: Job, refund: str, purchase: str, code: str
) -> None:
    apply_refunds(made)
    before = kept(made)
    with pytest.raises(CardoffersError) as caught:
        link_refund(
            made, "alder", RefundLink(refund_ref=refund, transaction_ref=purchase, reason="r")
        )
    assert (code, MESSAGES[code]) == (caught.value.code, caught.value.message)
    assert before == kept(made)


@slow
def test_of_a_list_each_is_judged_for_itself(made: Job) -> None:
    apply_refunds(made)
    said = [
        *(
            RefundLink(refund_ref=refund, transaction_ref=to, reason="r")
            for refund, to, _ in REFUSED
        ),
        RefundLink(refund_ref="part", transaction_ref="p3", reason="r"),
        *[RefundLink(refund_ref="none", transaction_ref="p5", reason="r")] * 2,
    ]
    told = link_refunds(made, "alder", [each for each in said if each.refund_ref != "one"])
    assert [
        ("nothing", "refund_not_found"),
        ("early", "refund_before_purchase"),
        ("named", "refund_not_waiting"),
        ("part", None),
        ("none", "refund_named_twice"),
        ("none", "refund_named_twice"),
    ] == [(each.refund_ref, each.code) for each in told]
    assert ("early", "waiting") in states(made, "state")


def test_a_reversal_that_lies_before_its_redemption_is_refused(made: Job) -> None:
    early = job(made.path, now=NOON - timedelta(days=1))
    with pytest.raises(CardoffersError) as caught:
        link_refund(early, "alder", RefundLink(refund_ref="one", transaction_ref="p2", reason="r"))
    assert "reversal_too_early" == caught.value.code


@slow
def test_a_dismissed_refund_is_left_alone(made: Job) -> None:
    assert "waiting" == show_refund(made, "alder", "named").state
    dry = dismiss_refund(made, "alder", "named", "sent twice", dry_run=True)
    assert {**dry, "dry_run": False} == dismiss_refund(made, "alder", "named", "sent twice")
    assert 0 == apply_refunds(made).reversed
    assert ("dismissed", "sent twice") == tuple(
        show_refund(made, "alder", "named")[name] for name in ("state", "reason")
    )
    with pytest.raises(CardoffersError) as caught:
        dismiss_refund(made, "alder", "named", "again")
    assert "refund_not_waiting" == caught.value.code


def test_a_dismissal_needs_a_second_person_where_approvals_are_on(made: Job) -> None:
    """rules.md#four-eyes"""
    with made.store() as store:
        select(store, "update institutions set approvals = 'on', approval_limit = 19.99")
    with pytest.raises(CardoffersError) as caught:
        dismiss_refund(made, "alder", "named", "sent twice")
    assert "approval_required" == caught.value.code
    assert "waiting" == show_refund(made, "alder", "named").state
    assert None is dismiss_refund(made, "alder", "part", "below the limit").approval


@slow
def test_links_above_the_limit_need_a_second_person(made: Job) -> None:
    """rules.md#four-eyes: of what they come to together."""
    apply_refunds(made)
    with made.store() as store:
        select(store, "update institutions set approvals = 'on', approval_limit = 24.99")
    part = RefundLink(refund_ref="part", transaction_ref="p3", reason="receipt")
    assert [None] == [each.approval for each in link_refunds(made, "alder", [part])]
    before = kept(made, "approvals", "runs", "acts")
    asked = RefundLink(refund_ref="one", transaction_ref="p2", reason="receipt")
    assert "needed" == link_refunds(made, "alder", [asked], dry_run=True)[0].approval
    with pytest.raises(CardoffersError) as caught:
        link_refunds(made, "alder", [asked])
    assert "approval_required" == caught.value.code
    assert before == kept(made, "approvals", "runs", "acts")
    approved(made)
    assert "used" == link_refunds(made, "alder", [asked])[0].approval


def test_a_reason_is_needed(made: Job) -> None:
    with pytest.raises(UsageError):
        dismiss_refund(made, "alder", "named", " ")
    with pytest.raises(UsageError):
        link_refunds(
            made, "alder", [RefundLink(refund_ref="one", transaction_ref="p2", reason=" ")]
        )


@slow
def test_a_change_of_the_policy_is_audited_and_in_the_security_log(made: Job) -> None:
    policy = {"refund_auto_link": "unique_exact", "clawback_days": 30, "refund_window_days": 180}
    told = set_institution(made, "alder", {}, settings=policy)
    assert [("refund_auto_link", "never", "unique_exact"), ("clawback_days", None, "30")] == [
        (each.field, each.old_value, each.new_value) for each in told.changes
    ]
    assert [("refund_auto_link",), ("clawback_days",)] == found(
        made, "select field from audit_log order by audit_no"
    )
    logged = "select kind, actor from acts where kind <> 'terms_changed'"
    assert [("refund_policy_changed", "tester")] == found(made, logged)
    assert [] == set_institution(made, "alder", {}, settings=policy).changes
    set_institution(made, "alder", {}, settings={"clawback_days": None})
    apply_refunds(made)
    assert ("one", "linked", "p2") in states(made, "state", "transaction_ref")
    assert "policy" == show_refund(made, "alder", "one").how


# What support is asked, and what is answered


def test_why_names_the_purchase_and_the_refund_both_amounts_the_rule_and_what_moved(
    made: Job,
) -> None:
    apply_refunds(made)
    of_refund = why("named", "alder", made)
    assert ("refund_linked", "reversed") == (of_refund.status, of_refund.reason)
    sentence = (
        "The refund named of GBP 20.00 is of p1, GBP 20.00, of which GBP 0.00 is left: nothing is"
        " left of the purchase, so GBP 1.00 of cashback was taken back."
    )
    assert sentence == of_refund.headline
    assert why("p1", "alder", made).headline.endswith(sentence)
    assert ["named"] == [each.refund_ref for each in why("p1", "alder", made).refunds or ()]
    assert None is why("p2", "alder", made).refunds
    assert "refund_waiting" == why("one", "alder", made).status


def test_the_cardholder_is_told_what_was_taken_back(made: Job) -> None:
    apply_refunds(made)
    for ref in ("p1", "named"):
        (told,) = plain_answers([ref], "alder", made, locale="en")
        amounts = re.findall(r"GBP [0-9.,]*[0-9]", told.answer)
        assert {"20", "1"} == {re.sub(r"[.,]00$", "", each[4:]) for each in amounts}


@slow
def test_a_timeline_of_either_tells_of_both(made: Job) -> None:
    apply_refunds(made)
    for id_ in ("p1", "named"):
        told = tell_timeline(id_, "alder", made)
        said = [f"{each.event}: {each.detail}" for each in told.events]
        assert "came back: refund named" in said
        assert "refund linked: named: reversed (referenced)" in said
        assert "reversed: refunded (A)" in said
        assert "bought: bakery" in said
    waits = tell_timeline("lost", "alder", made)
    assert ["cardoffers refund apply"] == [each.by for each in waits.expected]
    assert "refund waits: lost: purchase_not_received" in [
        f"{each.event}: {each.detail}" for each in waits.events
    ]


def test_purchases_in_the_archive_are_found_too(made: Job, tmp_path: Path) -> None:
    export(made, str(tmp_path / "history"))
    assert [] == found(made, "from recent_purchases")
    assert 1 == apply_refunds(made).reversed
    assert ["p2", "p3"] == [
        each.transaction_ref for each in suggestions(made, "alder") if each.refund_ref == "one"
    ]


@slow
def test_status_counts_the_refunds_that_wait(made: Job) -> None:
    assert 7 == status(made)[0].refunds_waiting
    apply_refunds(made)
    dismiss_refund(made, "alder", "none", "sent twice")
    _, waiting = refund_rows(made, "alder", state="waiting", limit=1)
    assert waiting == status(made)[0].refunds_waiting == 5


IMPORTED = """
select 1 as import_no, uuid() as import_id, institution_id, 1 as run_no, 'rf.csv' as file_name,
    'csv' as file_kind, '' as file_sha256, 0 as size_bytes, 7 as received, 7 as accepted,
    0 as duplicates, 0 as conflicts, 0 as invalid, 0 as blank_lines, 1 as amount_accepted,
    'GBP' as currency, '{}' as options, timestamp '2026-06-01' as imported_at
from institutions where slug = 'alder'
"""


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("p1", {("purchase", "p1", "pending"), ("refund", "named", "refund_waiting")}),
        ("named", {("refund", "named", "refund_waiting")}),
        (
            "*a*",
            {("refund", each, "refund_waiting") for each in ("named", "part", "late", "early")},
        ),
    ],
)
def test_find_knows_refunds(made: Job, ref: str, expected: set[tuple[str, str, str]]) -> None:
    with made.store() as store:
        select(store, f"insert into imports by name {IMPORTED}")
        select(store, "update refunds set import_no = 1, line = refund_no")
    hits = find("alder", PurchaseFilter(ref=ref), made, limit=9).data
    assert expected == {(hit.kind, hit.transaction_ref or "", hit.state) for hit in hits}
