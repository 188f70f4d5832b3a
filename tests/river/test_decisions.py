from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.outcomes import decisions_of_import
from tables import NOON, given, read, uid
from work import job

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store


def decided(
    store: Store, offers: str, links: str, purchases: str, versions: str = "offer"
) -> dict[str, Any]:
    """Match the purchases of one import; return its items by ref."""
    given(store, "institutions", "institution\nalder")
    given(store, "merchants", "merchant\nbakery")
    given(store, "offers", offers)
    given(store, "versions", versions)
    names = [row["offer"] for row in read(offers)]
    given(store, "programs", "\n".join(["offer", *names]))
    given(store, "links", links)
    given(store, "purchases", purchases)
    store.connection.execute("update recent_purchases set import_no = 1, line = purchase_no")
    decide(store, job())
    items = decisions_of_import(store, uid("alder"), 1)
    return {item["transaction_ref"]: item for item in items}


def test_every_check_says_what_it_expected_and_what_was_there(store: Store) -> None:
    items = decided(
        store,
        offers="""
        offer  merchant  min_spend  starts_at  expires_at  budget  uses
        A      bakery    10.00      11:00:00   13:00:00    -       -
        B      bakery    0          11:00:00   13:00:00    0.99    -
        C      bakery    0          11:00:00   13:00:00    -       1
        D      bakery    0          11:00:00   13:00:00    -       -
        """,
        links="""
        cardholder  offer  added_at
        ann         A      11:30:00
        ben         B      11:30:00
        cat         C      11:30:00
        """,
        purchases="""
        ref     cardholder  merchant  amount  at
        early   ann         bakery    20.00   11:29:00
        before  ben         bakery    20.00   10:59:00
        end     ann         bakery    20.00   13:00:00
        small   ann         bakery    9.99    12:00:00
        broke   ben         bakery    20.00   12:00:00
        first   cat         bakery    20.00   12:00:00
        second  cat         bakery    20.00   12:00:01
        """,
    )
    checks = {
        (ref, check["offer_id"]): tuple(
            None if check[name] is None else str(check[name])
            for name in ("outcome", "expected", "actual")
        )
        for ref, item in items.items()
        for check in item["evaluations"]
        if check["outcome"] != "not_enrolled"
    }
    assert {
        ("early", "A"): (
            "enrolled_after_purchase",
            "2026-06-01 11:29:00",
            "2026-06-01 11:30:00",
        ),
        ("before", "B"): (
            "enrolled_after_purchase",
            "2026-06-01 10:59:00",
            "2026-06-01 11:30:00",
        ),
        ("end", "A"): ("offer_expired", "2026-06-01 13:00:00", "2026-06-01 13:00:00"),
        ("small", "A"): ("below_min_spend", "10.00", "9.99"),
        ("broke", "B"): ("budget_exhausted", "0.99", None),
        ("first", "C"): ("redeemed", None, None),
        ("second", "C"): ("redemption_limit_reached", "1", None),
    } == checks
    assert 4 == len(items["second"]["evaluations"])


def test_the_terms_are_those_of_the_time_of_the_decision(store: Store) -> None:
    items = decided(
        store,
        offers="offer merchant min_spend\nA bakery 10.00",
        links="offer\nA",
        purchases="ref merchant amount\nsmall bakery 9.00",
    )
    (check,) = items["small"]["evaluations"]
    assert ("below_min_spend", "10.00") == (check["outcome"], str(check["expected"]))
    later = "update offers set min_spend = 5, expires_at = $1"
    store.connection.execute(later, [NOON + timedelta(days=90)])
    versions = "insert into offer_versions select * replace (99 as run_no, 5 as min_spend)"
    store.connection.execute(f"{versions} from offer_versions")
    (item,) = decisions_of_import(store, uid("alder"), 1)
    assert item == items["small"]


def test_each_purchase_is_told_by_the_terms_in_force_at_it(store: Store) -> None:
    items = decided(
        store,
        offers="offer merchant cashback min_spend\nA bakery 2.00 10.00",
        versions="offer known_at cashback min_spend\nA 12:00:00 5.00 20.00",
        links="offer\nA",
        purchases="""
        ref     merchant  amount  at
        before  bakery    10.00   11:59:59
        small   bakery    10.00   12:00:00
        after   bakery    20.00   12:00:00
        """,
    )
    assert {
        "before": ("match", "2.00", "None"),
        "small": ("no_match", "None", "20.00"),
        "after": ("match", "5.00", "None"),
    } == {
        ref: (
            item["outcome"],
            str(item["institution_payout_amount"]),
            str(item["evaluations"][0]["expected"]),
        )
        for ref, item in items.items()
    }


def test_offers_of_other_programs_are_told_only_to_who_has_a_link(store: Store) -> None:
    items = decided(
        store,
        offers="offer merchant\nA bakery\nB bakery\nC bakery",
        links="cardholder offer\nann B",
        purchases="ref cardholder merchant\nr1 ann bakery\nr2 ben bakery",
    )
    assert ["A", "B", "C"] == offers_told(items["r1"])
    store.connection.execute("delete from program_offers where offer_id <> 'A'")
    items = decisions_of_import(store, uid("alder"), 1)
    assert [["A", "B"], ["A"]] == [offers_told(item) for item in items]


def offers_told(item: dict[str, Any]) -> list[str]:
    return [evaluation["offer_id"] for evaluation in item["evaluations"]]
