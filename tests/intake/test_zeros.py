from __future__ import annotations

import polars as pl
import pytest

from cardoffers_cli.intake.numbers import LostZerosOfColumns

ACCEPTOR, MCC, REF, TOKEN = "card_acceptor_id", "mcc", "transaction_ref", "cardholder_token"


def as_numbers(texts: list[str]) -> list[str]:
    """Return what is left when a spreadsheet has taken texts for numbers."""
    return [str(int(text)) if text.isdigit() else text for text in texts]


def counted(first: int, count: int, width: int = 0) -> list[str]:
    return [f"{number:0{width}}" for number in range(first, first + count)]


def scattered(width: int, count: int = 200) -> list[str]:
    """Return numbers of a width, some of which begin with zeros."""
    return [f"{number * 7_919_999_999_993 % 10**width:0{width}}" for number in range(1, count)]


CUT: list[tuple[str, str, list[str | None]]] = [
    # what the case is, the column, its values
    ("one", ACCEPTOR, ["M6CF4DC01F8024C", "000000012345678", "12345678"]),
    ("all shorter, in one stretch of two", ACCEPTOR, [*scattered(15), *["12345678"] * 90]),
    ("categories", MCC, ["5411", "5812", "742"]),
    ("references", REF, [*as_numbers(scattered(12))]),
    ("references among words", REF, [*as_numbers(scattered(12)), *["TX-123456789"] * 9]),
    ("tokens", TOKEN, [*as_numbers(scattered(32))]),
    ("with empty ones", "merchant_identifier", [None, *as_numbers(scattered(14)), None]),
]
WHOLE: list[tuple[str, str, list[str | None]]] = [
    ("none", REF, []),
    ("empty", REF, [None, None]),
    ("kept", REF, [*scattered(12)]),
    ("kept in some", REF, [*as_numbers(scattered(12)), "012345678901"]),
    ("no number", ACCEPTOR, ["M6CF4DC01F8024C", "000000012345678", "SHOP8"]),
    ("mostly short", ACCEPTOR, ["M6CF4DC01F8024C", "12345678", "12345678"]),
    ("counted from 1", REF, [*counted(1, 2000)]),
    ("counted past a power of ten", REF, [*counted(9_999_999_990, 50)]),
    ("of words", REF, [f"TX-{number}" for number in range(2000)]),
    ("of hexadecimal digits", TOKEN, [*["9fb6f85a8aac50e2"] * 9, "123456789012345"]),
    ("one that is something else", TOKEN, [*scattered(32, 9)[-5:], "4111111111111111"]),
    ("of several lengths", "merchant_identifier", [*scattered(12), *scattered(14)]),
    ("short", "merchant_identifier", [*as_numbers(scattered(8))]),
]


def found(column: str, values: list[str | None], stretch: int) -> list[tuple[str, str | None]]:
    zeros = LostZerosOfColumns()
    frame = pl.DataFrame({column: values}, schema={column: pl.String})
    for rows in frame.iter_slices(stretch):
        zeros.note(rows)
    return [(each.code, each.column) for each in zeros.findings()]


@pytest.mark.parametrize("stretch", [7, 10_000])
@pytest.mark.parametrize(("column", "values"), [each[1:] for each in CUT], ids=[c[0] for c in CUT])
def test_lost_leading_zeros_are_noticed(
    column: str, values: list[str | None], stretch: int
) -> None:
    assert [("leading_zeros_lost", column)] == found(column, values, stretch)


@pytest.mark.parametrize("stretch", [7, 10_000])
@pytest.mark.parametrize(
    ("column", "values"), [each[1:] for each in WHOLE], ids=[c[0] for c in WHOLE]
)
def test_numbers_that_are_short_of_themselves_are_not(
    column: str, values: list[str | None], stretch: int
) -> None:
    assert [] == found(column, values, stretch)
