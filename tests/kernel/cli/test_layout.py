"""What becomes of a list on a screen that is too narrow for it."""

from __future__ import annotations

import io

import pytest

from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.layout import markdown_lines, print_blocks
from cardoffers_cli.kernel.cli.show import Block, Column, Sheet, Style, Text

COLUMNS = (
    Column("ref"),
    Column("payout", kind="integer"),
    Column("merchant", gives_way=1),
    Column("id", gives_way=2),
)
ROW = {"ref": "ref-1", "payout": 1, "merchant": "Tarverby", "id": "0" * 36}


def printed(monkeypatch: pytest.MonkeyPatch, width: int, *blocks: Block) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    out = io.StringIO()
    print_blocks(blocks, Style(Format.table, is_terminal=True, has_colour=False), out)
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("width", "header"),
    [
        (80, "ref    payout  merchant  id"),
        (61, "ref    payout  merchant  id"),
        (60, "ref    payout  merchant"),
        (23, "ref    payout  merchant"),
        (22, "ref    payout"),
        (13, "ref    payout"),
    ],
)
def test_columns_give_way_in_their_order(
    monkeypatch: pytest.MonkeyPatch, width: int, header: str
) -> None:
    lines = printed(monkeypatch, width, Sheet("many", COLUMNS, [ROW] * 9))
    assert header == lines[0]


def test_what_was_left_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(monkeypatch, 50, Sheet("many", COLUMNS, [ROW] * 9))
    assert "Left out on this screen: id." == lines[-1]


def test_an_id_in_a_sentence_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{**ROW, "merchant": f"settled by {ROW['id']}", "id": "x"}] * 9
    lines = printed(monkeypatch, 60, Sheet("many", COLUMNS, rows))
    assert f"               {ROW['id']}" in lines


def test_a_few_rows_are_shown_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(monkeypatch, 50, Sheet("few", COLUMNS, [ROW]))
    assert [
        "ref       ref-1",
        "payout    1",
        "merchant  Tarverby",
        f"id        {'0' * 36}",
    ] == lines


def test_titles_and_blank_lines_part_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = Sheet("none", COLUMNS, [], title="Nothing")
    lines = printed(monkeypatch, 80, Text(["Some text."], title="A text"), sheet)
    assert ["A text", "Some text.", "", "Nothing", "(none)"] == lines


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        (r"\# free", "# free"),
        (r"\- free", "- free"),
        (r"1\. free", "1. free"),
        (r"\---", "---"),
        (r"\_now\_ or min_spend", "_now_ or min_spend"),
        (r"\*\*b\*\* \[x\](y)", "**b** [x](y)"),
        ("-1.50 and 12.50", "-1.50 and 12.50"),
        (r"two\\nlines", "two\nlines"),
    ],
)
def test_text_stays_text_in_markdown(markdown: str, text: str) -> None:
    assert [markdown] == list(markdown_lines([Text([text])]))
