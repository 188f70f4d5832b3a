"""What spreadsheets do to the columns of a file, as a text table: what stands there, and is said.

The message says what happened, for a code that has other causes too.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from books import HEADER, purchase
from cardoffers_cli.intake.chunks import FileReading
from cardoffers_cli.intake.transactions import open_transactions

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 12, 31)  # noqa: DTZ001 - moments are naive UTC inside the product

DAMAGE = """
column            what stands there     code                what is said
transacted_at     46099                 date_turned         number of days
transacted_at     46099.55              date_turned         number of days
transacted_at     46099,55              date_turned         number of days
transacted_at     18/03/2026            timestamp_invalid   order of a country
transacted_at     18/03/2026 13:12      timestamp_invalid   order of a country
transacted_at     3/18/26 1:12 PM       timestamp_invalid   order of a country
transacted_at     18.03.2026 13:12:54   timestamp_invalid   order of a country
transacted_at     2026-03-18 13:12      timestamp_no_offset no time zone
transacted_at     12:54.0               timestamp_invalid   not a real time
transacted_at     4.6E+04               timestamp_invalid   not a real time
amount            03-Dec                date_turned         into a date
amount            12-mar-26             date_turned         into a date
amount            Dec-26                date_turned         into a date
amount            2026-12-03            date_turned         into a date
amount            1.2E+3                amount_invalid      exponent
amount            1E3                   amount_invalid      exponent
amount            1,234.50              amount_invalid      decimal comma or marks
amount            1.234,50              amount_invalid      decimal comma or marks
amount            1 234,50              amount_invalid      decimal comma or marks
amount            1,234                 amount_invalid      decimal comma or marks
amount            12,50                 amount_invalid      decimal comma or marks
amount            1'234.50              amount_invalid      decimal comma or marks
amount            $12.50                amount_invalid      a currency
amount            (12.50)               amount_invalid      a sign
amount            12.50 EUR             amount_invalid      a currency
amount            -12.50                amount_not_positive negative
amount            #N/A                  amount_invalid      error of a spreadsheet
amount            #FORMULA!             amount_invalid      error of a spreadsheet
amount            ########              amount_invalid      error of a spreadsheet
amount            TRUE                  amount_invalid      not digits
amount            12.505                amount_precision    more decimals
transaction_ref   4.1E+15               spreadsheet_damage  rounded it
transaction_ref   ="0042"               spreadsheet_damage  quoted it
transaction_ref   03-Dec                spreadsheet_damage  turned it into a date
transaction_ref   1-MAR-2026            spreadsheet_damage  turned it into a date
transaction_ref   2026-12-03 00:00:00   spreadsheet_damage  turned it into a date
transaction_ref   03/12/2026            spreadsheet_damage  turned it into a date
transaction_ref   TRUE                  token_placeholder   has no value
transaction_ref   #REF!                 token_placeholder   has no value
card_acceptor_id  4.1E+15               spreadsheet_damage  rounded it
card_acceptor_id  12/03/2026            spreadsheet_damage  turned it into a date
card_acceptor_id  Mar-12                spreadsheet_damage  turned it into a date
card_acceptor_id  FALSE                 token_placeholder   has no value
card_token        4.1E+15               spreadsheet_damage  rounded it
card_token        '0042                 spreadsheet_damage  quoted it
card_token        FALSE                 token_placeholder   has no value
cardholder_token  4.1E+15               spreadsheet_damage  rounded it
merchant_descriptor  #N/A               spreadsheet_error   error of a spreadsheet
mcc               #NAME?                spreadsheet_error   error of a spreadsheet
"""

LET_IN = """
transaction_ref   12-ABC
transaction_ref   12-March-A
transaction_ref   2026-12-03
transaction_ref   2026-12-03-0001
transaction_ref   20261203
transaction_ref   12.03.20261
transaction_ref   MAR-2026
card_acceptor_id  TRUEVALUE
card_acceptor_id  1-4
merchant_descriptor  #1 Shop
merchant_descriptor  03-Dec
amount            46099
"""


def said(folder: Path, column: str, text: str) -> list[tuple[str | None, str, str]]:
    """Return column, code and message of what is found in a row, but for weak tokens."""
    path = folder / "file.csv"
    cells = dict(zip(HEADER, purchase(amount="12.50"), strict=True)) | {column: text}
    quoted = [f'"{str(cell).replace(chr(34), chr(34) * 2)}"' for cell in cells.values()]
    path.write_text(f"{','.join(cells)}\n{','.join(quoted)}\n", "utf-8")
    with open_transactions(str(path), FileReading(now=NOW)) as file:
        rows = [row for chunk in file.chunks() for row in chunk.findings.rows()]
    return [(row[2], row[3], row[5]) for row in rows if row[3] != "token_weak"]


@pytest.mark.parametrize("line", DAMAGE.strip().splitlines()[1:])
def test_damage_by_spreadsheets_is_called_by_its_name(tmp_path: Path, line: str) -> None:
    column, rest = line.split(maxsplit=1)
    text, rest = re.split("  +", rest, maxsplit=1)
    code, message = rest.split(maxsplit=1)
    ((named, found, told),) = said(tmp_path, column, text)
    assert (column, code, True) == (named, found, message in told), told


@pytest.mark.parametrize("line", LET_IN.strip().splitlines())
def test_what_only_looks_so_is_let_in(tmp_path: Path, line: str) -> None:
    column, text = line.split(maxsplit=1)
    assert [] == said(tmp_path, column, text)
