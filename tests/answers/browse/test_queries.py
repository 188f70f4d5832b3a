"""What is typed into the search box, and what it is taken for."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from cardoffers_cli.answers.browse.inquiry import attempts
from cardoffers_cli.answers.search import PurchaseFilter
from cardoffers_cli.kernel.words.errors import UsageError
from complaints import ANN

TODAY = date(2026, 9, 6)
ID = "3c37632d-cb7d-86bf-af18-6fb83a8d6b75"


def day(number: int, month: int = 9) -> datetime:
    return datetime(2026, month, number)  # noqa: DTZ001 - moments are naive UTC inside the product


# what can mean one thing only
CLEAR: list[tuple[str, dict[str, Any]]] = [
    ("settled", {"state": "settled"}),
    ("not-redeemed", {"state": "not_redeemed"}),
    ("state:not_redeemed", {"state": "not_redeemed"}),
    ("abcd…wxyz", {"token_ends": ("abcd", "wxyz")}),
    ("abcd...wxyz", {"token_ends": ("abcd", "wxyz")}),
    ("cardholder:abcd…wxyz", {"token_ends": ("abcd", "wxyz")}),
    ("cardholder:abcdefgh", {"token": "abcdefgh"}),
    ("20.00", {"least_amount": Decimal("20.00"), "most_amount": Decimal("20.00")}),
    ("20.00~0.50", {"least_amount": Decimal("19.50"), "most_amount": Decimal("20.50")}),
    ("20.5±1", {"least_amount": Decimal("19.5"), "most_amount": Decimal("21.5")}),
    ("41,50", {"least_amount": Decimal("41.50"), "most_amount": Decimal("41.50")}),
    ("£41.50", {"least_amount": Decimal("41.50"), "most_amount": Decimal("41.50")}),
    ("05.09.2026", {"from_at": day(5), "to_at": day(6)}),
    ("yesterday", {"from_at": day(5), "to_at": day(6)}),
    ("GBP 20", {"least_amount": Decimal(20), "most_amount": Decimal(20)}),
    ("amount:20", {"least_amount": Decimal(20), "most_amount": Decimal(20)}),
    ("2026-09-05", {"from_at": day(5), "to_at": day(6)}),
    ("2026-09-01..2026-09-30", {"from_at": day(1), "to_at": day(1, month=10)}),
    ("2026-09-01..", {"from_at": day(1)}),
    ("day:2026-09-05", {"from_at": day(5), "to_at": day(6)}),
    (f"redemption:{ID}", {"redemption_id": ID}),
    ("ref:20.00", {"ref": "20.00"}),
    ("ref:a:b", {"ref": "a:b"}),
    ("merchant:bakery settled", {"merchant": "bakery", "state": "settled"}),
]


@pytest.mark.parametrize(("text", "filters"), CLEAR, ids=[text for text, _ in CLEAR])
def test_it_is_taken_for_one_thing(text: str, filters: dict[str, Any]) -> None:
    assert [PurchaseFilter(**filters)] == [attempt.wanted for attempt in attempts(text, TODAY)]


# what can mean several things, and the order in which they are tried
SEVERAL: list[tuple[str, list[str]]] = [
    ("LAR1-93", ["ref", "ref", "token", "ref", "merchant"]),
    ("LAR1-93*", ["ref"]),
    ("12345", ["ref", "ref", "token", "ref", "merchant"]),
    ("40ea", ["ref", "ref", "token", "ref", "card_ends", "token_ends", "merchant"]),
    ("a:b", ["ref", "ref", "token", "ref", "merchant"]),
    (ID, ["redemption_id", "ref", "id", "merchant"]),
    (ID.upper(), ["redemption_id", "ref", "id", "merchant"]),
    ("Ostrowick Grocers", ["merchant"]),
    (f"{ID} settled", ["redemption_id", "ref", "merchant"]),
]


@pytest.mark.parametrize(("text", "names"), SEVERAL, ids=[text for text, _ in SEVERAL])
def test_the_likeliest_is_tried_first(text: str, names: list[str]) -> None:
    others = {"state", "from_at", "to_at", "least_amount", "most_amount"}
    tried = []
    for attempt in attempts(text, TODAY):
        given = {name for name, value in vars(attempt.wanted or PurchaseFilter()).items() if value}
        tried.append(next(iter(given - others), "id"))
    assert names == tried


def test_the_other_words_hold_in_every_meaning() -> None:
    for attempt in attempts("bakery 2026-09-05 settled", TODAY):
        assert attempt.wanted is not None
        assert (day(5), "settled") == (attempt.wanted.from_at, attempt.wanted.state)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "nothing_wanted"),
        ("   ", "nothing_wanted"),
        ("abc…xyz", "token_not_masked"),
        ("…", "token_not_masked"),
        ("state:setled", "state_unknown"),
        ("amount:1e5", "amount_invalid"),
        ("amount:-1", "amount_invalid"),
        ("2026-02-30", "day_invalid"),
        ("day:9999-12-31", "day_invalid"),
        ("2026-09-01..tomorrow", "day_invalid"),
        ("day:today", "day_invalid"),
    ],
)
def test_what_cannot_be_meant_is_told(text: str, code: str) -> None:
    with pytest.raises(UsageError) as raised:
        attempts(text, TODAY)
    assert (code, True) == (raised.value.code, bool(raised.value.hint))


def test_a_mistyped_state_is_guessed() -> None:
    with pytest.raises(UsageError) as raised:
        attempts("state:setled", TODAY)
    assert "Did you mean settled or told?" == raised.value.hint


def test_a_full_token_is_in_no_repr() -> None:
    assert ANN not in repr(attempts(ANN, TODAY))
