"""What the pen writes: the same bytes each time, and nothing but what a picture needs."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date, timedelta
from decimal import Decimal
from xml.etree import ElementTree as ET

import pytest

from cardoffers_cli.files.html.charts import Bar, Day, bars, by_day
from cardoffers_cli.files.html.drawing import drawn
from hostile import NAMES

pytest.importorskip("vl_convert", reason="the extra `charts` is not installed")

AGAIN = """
from decimal import Decimal
from cardoffers_cli.files.html.charts import Bar, bars
from cardoffers_cli.files.html.drawing import drawn
print(drawn(bars([Bar("bakery", "1234", [(Decimal("0.3333"), "accent")])], 352))["marks"])
"""


def names(marks: str) -> set[str]:
    return set(re.findall(r"<([a-z]+)", marks))


def test_a_picture_is_the_same_bytes_in_every_process() -> None:
    spec = bars([Bar("bakery", "1234", [(Decimal("0.3333"), "accent")])], 352)
    other = subprocess.run([sys.executable, "-c", AGAIN], check=True, capture_output=True)
    assert f"{drawn(spec)['marks']}\n" == other.stdout.decode()


def test_bars_are_where_their_figures_say() -> None:
    rows = [Bar("bakery", "1234567", [(Decimal("0.5"), "accent"), (Decimal("0.25"), "warn")])]
    assert {
        "box": "0 0 400 56",
        "marks": (
            '<g transform="translate(0,14)">'
            '<path d="M0,16h400v8h-400Z" fill="var(--track)" />'
            '<path d="M0,16h200v8h-200Z" fill="var(--accent)" />'
            '<path d="M200,16h100v8h-100Z" fill="var(--warn)" />'
            '<text text-anchor="start" transform="translate(0,10)" font-size="12px"'
            ' fill="var(--ink)">bakery</text>'
            '<text text-anchor="end" transform="translate(400,10)" font-size="12px"'
            ' fill="var(--ink)"><tspan>1</tspan><tspan dx=".18em">234</tspan>'
            '<tspan dx=".18em">567</tspan></text></g>'
        ),
    } == drawn(bars(rows, 400))


def test_columns_stand_in_the_order_of_their_days() -> None:
    first = date(2026, 1, 1)
    days = [Day(first + timedelta(days=n), Decimal(n), str(n)) for n in range(1, 93)]
    marks = drawn(by_day(days, 896))["marks"]
    columns = re.findall(
        r'd="M([\d.]+),([\d.]+)h[\d.]+v[\d.]+h-[\d.]+Z" fill="var\(--accent', marks
    )
    assert 92 == len(columns)
    assert sorted(columns, key=lambda place: float(place[0])) == columns
    heights = [float(top) for _, top in columns]
    assert sorted(heights, reverse=True) == heights


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_nothing_but_text(name: str) -> None:
    marks = drawn(bars([Bar(NAMES[name], "1", [(Decimal(1), "accent")])], 352))["marks"]
    assert {"g", "path", "text"} == names(marks)
    assert "var(--ink)" in marks
    (text, _) = ET.fromstring(marks).findall("text")  # noqa: S314 - our own
    assert [] == list(text)


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("999", "999"),
        ("1|234", "1234"),
        ("12|345.67", "12345.67"),
        ("1.23456", "1.23456"),
        ("2|530 · GBP 3|912.00", "2530 · GBP 3912.00"),
        ("84.1% · runs out on 2026-10-11", "84.1% · runs out on 2026-10-11"),
    ],
)
def test_thousands_stand_apart(expected: str, text: str) -> None:
    marks = drawn(bars([Bar("bakery 123456", text, [])], 352))["marks"]
    plain = marks.replace('<tspan dx=".18em">', "|").replace("<tspan>", "").replace("</tspan>", "")
    assert [">bakery 123456<", f">{expected}<"] == re.findall(">[^<>]+<", plain)
