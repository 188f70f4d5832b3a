from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.archive.duck import DuckEngine
from cardoffers_cli.kernel.store.opening import scratch_store
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.match import match
from cardoffers_cli.river.redeem import find_held
from cardoffers_cli.river.resolve import one_purchase, resolve
from cardoffers_cli.river.settle import settle
from serial import Service
from sizes import FULL, one_in, slow, tries
from tables import NOON, given, put, read, select
from work import job, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.kernel.store.store import Store

INSTITUTIONS = """
institution  institution_id
alder        00000000-0000-0000-0000-00000000000a
brook        00000000-0000-0000-0000-00000000000b
"""
MERCHANTS = """
merchant
bakery
cinema
"""
PURCHASE_COLUMNS = ("ref", "institution", "cardholder", "merchant", "identifier", "amount", "at")


def situation(
    store: Store, offers: str, purchases: str, links: str | None = None, versions: str = "offer"
) -> None:
    """Write a situation; without `links` every cardholder has added every offer long before."""
    given(store, "institutions", INSTITUTIONS)
    given(store, "merchants", MERCHANTS)
    given(store, "offers", offers)
    given(store, "versions", versions)
    bought = [{"merchant": "bakery", **row} for row in read(purchases)]
    holders = {(row.get("institution", "alder"), row.get("cardholder", "ann")) for row in bought}
    everywhere = [
        {"institution": institution, "cardholder": cardholder, "offer": offer["offer"]}
        for institution, cardholder in sorted(holders)
        for offer in read(offers)
    ]
    put(store, "links", everywhere if links is None else read(links))
    put(store, "purchases", bought)


def outcomes(store: Store) -> dict[tuple[str, str], str]:
    """Return the newest outcome of every purchase (by ref) and offer."""
    found = select(
        store,
        "select transaction_ref, offer_id, outcome from outcomes join purchases using (purchase_no)"
        " join offers using (offer_no) order by run_no",
    )
    return {(ref, offer): outcome for ref, offer, outcome in found}


def expected(purchases: str) -> dict[tuple[str, str], str]:
    """Return the outcomes a table of purchases shows in the columns named after offers."""
    return {
        (row["ref"], name): cell
        for row in read(purchases)
        for name, cell in row.items()
        if name not in PURCHASE_COLUMNS and cell is not None
    }


def redeemed(store: Store) -> list[tuple[str, str]]:
    """Return (ref, offer) of every redemption."""
    return select(
        store,
        "select transaction_ref, offer_id from redemptions"
        " join offers using (offer_no) order by all",
    )


@pytest.mark.parametrize(
    ("offers", "purchases"),
    [
        pytest.param(
            """
            offer  merchant  starts_at  expires_at
            A      bakery    12:00:00   13:00:00
            """,
            """
            ref  at               A
            1    11:59:59         offer_not_started
            2    11:59:59.999999  offer_not_started
            3    12:00:00         redeemed
            4    12:00:01         redeemed
            5    12:59:59         redeemed
            6    12:59:59.999999  redeemed
            7    13:00:00         offer_expired
            8    13:00:01         offer_expired
            """,
            id="the window of an offer holds its start and not its end",
        ),
        pytest.param(
            """
            offer  merchant  min_spend
            A      bakery    10.00
            """,
            """
            ref  amount  A
            1    9.99    below_min_spend
            2    10.00   redeemed
            3    10.01   redeemed
            """,
            id="the minimum itself is enough",
        ),
        pytest.param(
            """
            offer  merchant  cashback  rate  budget
            A      bakery    1.00      0.1   2.20
            B      bakery    0.90      0     1.79
            """,
            """
            ref  at        A                 B
            1    12:00:01  redeemed          outranked
            2    12:00:02  redeemed          outranked
            3    12:00:03  budget_exhausted  redeemed
            4    12:00:04  budget_exhausted  budget_exhausted
            """,
            id="a budget is spent by what the merchant funds, to the cent, and never in part",
        ),
        pytest.param(
            """
            offer  merchant  cashback  budget
            A      bakery    1.00      0.99
            B      bakery    1.00      1.00
            """,
            """
            ref  A                 B
            1    budget_exhausted  redeemed
            """,
            id="a budget a cent short pays nothing",
        ),
        pytest.param(
            """
            offer  merchant  uses
            A      bakery    2
            """,
            """
            ref  at        cardholder  A
            1    12:00:01  ann         redeemed
            2    12:00:02  ben         redeemed
            3    12:00:03  ann         redeemed
            4    12:00:04  ann         redemption_limit_reached
            5    12:00:05  ben         redeemed
            """,
            id="uses are counted by cardholder",
        ),
        pytest.param(
            """
            offer  merchant  uses  budget
            A      bakery    1     2.00
            """,
            """
            ref  at        cardholder  A
            1    12:00:01  ann         redeemed
            2    12:00:02  ann         redemption_limit_reached
            3    12:00:03  ben         redeemed
            4    12:00:04  ann         budget_exhausted
            """,
            id="where both are gone the budget is the reason",
        ),
        pytest.param(
            """
            offer  merchant  budget
            A      bakery    2.00
            """,
            """
            ref  at        institution  A
            z    12:00:00  alder        redeemed
            a    12:00:00  brook        redeemed
            b    12:00:00  brook        budget_exhausted
            """,
            id="at the same moment the institution's id goes first, and both share the budget",
        ),
        pytest.param(
            """
            offer  merchant  budget
            A      bakery    3.00
            """,
            """
            ref  A
            a    budget_exhausted
            B    budget_exhausted
            9    redeemed
            10   redeemed
            1    redeemed
            """,
            id="then the ref, as text",
        ),
        pytest.param(
            """
            offer  merchant  budget
            A      bakery    4.00
            """,
            """
            ref  at                   A
            1    2026-06-02T00:00:00  redeemed
            2    2026-06-01T23:59:59  redeemed
            3    2026-06-10T00:00:00  budget_exhausted
            4    2026-06-09T09:00:00  redeemed
            5    2026-05-31T23:00:00  redeemed
            """,
            id="an earlier day goes first, whatever the time of day",
        ),
        pytest.param(
            """
            offer  merchant  cashback  expires_at
            A      bakery    1.00      2026-06-02
            B      bakery    1.01      2026-06-03
            """,
            """
            ref  A          B
            1    outranked  redeemed
            """,
            id="the most cashback is the best offer",
        ),
        pytest.param(
            """
            offer  merchant  cashback  expires_at
            A      bakery    1.00      2026-06-03
            B      bakery    1.00      2026-06-02
            """,
            """
            ref  A          B
            1    outranked  redeemed
            """,
            id="then the earliest end",
        ),
        pytest.param(
            """
            offer  merchant  cashback  expires_at
            b      bakery    1.00      2026-06-03
            B      bakery    1.00      2026-06-03
            a      bakery    1.00      2026-06-03
            """,
            """
            ref  B         a          b
            1    redeemed  outranked  outranked
            """,
            id="then the id of the offer, as text",
        ),
        pytest.param(
            """
            offer  merchant  cashback
            A      bakery    1.00
            B      cinema    9.00
            """,
            """
            ref  merchant  A         B
            1    bakery    redeemed  -
            2    cinema    -         redeemed
            """,
            id="only offers of the merchant count",
        ),
        pytest.param(
            """
            offer  merchant  cashback  budget
            A      bakery    3.00      3.00
            B      bakery    2.00      2.00
            C      bakery    1.00      1.00
            """,
            """
            ref  at        A                 B                 C
            1    12:00:01  redeemed          outranked         outranked
            2    12:00:02  budget_exhausted  redeemed          outranked
            3    12:00:03  budget_exhausted  budget_exhausted  redeemed
            4    12:00:04  budget_exhausted  budget_exhausted  budget_exhausted
            """,
            id="who is refused moves on to the next best",
        ),
    ],
)
@one_in(4)
def test_the_outcome_of_every_purchase_and_offer(store: Store, offers: str, purchases: str) -> None:
    situation(store, offers, purchases)
    decide(store, job())
    assert expected(purchases) == outcomes(store)
    wins = [pair for pair, outcome in sorted(expected(purchases).items()) if outcome == "redeemed"]
    assert wins == redeemed(store)


@pytest.mark.parametrize(
    ("offers", "versions", "purchases"),
    [
        pytest.param(
            """
            offer  merchant  min_spend
            A      bakery    10.00
            """,
            """
            offer  known_at  min_spend
            A      13:00:00  20.00
            A      14:00:00  15.00
            """,
            """
            ref  at               amount  A
            1    2026-05-31       10.00   redeemed
            2    12:59:59.999999  10.00   redeemed
            3    13:00:00         19.99   below_min_spend
            4    13:59:59.999999  20.00   redeemed
            5    14:00:00         14.99   below_min_spend
            6    14:00:00         15.00   redeemed
            """,
            id="the newest version known at the purchase counts, before any was known the first",
        ),
        pytest.param(
            """
            offer  merchant  min_spend
            A      bakery    10.00
            """,
            """
            offer  known_at  min_spend
            A      13:00:00  30.00
            A      12:30:00  20.00
            """,
            """
            ref  at               amount  A
            1    12:29:59.999999  10.00   redeemed
            2    12:30:00         19.99   below_min_spend
            3    13:00:00         20.00   redeemed
            """,
            id="a correction dated back takes the place of the version between",
        ),
        pytest.param(
            """
            offer  merchant  cashback
            A      bakery    2.00
            B      bakery    1.00
            """,
            """
            offer  known_at  cashback
            A      13:00:00  0.50
            B      14:00:00  0.25
            """,
            """
            ref  at        A          B
            1    12:59:59  redeemed   outranked
            2    13:00:00  outranked  redeemed
            3    14:00:00  redeemed   outranked
            """,
            id="the best offer is the one that was the best at the purchase",
        ),
        pytest.param(
            """
            offer  merchant  cashback  budget
            A      bakery    2.00      6.00
            B      bakery    0.10      -
            """,
            """
            offer  known_at  cashback
            A      13:00:00  5.00
            A      14:00:00  1.00
            """,
            """
            ref  at        A                 B
            1    12:00:00  redeemed          outranked
            2    13:00:00  budget_exhausted  redeemed
            3    13:00:01  budget_exhausted  redeemed
            4    14:00:00  redeemed          outranked
            5    14:00:01  redeemed          outranked
            6    14:00:02  redeemed          outranked
            7    14:00:03  redeemed          outranked
            8    14:00:04  budget_exhausted  redeemed
            """,
            id="what is too dear for the rest of a budget leaves it to who asks for less",
        ),
        pytest.param(
            """
            offer  merchant  uses
            A      bakery    1
            """,
            """
            offer  known_at  uses
            A      13:00:00  3
            A      14:00:00  2
            A      15:00:00  -
            """,
            """
            ref  at        cardholder  A
            1    12:00:00  ann         redeemed
            2    12:00:01  ann         redemption_limit_reached
            3    13:00:00  ann         redeemed
            4    13:00:01  ben         redeemed
            5    14:00:00  ann         redemption_limit_reached
            6    14:00:01  ben         redeemed
            7    14:00:02  ben         redemption_limit_reached
            8    15:00:00  ann         redeemed
            9    15:00:01  ann         redeemed
            """,
            id="a limit is that of the purchase, and counts every use before it",
        ),
        pytest.param(
            """
            offer  merchant  cashback  budget  uses
            A      bakery    1.00      3.00    2
            """,
            """
            offer  known_at  cashback
            A      13:00:00  2.50
            A      14:00:00  1.00
            """,
            """
            ref  at        cardholder  A
            1    12:00:00  ann         redeemed
            2    13:00:00  ann         budget_exhausted
            3    14:00:00  ann         redeemed
            4    14:00:01  ann         redemption_limit_reached
            5    14:00:02  ben         redeemed
            6    14:00:03  ben         budget_exhausted
            """,
            id="a purchase that a budget refuses spends no use",
        ),
        pytest.param(
            """
            offer  merchant  budget  expires_at
            A      bakery    9.00    -
            """,
            """
            offer  known_at  budget  expires_at
            A      13:00:00  1.00    14:00:00
            """,
            """
            ref  at        A
            1    12:00:00  redeemed
            2    12:00:01  budget_exhausted
            3    14:00:00  offer_expired
            """,
            id="budget and dates are those of now, whenever the purchase was",
        ),
    ],
)
@one_in(3)
def test_terms_are_those_in_force_at_the_purchase(
    store: Store, offers: str, versions: str, purchases: str
) -> None:
    situation(store, offers, purchases, versions=versions)
    decide(store, job())
    assert expected(purchases) == outcomes(store)


def test_a_redemption_keeps_its_version_and_is_paid_by_it(store: Store) -> None:
    situation(
        store,
        offers="offer merchant cashback rate\nA bakery 5.00 0.1",
        versions="offer known_at cashback rate\nA 12:00:00 50.00 0.1\nA 13:00:00 7.77 0.015",
        purchases="ref at\n1 11:59:59\n2 12:00:00\n3 13:00:00",
    )
    decide(store, job())
    paid = [
        ("1", 0, "5.5000", "0.5000", "5.0000"),
        ("2", 1, "55.0000", "5.0000", "50.0000"),
        ("3", 2, "7.8900", "0.1200", "7.7700"),
    ]
    assert paid == [
        (ref, version_no, *map(str, amounts))
        for ref, version_no, *amounts in select(
            store,
            "select transaction_ref, version_no, merchant_funded_amount, commission_amount,"
            " institution_payout_amount from ledger_entries join redemptions using (redemption_no)"
            " order by all",
        )
    ]


def test_who_added_an_offer_before_it_was_paused_keeps_it(store: Store) -> None:
    situation(store, "offer merchant paused\nA bakery yes", "ref\n1")
    decide(store, job())
    assert {("1", "A"): "redeemed"} == outcomes(store)


def test_what_was_decided_stands_when_a_correction_comes(store: Store) -> None:
    offers = "offer merchant cashback\nA bakery 5.00"
    situation(store, offers, purchases="ref at\n1 12:00:00")
    decide(store, job())
    given(store, "versions", "offer known_at cashback\nA 11:00:00 1.00")
    put(store, "purchases", [{"ref": "2", "merchant": "bakery", "at": "12:00:00"}])
    decide(store, job(), rematch=True)
    assert {("alder", "1"): 5, ("alder", "2"): 1} == {
        key: int(payout) for key, (_, _, _, payout) in amounts(store).items()
    }


def test_enrolment_counts_from_the_second_of_its_moment_on(store: Store) -> None:
    situation(
        store,
        offers="offer merchant\nA bakery",
        purchases="""
        ref  at
        1    11:59:59.999999
        2    12:00:00
        3    12:00:00.5
        """,
        links="""
        offer  added_at
        A      12:00:00.999999
        """,
    )
    decide(store, job())
    assert {
        ("1", "A"): "enrolled_after_purchase",
        ("2", "A"): "redeemed",
        ("3", "A"): "redeemed",
    } == outcomes(store)


def test_enrolment_counts_from_its_moment_on(store: Store) -> None:
    situation(
        store,
        offers="""
        offer  merchant
        A      bakery
        B      bakery
        """,
        purchases="""
        ref  at        cardholder
        1    11:59:59  ann
        2    12:00:00  ann
        3    12:00:01  ann
        4    12:00:01  ben
        """,
        links="""
        cardholder  offer  added_at
        ann         A      12:00:00
        """,
    )
    decide(store, job())
    assert {
        ("1", "A"): "enrolled_after_purchase",
        ("2", "A"): "redeemed",
        ("3", "A"): "redeemed",
    } == outcomes(store)
    assert [
        ("1", "not_redeemed"),
        ("2", "redeemed"),
        ("3", "redeemed"),
        ("4", "not_redeemed"),
    ] == decisions(store)


def decisions(store: Store) -> list[tuple[str, str]]:
    """Return (ref, outcome) of every decision, in the order they were made."""
    return select(
        store,
        "select transaction_ref, outcome from decisions join purchases using (purchase_no)"
        " order by run_no, transaction_ref",
    )


def test_the_first_check_that_fails_is_the_outcome(store: Store) -> None:
    situation(
        store,
        offers="""
        offer  merchant  starts_at  expires_at  min_spend
        A      bakery    12:00:00   13:00:00    10.00
        """,
        purchases="""
        ref  cardholder  at        amount
        1    late        11:00:00  9.99
        2    ann         11:00:00  9.99
        3    ann         13:00:00  9.99
        4    ann         12:30:00  9.99
        """,
        links="""
        cardholder  offer  added_at
        late        A      14:00:00
        ann         A      10:00:00
        """,
    )
    decide(store, job())
    assert {
        ("1", "A"): "enrolled_after_purchase",
        ("2", "A"): "offer_not_started",
        ("3", "A"): "offer_expired",
        ("4", "A"): "below_min_spend",
    } == outcomes(store)


def test_a_cardholder_is_one_of_an_institution(store: Store) -> None:
    situation(
        store,
        offers="""
        offer  merchant
        A      bakery
        """,
        purchases="""
        ref  institution  cardholder
        1    alder        ann
        2    brook        ann
        """,
        links="""
        institution  cardholder  offer
        brook        ann         A
        """,
    )
    decide(store, job())
    assert [("2", "A")] == redeemed(store)


def test_a_late_purchase_takes_nothing_back(store: Store) -> None:
    situation(
        store,
        offers="""
        offer  merchant  budget
        A      bakery    1.00
        """,
        purchases="""
        ref   at
        noon  12:00:00
        """,
    )
    decide(store, job())
    put(store, "purchases", [{"ref": "early", "merchant": "bakery", "at": "11:00:00"}])
    decide(store, job())
    assert [("noon", "A")] == redeemed(store)
    assert {("noon", "A"): "redeemed", ("early", "A"): "budget_exhausted"} == outcomes(store)


def test_what_earlier_runs_redeemed_holds_budget_and_uses(store: Store) -> None:
    situation(
        store,
        offers="""
        offer  merchant  budget  uses
        A      bakery    3.00    2
        """,
        purchases="""
        ref  cardholder
        1    ann
        2    ben
        """,
    )
    decide(store, job())
    more = """
    ref  at        cardholder  A
    3    12:00:01  ann         redeemed
    4    12:00:02  ann         budget_exhausted
    5    12:00:03  ben         budget_exhausted
    """
    put(store, "purchases", [{"merchant": "bakery", **row} for row in read(more)])
    assert 1 == decide(store, job()).redeemed.rounds
    assert {**expected(more), ("1", "A"): "redeemed", ("2", "A"): "redeemed"} == outcomes(store)


@slow
def test_uses_of_earlier_runs_alone_refuse_a_purchase(store: Store) -> None:
    situation(
        store,
        offers="""
        offer  merchant  uses
        A      bakery    2
        """,
        purchases="""
        ref  cardholder
        1    ann
        2    ann
        3    ben
        """,
    )
    decide(store, job())
    more = """
    ref  at        cardholder  A
    4    12:00:01  ann         redemption_limit_reached
    5    12:00:02  ben         redeemed
    """
    put(store, "purchases", [{"merchant": "bakery", **row} for row in read(more)])
    decide(store, job())
    earlier = dict.fromkeys([("1", "A"), ("2", "A"), ("3", "A")], "redeemed")
    assert {**earlier, **expected(more)} == outcomes(store)


@slow
def test_a_second_match_looks_at_nothing_again(store: Store) -> None:
    situation(
        store,
        offers="""
        offer  merchant  min_spend
        A      bakery    10.00
        """,
        purchases="""
        ref  amount
        1    10.00
        2    9.99
        """,
    )
    assert 2 == decide(store, job()).redeemed.considered
    assert 0 == decide(store, job()).redeemed.considered
    assert [("1", "redeemed"), ("2", "not_redeemed")] == decisions(store)


@slow
def test_rematch_looks_again_at_what_never_redeemed(store: Store) -> None:
    situation(
        store,
        offers="""
        offer  merchant  cashback
        A      bakery    1.00
        B      bakery    2.00
        """,
        purchases="""
        ref  cardholder
        1    ann
        2    ben
        """,
        links="""
        cardholder  offer
        ann         A
        """,
    )
    decide(store, job())
    later = """
    cardholder  offer
    ann         B
    ben         B
    """
    given(store, "links", later)
    again = decide(store, job(), rematch=True).redeemed
    assert (1, 1) == (again.considered, again.redeemed)
    assert [("1", "A"), ("2", "B")] == redeemed(store)


def test_a_purchase_of_an_unknown_merchant_waits_and_is_tried_again(store: Store) -> None:
    situation(
        store,
        offers="""
        offer  merchant
        A      bakery
        """,
        purchases="""
        ref  merchant  identifier
        1    -         M1
        2    -         M2
        3    -         -
        4    florist   -
        """,
    )
    for _ in range(2):
        first = decide(store, job()).redeemed
        assert (4, 0, 4) == (first.considered, first.redeemed, first.merchant_unresolved)
    assert [(ref, "merchant_unresolved") for ref in "1234"] == decisions(store)
    given(store, "identifiers", "identifier merchant\nM1 bakery")
    second = decide(store, job()).redeemed
    assert (4, 1, 3) == (second.considered, second.redeemed, second.merchant_unresolved)
    assert [("1", "A")] == redeemed(store)
    assert 3 == decide(store, job()).redeemed.considered


def test_counts_and_sums_are_told_by_currency(store: Store) -> None:
    given(store, "institutions", "institution currency\nalder GBP\nbrook JPY")
    given(store, "merchants", MERCHANTS)
    given(
        store,
        "offers",
        """
        offer  merchant  cashback  rate   currency
        A      bakery    1.25      0.02   GBP
        B      cinema    100       0.125  JPY
        """,
    )
    given(store, "links", "institution offer\nalder A\nbrook B")
    given(
        store,
        "purchases",
        """
        ref  institution  merchant  amount  currency
        1    alder        bakery    20.00   GBP
        2    alder        bakery    20.00   GBP
        3    brook        cinema    2000    JPY
        4    brook        florist   2000    JPY
        5    brook        bakery    2000    JPY
        """,
    )
    told = decide(store, job()).document()
    assert {
        "considered": 5,
        "redeemed": 3,
        "merchant_unresolved": 1,
        "not_redeemed": 1,
        "rounds": 1,
        "refusals": 0,
        "merchant_funded_amount": {"GBP": Decimal("2.56"), "JPY": Decimal(113)},
        "commission_amount": {"GBP": Decimal("0.06"), "JPY": Decimal(13)},
        "institution_payout_amount": {"GBP": Decimal("2.50"), "JPY": Decimal(100)},
        "dry_run": False,
    } == {name: value for name, value in told.items() if name != "run_id"}
    assert ["2.50", "100"] == [str(paid) for paid in told["institution_payout_amount"].values()]


def test_the_same_redemption_has_the_same_id_in_every_store(store: Store) -> None:
    def ids() -> list[tuple[Any, ...]]:
        return select(
            store,
            "select redemption_id, entry_id from redemptions"
            " join ledger_entries using (redemption_no)",
        )

    offers = "offer merchant\nA bakery"
    situation(store, offers, "ref\n1")
    decide(store, job())
    first = ids()
    store.connection.execute("delete from redemptions; delete from ledger_entries")
    store.connection.execute("delete from recent_decisions")
    store.connection.execute("update match_watermark set purchase_no = 0")
    decide(store, job(now=NOON + timedelta(days=1)))
    assert first == ids()
    assert 8 == first[0][0].version


# Matching against the plain loop, on small random catalogues where budgets and uses bind.

MOMENTS = [NOON + timedelta(hours=hour) for hour in range(4)]
CASHBACKS = st.sampled_from([Decimal("1.00"), Decimal("1.50"), Decimal("2.00")])
RATES = st.sampled_from([Decimal(0), Decimal("0.005"), Decimal("0.1")])
USES = st.sampled_from([None, None, 1, 2])
LEAST = st.sampled_from([Decimal(0), Decimal(0), Decimal(10)])
HOLDERS = [(where, who) for where in ("alder", "brook") for who in ("ann", "ben")]
MERCHANT_OF = {
    f"{world}-{id_}": f"{world}-{id_}" for world in "abcd" for id_ in ("bakery", "cinema")
}
OFFER = st.fixed_dictionaries(
    {
        "merchant": st.sampled_from(["bakery", "bakery", "cinema"]),
        "cashback": CASHBACKS,
        "rate": RATES,
        "budget": st.sampled_from([None, *map(Decimal, "1 2 2.20 3 4.02 6".split())]),
        "uses": USES,
        "min_spend": LEAST,
        "starts_at": st.sampled_from([NOON, NOON, MOMENTS[1]]),
        "expires_at": st.sampled_from([NOON + timedelta(days=1)] * 2 + MOMENTS[2:]),
    }
)
PURCHASE = st.fixed_dictionaries(
    {
        "holder": st.sampled_from(HOLDERS),
        "merchant": st.sampled_from([None] * 6 + ["bakery", "florist"]),
        "identifier": st.sampled_from(["bakery"] * 4 + ["cinema", "nobody"]),
        "amount": st.sampled_from([Decimal("9.99"), Decimal(10), Decimal(20), Decimal(30)]),
        "at": st.sampled_from(MOMENTS),
    }
)
VERSION = st.fixed_dictionaries(
    {
        "place": st.integers(0, 5),
        "cashback": CASHBACKS,
        "rate": RATES,
        "uses": USES,
        "min_spend": LEAST,
        "known_at": st.sampled_from([MOMENTS[0] - timedelta(hours=1), *MOMENTS, MOMENTS[1]]),
    }
)
ADDED_AT = st.sampled_from([NOON, NOON, NOON, NOON, MOMENTS[1], None])


World = tuple[list[Any], list[Any], list[Any], list[Any]]
"""Offers, links, purchases and later versions."""


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Draw four worlds that have nothing in common but the institutions, to match them together."""
    drawn = [draw(world(name)) for name in "abcd"]
    offers, links, purchases, versions = (
        [row for world in drawn for row in world[part]] for part in range(4)
    )
    return offers, links, purchases, versions


@st.composite
def world(draw: st.DrawFn, name: str) -> World:
    """Draw a small catalogue and purchases; their names begin with the world's own."""
    offers = [
        {**offer, "offer": f"{name}{n}", "merchant": f"{name}-{offer['merchant']}"}
        for n, offer in enumerate(draw(lists(OFFER, 3, 6)))
    ]
    pairs = [(where, f"{name}-{who}", offer["offer"]) for where, who in HOLDERS for offer in offers]
    links = [
        {"institution": where, "cardholder": who, "offer": offer, "added_at": added_at}
        for (where, who, offer), added_at in zip(
            pairs, draw(lists(ADDED_AT, len(pairs), len(pairs))), strict=True
        )
        if added_at
    ]
    purchases = [
        {
            **row,
            "ref": f"{n * 7 % 31:02}{name}",
            "institution": row["holder"][0],
            "cardholder": f"{name}-{row['holder'][1]}",
            "merchant": row["merchant"] and f"{name}-{row['merchant']}",
            "identifier": f"{name}-{row['identifier']}",
        }
        for n, row in enumerate(draw(lists(PURCHASE, 12, 24)))
    ]
    versions = [
        {**row, "offer": offers[row["place"] % len(offers)]["offer"]}
        for row in draw(lists(VERSION, 0, 6))
    ]
    return offers, links, purchases, versions


def lists(of: st.SearchStrategy[Any], least: int, most: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(of, min_size=least, max_size=most)


@pytest.fixture(scope="module")
def catalogue() -> Iterator[Store]:
    """A store with everything that is the same in every example."""
    with scratch_store(settings()) as store:
        given(store, "institutions", INSTITUTIONS)
        put(store, "merchants", [{"merchant": name} for name in MERCHANT_OF.values()])
        pairs = [{"identifier": id_, "merchant": name} for id_, name in MERCHANT_OF.items()]
        put(store, "identifiers", pairs)
        yield store


@pytest.mark.parametrize("runs", ["in one run", "in two runs"])
@profile(
    max_examples=30 if FULL else tries(4, 10),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@examples(drawn=worlds(), share=st.integers(0, 96))
@one_in(2)
def test_rounds_end_where_the_plain_loop_ends(
    catalogue: Store, runs: str, drawn: World, share: int
) -> None:
    offers, links, purchases, versions = drawn
    first = share % len(purchases) if runs == "in two runs" else 0
    known = share % (len(versions) + 1) if first else 0
    purchases.sort(key=lambda row: row["ref"])
    meant = Service(offers, links, set(MERCHANT_OF.values()), MERCHANT_OF)
    with catalogue.transaction(keep=False):
        put(catalogue, "offers", offers)
        put(catalogue, "links", links)
        for part, come in (
            (purchases[:first], versions[:known]),
            (purchases[first:], versions[known:]),
        ):
            if part:
                meant.versions += come
                put(catalogue, "versions", come)
                meant.match(part)
                put(catalogue, "purchases", part)
                rounds = decide(catalogue, job()).redeemed.rounds
                assert rounds <= candidates(catalogue) + 1
        assert meant.redemptions == amounts(catalogue)
        assert meant.outcomes == by_institution(catalogue)
        assert meant.unresolved == unresolved(catalogue)
        assert [] == unbalanced(catalogue)
        assert totals(meant) == settled(catalogue)


def totals(meant: Service) -> dict[str, tuple[Any, ...]]:
    """Return entries, and sums of funded, commission and payout, by institution."""
    sums: dict[str, tuple[Any, ...]] = {}
    for (institution, _), (_, *amounts) in meant.redemptions.items():
        before = sums.get(institution, (0, 0, 0, 0))
        sums[institution] = tuple(a + b for a, b in zip(before, (1, *amounts), strict=True))
    return sums


def settled(store: Store) -> dict[str, tuple[Any, ...]]:
    """Settle, and return the settlements in the form of `totals`; each must balance."""
    made = settle(store, run_no=99, now=NOON, actor="tester")
    names = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")
    sums = {row["institution"]: (row["entries"], *(row[name] for name in names)) for row in made}
    assert all(funded == commission + payout for _, funded, commission, payout in sums.values())
    return sums


def test_what_one_purchase_holds_is_left_out_without_a_write(store: Store) -> None:
    situation(
        store,
        "offer merchant cashback budget uses\nA bakery 1.00 9.00 3",
        "ref cardholder\n1 ann\n2 ann",
    )
    decide(store, job())
    before = amounts(store)
    numbers = dict(select(store, "select transaction_ref, purchase_no from purchases"))
    engine = DuckEngine(store.connection, store.tables)
    fits = match(engine, resolve(engine, one_purchase(store, numbers["2"])))
    for without, uses in ((None, 2), (numbers["1"], 1), (-1, 2)):
        held = find_held(store, fits, 9, without=without)
        used = store.connection.table(held.uses.identifier).project("used")
        reserved = store.connection.table(held.reserved.identifier)
        amount = reserved.project("merchant_funded_amount")
        assert [(uses,)] == used.fetchall() == amount.fetchall()
    assert before == amounts(store)


def candidates(store: Store) -> int:
    """Return how many offers the purchases of the newest match fitted."""
    return int(
        select(
            store,
            "select count(*) from outcomes where run_no = (select max(run_no) from runs)"
            " and outcome in"
            " ('redeemed', 'outranked', 'budget_exhausted', 'redemption_limit_reached')",
        )[0][0]
    )


def amounts(store: Store) -> dict[tuple[str, str], tuple[Any, ...]]:
    found = select(
        store,
        """
        select slug, transaction_ref, offer_id,
            merchant_funded_amount, commission_amount, institution_payout_amount
        from ledger_entries
        join redemptions using (redemption_no)
        join offers on offers.offer_no = redemptions.offer_no
        join institutions on institutions.institution_id = redemptions.institution_id
        """,
    )
    return {(slug, ref): tuple(rest) for slug, ref, *rest in found}


def by_institution(store: Store) -> dict[tuple[str, str, str], str]:
    found = select(
        store,
        "select slug, transaction_ref, offer_id, outcome from outcomes"
        " join purchases using (purchase_no) join institutions using (institution_id)"
        " join offers using (offer_no)",
    )
    assert len(found) == len({row[:3] for row in found})
    return {row[:3]: row[3] for row in found}


def unresolved(store: Store) -> set[tuple[str, str]]:
    return set(
        select(
            store,
            "select slug, transaction_ref from decisions join purchases using (purchase_no)"
            " join institutions using (institution_id) where outcome = 'merchant_unresolved'",
        )
    )


def unbalanced(store: Store) -> list[tuple[Any, ...]]:
    return select(
        store,
        "from ledger_entries"
        " where merchant_funded_amount <> commission_amount + institution_payout_amount",
    )
