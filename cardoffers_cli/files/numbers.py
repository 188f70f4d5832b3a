"""Numbers in columns of text that are, or look like, card numbers.

Whether one number is a card number, `domain/cards.py` says; here the same is computed for columns.
The texts that matter are few, so they are picked by their first letter before any other look.
"""

from __future__ import annotations

import polars as pl

from cardoffers_cli.domain.cards import (
    BETWEEN_DIGITS,
    ISSUED,
    LEAST_IN_TEXT,
    LENGTHS,
    PREFIX_LENGTH,
    numbers_in,
)

CARD_LIKE = rf"^[0-9{BETWEEN_DIGITS}]{{{LENGTHS.start},}}$"
_IN_TEXT = rf"[0-9][0-9{BETWEEN_DIGITS}]{{{LEAST_IN_TEXT - 2},}}[0-9]"
_DOUBLED_TO_TWO = 5  # digits from here on are two when they are doubled
_LEAST, _END = 10 ** (LENGTHS.start - 1), 10 ** (LENGTHS.stop - 1)


def are_card_numbers(texts: pl.Series) -> pl.Series:
    """Say of each text whether it is a real card number, as `domain.cards.is_card_number` does."""
    found = whole_numbers(texts)
    right = found.filter("is_right")["row"]
    return pl.repeat(False, len(texts), dtype=pl.Boolean, eager=True).scatter(right, True)


def whole_numbers(texts: pl.Series) -> pl.DataFrame:
    """Return the texts that are numbers an issuer could give: one row each.

    `row` is the place of the text, `number` the text, `is_right` whether its check digit is.
    """
    # No issuer's number begins with 0, and what begins with a letter is no number.
    rows = ((texts < "0") | ((texts >= "1") & (texts < ":")) | (texts > "~")).arg_true()
    if not len(rows):
        return _NONE
    some = texts.gather(rows)
    value = some.cast(pl.UInt64, strict=False)
    is_number = (some >= "1") & value.is_between(_LEAST, _END, closed="left").fill_null(False)
    is_split = value.is_null() & (some.str.len_bytes() > LENGTHS.start)
    if is_split.any():
        is_number |= is_split & some.set(~is_split, None).str.contains(CARD_LIKE).fill_null(False)
    return _issued(rows.filter(is_number), some.filter(is_number))


def numbers_inside(texts: pl.Series) -> pl.DataFrame:
    """Return the numbers in running text that an issuer could give, as `whole_numbers` does."""
    long = (texts.str.len_bytes() >= LEAST_IN_TEXT).arg_true()
    if not len(long):
        return _NONE
    some = texts.gather(long)
    rows = long.filter(some.str.contains(_IN_TEXT))
    each = texts.gather(rows).map_elements(
        lambda text: list(numbers_in(text)), return_dtype=pl.List(pl.String)
    )
    found = pl.DataFrame({"row": rows, "number": each}).explode("number").drop_nulls()
    return _issued(found["row"], found["number"])


def _issued(rows: pl.Series, numbers: pl.Series) -> pl.DataFrame:
    """Keep the numbers that an issuer could give, and say which of them are right."""
    digits = pl.col("digits")
    found = pl.DataFrame({"row": rows.cast(pl.UInt32), "number": numbers}).with_columns(
        digits=pl.col("number").str.replace_all("[^0-9]", "")
    )
    head, length = digits.str.head(PREFIX_LENGTH), digits.str.len_bytes()
    is_issued = pl.any_horizontal(
        head.is_between(pl.lit(first), pl.lit(last))
        & length.is_between(lengths.start, lengths.stop - 1)
        for first, last, lengths in ISSUED
    )
    return found.filter(is_issued).select("row", "number", is_right=_has_check_digit(digits))


def _has_check_digit(digits: pl.Expr) -> pl.Expr:
    """Say whether the last digit is Luhn's, in arithmetic: 19 digits have room in 64 bits."""
    value = digits.cast(pl.UInt64)
    total = pl.lit(0, pl.UInt64)
    for place in range(LENGTHS.stop - 1):
        digit = value // 10**place % 10
        total = total + (
            digit * 2 - 9 * (digit >= _DOUBLED_TO_TWO).cast(pl.UInt64) if place % 2 else digit
        )
    return total % 10 == 0


_NONE = pl.DataFrame(schema={"row": pl.UInt32, "number": pl.String, "is_right": pl.Boolean})
