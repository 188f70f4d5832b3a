"""What a page is made of: sections, tables and pictures, the same bytes for the same page."""

from __future__ import annotations

import re
import sys
from decimal import Decimal
from functools import partial
from io import BytesIO
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from cardoffers_cli.files.html.charts import Bar, bars
from cardoffers_cli.files.html.digits import grouped
from cardoffers_cli.files.html.pages import MOST_ROWS, Page, Picture, Section, write_page
from cardoffers_cli.files.sheets import Column, Sheet
from hostile import ACTS, NAMES
from tables import NOON

COLUMNS = (Column("name"), Column("count", kind="integer"), Column("amount", kind="money"))
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def sheet(*names: str, rows: int = 1) -> Sheet:
    amounts = {"count": 1234567, "amount": Decimal("12.5"), "currency": "GBP"}
    return Sheet("shops", COLUMNS, ({"name": n, **amounts} for n in names for _ in range(rows)))


def picture(name: str = "bakery") -> Picture:
    drawn = [Bar(name, "1", [(Decimal(1), "accent")])]
    return Picture(title=name, says=name, spec=partial(bars, drawn), keys={name: "accent"})


def written(*sections: Section, title: str = "Shops", **more: Any) -> str:
    """Write a page and return it, having seen that it is well-formed and its names are its own."""
    out = BytesIO()
    write_page(Page(title=title, as_of=NOON, sections=sections, **more), out)
    text = out.getvalue().decode()
    tree = ET.fromstring(text)  # noqa: S314 - our own; every element is closed, as in XML
    ids = [each.get("id") for each in tree.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    named = re.findall(r'(?:aria-labelledby|aria-describedby|href)="#?(s\d[^"]*)"', text)
    assert set(named) <= set(ids)
    return text


def body(text: str) -> str:
    return text.partition("</head>")[2]


def test_a_page_is_the_same_bytes_each_time() -> None:
    pages = {
        written(Section(title="Shops", pictures=[picture()], sheet=sheet("bakery")))
        for _ in range(2)
    }
    assert 1 == len(pages)


def test_a_page_loads_nothing() -> None:
    text = written(Section(title="Shops", pictures=[picture()], sheet=sheet("bakery")))
    assert f'http-equiv="Content-Security-Policy" content="{POLICY}"' in text
    assert ['href="data:,"'] == re.findall(r'(?:href|src)="[^#][^"]*"', text)
    assert [] == re.findall(r"url\(|@import|<script|https?:", text)


def test_a_cell_is_the_text_that_it_is_everywhere() -> None:
    tree = ET.fromstring(written(Section(title="Shops", sheet=sheet("bakery"))))  # noqa: S314
    cells = ["".join(cell.itertext()).strip() for cell in tree.iter() if cell.tag in {"th", "td"}]
    assert ["Name", "Count", "Amount", "bakery", "1234567", "12.50"] == cells
    assert ["col", "col", "col", "row"] == [th.get("scope") for th in tree.iter("th")]


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("1", "1"),
        ("999", "999"),
        ("1<span>234</span>", "1234"),
        ("12<span>345</span><span>678</span>.9012", "12345678.9012"),
        ("-1<span>234</span>.50", "-1234.50"),
        ("&lt;b&gt;", "<b>"),
        ("", ""),
    ],
)
def test_thousands_are_apart_by_style_only(expected: str, text: str) -> None:
    assert expected == str(grouped(text))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_harmless_wherever_it_stands(name: str) -> None:
    hostile = NAMES[name]
    plain = written(
        Section(title="x", lines=["x"], pictures=[picture("x")], sheet=sheet("x"), more="x"),
        Section(title=None, text="x"),
        title="x",
        about=["x"],
        facts=[("x", "x")],
        files=["x"],
    )
    text = written(
        Section(
            title=hostile,
            lines=[hostile],
            pictures=[picture(hostile)],
            sheet=sheet(hostile),
            more=hostile,
        ),
        Section(title=None, text=hostile),
        title=hostile,
        about=[hostile],
        facts=[(hostile, hostile)],
        files=[hostile],
    )
    assert not ACTS.search(text)
    grown = re.compile(r"</?(?:details|summary|tspan|span)\b[^>]*>")
    assert [tag[0] for tag in tags(grown.sub("", plain))] == [
        tag[0] for tag in tags(grown.sub("", text))
    ]


def tags(text: str) -> list[tuple[str, str]]:
    return re.findall(r"<(/?\w+)([^>]*)>", body(text))


def test_a_long_name_shows_its_beginning_and_has_the_rest() -> None:
    text = written(Section(title="Shops", sheet=sheet("x" * 10_000)))
    assert f"<summary>{'x' * 120}…</summary>{'x' * 10_000}</details>" in text


@pytest.mark.parametrize(
    ("expected", "rows", "in_all"),
    [
        ([], MOST_ROWS, None),
        ([], 5, 5),
        (["95 more rows are not on this page."], 5, 100),
        (["1 more row is not on this page."], MOST_ROWS + 1, None),
        (["999000 more rows are not on this page."], MOST_ROWS, 1_000_000),
    ],
)
def test_a_table_that_is_cut_says_so(expected: list[str], rows: int, in_all: int | None) -> None:
    shops = sheet("bakery", rows=rows)
    text = written(Section(title="Shops", sheet=shops, in_all=in_all, more="cardoffers …"))
    assert expected == re.findall(r"\d+ more rows? (?:is|are) not on this page\.", text)
    assert bool(expected) == ("<code>cardoffers …</code>" in text)


def test_the_figures_of_a_picture_are_below_it_and_folded_if_they_are_many() -> None:
    few = written(Section(title="Shops", pictures=[picture()], sheet=sheet("bakery", rows=12)))
    many = written(Section(title="Shops", pictures=[picture()], sheet=sheet("bakery", rows=13)))
    assert "<details" not in few
    assert "The same figures as a table: 13 rows" in many


def test_without_the_extra_a_page_has_its_tables_and_says_what_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    text = written(Section(title="Shops", pictures=[picture()], sheet=sheet("bakery")))
    assert "<svg" not in text
    assert "<code>pip install 'cardoffers-cli[charts]'</code> draws them." in text.replace(
        "&#39;", "'"
    )
    assert "bakery" in text


def test_a_page_without_pictures_misses_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert "cardoffers-cli[charts]" not in written(Section(title="Shops", sheet=sheet("bakery")))
