"""JSON with exact numbers, and nothing that a strict reader refuses."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.moments import parse_moment
from sizes import slow


class State(StrEnum):
    settled = "settled"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("true", True),
        ("false", False),
        ("-7", -7),
        ("12.50", Decimal("12.50")),
        ("12.5000", Decimal("12.5000")),
        ("1200", Decimal(1200)),
        ("1000", Decimal("1E+3")),
        ("0.00001", Decimal("1E-5")),
        ("123456789012345678901234.56", Decimal("123456789012345678901234.56")),
        ("0.25", 0.25),
        ('"settled"', State.settled),
        ('"a\\"\\\\\\u001b\\n…"', 'a"\\\x1b\n…'),
        ('"\\u009b\\u202e\\u200b\\u007f\\udb40\\udc41é"', "\x9b\u202e\u200b\x7f\U000e0041é"),
        ('"2026-03-01T06:00:00.123Z"', parse_moment("2026-03-01T06:00:00.123456Z")),
        ('"2026-03-01"', date(2026, 3, 1)),
        ('"0b9f1c1e-8e0e-4a57-9a5a-0c2f8b6d9d01"', UUID("0b9f1c1e-8e0e-4a57-9a5a-0c2f8b6d9d01")),
        ("[]", []),
        ("{}", {}),
        ("[1, [2]]", [1, (2,)]),
        ('{"a": [{}], "b": null}', {"a": [{}], "b": None}),
        ("[0, 1, 2]", iter(range(3))),
        ("[]", iter(())),
    ],
)
def test_a_value_has_one_form(text: str, value: Any) -> None:
    assert text == dumps(value)


def test_indented() -> None:
    value = {"data": iter([{"a": 1}, {}]), "none": [], "amount": {"GBP": Decimal("12.50")}}
    assert """\
{
  "data": [
    {
      "a": 1
    },
    {}
  ],
  "none": [],
  "amount": {
    "GBP": 12.50
  }
}""" == dumps(value, indent=2)


@pytest.mark.parametrize(
    ("error", "value"),
    [
        (ValueError, Decimal("NaN")),
        (ValueError, Decimal("Infinity")),
        (ValueError, float("nan")),
        (ValueError, float("-inf")),
        (ValueError, datetime(2026, 3, 1, tzinfo=UTC)),
        (TypeError, b"bytes"),
        (TypeError, {1, 2}),
        (TypeError, object()),
    ],
)
def test_what_json_cannot_say_is_refused(error: type[Exception], value: Any) -> None:
    with pytest.raises(error):
        dumps({"a": [value]})


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.decimals(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@slow
@given(value=JSON, indent=st.sampled_from([None, 0, 2]))
def test_it_is_read_back_as_it_was(value: Any, indent: int | None) -> None:
    text = dumps(value, indent=indent)
    assert _numbers(value) == json.loads(text, parse_float=Decimal, parse_int=Decimal)


def _numbers(value: Any) -> Any:
    match value:
        case bool():
            return value
        case int():
            return Decimal(value)
        case list():
            return [_numbers(each) for each in value]
        case dict():
            return {name: _numbers(each) for name, each in value.items()}
    return value
