from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from cardoffers_cli.http.contract import offers, reports
from cardoffers_cli.http.contract.messages import Problem
from cardoffers_cli.http.contract.parameters import read_fields, read_query
from sizes import slow
from tables import moment

PAGE = {"from": None, "to": None, "cursor": None, "limit": 100}
FEED = {
    "cardholder_token": "ann",
    "locale": None,
    "segment": None,
    "limit": None,
    "personalize": False,
    "prefer_merchants": None,
    "prefer_categories": None,
}


def refused(query: str, known: Any = offers.FEED) -> list[tuple[str, str]]:
    with pytest.raises(Problem) as refusal:
        read_query(query, known)
    assert (422, "invalid") == (refusal.value.status, refusal.value.code)
    return [(error["pointer"], error["code"]) for error in refusal.value.errors]


def test_what_is_not_sent_has_its_default() -> None:
    assert PAGE == read_query("", reports.PAGE)
    assert FEED == read_query("cardholder_token=ann", offers.FEED)


READ = [
    ("limit=1", {"limit": 1}),
    ("limit=1000", {"limit": 1000}),
    ("limit=007", {"limit": 7}),
    ("&&limit=5&", {"limit": 5}),
    ("from=2026-06-01T12:00:00Z", {"from": moment("12:00:00")}),
    ("from=2026-06-01T14:00:00%2B02:00", {"from": moment("12:00:00")}),
    ("to=2026-06-01%2012:00-00:30", {"to": moment("12:30:00")}),
    ("%66rom=2026-06-01T12:00:00.250Z", {"from": moment("12:00:00.250")}),
    ("cursor=", {"cursor": ""}),
    ("cursor=a=b", {"cursor": "a=b"}),
    ("cursor=%E2%80%A6+x", {"cursor": "… x"}),
]


@pytest.mark.parametrize(("query", "expected"), READ)
def test_values_are_read(query: str, expected: dict[str, Any]) -> None:
    assert {**PAGE, **expected} == read_query(query, reports.PAGE)


WRONG = [
    ("limit=0", "limit", "number_invalid"),
    ("limit=1001", "limit", "number_invalid"),
    ("limit=-1", "limit", "number_invalid"),
    ("limit=+1", "limit", "number_invalid"),
    ("limit=%2B1", "limit", "number_invalid"),
    ("limit=1.0", "limit", "number_invalid"),
    ("limit=1e2", "limit", "number_invalid"),
    ("limit=", "limit", "number_invalid"),
    ("limit=٣", "limit", "encoding"),
    ("limit=%D9%A3", "limit", "number_invalid"),
    ("limit=99999999999999999999", "limit", "number_invalid"),
    ("limit=5&limit=5", "limit", "parameter_repeated"),
    ("from=2026-06-01", "from", "timestamp_no_offset"),
    ("from=2026-06-01T12:00:00", "from", "timestamp_no_offset"),
    ("from=2026-06-01T14:00:00+02:00", "from", "timestamp_invalid"),
    ("from=2026-02-30T12:00:00Z", "from", "timestamp_invalid"),
    ("from=2026-06-01T24:00:00Z", "from", "timestamp_invalid"),
    ("from=2026-06-01T23:59:60Z", "from", "timestamp_invalid"),
    ("from=1969-12-31T12:00:00Z", "from", "timestamp_invalid"),
    ("from=2026-06-01T12:00:00Z%0A", "from", "timestamp_invalid"),
    ("from=yesterday", "from", "timestamp_invalid"),
    ("from=", "from", "timestamp_invalid"),
    ("cursor=%E2%80", "cursor", "encoding"),
    ("cursor=%zz", "cursor", "encoding"),
    ("cursor=100%", "cursor", "encoding"),
    ("status=lost", "status", "value_unknown"),
    ("status=Settled", "status", "value_unknown"),
    ("offset=5", "offset", "parameter_unknown"),
    ("Limit=5", "Limit", "parameter_unknown"),
]


@pytest.mark.parametrize(("query", "name", "code"), WRONG)
def test_what_will_not_do_is_pointed_to(query: str, name: str, code: str) -> None:
    assert [(f"/query/{name}", code)] == refused(query, reports.LEDGER_PAGE)


TOKENS = [
    ("", "required_missing"),
    ("cardholder_token=", "required_missing"),
    ("cardholder_token=4111111111111111", "card_number"),
    ("cardholder_token=4111+1111+1111+1111", "card_number"),
    ("cardholder_token=ann%40example.com", "personal_data"),
    ("cardholder_token=a+b", "token_invalid"),
    ("cardholder_token=caf%C3%A9", "token_invalid"),
    (f"cardholder_token={'x' * 257}", "token_invalid"),
    ("cardholder_token=a%00b", "control_character"),
]


@pytest.mark.parametrize(("query", "code"), TOKENS)
def test_a_token_has_the_rules_of_files(query: str, code: str) -> None:
    assert [("/query/cardholder_token", code)] == refused(query)


@pytest.mark.parametrize("flag", ["True", "1", "yes", "", "false "])
def test_a_flag_is_true_or_false(flag: str) -> None:
    assert [("/query/personalize", "flag_invalid")] == refused(
        f"cardholder_token=ann&personalize={flag.replace(' ', '+')}"
    )


def test_everything_that_is_wrong_is_told_at_once() -> None:
    assert [
        ("/query/limit", "parameter_repeated"),
        ("/query/page", "parameter_unknown"),
        ("/query/cardholder_token", "required_missing"),
        ("/query/personalize", "flag_invalid"),
    ] == refused("limit=1&limit=2&page=3&personalize=maybe")


@pytest.mark.parametrize("name", ["ch_9f8e7d6c", "4111111111111111", "a%2Fb", "%FF", "x" * 41, ""])
def test_a_name_that_could_hold_a_token_is_not_repeated(name: str) -> None:
    ((pointer, code),) = refused(f"cardholder_token=ann&{name}=1")
    assert "/query" == pointer
    assert code == ("encoding" if name == "%FF" else "parameter_unknown")


def test_a_plus_in_a_moment_gets_its_hint() -> None:
    with pytest.raises(Problem) as refusal:
        read_query("from=2026-06-01T14:00:00+02:00", reports.PAGE)
    assert "a + must be sent as %2B" in refusal.value.errors[0]["detail"]


FIELDS = [
    ({}, [("/cardholder_token", "required_missing"), ("/card_token", "required_missing")]),
    ({"cardholder_token": None, "card_token": "c"}, [("/cardholder_token", "required_missing")]),
    ({"cardholder_token": "", "card_token": "c"}, [("/cardholder_token", "required_missing")]),
    (
        {"cardholder_token": 12, "card_token": ["c"]},
        [
            ("/cardholder_token", "text_invalid"),
            ("/card_token", "text_invalid"),
        ],
    ),
    ({"cardholder_token": "a", "card_token": "5555555555554444"}, [("/card_token", "card_number")]),
    ({"cardholder_token": "a", "card_token": "c", "segment": True}, [("/segment", "text_invalid")]),
    (
        {"cardholder_token": "a", "card_token": "c", "segment": "x" * 201},
        [("/segment", "too_long")],
    ),
]


@pytest.mark.parametrize(("body", "expected"), FIELDS)
def test_fields_of_a_body_are_pointed_to(body: Any, expected: list[tuple[str, str]]) -> None:
    with pytest.raises(Problem) as refusal:
        read_fields(body, offers.ADD)
    assert expected == [(error["pointer"], error["code"]) for error in refusal.value.errors]


def test_a_body_may_hold_more_and_null_is_nothing() -> None:
    body = {"cardholder_token": "a", "card_token": "c", "segment": None, "note": 7}
    assert {"cardholder_token": "a", "card_token": "c", "segment": None} == read_fields(
        body, offers.ADD
    )


@slow
@examples(st.text(st.characters(codec="utf-8"), max_size=60))
def test_no_value_is_ever_repeated(text: str) -> None:
    mark = "kanarie"
    with pytest.raises(Problem) as refusal:
        read_query(f"limit={mark}{text}&{mark}9{text}=1&from={mark}{text}", reports.PAGE)
    assert mark not in repr(refusal.value)
    assert mark not in refusal.value.answer("id").body.decode()
