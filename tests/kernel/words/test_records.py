"""Records: fields by name and as a mapping, and amounts with the decimals of their currency."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from cardoffers_cli.kernel.words import json_text
from cardoffers_cli.kernel.words.records import Amount, OpenRecord, Record, if_any


class Owed(Record):
    currency: str
    amount: Amount
    paid: Amount | None = None


class OwedTo(Owed):
    institution: str


@pytest.mark.parametrize(
    ("expected", "currency", "amount"),
    [
        ("12.50", "GBP", "12.5000"),
        ("12", "JPY", "12.0000"),
        ("12.500", "KWD", "12.5"),
    ],
)
def test_an_amount_has_the_decimals_of_its_currency(
    expected: str, currency: str, amount: str
) -> None:
    owed = Owed.of({"currency": currency, "amount": Decimal(amount), "paid": None})
    assert (expected, None) == (str(owed.amount), owed.paid)


def test_a_record_is_a_mapping_of_its_fields() -> None:
    owed = OwedTo(institution="acme", currency="GBP", amount=Decimal(1))
    as_mapping = {"currency": "GBP", "amount": Decimal(1), "paid": None, "institution": "acme"}
    assert as_mapping == owed
    assert list(as_mapping) == list(owed)
    assert {**as_mapping, "paid": 1} == {**owed, "paid": 1}
    assert Decimal(1) == owed["amount"]
    assert '{"currency": "GBP", "amount": 1, "paid": null}' == json_text.dumps(Owed.cut(owed))
    with pytest.raises(KeyError):
        owed["owner"]
    with pytest.raises(AttributeError):
        owed.amount = Decimal(2)  # type: ignore[misc]


class Ruled(Record):
    class_: str
    rule: str


def test_a_field_whose_name_python_keeps_for_itself_is_a_member_without_its_underscore() -> None:
    assert {"class": "a", "rule": "b"} == Ruled(class_="a", rule="b")
    assert ["class", "rule"] == list(Ruled.of({"class_": "a", "rule": "b"}))
    assert "a" == Ruled(class_="a", rule="b")["class"]


class Judged(Record):
    code: str | None = if_any()
    state: str
    hint: str | None


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        ({"state": "rejected", "hint": None}, None),
        ({"code": "card_number", "state": "rejected", "hint": None}, "card_number"),
    ],
)
def test_what_there_is_only_if_any_is_left_out(expected: dict[str, object], code: str) -> None:
    judged = Judged(code=code, state="rejected", hint=None)
    assert expected == judged
    assert (list(expected), len(expected)) == (list(judged), len(judged))
    assert (code, code) == (judged.code, judged.get("code"))
    assert judged == Judged.cut(judged) == Judged(**judged)


def test_a_part_of_a_row_is_a_record_of_it_and_of_what_is_given_beside_it() -> None:
    row = {"currency": "GBP", "amount": Decimal(1), "token": "secret"}
    expected = {"currency": "GBP", "amount": Decimal("1.00"), "paid": None, "institution": "acme"}
    assert expected == OwedTo.part(row, institution="acme")
    assert "1.00" == str(OwedTo.part(row, institution="acme").amount)
    with pytest.raises(TypeError):
        OwedTo.part(row)


class Found(OpenRecord):
    step: str | None = if_any()
    code: str


def test_an_open_record_has_others_behind_its_fields() -> None:
    row = {"count": 3, "code": "rows_rejected", "file": "a.csv"}
    found = Found.of(row)
    assert ["code", "count", "file"] == list(found)
    assert (row, 3, 3) == (found, found["count"], len(found))
    assert ["step", "code", "count", "file"] == list(replace(found, step="import"))
    assert "others" not in found


@pytest.mark.parametrize(
    "row", [{"currency": "GBP"}, {"currency": "GBP", "amount": Decimal(1), "x": 1}]
)
def test_a_row_of_other_columns_is_no_record(row: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        Owed.of(row)
