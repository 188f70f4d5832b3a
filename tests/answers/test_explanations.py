from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.answers import explanations
from cardoffers_cli.answers.explanations import explain, near_refs, reasons, titles
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.redemptions import reverse_redemption, show_redemption
from sizes import one_in, slow
from tables import NOON, given, moment, select, uid
from work import job

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store


def catalogue(store: Store, offers: str, links: str) -> None:
    given(store, "institutions", "institution\nalder\nbrook")
    given(store, "merchants", "merchant\nbakery\ncinema")
    given(store, "offers", offers)
    given(store, "links", links)
    given(store, "programs", "offer\nA")


def bought(store: Store, purchases: str) -> None:
    """Let purchases come and be decided in a run of their own."""
    given(store, "purchases", purchases)
    decide(store, job())


def check(store: Store, ref: str, name: str, institution: str = "alder") -> Any:
    """Return one check of the nearest offer."""
    found = explain(store, uid(institution), [ref])[ref]
    return next(each for each in found["checks"] if each["check"] == name)


def told(store: Store, ref: str, name: str, institution: str = "alder") -> tuple[Any, str, str]:
    found = check(store, ref, name, institution)
    return found["ok"], str(found["expected"]), str(found["actual"])


BUDGET = ("offer merchant budget\nA bakery 2.00", "cardholder offer\nann A\nben A")
THREE = """
ref  cardholder  merchant  at
p1   ann         bakery    10:00:00
p3   ben         bakery    12:00:00
p2   ben         bakery    11:00:00
"""


def test_a_budget_is_told_as_it_was_at_the_turn_of_the_purchase(store: Store) -> None:
    catalogue(store, *BUDGET)
    bought(store, THREE)
    assert (True, "2.00", "0.00") == told(store, "p1", "budget")
    assert (True, "2.00", "1.00") == told(store, "p2", "budget")
    assert (False, "2.00", "2.00") == told(store, "p3", "budget")
    assert "spent at 2026-06-01 11:00 UTC" in check(store, "p3", "budget")["detail"]


@slow
def test_decisions_of_earlier_runs_come_first_whenever_the_purchase_was(store: Store) -> None:
    catalogue(store, *BUDGET)
    bought(store, THREE)
    bought(store, "ref merchant at\nlate bakery 09:00:00")
    assert (False, "2.00", "2.00") == told(store, "late", "budget")
    assert (True, "2.00", "0.00") == told(store, "p1", "budget")


@slow
def test_a_reversal_counts_for_the_runs_after_it(store: Store) -> None:
    catalogue(store, *BUDGET)
    bought(store, THREE)
    (first,) = select(store, "select redemption_id from redemptions order by redemption_no limit 1")
    decide(store, job())  # takes a number for the run of the reversal
    with_run = select(store, "select max(run_no) from runs")[0][0]
    reverse_redemption(
        store, str(first[0]), reason="returned", run_no=with_run, now=NOON, actor="tester"
    )
    bought(store, "ref merchant at\nafter bakery 13:00:00")
    assert (False, "2.00", "2.00") == told(store, "p3", "budget")
    assert (True, "2.00", "1.00") == told(store, "after", "budget")


def test_a_shared_budget_is_told_without_naming_who_shares_it(store: Store) -> None:
    links = "institution cardholder offer\nalder ann A\nbrook dan A"
    catalogue(store, "offer merchant budget\nA bakery 1.00", links)
    bought(
        store,
        """
        institution  ref   cardholder  merchant  at
        brook        won   dan         bakery    10:00:00
        alder        lost  ann         bakery    11:00:00
        """,
    )
    assert (False, "1.00", "1.00") == told(store, "lost", "budget")
    assert "brook" not in repr(explain(store, uid("alder"), ["lost"]))
    assert "not_received" == explain(store, uid("alder"), ["won"])["won"]["status"]


def test_uses_are_those_of_the_cardholder(store: Store) -> None:
    catalogue(store, "offer merchant uses\nA bakery 1", "cardholder offer\nann A\nben A")
    bought(store, THREE)
    assert (True, "1", "0") == told(store, "p2", "uses")
    assert (False, "1", "1") == told(store, "p3", "uses")


# the attempts in their order, and the one that delivered
ATTEMPTS = [
    ("-", 1),
    ("timeout -", 2),
    ("- timeout", 1),
    ("- -", 1),
    ("timeout - timeout -", 2),
]


@pytest.mark.parametrize(("attempts", "expected"), ATTEMPTS)
@one_in(3)
def test_a_webhook_sent_again_was_delivered_by_the_first_that_arrived(
    store: Store, attempts: str, expected: int
) -> None:
    catalogue(store, *BUDGET)
    bought(store, "ref merchant\np bakery")
    errors = attempts.split()
    for number, error in enumerate(errors, 1):
        store.connection.execute(
            "insert into attempts (event_no, redemption_no, institution_id, number, run_no,"
            " started_at, error, is_manual)"
            " select event_no, redemption_no, institution_id, $1, 1, $2, $3, $1 > 1"
            " from outbox",
            [number, NOON + timedelta(hours=number), None if error == "-" else error],
        )
    store.connection.execute("update outbox set state = 'delivered', attempts = $1", [len(errors)])
    redemption = explain(store, uid("alder"), ["p"])["p"]["redemption"]
    assert NOON + timedelta(hours=expected) == redemption["delivered_at"]


VERSIONS = """
offer  known_at  cashback  min_spend  uses
A      11:00:00  5.00      15.00      3
A      13:00:00  1.00      0          -
"""


def test_the_version_that_a_purchase_was_judged_by_is_named(store: Store) -> None:
    catalogue(store, "offer merchant cashback min_spend\nA bakery 2.00 10.00", "offer\nA")
    given(store, "versions", VERSIONS)
    bought(
        store,
        """
        ref     merchant  at        amount
        before  bakery    10:59:59  10.00
        then    bakery    11:00:00  14.99
        after   bakery    13:00:00  10.00
        """,
    )
    given(store, "versions", "offer known_at cashback\nA 09:00:00 9.00")  # was not known then
    told = {
        ref: found["evaluations"][0]
        for ref, found in explain(store, uid("alder"), ["before", "then", "after"]).items()
    }
    assert {
        "before": (1, None, "2.00", "10.00", None),
        "then": (2, moment("11:00:00"), "5.00", "15.00", 3),
        "after": (3, moment("13:00:00"), "1.00", "0.00", None),
    } == {
        ref: (
            each["terms"]["version"],
            each["terms"]["since"],
            str(each["terms"]["cashback_amount"]),
            str(each["terms"]["min_spend"]),
            each["terms"]["max_redemptions_per_cardholder"],
        )
        for ref, each in told.items()
    }
    assert ("below_min_spend", "15.00", "14.99") == tuple(
        str(told["then"][name]) for name in ("outcome", "expected", "actual")
    )


def test_a_budget_is_told_with_the_amounts_of_each_version(store: Store) -> None:
    catalogue(store, "offer merchant cashback budget\nA bakery 2.00 6.00", "offer\nA")
    given(store, "versions", "offer known_at cashback\nA 11:00:00 5.00")
    bought(store, "ref merchant at\n1 bakery 10:00:00\n2 bakery 11:00:00")
    assert (False, "6.00", "2.00") == told(store, "2", "budget")
    assert (
        "held GBP 2.00 of GBP 6.00, and one redemption takes GBP 5.00"
        in check(store, "2", "budget")["detail"]
    )


def test_only_offers_of_the_program_and_of_links_are_named(store: Store) -> None:
    offers = "offer merchant\nA bakery\nB bakery\nC bakery"
    catalogue(store, offers, "cardholder offer\nann B\nben C")
    bought(store, "ref cardholder merchant\nr1 ann bakery\nr2 ben bakery\nr3 cat bakery")
    assert {"r1": ["A", "B"], "r2": ["A", "C"], "r3": ["A"]} == {
        ref: sorted(each["offer_id"] for each in found["evaluations"])
        for ref, found in explain(store, uid("alder"), ["r1", "r2", "r3"]).items()
    }


def test_a_link_that_came_later_was_not_known(store: Store) -> None:
    catalogue(store, "offer merchant\nA bakery", "cardholder offer\nben A")
    bought(store, "ref merchant\np bakery")
    given(store, "links", "cardholder offer\nann A")
    select(store, "update links set run_no = 99 where run_no = 0")
    assert (False, "2026-06-01 12:00:00", "None") == told(store, "p", "enrolled")


def test_the_newest_decision_counts(store: Store) -> None:
    catalogue(store, "offer merchant\nA bakery", "cardholder offer\nben A")
    bought(store, "ref merchant\np bakery")
    assert "not_enrolled" == explain(store, uid("alder"), ["p"])["p"]["reason"]
    given(store, "links", "cardholder offer\nann A")
    decide(store, job(now=NOON + timedelta(days=1)), rematch=True)
    found = explain(store, uid("alder"), ["p"])["p"]
    assert ("redeemed", "A") == (found["status"], found["redemption"]["offer_id"])
    assert NOON + timedelta(days=1) == found["decided_at"]


def test_an_offer_counts_for_the_merchant_it_had_then(store: Store) -> None:
    catalogue(store, "offer merchant\nA bakery\nB cinema", "cardholder offer\nann A\nann B")
    bought(store, "ref merchant\np bakery")
    moved = "update offers set merchant_id = $1 where offer_id = 'A'"
    store.connection.execute(moved, [uid("cinema")])
    version = "insert into offer_versions select * replace (99 as run_no, $1 as merchant_id)"
    store.connection.execute(f"{version} from offer_versions where offer_no = 101", [uid("cinema")])
    bought(store, "ref merchant\nq cinema")
    found = explain(store, uid("alder"), ["p", "q"])
    assert {"p": ["A"], "q": ["B"]} == {
        ref: [each["offer_id"] for each in told["evaluations"]] for ref, told in found.items()
    }


def test_refs_come_back_once_and_in_their_order(store: Store) -> None:
    catalogue(store, "offer merchant\nA bakery", "cardholder offer\nann A")
    bought(store, "ref merchant\np1 bakery\np2 bakery")
    refs = ["p2", "none", "p1", "p2"]
    assert ["p2", "none", "p1"] == list(explain(store, uid("alder"), refs))
    assert {} == explain(store, uid("alder"), [])


EACH_REASON = """
ref      cardholder  merchant  amount  at
won      ann         bakery    20.00   10:00:00
again    ann         bakery    20.00   11:00:00
small    ben         bakery    5.00    10:00:00
early    eve         bakery    20.00   2026-05-02T10:00:00
nobody   dan         bakery    20.00   10:00:00
nothing  ann         florist   20.00   10:00:00
"""
REASONS = {
    "won": "redeemed",
    "again": "redemption_limit_reached",
    "small": "below_min_spend",
    "early": "enrolled_after_purchase",
    "nobody": "not_enrolled",
    "nothing": "no_offer",
    "lost": "merchant_unresolved",
}


def test_reasons_are_those_that_explanations_have(store: Store) -> None:
    given(store, "institutions", "institution\nalder\nbrook")
    given(store, "merchants", "merchant\nbakery\nflorist")
    terms = "uses min_spend starts_at\nA bakery 1 10.00 2026-05-01T00:00\nB bakery 1 90.00 -"
    given(store, "offers", f"offer merchant {terms}")
    given(store, "links", "cardholder offer\nann A\nann B\nben A\neve A")
    given(store, "programs", "offer\nA")
    given(store, "purchases", "ref cardholder identifier\nlost ann X9")
    bought(store, EACH_REASON)
    given(store, "purchases", "ref merchant\nlater bakery")
    given(store, "purchases", "institution ref merchant\nbrook theirs bakery")
    alder, refs = uid("alder"), [*REASONS, "later", "theirs", "won"]
    assert reasons(store, alder, refs) == REASONS
    explained = {ref: each["reason"] for ref, each in explain(store, alder, refs).items()}
    assert explained == {**REASONS, "later": "not_matched_yet", "theirs": "not_received"}
    assert {} == reasons(store, alder, [])


def test_near_refs_are_few_and_ones_own(store: Store) -> None:
    catalogue(store, "offer merchant\nA bakery", "offer\nA")
    ours = "\n".join(f"{'0' * number}7 bakery" for number in range(1, 9))
    given(store, "purchases", f"ref merchant\n{ours}")
    given(store, "purchases", "institution ref merchant\nbrook 7 bakery")
    assert ["07", "007", "0007", "00007", "000007"] == near_refs(store, uid("alder"), "7")
    assert [] == near_refs(store, uid("alder"), "8")


def test_of_older_purchases_the_likeliest_spellings_are_found(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explanations, "_NEWEST", 1)
    given(store, "institutions", "institution\nalder")
    given(store, "purchases", "ref\nLAR-0017\nLAR17\nlar-17\nLAR-OOI7\nLAR-00I7\n9\n00000000009")
    assert ["LAR-0017", "LAR-OOI7"] == near_refs(store, uid("alder"), "LAR-0O17")
    assert ["lar-17", "LAR17", "LAR-0017"] == near_refs(store, uid("alder"), "LAR-17")
    assert ["9", "00000000009"] == near_refs(store, uid("alder"), "09")


def test_titles_come_by_language(store: Store) -> None:
    catalogue(store, "offer merchant\nA bakery\nB bakery", "offer\nA")
    given(store, "texts", "offer language title\nA en Bread\nA es Pan\nB es -")
    assert {"A": {"en": "Bread", "es": "Pan"}, "B": {"en": "B"}} == titles(store, ["A", "B"])
    assert {} == titles(store, [])


def test_a_redemption_is_shown_with_its_history_and_no_token(store: Store) -> None:
    catalogue(store, *BUDGET)
    bought(store, "ref cardholder merchant\np1 ann bakery")
    (found,) = select(store, "select redemption_id from redemptions")
    shown = show_redemption(store, str(found[0]))
    assert ("alder", "p1", "A", "pending", "due", "…") == tuple(
        shown[name]
        for name in (
            "institution",
            "transaction_ref",
            "offer_id",
            "status",
            "webhook_state",
            "cardholder_token_masked",
        )
    )
    assert [("pending", "tester", "matched")] == [
        (each["status"], each["actor"], each["reason"]) for each in shown["history"]
    ]
    assert "ann" not in repr(shown)
