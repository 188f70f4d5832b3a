"""The first attempt at a file of another layout says what it seems to be, and what comes next."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.intake.chunks import FileReading
from cardoffers_cli.intake.transactions import open_transactions
from cardoffers_cli.kernel.words.errors import FileUnusable

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 1)  # noqa: DTZ001 - moments are naive UTC inside the product

GERMAN = """
Buchungstag;Betrag;Händler;Belegnummer
01.02.2026 10:12;1.234,56;Müller & Söhne;A-1
28.02.2026 09:00;12,00;Bäcker;A-2
"""
SPANISH = """
"Fecha","Comercio","Importe"
"28/02/2026","Tienda uno","12,50"
"01/03/2026","Tienda dos","9,00"
"""
ENGLISH = """
Report of the card scheme
Date|Amount|Merchant
2026-02-28|12.50|shop
2026-03-01|9.00|shop
2026-03-02|19.00|shop
"""
HEADERLESS = """
20260228;12.50;GBP;shop one
20260301;9.00;GBP;shop two
20260302;10.05;GBP;shop three
"""

FOREIGN = [
    # the text, its encoding, the code, what is said of it
    (GERMAN, "latin-1", "file_encoding", "4 columns separated by a semicolon in latin-1"),
    (GERMAN, "latin-1", "file_encoding", 'amount in Betrag, decimal ",", thousands "."'),
    (GERMAN, "utf-8", "header_missing", "by a semicolon, the header on line 2, in UTF-8"),
    (GERMAN, "utf-8", "header_missing", 'in Buchungstag, format "%d.%m.%Y %H:%M"'),
    (GERMAN, "utf-16", "file_encoding", "4 columns separated by a semicolon in utf-16, the"),
    (GERMAN, "utf-16", "file_encoding", 'amount in Betrag, decimal ",", thousands "."'),
    (SPANISH, "utf-8", "header_missing", 'amount in Importe, decimal ","'),
    (SPANISH, "utf-8", "header_missing", 'transacted_at in Fecha, format "%d/%m/%Y"'),
    (ENGLISH, "utf-8", "header_missing", "3 columns separated by a bar, the header on line 3"),
    (ENGLISH.split("scheme")[1], "utf-8", "header_delimiter", 'amount in Amount, decimal "."'),
    (ENGLISH.split("scheme")[1].replace("|", ","), "utf-8", "header_column_missing", "by a comma"),
    (HEADERLESS, "utf-8", "header_missing", "4 columns separated by a semicolon, no header"),
    (HEADERLESS, "utf-8", "header_missing", "amount in column 2"),
]
COMMAND = "`cardoffers profile new {} -o layout.toml`."


def refused(path: Path, content: bytes) -> FileUnusable:
    path.write_bytes(content)
    with (
        pytest.raises(FileUnusable) as error,
        open_transactions(str(path), FileReading(now=NOW)) as file,
    ):
        list(file.chunks())
    return error.value


@pytest.mark.parametrize(("text", "encoding", "code", "said"), FOREIGN)
def test_a_file_of_another_layout_is_told_as_what_it_seems(
    tmp_path: Path, text: str, encoding: str, code: str, said: str
) -> None:
    error = refused(tmp_path / "a.csv", text.encode(encoding))
    assert code == error.code
    assert said in str(error.hint)
    assert str(error.hint).endswith(COMMAND.format(tmp_path / "a.csv"))


def test_the_command_can_be_typed_as_it_is(tmp_path: Path) -> None:
    error = refused(tmp_path / "march's rows.csv", SPANISH.encode())
    assert COMMAND.format(f"'{tmp_path}/march'\"'\"'s rows.csv'") in str(error.hint)


OURS = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at\n"
ROW = "9fb6f85a8aac50e2,ct_527b0abb,M6CF4DC01F8024C,12.50,TX-0001,2026-03-18T13:12:54Z\n"
ELSE = [
    # ours with a fault, and what holds no purchases
    (f"{OURS}{ROW * 3}".replace(",", ";"), "Add --delimiter ';'."),
    (f"{OURS.replace('amount', 'Amount')}{ROW}", "A column is named almost so: write it exactly"),
    ("date,shop\n2026-03-18,one\n2026-03-19,two\n", "Put the column names first."),
    ("names\nann\nbea\n", "Put the column names first."),
    ("names\nann\nbea\n".encode("utf-16"), "Save the file as UTF-8."),
    ((OURS + ROW).encode("utf-32"), "Save the file as UTF-8."),
    ((OURS + ROW).encode("utf-16-le"), "Save the file as UTF-8."),
    ("\n\n", "check the export"),
]


@pytest.mark.parametrize(("text", "hint"), ELSE)
def test_no_other_file_is_taken_for_one(tmp_path: Path, text: str | bytes, hint: str) -> None:
    content = text.encode() if isinstance(text, str) else text
    told = str(refused(tmp_path / "a.csv", content).hint)
    assert hint.lower() in told.lower()
    assert "profile new" not in told


def test_what_may_be_a_value_is_not_told_as_a_name(tmp_path: Path) -> None:
    text = "Date,jo.doe@example.com\n2026-02-28,12.50\n2026-03-01,9.00\n"
    told = str(refused(tmp_path / "a.csv", text.encode()).hint)
    assert "amount in column 2" in told
    assert "example" not in told
