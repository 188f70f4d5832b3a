"""Numbers in columns of text that are, or look like, card numbers.

Whether one number is a card number, `domain/cards.py` says; here the same is computed for columns.
The texts that matter are few, so they are picked by their first letter before any other look.
"""

from __future__ import annotations

import polars as pl

from cardoffers_cli.domain.cards import (
    ACCEPTOR_LENGTH,
    ACCOUNT_LENGTH,
    AMERICAN_EXPRESS,
    CARD_LIKE,
    CARD_LIKE_INSIDE,
    ISSUED,
    LEAST_IN_TEXT,
    LENGTHS,
    MOST_BYTES,
    PREFIX_LENGTH,
    numbers_in,
)

_DOUBLED_TO_TWO = 5  # digits from here on are two when they are doubled


def are_card_numbers(texts: pl.Series) -> pl.Series:
    """Say of each text whether it is a real card number, as `domain.cards.is_card_number` does."""
    return _are_right(texts, whole_numbers(texts))


def whole_numbers(texts: pl.Series) -> pl.DataFrame:
    """Return the texts that are numbers an issuer could give: one row each.

    `row` is the place of the text, `number` the text, `digits` those of it, `is_right` whether its
    check digit is.
    """
    fits = texts.str.len_bytes().is_between(LENGTHS.start, MOST_BYTES)
    if not fits.any():
        return _NONE
    # No issuer's number begins with 0, and what begins with a letter is no number.
    fits &= (texts < "0") | ((texts >= "1") & (texts < ":")) | (texts > "~")
    is_like = texts.filter(fits).str.contains(CARD_LIKE)
    rows = fits.arg_true().filter(is_like)
    return _issued(rows, texts.gather(rows)) if len(rows) else _NONE


def are_references_card_numbers(texts: pl.Series) -> pl.Series:
    """Say of each reference whether it is a real card number, of 13 digits and more."""
    return _are_right(texts, references_numbers(texts))


def are_identifiers_card_numbers(texts: pl.Series) -> pl.Series:
    """Say of each merchant's identifier whether it is a real card number."""
    return _are_right(texts, identifiers_numbers(texts))


def hold_card_numbers(texts: pl.Series) -> pl.Series:
    """Say of each running text whether there is a real card number in it."""
    return _are_right(texts, numbers_inside(texts))


def references_numbers(texts: pl.Series) -> pl.DataFrame:
    """Return the references an issuer could give as a card's number, as `whole_numbers` does."""
    return whole_numbers(texts).filter(pl.col("digits").str.len_bytes() >= LEAST_IN_TEXT)


def identifiers_numbers(texts: pl.Series) -> pl.DataFrame:
    """Return the identifiers an issuer could give as a card's number, as `whole_numbers` does."""
    is_acceptor = texts.str.len_bytes() == ACCEPTOR_LENGTH
    for prefix in AMERICAN_EXPRESS:
        is_acceptor &= (texts < prefix) | (texts >= f"{prefix}:")
    rows = (~is_acceptor).arg_true()
    if not len(rows):  # as it mostly is
        return _NONE
    found = whole_numbers(texts.gather(rows))
    own = found.with_columns(rows.gather(found["row"]).alias("row"))
    return own.filter((_DIGITS.str.len_bytes() >= LEAST_IN_TEXT) & ~_IS_MERCHANTS)


def numbers_inside(texts: pl.Series) -> pl.DataFrame:
    """Return the numbers in running text that an issuer could give, as `whole_numbers` does."""
    long = (texts.str.len_bytes() >= LEAST_IN_TEXT).arg_true()
    if not len(long):
        return _NONE
    some = texts.gather(long)
    rows = long.filter(some.str.contains(CARD_LIKE_INSIDE))
    each = texts.gather(rows).map_elements(
        lambda text: list(numbers_in(text)), return_dtype=pl.List(pl.String)
    )
    found = pl.DataFrame({"row": rows, "number": each}).explode("number").drop_nulls()
    return _issued(found["row"], found["number"]).filter(~_IS_MERCHANTS)


def _are_right(texts: pl.Series, found: pl.DataFrame) -> pl.Series:
    right = found.filter("is_right")["row"]
    return pl.repeat(False, len(texts), dtype=pl.Boolean, eager=True).scatter(right, True)


def _issued(rows: pl.Series, numbers: pl.Series) -> pl.DataFrame:
    """Keep the numbers that an issuer could give, and say which of them are right."""
    is_bare = numbers.cast(pl.UInt64, strict=False).is_not_null()
    digits = numbers if is_bare.all() else numbers.str.replace_all("[^0-9]", "")
    head = digits.str.head(PREFIX_LENGTH).cast(pl.UInt16, strict=False)  # null without a digit
    length = digits.str.len_bytes()
    is_issued = pl.repeat(False, len(digits), dtype=pl.Boolean, eager=True)
    for first, last, lengths in ISSUED:
        is_length = length.is_between(lengths.start, lengths.stop - 1)
        is_issued |= is_length & head.is_between(int(first), int(last))
    if not is_issued.any():
        return _NONE
    found = pl.DataFrame({"row": rows.cast(pl.UInt32), "number": numbers, "digits": digits})
    issued = found.filter(is_issued)
    return issued.with_columns(is_right=_has_check_digit(issued["digits"].cast(pl.UInt64)))


def _has_check_digit(value: pl.Series) -> pl.Series:
    """Say whether the last digit is Luhn's, in arithmetic: 19 digits have room in 64 bits."""
    total = value % 10
    for place in range(1, LENGTHS.stop - 1):
        value = value // 10
        digit = value % 10
        if place % 2:
            digit = digit * 2 - 9 * (digit >= _DOUBLED_TO_TWO).cast(pl.UInt64)
        total = total + digit
    return total % 10 == 0


_DIGITS = pl.col("digits")
_IS_MERCHANTS = (_DIGITS.str.len_bytes() == ACCOUNT_LENGTH) | (
    (_DIGITS.str.len_bytes() == ACCEPTOR_LENGTH)
    & ~pl.any_horizontal(_DIGITS.str.starts_with(prefix) for prefix in AMERICAN_EXPRESS)
)
"""Forms of merchants' own (`domain.cards.is_merchants`)."""

_NONE = pl.DataFrame(
    schema={"row": pl.UInt32, "number": pl.String, "digits": pl.String, "is_right": pl.Boolean}
)
