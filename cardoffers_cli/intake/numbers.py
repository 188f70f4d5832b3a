"""Numbers in columns of text that look like card numbers.

Whether there is one in a text, `kernel/words/cards.py` says; here the same is computed for columns.
Most texts are told apart by one pattern, and numbers that stand without anything else in
arithmetic; the few others are asked one by one.
"""

from __future__ import annotations

import polars as pl

from cardoffers_cli.kernel.words.card_forms import PLACES
from cardoffers_cli.kernel.words.cards import (
    ACCEPTOR_LENGTH,
    ACCOUNT_LENGTH,
    ALONE,
    AMERICAN_EXPRESS,
    BARE,
    CARD_LIKE,
    ISSUED,
    JOINED,
    LEAST_IN_TEXT,
    LENGTHS,
    PREFIX_LENGTH,
    numbers_in,
)
from cardoffers_cli.kernel.words.row_kinds import REFERENCES, TOKENS

_DOUBLED_TO_TWO = 5  # digits from here on are two when they are doubled
_TOKEN = TOKENS[0]

NUMBERS = {
    "row": pl.UInt32,
    "length": pl.UInt32,
    "form": pl.String,
    "place": pl.UInt32,
    "is_right": pl.Boolean,
}
"""A number in a column: where it stands, how long it is written, how, by what it is remembered, and
whether its check digit is right. Grain: one row per number."""

_NONE = pl.DataFrame(schema=NUMBERS)


def are_card_numbers(texts: pl.Series, field: str = _TOKEN) -> pl.Series:
    """Say of each token, or other text, whether it is, or holds, a card number."""
    return _are_right(texts, numbers_of(texts, field).filter(pl.col("form") != JOINED))


def may_be_card_numbers(texts: pl.Series) -> pl.Series:
    """Say of each text whether it is not to be shown before all of its file is read."""
    return _are_right(texts, numbers_of(texts, _TOKEN))


def numbers_of(texts: pl.Series, field: str) -> pl.DataFrame:
    """Return the numbers in a column of texts, which are of a field, as `NUMBERS`."""
    fits = texts.str.len_bytes() >= (LENGTHS.start if field in TOKENS else LEAST_IN_TEXT)
    rows = fits.arg_true()
    if not len(rows):
        return _NONE
    some = texts if len(rows) == len(texts) else texts.gather(rows)
    rows = rows.filter(some.str.contains(CARD_LIKE))
    if not len(rows):
        return _NONE
    like = texts.gather(rows)
    is_bare = like.str.contains(BARE)
    parts = [_bare(rows.filter(is_bare), like.filter(is_bare), field)]
    others = zip(rows.filter(~is_bare), like.filter(~is_bare), strict=True)
    found = [
        (row, len(each.text), each.form, int(each.digits) % PLACES, each.is_right)
        for row, text in others
        for each in numbers_in(text, field)
    ]
    if found:
        parts.append(pl.DataFrame(found, schema=NUMBERS, orient="row"))
    return pl.concat(parts)


def _are_right(texts: pl.Series, found: pl.DataFrame) -> pl.Series:
    right = found.filter("is_right")["row"]
    return pl.repeat(False, len(texts), dtype=pl.Boolean, eager=True).scatter(right, True)


def _bare(rows: pl.Series, numbers: pl.Series, field: str) -> pl.DataFrame:
    """Return those that are issued of numbers that are digits alone."""
    length = numbers.str.len_bytes()
    if field not in (*TOKENS, *REFERENCES):
        prefix = numbers.str.head(len(AMERICAN_EXPRESS[0]))
        is_acceptor = (length == ACCEPTOR_LENGTH) & ~prefix.is_in(AMERICAN_EXPRESS)
        others = (~(is_acceptor | (length == ACCOUNT_LENGTH))).arg_true()
        rows, numbers, length = (each.gather(others) for each in (rows, numbers, length))
    if not len(rows):  # as of identifiers it mostly is
        return _NONE
    head = numbers.str.head(PREFIX_LENGTH).cast(pl.UInt16)
    is_issued = pl.repeat(False, len(numbers), dtype=pl.Boolean, eager=True)
    for first, last, lengths in ISSUED:
        is_length = length.is_between(lengths.start, lengths.stop - 1)
        is_issued |= is_length & head.is_between(int(first), int(last))
    value = numbers.filter(is_issued).cast(pl.UInt64)
    return pl.DataFrame(
        {
            "row": rows.filter(is_issued).cast(pl.UInt32),
            "length": length.filter(is_issued),
            "form": pl.repeat(ALONE, len(value), dtype=pl.String, eager=True),
            "place": (value % PLACES).cast(pl.UInt32),
            "is_right": _has_check_digit(value),
        },
        schema=NUMBERS,
    )


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
