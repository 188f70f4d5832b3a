"""What a page is made of: sections, tables and pictures, the same bytes for the same page."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from io import BytesIO
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from cardoffers_cli.kernel.sheets.pages import (
    MOST_LINES,
    MOST_ROWS,
    Fact,
    Page,
    Section,
    grouped,
    section_of,
    write_page,
)
from cardoffers_cli.kernel.sheets.pictures import Bar, Picture, Point, bars, columns
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet
from cardoffers_cli.kernel.sheets.tables import Advice, Link, PrintedCommand, State
from cardoffers_cli.reports.pages import against
from hostile import ACTS, NAMES
from tables import NOON

COLUMNS = (Column("name"), Column("count", kind="integer"), Column("amount", kind="money"))
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def sheet(*names: str, rows: int = 1) -> Sheet:
    amounts = {"count": 1234567, "amount": Decimal("12.5"), "currency": "GBP"}
    return Sheet("shops", COLUMNS, ({"name": n, **amounts} for n in names for _ in range(rows)))


def picture(name: str = "bakery") -> Picture:
    rows = [Bar(name, "1", [(Decimal(1), "accent")])] * 3
    drawn = bars(name, rows, subtitle=name)
    assert isinstance(drawn, Picture)
    return replace(drawn, keys={name: "good"})


def by_day() -> Picture | str:
    return columns("By day", [Point(str(day), str(day), Decimal(day), "1") for day in (1, 2, 3)])


def written(*sections: Section, title: str = "Shops", **more: Any) -> str:
    """Write a page and return it, having seen that it is well-formed and its names are its own."""
    out = BytesIO()
    write_page(Page(title=title, as_of=NOON, sections=sections, **more), out)
    text = out.getvalue().decode()
    tree = ET.fromstring(text)  # noqa: S314 - our own; every element is closed, as in XML
    ids = [each.get("id") for each in tree.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    named = re.findall(r'(?:aria-labelledby|aria-describedby|href)="#?((?:s\d|notes)[^"]*)"', text)
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


def test_the_text_of_a_number_is_the_one_that_it_is_everywhere() -> None:
    tree = ET.fromstring(written(Section(title="Shops", sheet=sheet("bakery"))))  # noqa: S314
    cells = ["".join(cell.itertext()).strip() for cell in tree.iter() if cell.tag in {"th", "td"}]
    assert ["Name", "Count", "Amount", "bakery", "1234567", "GBP 12.50"] == cells
    assert ["col", "col", "col", "row"] == [th.get("scope") for th in tree.iter("th")]
    assert [None, "Count", "Amount"] == [
        cell.get("data-of") for cell in tree.iter() if cell.get("role") in {"rowheader", "cell"}
    ]


def test_an_id_is_short_and_whole_when_it_is_copied_or_pointed_at() -> None:
    whole = "6b0e1234-1111-4222-8333-444455556666"
    rows = [{"id": whole, "name": "bakery"}]
    columns = (Column("id", kind="id"), Column("name"))
    tree = ET.fromstring(written(Section(title="x", sheet=Sheet("x", columns, rows))))  # noqa: S314
    (found,) = [each for each in tree.iter("span") if each.get("class") == "id"]
    assert (whole, whole) == (found.get("title"), "".join(found.itertext()))
    assert "6b0e1234" == found.text
    assert ["Name", "Id"] == [th.text for th in tree.iter("th") if th.get("scope") == "col"]


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
    plain, text = everywhere("x"), everywhere(hostile)
    assert not ACTS.search(text)
    grown = re.compile(r"</?(?:details|summary|text|span|code)\b[^>]*>")
    assert [tag[0] for tag in tags(grown.sub("", plain))] == [
        tag[0] for tag in tags(grown.sub("", text))
    ]


def everywhere(name: str) -> str:
    """Write a page on which a name stands wherever one can."""
    cells = [name, Link(name, name), PrintedCommand(name), Advice(name), State(name, "warn")]
    rows = [{"name": cell} for cell in cells]
    money = {"amount": Decimal(1), "currency": name}
    return written(
        Section(
            title=name,
            lines=[name],
            pictures=[picture(name), name],
            sheet=Sheet(name, (Column("name", name),), rows, title=name),
            order=name,
            orders={name + name: rows},
            more=name,
            links=[Link(name, name)],
        ),
        Section(title=None, text=name, sheet=Sheet(name, COLUMNS[2:], [money])),
        title=name,
        headline=name,
        about=[name],
        facts=[Fact.of(name, name, name)],
        links=[Link(name, name)],
        notes=[name],
    )


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
        (["999,000 more rows are not on this page."], MOST_ROWS, 1_000_000),
    ],
)
def test_a_table_that_is_cut_says_so(expected: list[str], rows: int, in_all: int | None) -> None:
    shops = sheet("bakery", rows=rows)
    text = written(Section(title="Shops", sheet=shops, in_all=in_all, more="cardoffers …"))
    assert expected == re.findall(r"[\d,]+ more rows? (?:is|are) not on this page\.", text)
    said = "All of them" if expected else "As a file"
    assert f"{said}: <code>cardoffers …</code>" in text


@pytest.mark.parametrize(
    ("is_folded", "rows", "drawn"),
    [(False, 12, by_day()), (True, 13, by_day()), (False, 100, picture())],
)
def test_the_figures_of_a_picture_are_below_it_and_many_days_are_folded(
    is_folded: bool, rows: int, drawn: Picture
) -> None:
    shops = sheet("bakery", rows=rows)
    text = written(Section(title="Shops", pictures=[drawn], sheet=shops))
    assert is_folded == (f"The same figures as a table: {rows} rows" in text)
    assert text.index("<svg") < text.index("<table")


def test_a_picture_of_too_few_points_is_a_sentence() -> None:
    said = bars("Owed", [Bar("alder", "GBP 3.00", [])])
    text = written(Section(title="Owed", pictures=[said], sheet=sheet("alder")))
    assert "<svg" not in text
    assert '<p class="about">Owed: alder, GBP\u00a03.00.</p>' in text


def test_the_answer_comes_first() -> None:
    text = body(written(title="Nights", headline="All 3 went well, 14.9 % of them quickly."))
    lines = [line for line in re.sub(r"<[^>]+>", "", text).splitlines() if line.strip()]
    assert ["Skip to the content", "Nights", "All 3 went well, 14.9\u00a0% of them quickly."] == (
        lines[:3]
    )


def test_a_table_can_be_read_in_another_order_without_a_script() -> None:
    orders = {"last": [{"name": "deli", "count": 1}]}
    first = Sheet("shops", COLUMNS[:2], [{"name": "bakery", "count": 2}, {"name": "c", "count": 1}])
    text = written(Section(title="Shops", sheet=first, order="first", orders=orders))
    tree = ET.fromstring(text)  # noqa: S314 - our own
    inputs = [
        (each.get("type"), each.get("value"), each.get("checked")) for each in tree.iter("input")
    ]
    assert [("radio", "1", "checked"), ("radio", "2", None)] == inputs
    assert 1 == len({each.get("name") for each in tree.iter("input")})
    shown = [div for div in tree.iter("div") if re.fullmatch(r"o\d", div.get("class", ""))]
    assert ["o1", "o2"] == [div.get("class") for div in shown]
    assert ["Shops: first", "Shops: last"] == [div.findtext(".//caption") for div in shown]
    assert [["bakery", "c"], ["deli"]] == [
        [th.text for th in div.iter("th") if th.get("scope") == "row"] for div in shown
    ]


def test_one_row_has_no_order() -> None:
    one = Section(title="x", sheet=sheet("bakery"), order="a", orders={"b": [{"name": "bakery"}]})
    assert "<input" not in written(one)


def test_facts_of_money_have_a_line_for_each_currency() -> None:
    amounts = {"GBP": Decimal("7.5"), "MXN": Decimal(740), "JPY": Decimal(0)}
    assert ["GBP 7.50", "MXN 740.00"] == Fact.of_money("payout", amounts).lines
    assert ["nothing"] == Fact.of_money("payout", {}).lines
    many = dict.fromkeys(("AED", "AUD", "BRL", "CAD", "CHF", "CLP"), Decimal(1))
    assert [MOST_LINES + 1, "and 2 more"] == [
        len(Fact.of_money("payout", many).lines),
        Fact.of_money("payout", many).lines[-1],
    ]


def test_any_sheet_is_a_section_with_all_of_its_columns() -> None:
    shown = section_of(Sheet("came_in", COLUMNS, [{"name": "alder", "count": 0}]))
    text = written(shown)
    assert '<h2 id="s1-title">Came in</h2>' in text
    assert ["Name", "Count", "Amount"] == re.findall(r'scope="col"[^>]*>([^<]+)<', text)


def test_an_empty_list_says_none() -> None:
    assert '<p class="note">None.</p>' in written(Section(title="x", sheet=Sheet("x", COLUMNS, [])))


def test_columns_are_those_of_the_rows_that_a_page_shows() -> None:
    columns = (Column("name"), Column("note"), Column("hidden"))
    shown: list[dict[str, Any]] = [{"name": "x", "note": "seen"}] * MOST_ROWS
    rows = [*shown, {"name": "y", "hidden": "left out"}]
    page = written(Section(title="x", sheet=Sheet("shops", columns, rows)))
    assert (True, False) == (">Note<" in page, ">Hidden<" in page)
    assert "1 more row is not on this page." in page


@pytest.mark.parametrize(
    ("title", "quiet", "redeemed"),
    [("1 night", "", [0, 3]), ("2 nights", "No activity in 1 night.", [1, 0, 2])],
)
def test_a_night_is_shown_against_those_before(title: str, quiet: str, redeemed: list[int]) -> None:
    nights = [
        {
            "name": f"2026-10-0{place + 1}",
            "as_of": NOON,
            "money": {"GBP": {"redeemed": count, "institution_payout_amount": Decimal(count)}},
            "accepted": count,
        }
        for place, count in enumerate(redeemed)
    ]
    (section,) = against(nights)
    assert (f"Against the {title} before", quiet) == (section.title, section.lines[-1])
