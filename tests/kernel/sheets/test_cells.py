"""What the number of a cell becomes, as a text table: how it is stored, how shown, and the text."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

from cardoffers_cli.intake.worksheet_cells import escaped_text, form_of, number_text

NUMBERS = """
stored                   shown as            text
12.5                     General             12.5
12.50                    General             12.5
5                        General             5
0                        General             0
-0                       General             0
-3.10                    General             -3.1
12.300000000000001       General             12.3
1.1000000000000001       0.00                1.1
36.900000000000006       0.00                36.900000000000006
0.1                      General             0.1
1E-7                     General             0.0000001
1.25E+3                  General             1250
999999999999999          General             999999999999999
1000000000000000         General             1.00000000000000E+15
4123456789012345         0                   4.12345678901234E+15
4.1234567890123456E+20   General             4.12345678901235E+20
12345678901234.56        General             12345678901234.56
5411                     0000                5411
411                      0000                0411
411                      0                   411
1234.5                   #,##0.00\\ [$€-407]  1234.5
1234.5                   "R$"\\ #,##0.00      1234.5
1234.5                   #,##0.00_);[Red](#,##0.00)  1234.5
0.25                     0%                  0.25
46099                    General             46099
46099                    yyyy-mm-dd          2026-03-18
46099                    dd/mm/yy            2026-03-18
46099                    [$-407]d.\\ mmm\\ yyyy;@  2026-03-18
46099                    mmm-yy              2026-03-18
46099.5                  yyyy-mm-dd          2026-03-18 12:00:00
46099                    yyyy-mm-dd\\ hh:mm   2026-03-18 00:00:00
46099.550694444442       yyyy-mm-dd\\ hh:mm   2026-03-18 13:13:00
46099.550694450002       m/d/yy\\ h:mm\\ AM/PM  2026-03-18 13:13:00
46099.000001             yyyy-mm-dd\\ hh:mm   2026-03-18 00:00:00.086
0.5                      hh:mm               12:00:00
0.5                      [h]:mm              12:00:00
30.5                     [h]:mm              30.5
0.5                      yyyy-mm-dd\\ hh:mm   12:00:00
1                        hh:mm               1
60                       yyyy-mm-dd          1900-02-28
1                        yyyy-mm-dd          1900-01-01
-1                       yyyy-mm-dd          -1
3000000                  yyyy-mm-dd          3000000
12.5                     0.0\\ "days"         12.5
"""


@pytest.mark.parametrize("line", NUMBERS.strip().splitlines()[1:])
def test_a_number_becomes_the_text_that_it_is_shown_as(line: str) -> None:
    stored, rest = line.split(maxsplit=1)
    shown, text = rest.replace("\\\\", "\\").rsplit("  ", 1)
    assert text.strip() == number_text(stored, form_of("164", shown.strip()))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("0", "46099"),
        ("2", "46099"),
        ("14", "2026-03-18"),
        ("22", "2026-03-18 00:00:00"),
        ("31", "2026-03-18"),
        ("47", "46099"),
        ("x", "46099"),
    ],
)
def test_formats_that_are_built_in_have_a_number_only(number: str, text: str) -> None:
    assert text == number_text("46099", form_of(number, None))


def test_days_may_be_counted_from_1904() -> None:
    assert "2026-03-18" == number_text("44637", form_of("14", None), is_1904=True)


def test_numbers_have_the_mark_that_the_texts_beside_them_have() -> None:
    assert ["12,5", "7", "2026-03-18 12:00:00"] == [
        number_text("12.5", None, decimal=","),
        number_text("7", None, decimal=","),
        number_text("46099.5", form_of("22", None), decimal=","),
    ]


def test_every_amount_that_was_typed_comes_back_however_it_is_stored() -> None:
    chance = random.Random(7)  # noqa: S311
    for _ in range(20_000):
        typed = Decimal(chance.randrange(10 ** chance.randrange(1, 15))) / 100
        stored = (repr(float(typed)), f"{float(typed):.17g}", f"{float(typed):.16E}")
        assert {typed} == {Decimal(number_text(each, None)) for each in stored}


@pytest.mark.parametrize("raw", ["12,5", "0x1F", "1e9999999", "nan", "inf", "1_000", "١٢", "12 5"])
def test_what_is_no_number_stays_as_it_is(raw: str) -> None:
    assert raw == number_text(raw, form_of("14", None))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Café", "Café"),
        ("two\r\nlines", "two lines"),
        ("a_x000D__x000A_b", "a b"),
        ("_x0041_", "A"),
        ("_x005F_x0041_", "_x0041_"),
        ("_x12_", "_x12_"),
    ],
)
def test_escaped_characters_are_read_and_breaks_become_blanks(text: str, expected: str) -> None:
    assert expected == escaped_text(text)
