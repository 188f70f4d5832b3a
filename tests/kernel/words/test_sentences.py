from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from cardoffers_cli.kernel.words import sentences

DAY = date(2026, 10, 4)


@pytest.mark.parametrize(
    ("expected", "share"),
    [
        ("", None),
        ("0.0 %", "0"),
        ("under 0.1 %", "0.0004"),
        ("0.1 %", "0.001"),
        ("14.9 %", "0.1494"),
        ("15.0 %", "0.1495"),
        ("99.9 %", "0.999"),
        ("over 99.9 %", "0.9999"),
        ("100.0 %", "1"),
        ("1,250.0 %", "12.5"),
    ],
)
def test_a_share_is_percent_and_says_when_it_is_not_quite_nothing_or_all(
    expected: str, share: str | None
) -> None:
    assert expected == sentences.percent(None if share is None else Decimal(share))


@pytest.mark.parametrize(
    ("expected", "change"),
    [("+14.9 %", "0.1494"), ("-33.3 %", "-0.3333"), ("+0.0 %", "0"), ("+0.0 %", "-0.0001")],
)
def test_a_change_has_its_sign(expected: str, change: str) -> None:
    assert expected == sentences.percent(Decimal(change), signed=True)


@pytest.mark.parametrize(
    ("expected", "amounts"),
    [
        ("nothing", {}),
        ("nothing", {"GBP": "0.00"}),
        ("GBP 2,341.50", {"GBP": "2341.5"}),
        ("GBP 7.50 and MXN 740.00", {"MXN": "740", "GBP": "7.5"}),
        ("GBP 7.50, JPY 1,200 and KWD 0.125", {"GBP": "7.5", "JPY": "1200", "KWD": "0.125"}),
        ("GBP -7.50", {"GBP": "-7.5", "MXN": "0"}),
    ],
)
def test_amounts_are_listed_by_currency(expected: str, amounts: dict[str, str]) -> None:
    exact = {currency: Decimal(amount) for currency, amount in amounts.items()}
    assert expected == sentences.amounts_text(exact)


def test_days_are_said_in_words() -> None:
    assert "4 October" == sentences.day_text(DAY)
    assert "4 Oct" == sentences.short_day_text(DAY)
    assert "4 October 2026" == sentences.date_text(DAY)
    assert "October 2026" == sentences.month_text(DAY)


@pytest.mark.parametrize(
    ("expected", "words"), [("none", []), ("a", ["a"]), ("a and b", "ab"), ("a, b and c", "abc")]
)
def test_words_are_listed(expected: str, words: list[str]) -> None:
    assert expected == sentences.listed(list(words), otherwise="none")


@pytest.mark.parametrize(
    ("expected", "value", "before"),
    [
        ("", 5, None),
        ("", 5, 0),
        ("12 % more than", 112, 100),
        ("34 % fewer than", 66, 100),
        ("100 % fewer than", 0, 100),
        ("as many as", 1000, 1001),
        ("99 % more than", 199, 100),
        ("2.0 times", 200, 100),
        ("12.5 times", 1250, 100),
    ],
)
def test_a_count_is_told_against_the_one_before(
    expected: str, value: int, before: int | None
) -> None:
    assert expected == sentences.compared(value, before, fewer="fewer")


def test_money_is_less_and_not_fewer() -> None:
    assert "10 % less than" == sentences.compared(Decimal("9.00"), Decimal("10.00"))
    assert "as much as" == sentences.compared(Decimal("10.00"), Decimal("10.00"))


def test_of_nothing_there_is_no_mean() -> None:
    assert sentences.mean([]) is None
    assert Decimal("2.5") == sentences.mean([2, 3])


@pytest.mark.parametrize(
    ("expected", "value", "before"),
    [
        (False, 900, []),
        (False, 900, [100, 100]),
        (True, 900, [100, 100, 100]),
        (True, 40, [100, 100, 100]),
        (False, 60, [100, 100, 100]),
        (False, 199, [100, 100, 100]),
        (False, 7, [3, 3, 3]),
        (True, 9, [3, 3, 3]),
        (False, 0, [0, 0, 0]),
        (True, 1, [0, 0, 0]),
    ],
)
def test_a_count_is_unusual_beyond_half_and_twice_and_beyond_chance(
    expected: bool, value: int, before: list[int]
) -> None:
    assert expected == sentences.is_unusual(value, before)


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        ("cardholder_token is missing.", "cardholder_token", "cardholder_token is missing."),
        ("limit is no number.", "limit", "limit is no number."),
        ("there is no such offer.", "limit", "There is no such offer."),
        ("send it again", None, "Send it again"),
    ],
)
def test_a_sentence_begins_with_a_capital_or_a_name(text: str, name: str | None, told: str) -> None:
    assert told == sentences.sentence(text, name)
