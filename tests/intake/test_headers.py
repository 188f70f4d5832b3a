from __future__ import annotations

import pytest

from cardoffers_cli.intake.headers import Names, read_header
from cardoffers_cli.kernel.words.errors import FileUnusable

NAMES = Names(
    known=("card_token", "instrument_token", "amount"),
    required=("amount", "card_token|instrument_token"),
    ignored=("institution_id",),
)


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        (b"card_token,amount", ("card_token", "amount")),
        (b'"amount","instrument_token"', ("amount", "instrument_token")),
        (b"x,amount,,card_token", (" 1", "amount", " 3", "card_token")),
    ],
)
def test_columns_come_in_any_order(line: bytes, columns: tuple[str, ...]) -> None:
    layout, _ = read_header(line, NAMES, delimiter=",", number=1)
    assert columns == layout.names


@pytest.mark.parametrize(
    ("line", "code", "column"),
    [
        (b"card_token,amount,institution_id", "column_ignored", "institution_id"),
        (b"card_token,amount,shop name", "column_unknown", "shop name"),
        (b"card_token,amount,address_2", "column_unknown", "address_2"),
        ("card_token,amount,Größe".encode(), "column_unknown", "Größe"),
        (b"card_token,amount,ct_527b0abb", "column_unknown", "number 3"),
        (b"card_token,amount,4111111111111111", "column_unknown", "number 3"),
        (b"card_token,amount,jo@example.com", "column_unknown", "number 3"),
    ],
)
def test_a_column_left_out_is_a_warning(line: bytes, code: str, column: str) -> None:
    _, findings = read_header(line, NAMES, delimiter=",", number=3)
    assert [(3, code, column, "warning")] == [
        (found.line, found.code, found.column, found.level) for found in findings
    ]


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        # one fault less in each row
        (b"a\0;b;c", "file_binary", "NUL"),
        (b"a\xff;b;c", "file_encoding", "UTF-8"),
        (b'"a;b;c', "header_missing", "not closed"),
        (b"a;b;c", "header_missing", "none of the known"),
        (b"amount;b;c", "header_delimiter", "semicolon"),
        (b'"amount";"b";"c"', "header_delimiter", "semicolon"),
        (b'"amount"\t"b"', "header_delimiter", "tab"),
        (b'"amount"|"b"', "header_delimiter", "bar"),
        (b'"amount";"b, c";"d"', "header_delimiter", "semicolon"),
        (b'"b, ""c""";"amount"', "header_delimiter", "semicolon"),
        (b"amount^b^card_token", "header_delimiter", "the character ^"),
        (b'"amount"~"value-date"', "header_delimiter", "the character ~"),
        (b"Card Token:Amount", "header_delimiter", "the character :"),
        (b"amount||card_token", "header_delimiter", "bar"),
        (b'"card_token,amount"', "header_quotes", "around the whole line"),
        (b'"card_token;amount"', "header_delimiter", "semicolon"),
        (b"'card_token','amount'", "header_quotes", "apostrophes"),
        (b"'card_token';'amount'", "header_delimiter", "semicolon"),
        ("\u201ccard_token\u201d,\u201camount\u201d".encode(), "header_quotes", "quotes"),
        (b"date^shop", "header_missing", "1 field"),
        (b"date;shop;value 2", "header_missing", "3 fields, separated by a semicolon: date, shop"),
        (b"date,shop", "header_missing", "2 fields, separated by a comma: date, shop."),
        (b"abc123def,12.50,2026-03-18", "header_missing", "3 fields, separated by a comma, which"),
        (b"names", "header_missing", "1 field: names."),
        (b"card_id", "header_missing", "1 field: card_id."),
        (b"institution_id", "header_missing", "1 field: institution_id."),
        (b"amount,amount,Card_Token", "header_column_duplicate", "amount"),
        (b"amount,Card_Token", "header_column_missing", "card_token or instrument_token"),
        (b"Amount,b", "header_column_missing", "columns amount, card_token or instrument_token"),
    ],
)
def test_what_is_wrong_with_a_header_is_said(line: bytes, code: str, said: str) -> None:
    with pytest.raises(FileUnusable) as error:
        read_header(line, NAMES, delimiter=",", number=1)
    assert code == error.value.code
    assert said in error.value.message


def test_the_known_names_are_said_where_there_is_none() -> None:
    with pytest.raises(FileUnusable) as error:
        read_header(b"date;shop", NAMES, delimiter=",", number=1)
    assert "They are: card_token, instrument_token, amount." in str(error.value.hint)


def test_values_are_not_taken_for_names() -> None:
    with pytest.raises(FileUnusable) as error:
        read_header(b"9fb6f85a8aac50e2,ann,4111111111111111", NAMES, delimiter=",", number=1)
    assert "ann" not in error.value.message
    assert "4111" not in error.value.message
