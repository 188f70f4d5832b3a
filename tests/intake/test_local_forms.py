from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from cardoffers_cli.intake.local_forms import read_amount, read_day

AMOUNTS = """
41.50           41.50
41,50           41.50
41,5            41.5
41              41
£41.50          41.50
€ 41,50         41.50
41,50 €         41.50
R$ 1.234,50     1234.50
MX$1,234.50     1234.50
GBP 41.50       41.50
41.50 gbp       41.50
1 234,50        1234.50
1'234.50        1234.50
1,234           1234
1,234,567       1234567
1.234.567       1234567
1.234           1.234
0,500           0.500
0.500           0.500
00,500          0.500
£0,125          0.125
12.3456         12.3456
0               0
"""


@pytest.mark.parametrize("line", AMOUNTS.strip().splitlines())
def test_an_amount_is_read_as_people_write_it(line: str) -> None:
    text, _, amount = line.rpartition(" ")
    assert Decimal(amount) == read_amount(text.strip())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "1e",
        "NaN",
        "-1",
        "1..2",
        "1,2,3",
        "1.23456",
        "1.2.3,4",
        "ABC 1",
        "$",
        "1.2,3,4",
        "0,500,000",
        "0.500.000",
        "0.500,00",
        "0,500.00",
    ],
)
def test_what_is_no_amount_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no amount; write 12\.50 or 12,50"):
        read_amount(text)


TODAY = date(2026, 10, 8)
DAYS = """
2026-09-02           2026-09-02
2026-9-2             2026-09-02
02.09.2026           2026-09-02
2.9.2026             2026-09-02
2.9.26               2026-09-02
2.9.                 2026-09-02
31.12.               2025-12-31
2 Sep                2026-09-02
2 sept               2026-09-02
2nd September 2026   2026-09-02
Sep 2                2026-09-02
Sep 2, 2025          2025-09-02
2. September         2026-09-02
2 de setembro        2026-09-02
2 de septiembre de 2026  2026-09-02
3 março              2026-03-03
1 ene                2026-01-01
8 Oct                2026-10-08
9 Oct                2025-10-09
29 Feb               2024-02-29
yesterday            2026-10-07
Today                2026-10-08
ayer                 2026-10-07
13/09/2026           2026-09-13
09/13/2026           2026-09-13
09/09/2026           2026-09-09
"""


@pytest.mark.parametrize("line", DAYS.strip().splitlines())
def test_a_day_is_read_as_people_write_it(line: str) -> None:
    text, _, day = line.rpartition(" ")
    assert date.fromisoformat(day) == read_day(text.strip(), TODAY)


@pytest.mark.parametrize(
    "text",
    [
        *("", "soon", "2026-13-01", "31.02.2026", "2", "Sep", "2 3", "2 Se", "2 Xyz"),
        *("2 Sep 26x", "Sep Oct"),
    ],
)
def test_what_is_no_day_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no day; write 2026-03-01, 01\.03\.2026, 1 Mar"):
        read_day(text, TODAY)


def test_a_day_that_can_be_two_is_refused_with_both() -> None:
    with pytest.raises(ValueError, match="can be 2026-02-09 or 2026-09-02; write that"):
        read_day("02/09/2026", TODAY)
