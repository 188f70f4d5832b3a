"""Where the marks of a picture stand, what is no picture, and what the template draws of them."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from io import BytesIO
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardoffers_cli.kernel.sheets.pages import Page, Section, write_page
from cardoffers_cli.kernel.sheets.pictures import (
    FEWEST,
    MOST_BARS,
    TALL,
    Bar,
    Picture,
    Point,
    bars,
    clipped,
    columns,
    line,
    steps,
    whole,
)
from hostile import ACTS, NAMES

ALL = [(Decimal(1), "accent")]
HALF = [(Decimal("0.5"), "accent"), (Decimal(0), "warn"), (Decimal("0.25"), "alarm")]


def point(number: int, value: str) -> Point:
    return Point(f"day {number}", f"{number} Oct", Decimal(value), value)


def points(*values: str) -> list[Point]:
    return [point(number, value) for number, value in enumerate(values, 1)]


def drawn(picture: Picture | str) -> ET.Element:
    """Return the picture as the page has it."""
    assert isinstance(picture, Picture)
    out = BytesIO()
    write_page(Page(title="x", as_of=None, sections=[Section(title=None, pictures=[picture])]), out)
    (found,) = re.findall(r"<svg.*</svg>", out.getvalue().decode(), re.DOTALL)
    return ET.fromstring(found)  # noqa: S314 - our own


def marks(picture: Picture | str, tag: str, *names: str) -> list[list[str | None]]:
    return [[mark.get(name) for name in names] for mark in drawn(picture).iter(tag)]


# What is a picture, and what is a sentence


@pytest.mark.parametrize(
    ("expected", "picture"),
    [
        ("", bars("Owed", [])),
        ("Owed: alder, GBP 3.", bars("Owed", [Bar("alder", "GBP 3", ALL)])),
        ("Owed: a, 1 and b, 2.", bars("Owed", [Bar("a", "1", ALL), Bar("b", "2", ALL)])),
        ("", columns("By day", [])),
        ("", columns("By day", points("0", "0", "0"))),
        ("By day: 4 on day 1.", columns("By day", points("4"))),
        ("By day: 4 on day 1 and 2 on day 5.", columns("By day", points("4", "0", "0", "0", "2"))),
        ("", line("Rows", [1, 2], "2")),
        ("Rows: good 2 and bad 1.", whole("Rows", [("good", 2, ""), ("x", 0, ""), ("bad", 1, "")])),
    ],
)
def test_under_three_points_are_a_sentence(expected: str, picture: Any) -> None:
    assert expected == picture


@pytest.mark.parametrize(
    "picture",
    [
        bars("Owed", [Bar(name, "1", ALL) for name in "abc"]),
        columns("By day", points("1", "0", "2", "3")),
        line("Rows", [1, 2, 3], "3"),
        whole("Rows", [(name, 1, "accent") for name in "abc"]),
    ],
)
def test_three_points_are_a_picture_that_says_what_it_shows(picture: Any) -> None:
    svg = drawn(picture)
    names = {"aria-labelledby": "title", "aria-describedby": "desc"}
    assert "img" == svg.get("role")
    for attribute, tag in names.items():
        (found,) = [each for each in svg if each.tag == tag]
        assert svg.get(attribute) == found.get("id")
        assert found.text
    assert picture.title == svg.findtext("title")
    assert picture.says == svg.findtext("desc")


# Bars


def test_bars_are_as_long_as_their_shares() -> None:
    rows = [Bar("bakery", "12", HALF), Bar("cinema", "1", ALL), Bar("deli", "0", [])]
    assert [
        ["0", None, "22", "100%", "var(--track)"],
        ["1", "0%", "22", "50%", "var(--accent)"],
        ["2", "50%", "22", "25%", "var(--alarm)"],
        ["3", None, "62", "100%", "var(--track)"],
        ["4", "0%", "62", "100%", "var(--accent)"],
        ["5", None, "102", "100%", "var(--track)"],
    ] == [
        [str(place), *mark]
        for place, mark in enumerate(marks(bars("x", rows), "rect", "x", "y", "width", "fill"))
    ]
    assert ["bakery", "12", "cinema", "1", "deli", "0"] == [
        text.text for text in drawn(bars("x", rows)).iter("text")
    ]


def test_a_bar_beyond_its_end_stops_there_and_a_plan_crosses_it() -> None:
    rows = [Bar(name, "1", [(Decimal("1.4"), "accent")], mark=Decimal("0.25")) for name in "abc"]
    assert {"100%"} == {mark[0] for mark in marks(bars("x", rows), "rect", "width")}
    assert [["25%", "25%"]] * 3 == marks(bars("x", rows), "line", "x1", "x2")


def test_only_the_first_bars_are_drawn() -> None:
    found = bars("x", [Bar(f"{number}", "1", ALL) for number in range(100)])
    assert MOST_BARS == len(drawn(found).findall("rect")) / 2
    assert isinstance(found, Picture)
    assert MOST_BARS == found.says.count(": 1")


def test_a_long_name_is_shorter_on_a_narrow_page() -> None:
    name = "£12 back at Yarrith Travel when you spend £74 or more"
    rows = [Bar(name, "1,234.50 · 12 redemptions", ALL) for _ in range(3)]
    texts = {text.get("class"): text.text for text in drawn(bars("x", rows)).iter("text")}
    assert name == texts["wide"]
    assert name.startswith(str(texts["narrow"]).removesuffix("…"))


def test_the_whole_is_one_bar_of_its_parts() -> None:
    found = whole(
        "Rows", [("a", 5, "good"), ("b", 3, "soft"), ("none", 0, "warn"), ("c", 2, "alarm")]
    )
    widths = marks(found, "rect", "x", "width", "fill")
    assert [
        [None, "100%", "var(--track)"],
        ["0%", "50%", "var(--good)"],
        ["50%", "30%", "var(--soft)"],
        ["80%", "20%", "var(--alarm)"],
    ] == widths
    assert isinstance(found, Picture)
    assert {"a 5": "good", "b 3": "soft", "c 2": "alarm"} == found.keys


# Columns


def test_columns_are_as_high_as_their_values_in_their_order() -> None:
    found = columns("x", points(*map(str, range(1, 21))))
    places = marks(found, "rect", "x", "y", "height")
    assert 20 == len(places)
    assert sorted(places, key=lambda place: float(place[0].rstrip("%"))) == places  # type: ignore[union-attr]
    heights = [float(height or 0) for _, _, height in places]
    assert [TALL * value / 20 for value in range(1, 21)] == pytest.approx(heights, abs=0.01)
    assert [TALL] * 20 == pytest.approx(
        [float(top or 0) + float(height or 0) for _, top, height in places], abs=0.01
    )


def test_the_highest_is_named_and_the_marked_one_has_another_colour() -> None:
    shown = [*points("1", "7", "3"), Point("today", "4 Oct", Decimal(2), "2", is_marked=True)]
    found = columns("x", shown, usual=Decimal(3))
    assert ["accent", "accent", "accent", "strong"] == [
        (fill or "")[6:-1] for (fill,) in marks(found, "rect", "fill")
    ]
    assert "7" in [text.text for text in drawn(found).iter("text") if text.get("dy") == "-6"]
    assert ["5 4"] == [
        mark.get("stroke-dasharray")
        for mark in drawn(found).iter("line")
        if mark.get("stroke-dasharray")
    ]
    assert ["day 1: 1", "day 2: 7", "day 3: 3", "today: 2"] == [
        rect.findtext("title") for rect in drawn(found).iter("rect")
    ]


@pytest.mark.parametrize(
    ("expected", "days"),
    [
        ("1 Oct 2 Oct 3 Oct", 3),
        ("1 Oct 7 Oct 13 Oct 18 Oct 24 Oct 30 Oct", 30),
        ("1 Oct 19 Oct 37 Oct 56 Oct 74 Oct 92 Oct", 92),
    ],
)
def test_some_days_are_named_evenly_the_first_and_the_last_among_them(
    expected: str, days: int
) -> None:
    found = columns("x", points(*["1"] * days))
    labels = [text.text for text in drawn(found).iter("text") if text.get("y") == f"{TALL + 18}"]
    assert expected.split() == " ".join(map(str, labels)).split()


@pytest.mark.parametrize("count", [3, 9, 14, 22, 60])
@pytest.mark.parametrize("value", ["1", "19445", "1234567.50"])
@pytest.mark.parametrize("label", ["1 Oct", "28 Sep 2026"])
def test_no_label_stands_over_another(count: int, value: str, label: str) -> None:
    found = columns("x", [replace(each, label=label) for each in points(*[value] * count)])
    assert isinstance(found, Picture)
    width = 340 - 7 * found.marks["gutter"] - 14
    length, ends = 6.5 * len(label), -width
    for each in found.marks["labels"]:
        middle = float(each["x"]) * width / 100
        begins = middle - (length if each["anchor"] == "end" else length / 2)
        assert begins >= ends
        ends = begins + length
    assert found.marks["labels"]


@pytest.mark.parametrize(
    ("expected", "most"),
    [
        ("0 1", "0"),
        ("0 1", "1"),
        ("0 1 2 3", "3"),
        ("0 2 4 6 8", "7"),
        ("0 5 10", "10"),
        ("0 500 1,000 1,500", "1234"),
        ("0 0.05 0.1 0.15", "0.125"),
        ("0 0.5 1 1.5", "1.20"),
        ("0 50,000 100,000", "99999"),
        ("0 5,000,000,000,000 10,000,000,000,000", "9999999999999.9999"),
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


@given(st.lists(st.decimals("0", "999999", places=2), min_size=FEWEST, max_size=120))
def test_every_mark_stays_inside_the_picture(values: list[Decimal]) -> None:
    found = columns("x", points(*map(str, values)), usual=max(values) * 2)
    if isinstance(found, str):
        assert FEWEST > sum(map(bool, values))
        return
    for column in found.marks["columns"]:
        x, width, y, height = (float(column[name]) for name in ("x", "width", "y", "height"))
        assert 0 <= x
        assert x + width <= 100.01
        assert 0 <= y <= y + height <= TALL + 0.01
    assert 0 <= float(found.marks["usual"]) <= TALL


def test_a_line_goes_from_the_oldest_to_the_newest() -> None:
    (shape,) = marks(line("Rows", [0, 10, 5], "5"), "polyline", "points")
    assert ["0,30 50,0 100,15"] == shape


# Names


@pytest.mark.parametrize(
    ("expected", "name", "room"),
    [
        ("bakery", "bakery", 65),
        ("a bakery", "a bakery", 52),
        ("a baker…", "a bakery b", 52),
        ("東京ラ…", "東京ラーメン", 52),
        ("a\\x1b[31m", "a\x1b[31m", 650),
        ("safe\\u202…", "safe\u202egpj.exe", 65),
        ("xxxxxxx…", "x" * 10_000, 0),
    ],
)
def test_a_name_is_clipped_to_its_room(expected: str, name: str, room: int) -> None:
    assert expected == clipped(name, room)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_nothing_but_text(name: str) -> None:
    hostile, plain = NAMES[name], "a"
    for make in (
        lambda text: bars(text, [Bar(text, "1", ALL)] * 3),
        lambda text: columns(text, [Point(text, text, Decimal(1), "1")] * 3),
        lambda text: whole(text, [(text + each, 1, "accent") for each in "abc"]),
        lambda text: line(text, [1, 2, 3], text),
    ):
        svg = drawn(make(hostile))
        tags = [each.tag for each in svg.iter() if each.get("class") not in {"wide", "narrow"}]
        expected = [each.tag for each in drawn(make(plain)).iter()]
        assert set(tags) <= set(expected)
        assert not ACTS.search(ET.tostring(svg, encoding="unicode"))
