"""Every hard cell in every format, held against goldens.

To accept a change: `UPDATE_GOLDENS=1 pytest tests/kernel/cli/test_show.py`, and read the
difference.
"""

import csv
import io
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from html import unescape
from pathlib import Path
from typing import Any

import fastexcel
import polars as pl
import pytest
import typer
from rich.cells import cell_len

from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.layout import print_blocks
from cardoffers_cli.kernel.cli.options import Raw
from cardoffers_cli.kernel.cli.show import Column, Sheet, Style, Text
from cardoffers_cli.kernel.words.moments import parse_moment

GOLDENS = Path(__file__).parents[2] / "goldens"

COLUMNS = (
    Column("id"),
    Column("offer.title", "Offer"),
    Column("payout", "Payout", "money"),
    Column("currency"),
    Column("created_at", "Created", "moment"),
    Column("uses", "Uses", "integer"),
    Column("paused", "Paused", "flag"),
    Column("rate", "Rate", "number"),
)
HOSTILE = {
    "plain": "Coffee, 10% off",
    "accents": "Café \u6771\u4eac 咖啡",
    "markup": "[bold red]sale[/bold red] [link=https://example.org]x[/link] **b** <b>|</b>",
    "escape": "\x1b[31mred\x1b[0m \x9b2J \x07",
    "bidi": "safe\u202egpj.exe",
    "zero width": "pay\u200bpal \ufeff",
    "lines": 'two\nlines\r\nand "quotes"\tand a \\ tab',
    "formula": "=HYPERLINK(1)",
    "plus": "+1",
    "minus": "-1",
    "at": "@SUM(1)",
    "tab": "\t=1",
    "return": "\r=1",
    "empty": "",
    "null": None,
}
AMOUNTS = {
    "GBP": Decimal("12.5000"),
    "JPY": Decimal("1200.0000"),
    "KWD": Decimal("-1.2350"),
    "none": Decimal("7.1000"),
}


def hard_rows() -> Iterator[dict[str, Any]]:
    for name, title in HOSTILE.items():
        yield {"id": name, "offer": {"title": title}}
    for currency, amount in AMOUNTS.items():
        yield {"id": currency, "payout": amount, "currency": currency}
    yield {"id": "moment", "created_at": parse_moment("2026-03-01T06:00:00.123456Z")}
    yield {"id": "midnight", "created_at": parse_moment("2026-03-01")}
    yield {"id": "integer", "uses": -3}
    yield {"id": "big", "uses": 2**53 + 1}
    yield {"id": "flags", "paused": True}
    yield {"id": "flag", "paused": False}
    yield {"id": "rate", "rate": Decimal("0.050000")}
    yield {"id": "seconds", "rate": 0.25}


def sheet() -> Sheet:
    return Sheet("hard", COLUMNS, hard_rows(), "Hard | cells")


def show(ctx: typer.Context, raw: Raw = False) -> None:
    """Show every hard cell."""
    hard = sheet()
    more = Sheet("more", (Column("a"),), [{"a": 1}], "More")
    CommandContext.of(ctx).show(
        {"data": hard.records()}, hard, Text(["Free [b]text[/b]\x1b."]), more, raw=raw
    )


@pytest.mark.parametrize("form", ["tsv", "csv", "json", "jsonl", "md", "table"])
def test_every_hard_cell_in_every_text_format(cardoffers: Any, probe: Any, form: str) -> None:
    probe(show)
    shown = cardoffers("probe", "--format", form).stdout
    golden = GOLDENS / f"hard.{form}"
    if os.environ.get("UPDATE_GOLDENS"):
        golden.write_bytes(shown.encode())
    assert golden.read_bytes().decode() == shown


def test_csv_is_read_back_as_it_was(cardoffers: Any, probe: Any) -> None:
    probe(show)
    text = cardoffers("probe", "--format", "csv", "--raw").stdout
    titles = [row["offer.title"] for row in csv.DictReader(io.StringIO(text, newline=""))]
    assert [title or "" for title in HOSTILE.values()] == titles[: len(HOSTILE)]


@pytest.mark.parametrize("form", ["tsv", "csv"])
def test_raw_leaves_formulas_unguarded(cardoffers: Any, probe: Any, form: str) -> None:
    probe(show)
    guarded, raw = (
        cardoffers("probe", "--format", form, *words).stdout for words in ([], ["--raw"])
    )
    assert 6 == guarded.count("'") == guarded.count("'") - raw.count("'")


def cells_of(shown: str, form: str) -> list[str]:
    if form == "csv":
        return [cell for row in csv.reader(io.StringIO(shown, newline="")) for cell in row]
    if form == "tsv":
        return [cell for line in shown.splitlines() for cell in line.split("\t")]
    return [unescape(cell).strip() for cell in re.findall(r"<td[^>]*>(.*?)</td>", shown, re.DOTALL)]


@pytest.mark.parametrize("form", ["csv", "tsv", "html"])
def test_a_spreadsheet_finds_no_formula_in_what_it_opens(
    cardoffers: Any, probe: Any, form: str
) -> None:
    probe(show)
    cells = cells_of(cardoffers("probe", "--format", form).stdout, form)
    assert len([cell for cell in cells if cell.startswith("'")]) >= 6
    assert [] == [cell for cell in cells if cell.startswith(("=", "+", "@", "\t", "\r"))]
    assert [] == [cell for cell in cells if re.match("-[^0-9]", cell)]


@pytest.mark.parametrize("form", ["table", "tsv", "csv", "json", "jsonl", "md", "html"])
def test_what_is_piped_acts_on_no_terminal(cardoffers: Any, probe: Any, form: str) -> None:
    probe(show)
    shown = cardoffers("probe", "--format", form).stdout
    assert [] == re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e\ufeff]", shown)


@pytest.mark.parametrize("form", ["tsv", "jsonl", "table"])
def test_a_row_is_a_line_and_nothing_is_cut(cardoffers: Any, probe: Any, form: str) -> None:
    def long(ctx: typer.Context) -> None:
        rows = [{"id": "x" * 10_000}, {"id": "two\nlines\r\x85\u2028"}]
        CommandContext.of(ctx).show(rows, Sheet("long", (Column("id"),), rows))

    probe(long)
    lines = cardoffers("probe", "--format", form).stdout.removesuffix("\n").split("\n")
    assert (2 if form == "jsonl" else 3) == len(lines)
    assert "x" * 10_000 in "".join(lines)


def test_a_document_without_a_sheet_is_shown_by_field(cardoffers: Any, probe: Any) -> None:
    def summary(ctx: typer.Context) -> None:
        CommandContext.of(ctx).show(
            {"redeemed": 3, "funded": {"GBP": Decimal("12.50"), "JPY": Decimal(90)}, "none": None}
        )

    probe(summary)
    assert "field\tvalue\nredeemed\t3\nfunded.GBP\t12.50\nfunded.JPY\t90\nnone\t\n" == (
        cardoffers("probe").stdout
    )


def test_the_exit_code_goes_with_the_data(cardoffers: Any, probe: Any) -> None:
    def findings(ctx: typer.Context) -> None:
        CommandContext.of(ctx).show({"ok": False}, exit_code=3)

    probe(findings)
    outcome = cardoffers("probe", "--format", "json")
    assert (3, {"ok": False}) == (outcome.exit_code, outcome.document)
    assert "There are findings (exit code 3): the output has them.\n" == outcome.stderr


def test_parquet_keeps_the_types(cardoffers: Any, probe: Any, tmp_path: Path) -> None:
    probe(show)
    path = tmp_path / "out.parquet"
    assert 0 == cardoffers("probe", "-o", path).exit_code
    frame = pl.read_parquet(path)
    assert {
        "id": pl.String(),
        "offer.title": pl.String(),
        "payout": pl.Decimal(18, 4),
        "currency": pl.String(),
        "created_at": pl.Datetime("us", "UTC"),
        "uses": pl.Int64(),
        "paused": pl.Boolean(),
        "rate": pl.Decimal(18, 6),
    } == dict(frame.schema)
    assert list(HOSTILE.values()) == frame["offer.title"].to_list()[: len(HOSTILE)]
    assert list(AMOUNTS.values()) == frame["payout"].drop_nulls().to_list()
    assert datetime(2026, 3, 1, 6, 0, 0, 123456, UTC) == frame["created_at"].drop_nulls()[0]
    assert 2**53 + 1 == frame["uses"].drop_nulls()[1]


def test_a_workbook_has_numbers_dates_and_text(cardoffers: Any, probe: Any, tmp_path: Path) -> None:
    probe(show)
    path = tmp_path / "out.xlsx"
    assert 0 == cardoffers("probe", "-o", path).exit_code
    book = fastexcel.read_excel(path)
    assert ["hard", "more"] == book.sheet_names
    frame = book.load_sheet("hard", dtypes={"uses": "string"}).to_polars()
    assert [12.5, 1200, -1.235, 7.1] == frame["payout"].drop_nulls().to_list()
    assert ["-3", str(2**53 + 1)] == frame["uses"].drop_nulls().to_list()
    assert parse_moment("2026-03-01T06:00:00.123Z") == frame["created_at"].drop_nulls()[0]
    assert [True, False] == frame["paused"].drop_nulls().to_list()
    assert "'=HYPERLINK(1)" == frame["offer.title"][list(HOSTILE).index("formula")]


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("has_colour", [False, True])
def test_a_terminal_gets_nothing_that_acts(
    monkeypatch: pytest.MonkeyPatch, columns: int, has_colour: bool
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    out = io.StringIO()
    print_blocks([sheet()], Style(Format.table, True, has_colour), out)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue()).splitlines()
    acting = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e\ufeff]")
    assert not acting.search("\n".join(lines))
    assert max(map(cell_len, lines)) <= columns
    assert has_colour == ("\x1b[1m" in out.getvalue())
    assert "\x1b[31m" not in out.getvalue()
    joined = "".join(line.strip() for line in lines)
    assert "[bold red]sale[/bold red]" in joined


@pytest.mark.parametrize(
    ("has_colour", "environment", "words"),
    [
        (True, {}, []),
        (False, {"NO_COLOR": "1"}, []),
        (False, {"TERM": "dumb"}, []),
        (False, {}, ["--no-color"]),
    ],
)
def test_colour_is_for_those_who_want_it(
    cardoffers: Any, probe: Any, has_colour: bool, environment: dict[str, str], words: list[str]
) -> None:
    def look(ctx: typer.Context) -> None:
        CommandContext.of(ctx).show({"has_colour": CommandContext.of(ctx).has_colour})

    probe(look)
    settings = {"TERM": "xterm", "NO_COLOR": "", **environment}
    shown = cardoffers("probe", "--format", "json", *words, **settings).document
    assert {"has_colour": has_colour} == shown
