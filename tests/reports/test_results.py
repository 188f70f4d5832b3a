"""What offers bring and merchants fund, held against sums of the redemptions in plain Python."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.store.opening import scratch_store
from cardoffers_cli.reports.questions import Filters, exported_redemptions
from cardoffers_cli.reports.work import merchant_results, offer_results
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.redemptions import reverse_redemption
from sizes import one_in, slow
from tables import NOON, given, put, uid
from work import job, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.kernel.store.store import Store

MONTH = NOON - timedelta(days=30)
OFFERS = """
    offer merchant cashback rate currency budget  starts_at              expires_at
    A     bakery   1.00     0.1  GBP      40.00   2026-03-01T00:00Z      2026-12-01T00:00Z
    B     cinema   2.50     0    GBP      -       2026-03-01T00:00Z      2026-12-01T00:00Z
    C     cinema   0.50     0    GBP      5.00    2026-03-01T00:00Z      2026-12-01T00:00Z
    D     bakery   100      0.05 JPY      -       2026-03-01T00:00Z      2026-05-30T00:00Z
    E     deli     9.00     0    GBP      1.00    2026-03-01T00:00Z      2026-12-01T00:00Z
    F     deli     9.00     0    GBP      -       2026-08-01T00:00Z      2026-12-01T00:00Z
"""
WEEKS = (4, 3, 2, 1)


@pytest.fixture(scope="module")
def made() -> Iterator[Store]:
    """Redemptions of every week of the last four and one before, some of them reversed."""
    with scratch_store(settings()) as store:
        yield furnished(store)


def furnished(store: Store) -> Store:
    given(store, "institutions", "institution currency\nalder GBP\nbrook JPY")
    given(store, "merchants", "merchant\nbakery\ncinema\ndeli")
    given(store, "offers", OFFERS)
    given(store, "programs", "institution offer\nalder A\nalder B\nalder C\nalder E\nbrook D")
    links = [f"alder c{number} {offer}" for number in range(9) for offer in "ABC"]
    added = [f"{link} 2026-03-01T00:00Z" for link in [*links, "brook joy D"]]
    given(store, "links", "\n".join(["institution cardholder offer added_at", *added]))
    for weeks in (6, *WEEKS):
        at = NOON - timedelta(days=7 * weeks - 1)
        rows: list[dict[str, Any]] = [
            {
                "ref": f"{weeks}-{number}",
                "cardholder": f"c{number}",
                "merchant": "bakery" if number % 3 else "cinema",
                "amount": f"{20 + number}.25",
                "at": (at - timedelta(days=1)).isoformat() + "Z",
            }
            for number in range(2 * weeks)
        ]
        put(store, "purchases", rows)
        joy = {"institution": "brook", "cardholder": "joy", "currency": "JPY", "amount": "900"}
        at_bakery = {"merchant": "bakery", "at": rows[0]["at"]}
        put(store, "purchases", [{"ref": f"joy-{weeks}", **at_bakery, **joy}])
        decide(store, job(now=at))
    every = exported_redemptions(store, Filters(), limit=1000, cursor=None).rows
    for row in every[::5]:
        back = {"reason": "returned", "run_no": 90, "now": NOON, "actor": "tester"}
        reverse_redemption(store, str(row["id"]), **back)
    return store


def redeemed(store: Store, **filters: Any) -> list[dict[str, Any]]:
    return exported_redemptions(store, Filters(**filters), limit=1000, cursor=None).rows


def summed(rows: list[dict[str, Any]], key: Any) -> dict[Any, dict[str, Any]]:
    """Add redemptions up by a key, as slowly and as plainly as can be."""
    found: dict[Any, dict[str, Any]] = defaultdict(lambda: defaultdict(Decimal))
    for row in rows:
        group = found[key(row)]
        group["redemptions"] += 1
        group["reversed"] += row["status"] == "reversed"
        if row["status"] != "reversed":
            group["spend_amount"] += row["purchase_amount"]
            for name in ("merchant_funded_amount", "commission_amount"):
                group[name] += row[name]
            group["institution_payout_amount"] += row["institution_payout_amount"]
    return found


NAMES = (
    *("redemptions", "reversed", "spend_amount", "merchant_funded_amount"),
    *("commission_amount", "institution_payout_amount"),
)


@slow
@pytest.mark.parametrize("filters", [{}, {"from_at": MONTH}, {"institution_id": uid("alder")}])
@one_in(3)
def test_offers_bring_what_their_redemptions_add_up_to(
    made: Store, filters: dict[str, Any]
) -> None:
    expected = summed(redeemed(made, **filters), lambda row: row["offer"]["id"])
    found = {row["offer_id"]: row for row in offer_results(made, NOON, limit=10, **filters)}
    assert expected.keys() <= found.keys()
    for offer_id, row in found.items():
        sums = expected.get(offer_id, defaultdict(Decimal))
        assert [sums[name] for name in NAMES] == [row[name] for name in NAMES], offer_id


@pytest.mark.parametrize("filters", [{}, {"from_at": MONTH}, {"institution_id": uid("brook")}])
def test_merchants_fund_what_their_redemptions_add_up_to(
    made: Store, filters: dict[str, Any]
) -> None:
    rows = redeemed(made, **filters)
    expected = summed(rows, lambda row: (row["offer"]["merchant_name"], row["currency"]))
    found = {
        (row["merchant_name"], row["currency"]): row
        for row in merchant_results(made, limit=10, **filters)
    }
    assert expected.keys() == found.keys()
    for key, row in found.items():
        assert [expected[key][name] for name in NAMES] == [row[name] for name in NAMES]
        kept = expected[key]["redemptions"] - expected[key]["reversed"]
        assert row["average_amount"] == (expected[key]["spend_amount"] / kept).quantize(
            Decimal(1) if row["currency"] == "JPY" else Decimal("0.01"), ROUND_HALF_UP
        )
        people = {
            each["cardholder_token_masked"]
            for each in rows
            if (each["offer"]["merchant_name"], each["currency"]) == key
            and each["status"] != "reversed"
        }
        assert len(people) <= row["cardholders"]  # short tokens are masked alike


def test_offers_that_run_are_there_without_any_redemption(made: Store) -> None:
    found = {row["offer_id"]: row for row in offer_results(made, NOON, limit=10)}
    assert [*"ABCDE"] == sorted(found)  # F is still to start
    assert ("ended", None) == (found["D"]["state"], found["D"]["ends_on"])
    assert (0, "spent") == (found["E"]["redemptions"], found["E"]["state"])
    assert [*"ABCE"] == sorted(
        row["offer_id"] for row in offer_results(made, NOON, institution_id=uid("alder"), limit=9)
    )


def test_an_offer_ends_on_a_day_with_a_band_and_has_a_plan(made: Store) -> None:
    (row,) = [row for row in offer_results(made, NOON, limit=10) if row["offer_id"] == "A"]
    assert "runs_out" == row["state"]
    assert row["ends_from"] <= row["ends_on"]
    assert row["ends_until"] is None or row["ends_on"] <= row["ends_until"]
    assert date(2026, 6, 1) <= row["ends_from"]
    assert row["spent_share"] == row["spent_amount"] / 40
    run = Decimal((NOON - row["starts_at"]).total_seconds())
    length = Decimal((row["expires_at"] - row["starts_at"]).total_seconds())
    assert row["planned_share"] == (run / length).quantize(Decimal("0.0001"))
    payout, spend = row["institution_payout_amount"], row["spend_amount"]
    assert row["cashback_share"] == (payout / spend).quantize(Decimal("0.0001"), ROUND_HALF_UP)


@pytest.mark.parametrize(
    ("order", "key"),
    [
        ("spend", lambda row: -row["spend_amount"]),
        ("redemptions", lambda row: -row["redemptions"]),
        ("ends", lambda row: row["ends_on"] or date.max),
    ],
)
def test_offers_come_in_the_order_asked_for(made: Store, order: Any, key: Any) -> None:
    rows = [
        row
        for row in offer_results(made, NOON, order=order, limit=10)
        if row["currency"] == "GBP" and row["state"] not in {"spent", "ended"}
    ]
    assert sorted(map(key, rows)) == [key(row) for row in rows]


@pytest.mark.parametrize("order", ["funded", "redemptions"])
def test_merchants_come_in_the_order_asked_for(made: Store, order: Any) -> None:
    name = {"funded": "merchant_funded_amount"}.get(order, order)
    rows = [row for row in merchant_results(made, order=order, limit=9) if row["currency"] == "GBP"]
    assert 2 == len(rows)
    assert sorted((row[name] for row in rows), reverse=True) == [row[name] for row in rows]


def test_the_first_rows_know_what_all_of_their_currency_come_to(made: Store) -> None:
    every = [row for row in offer_results(made, NOON, limit=10) if row["currency"] == "GBP"]
    (first, other) = offer_results(made, NOON, limit=1)
    assert ["GBP", "JPY"] == [first["currency"], other["currency"]]
    assert len(every) == first["offers"]
    assert sum(row["spend_amount"] for row in every) == first["spend_in_all"]
    assert sum(row["redemptions"] > 0 for row in every) == first["redeemed"]
    assert sum(row["state"] == "spent" for row in every) == first["spent_offers"]
    funded = merchant_results(made, limit=10)
    (first, _) = merchant_results(made, limit=1)
    same = [row for row in funded if row["currency"] == "GBP"]
    assert sum(row["merchant_funded_amount"] for row in same) == first["funded_in_all"]
    assert sum(row["redemptions"] for row in same) == first["redemptions_in_all"]


def test_of_nothing_there_is_nothing(store: Store) -> None:
    assert [] == offer_results(store, NOON, limit=10)
    assert [] == merchant_results(store, limit=10)
