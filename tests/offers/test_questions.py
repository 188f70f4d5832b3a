from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.offers.questions import offers_in_program, show_offer, standing
from tables import NOON, given, moment, uid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cardoffers_cli.kernel.store.store import Store

ALDER = uid("alder")


@pytest.fixture(autouse=True)
def situation(store: Store) -> None:
    given(store, "institutions", "institution languages\nalder es|en\nbrook en")
    given(store, "merchants", "merchant category\nbakery food")
    given(
        store,
        "offers",
        """
        offer  merchant  cashback  rate  budget  segments      paused  starts_at   expires_at
        A      bakery    1.00      0.05  10      -             no      -           -
        B      bakery    1.00      -     1.00    gold|student  no      -           -
        C      bakery    1.00      -     -       -             yes     -           -
        D      bakery    1.00      -     -       -             no      2026-07-01  2026-08-01
        E      bakery    1.00      -     -       -             no      2026-01-01  2026-02-01
        F      bakery    1.00      -     -       -             no      -           -
        """,
    )
    given(store, "texts", "offer language title\nA es pan")
    given(
        store,
        "programs",
        """
        institution  offer  position
        alder        A      5
        alder        B      4
        alder        C      3
        alder        D      2
        alder        E      1
        brook        A      1
        """,
    )
    given(
        store,
        "ledger",
        """
        institution  cardholder  offer  amount  status
        alder        ann         A      1.05    pending
        alder        bob         A      1.05    settled
        alder        bob         A      1.05    reversed
        brook        ann         A      1.05    pending
        alder        ann         B      1.00    pending
        """,
    )
    given(store, "links", "institution cardholder offer\nalder ann A\nalder bob A\nbrook ann A")


def test_a_program_is_listed_in_its_order_with_states(store: Store) -> None:
    assert [
        ("E", "E", "expired"),
        ("D", "D", "not_started"),
        ("C", "C", "paused"),
        ("B", "B", "budget_spent"),
        ("A", "pan", "active"),
    ] == [(row["id"], row["title"], row["state"]) for row in offers_in_program(store, ALDER, NOON)]


def money(row: Mapping[str, Any]) -> list[str | None]:
    names = ("budget_amount", "reserved_amount", "left_amount")
    return [None if row[name] is None else str(row[name]) for name in names]


def test_the_money_is_that_of_the_offer_in_every_program(store: Store) -> None:
    rows = {row["id"]: row for row in offers_in_program(store, ALDER, NOON)}
    assert ["10.00", "3.15", "6.85"] == money(rows["A"])
    assert ["1.00", "1.00", "0.00"] == money(rows["B"])
    assert [None, "0.00", None] == money(rows["C"])
    assert (3, 2) == (rows["A"]["redemptions"], rows["A"]["links"])
    assert ["gold", "student"] == rows["B"]["segments"]


def test_an_offer_is_shown_with_everything_about_it(store: Store) -> None:
    shown = show_offer(store, "A", NOON)
    assert ("bakery", "food", "active") == tuple(
        shown[name] for name in ("merchant_name", "category", "state")
    )
    assert (Decimal("0.05"), Decimal("1.05")) == (
        shown["commission_amount"],
        shown["merchant_funded_amount"],
    )
    assert ["10.00", "3.15", "6.85"] == money(shown)
    assert [("en", "A"), ("es", "pan")] == [
        (text["language"], text["title"]) for text in shown["texts"]
    ]
    assert [
        {
            "institution": "alder",
            "position": 5,
            "links": 2,
            "redemptions": 2,
            "reserved_amount": Decimal("2.10"),
        },
        {
            "institution": "brook",
            "position": 1,
            "links": 1,
            "redemptions": 1,
            "reserved_amount": Decimal("1.05"),
        },
    ] == shown["programs"]
    assert [Decimal("1.00")] == [version["cashback_amount"] for version in shown["versions"]]
    given(store, "versions", f"offer known_at cashback\n{shown['id']} 09:00:00 3.00")
    assert [(2, moment("09:00:00"), Decimal("3.00")), (1, NOON, Decimal("1.00"))] == [
        (version["version"], version["since"], version["cashback_amount"])
        for version in show_offer(store, shown["id"], NOON)["versions"]
    ]


def test_an_offer_nobody_knows_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound) as error:
        show_offer(store, "kanarie", NOON)
    assert "offer_not_found" == error.value.code
    assert "kanarie" not in error.value.message


@pytest.mark.parametrize(
    ("hint", "offer_id"),
    [
        ("Did you mean A?", "a"),
        ("`cardoffers offer list -i INST` shows the offers of a program.", "kanarie"),
    ],
)
def test_a_mistyped_offer_is_guessed(store: Store, hint: str, offer_id: str) -> None:
    with pytest.raises(NotFound) as error:
        show_offer(store, offer_id, NOON)
    assert hint == error.value.hint


@pytest.mark.parametrize("offer_id", ["F", "kanarie"])
def test_an_offer_of_no_program_of_ours_is_not_found(store: Store, offer_id: str) -> None:
    with pytest.raises(NotFound):
        standing(store, ALDER, offer_id, NOON)
    assert ("budget_spent", ["gold", "student"]) == standing(store, ALDER, "B", NOON)
