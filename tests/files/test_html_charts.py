"""Specifications of pictures, held against the goldens beside this file, and their scales.

To accept a change: `UPDATE_GOLDENS=1 pytest tests/files/test_html_charts.py`, and read it.
"""

from __future__ import annotations

import os
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardoffers_cli.domain.json_text import dumps
from cardoffers_cli.files.html.charts import Bar, Day, bars, by_day, clipped, steps

GOLDENS = Path(__file__).parent / "goldens"
HALF = Decimal("0.5")
FIRST = date(2026, 9, 3)


def held(name: str, spec: dict[str, Any]) -> None:
    golden = GOLDENS / name
    text = dumps(spec, indent=1) + "\n"
    if os.environ.get("UPDATE_GOLDENS"):
        golden.write_text(text, "utf-8")
    assert golden.read_text("utf-8") == text


def day(number: int, value: str) -> Day:
    return Day(FIRST + timedelta(days=number), Decimal(value), value)


def test_bars() -> None:
    parts = [(HALF, "accent"), (Decimal(0), "warn"), (Decimal("0.25"), "alarm")]
    rows = [Bar("bakery", "12 · GBP 3.50", parts), Bar("東京\u202e", "1", [(Decimal(1), "accent")])]
    held("bars.json", bars(rows, 352))


def test_columns_by_day() -> None:
    held("by-day.json", by_day([day(0, "0.00"), day(1, "12.50"), day(2, "7.25")], 352))


def test_days_without_any_have_no_highest() -> None:
    spec = by_day([day(0, "0"), day(1, "0")], 352)
    assert [] == spec["layer"][3]["data"]["values"]


@pytest.mark.parametrize(
    ("expected", "most"),
    [
        ("0 1", "0"),
        ("0 1", "1"),
        ("0 1 2 3", "3"),
        ("0 2 4 6 8", "7"),
        ("0 5 10", "10"),
        ("0 500 1000 1500", "1234"),
        ("0 0.05 0.1 0.15", "0.125"),
        ("0 0.5 1 1.5", "1.20"),
        ("0 50000 100000", "99999"),
        ("0 5000000000000 10000000000000", "9999999999999.9999"),
    ],
)
def test_a_scale_has_few_round_steps(expected: str, most: str) -> None:
    assert expected.split() == [text for _, text in steps(Decimal(most))]


@given(st.decimals("0", "99999999999999.9999", places=4))
def test_a_scale_reaches_the_highest_and_hardly_more(most: Decimal) -> None:
    values = [value for value, _ in steps(most)]
    assert 2 <= len(values) <= 5
    assert values[-2] < max(most, Decimal(1)) or not most
    assert values[-1] >= most


@pytest.mark.parametrize(
    ("expected", "name", "room"),
    [
        ("bakery", "bakery", 70),
        ("a bakery", "a bakery", 56),
        ("a baker…", "a bakery b", 56),
        ("東京ラ…", "東京ラーメン", 56),
        ("a\\x1b[31m", "a\x1b[31m", 700),
        ("safe\\u202…", "safe\u202egpj.exe", 70),
        ("xxxxxxx…", "x" * 10_000, 0),
    ],
)
def test_a_name_is_clipped_to_its_room(expected: str, name: str, room: int) -> None:
    assert expected == clipped(name, room)


@pytest.mark.parametrize(
    ("expected", "days", "width"),
    [
        ("3 Sep", 1, 896),
        ("3 Sep 4 Sep", 2, 896),
        ("3 Sep 10 Sep 17 Sep 25 Sep 2 Oct", 30, 352),
        ("3 Sep 3 Oct 3 Nov 3 Dec", 92, 280),
    ],
)
def test_some_days_are_named_evenly(expected: str, days: int, width: int) -> None:
    spec = by_day([day(number, "1") for number in range(days)], width)
    assert expected == " ".join(row["text"] for row in spec["layer"][4]["data"]["values"])
