"""What is alike on every screen: how times and numbers are written, and what a colour means."""

from __future__ import annotations

import io
import re
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.cli.colour import painted, tone_of
from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.layout import plain_lines, print_blocks
from cardoffers_cli.kernel.cli.show import Block, Column, Sheet, Style, Text
from commands import on_a_screen
from complaints import complaints
from sizes import one_in

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job

AT = datetime(2026, 6, 1, 12, 34, 56)  # noqa: DTZ001 - moments are naive UTC
SHEET = Sheet(
    "sheet",
    (Column("at", kind="moment"), Column("amount", kind="money"), Column("rows", kind="integer")),
    [{"at": AT, "amount": Decimal("1234567.5"), "rows": 12345, "currency": "GBP"}],
)

RED, YELLOW, GREEN, PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[0m"


def printed(*blocks: Block, has_colour: bool = False) -> str:
    out = io.StringIO()
    print_blocks(blocks, Style(Format.table, is_terminal=True, has_colour=has_colour), out)
    return out.getvalue()


def test_times_and_numbers_on_a_screen_are_those_of_a_sentence() -> None:
    row = printed(SHEET).splitlines()[-1]
    assert "2026-06-01 12:34 UTC  1,234,567.50  12,345" == row.rstrip()


def test_in_a_pipe_the_cells_are_those_of_every_format() -> None:
    assert "2026-06-01T12:34:56.000Z  1234567.50  12345" == [*plain_lines([SHEET])][-1]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job on the scene of `complaints`, which these tests only look at."""
    return complaints(tmp_path_factory.mktemp("complaints"))


LINES = """
status
why won -i alder
why second -i alder
find --merchant bakery -i alder
timeline won -i alder
report redemptions
report settlements --by settlement
report funnel -i alder
webhook list
run list
audit list
store info
redemption show won -i alder
institution show alder
"""
ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?! UTC)")


@pytest.mark.parametrize("line", LINES.strip().splitlines())
@one_in(3)
def test_every_screen_has_one_form_of_times(made: Job, line: str) -> None:
    usual = ("--store", made.path, "--as-of", f"{made.now.isoformat()}Z")
    ended = on_a_screen([*line.split(), *usual], columns=200, NO_COLOR="1")
    assert (0, []) == (ended.exit_code, ISO.findall(ended.stdout + ended.stderr))


def test_a_form_that_is_another_is_found() -> None:
    other = "2026-06-01T12:34:56.000Z or 2026-06-01 12:34:56"
    assert ["2026-06-01T12:34", "2026-06-01 12:34"] == ISO.findall(other)
    assert [] == ISO.findall("2026-06-01 12:34 UTC and 2026-06-01")


# column, cell, colour
TONES = """
level   error        red
level   warning      yellow
level   note         -
state   settled      green
state   delivered    green
state   exhausted    red
state   pending      -
status  broken\u00a0off  yellow
ok      true         green
ok      false        red
is_open false        -
file    error        -
"""


@pytest.mark.parametrize("line", TONES.strip().splitlines())
def test_a_colour_says_what_the_word_says(line: str) -> None:
    column, cell, tone = (word.replace("\u00a0", " ") for word in line.split(" ") if word)
    assert tone.replace("-", "") == tone_of(column, cell)


def test_words_that_begin_a_line_are_coloured_and_no_others() -> None:
    lines = ["error: a file", "warning: a row", "note: nothing", "an error: not this"]
    shown = printed(Text(lines), has_colour=True).splitlines()
    assert [
        f"{RED}error:{PLAIN} a file",
        f"{YELLOW}warning:{PLAIN} a row",
        *lines[2:],
    ] == shown
    assert lines == printed(Text(lines)).splitlines()
    assert f"{RED}Error:{PLAIN} it failed." == painted("Error: it failed.")


def test_what_came_from_outside_colours_nothing() -> None:
    sheet = Sheet("sheet", (Column("state"),), [{"state": "\x1b[32msettled"}, {"state": "[red]x"}])
    assert GREEN not in printed(sheet, has_colour=True)
