"""Numbers in columns of text that look like card numbers.

Whether there is one in a text, `kernel/words/cards.py` says; here the same is computed for columns.
Most texts are told apart by one pattern, and numbers that stand without anything else in
arithmetic; the few others are asked one by one.
"""

from __future__ import annotations

import re
from collections import Counter

import polars as pl

from cardoffers_cli.intake.fields import USUAL_TIME, WITH_OFFSET, WITHOUT_OFFSET, ZEROS_KEPT
from cardoffers_cli.intake.local_forms import LOOKED_AT, LostZeros
from cardoffers_cli.kernel.words import cards
from cardoffers_cli.kernel.words.card_forms import PLACES
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

FEW_TEXTS = 30
"""How many texts are looked at one after the other first: to ask columns takes longer."""

_CARD_LIKE = re.compile(cards.CARD_LIKE)
_NONE = pl.DataFrame(schema=NUMBERS)


def are_card_numbers(texts: pl.Series, field: str = _TOKEN) -> pl.Series:
    """Say of each token, or other text, whether it is, or holds, a card number."""
    return _are_right(texts, numbers_of(texts, field).filter(pl.col("form") != cards.JOINED))


def may_be_card_numbers(texts: pl.Series) -> pl.Series:
    """Say of each text whether it is not to be shown before all of its file is read."""
    return _are_right(texts, numbers_of(texts, _TOKEN))


def numbers_of(texts: pl.Series, field: str) -> pl.DataFrame:
    """Return the numbers in a column of texts, which are of a field, as `NUMBERS`."""
    if len(texts) <= FEW_TEXTS and not any(map(_CARD_LIKE.search, texts.drop_nulls())):
        return _NONE
    text = pl.col(texts.name)
    length = text.str.len_bytes()
    fits = length >= (cards.LENGTHS.start if field in TOKENS else cards.LEAST_IN_TEXT)
    if field not in (*TOKENS, *REFERENCES):  # where most are merchants' own numbers
        value = text.cast(pl.UInt64, strict=False)
        is_americans = (value // 10 ** (cards.ACCEPTOR_LENGTH - 2)).is_in(
            [*map(int, cards.AMERICAN_EXPRESS)]
        )
        is_merchants = (length == cards.ACCOUNT_LENGTH) | (
            length == cards.ACCEPTOR_LENGTH
        ) & ~is_americans
        fits &= ~((text >= "0") & value.is_not_null() & is_merchants)  # ">=": without a sign
    rows = texts.to_frame().select(fits.arg_true()).to_series()
    if not len(rows):
        return _NONE
    some = texts if len(rows) == len(texts) else texts.gather(rows)
    rows = rows.filter(some.str.contains(cards.CARD_LIKE))
    if not len(rows):
        return _NONE
    like = texts.gather(rows)
    is_bare = like.str.contains(cards.BARE)
    parts = [_bare(rows.filter(is_bare), like.filter(is_bare))] if is_bare.any() else []
    others = like.filter(~is_bare)
    numbers = {text: cards.numbers_in(text, field) for text in others.unique()}
    matches = [
        (row, len(number.text), number.form, int(number.digits) % PLACES, number.is_right)
        for row, text in zip(rows.filter(~is_bare), others, strict=True)
        for number in numbers[text]
    ]
    if matches:
        parts.append(pl.DataFrame(matches, schema=NUMBERS, orient="row"))
    return pl.concat(parts) if parts else _NONE


def _are_right(texts: pl.Series, numbers: pl.DataFrame) -> pl.Series:
    right = numbers.filter("is_right")["row"]
    return pl.repeat(False, len(texts), dtype=pl.Boolean, eager=True).scatter(right, True)


def _bare(rows: pl.Series, numbers: pl.Series) -> pl.DataFrame:
    """Return those that are issued of numbers that are digits alone."""
    length = numbers.str.len_bytes()
    head = numbers.str.head(cards.PREFIX_LENGTH).cast(pl.UInt16)
    is_issued = pl.repeat(False, len(numbers), dtype=pl.Boolean, eager=True)
    for first, last, lengths in cards.ISSUED:
        is_length = length.is_between(lengths.start, lengths.stop - 1)
        is_issued |= is_length & head.is_between(int(first), int(last))
    value = numbers.filter(is_issued).cast(pl.UInt64)
    return pl.DataFrame(
        {
            "row": rows.filter(is_issued).cast(pl.UInt32),
            "length": length.filter(is_issued),
            "form": pl.repeat(cards.ALONE, len(value), dtype=pl.String, eager=True),
            "place": (value % PLACES).cast(pl.UInt32),
            "is_right": _has_check_digit(value),
        },
        schema=NUMBERS,
    )


def _has_check_digit(value: pl.Series) -> pl.Series:
    """Say whether the last digit is Luhn's, in arithmetic: 19 digits have room in 64 bits."""
    total = value % 10
    for place in range(1, cards.LENGTHS.stop - 1):
        value = value // 10
        digit = value % 10
        if place % 2:
            digit = digit * 2 - 9 * (digit >= _DOUBLED_TO_TWO).cast(pl.UInt64)
        total = total + digit
    return total % 10 == 0


# Read the timestamps of transactions as columns (rules.md#timestamps): as naive UTC.
#
# The pattern is checked before anything is parsed, because parsers are kinder than the rule (they
# take hour 24 or second 60). Beside the usual `2026-03-18T13:12:54Z` the forms of ISO 8601 that
# programs write are read: a blank or `t` before the time of day, `z`, offsets such as `+0200` and
# `+02`, a comma before the fraction. Fractions of seconds finer than a microsecond are cut, not
# rounded, so that a moment never moves into the next second. Local times that a change of clocks
# skips are not real moments; of those it repeats the earlier one is meant.


_FORMAT = "%Y-%m-%dT%H:%M:%S"


def moments(texts: pl.Series, zone: str | None) -> pl.DataFrame:
    """Return one row per text: `at` (naive UTC, null if not a moment) and `assumed`.

    `assumed` says that the text names no offset and was read as local time in `zone`.
    """
    is_usual = texts.str.contains(USUAL_TIME)
    if is_usual.null_count():
        is_usual = is_usual.fill_null(False)
    # Texts of seconds hardly repeat, and to remember them takes longer than to read them.
    at = texts.str.to_datetime(_FORMAT + "Z", time_unit="us", strict=False, cache=False)
    assumed = pl.Series([False]).new_from_index(0, len(at))
    if not is_usual.all():
        texts = texts.filter(~is_usual)
        text = pl.col(texts.name)
        # The offset is a length of time; `Z` has none.
        sign, hours, minutes = (
            text.str.extract(r"([+-])([0-9]{2})(?::?([0-9]{2}))?$", group) for group in (1, 2, 3)
        )
        total = hours.cast(pl.Int64) * 60 + minutes.cast(pl.Int64).fill_null(0)
        signed = pl.when(sign == "-").then(-total).otherwise(total)
        others = texts.to_frame().select(
            at=pl.when(text.str.contains(WITH_OFFSET))
            .then(_clock(text) - pl.duration(minutes=signed.fill_null(0)))
            .when(text.str.contains(WITHOUT_OFFSET))
            .then(_localised(_clock(text), zone)),
            assumed=text.str.contains(WITHOUT_OFFSET).fill_null(False) & pl.lit(zone is not None),
        )
        rows = (~is_usual).arg_true()
        at, assumed = at.scatter(rows, others["at"]), assumed.scatter(rows, others["assumed"])
    return pl.DataFrame({"at": at, "assumed": assumed})


def _clock(text: pl.Expr) -> pl.Expr:
    """Read date and time of day, as written; midnight for a bare date."""
    minutes = pl.when(text.str.len_bytes() > len("YYYY-MM-DD")).then(text.str.slice(11, 5))
    seconds = text.str.extract(r"^.{16}:([0-9]{2})").fill_null("00")
    fraction = text.str.extract(r"[.,]([0-9]{1,6})").fill_null("0").str.pad_end(6, "0")
    iso_text = pl.concat_str(
        text.str.head(10), pl.lit("T"), minutes.fill_null("00:00"), pl.lit(":"), seconds
    )
    return iso_text.str.to_datetime(_FORMAT, time_unit="us", strict=False) + pl.duration(
        microseconds=fraction.cast(pl.Int64, strict=False)
    )


def _localised(clock: pl.Expr, zone: str | None) -> pl.Expr:
    if zone is None:
        return pl.lit(None, pl.Datetime("us"))
    local = clock.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    return local.dt.convert_time_zone("UTC").dt.replace_time_zone(None)


# Look in columns for numbers that have lost leading zeros (`intake/local_forms.py`).


_NUMBER = "^[0-9]+$"


class LostZerosOfColumns(LostZeros):
    """What a file's columns say of lost zeros."""

    def __init__(self) -> None:
        super().__init__(ZEROS_KEPT)

    def note(self, rows: pl.DataFrame) -> None:
        """Count a stretch of rows; one whose values have one length costs next to nothing."""
        for name in self.columns:
            if name in rows.columns:
                self._count(name, rows[name])

    def _count(self, name: str, texts: pl.Series) -> None:
        lengths = texts.str.len_bytes().alias("length")
        least, most = lengths.min(), lengths.max()
        if not isinstance(least, int) or not isinstance(most, int):
            return
        if least == most:
            counts = {most: len(texts) - texts.null_count()}
        else:
            counts = dict(lengths.drop_nulls().value_counts().iter_rows())
        longest = self.longest_of(name, Counter(counts))
        if longest:
            some = texts.drop_nulls().head(LOOKED_AT)
            are_numbers = some.str.contains(_NUMBER)
            self.count_shorter(name, _numbers(texts, lengths, longest), are_numbers)


def _numbers(texts: pl.Series, lengths: pl.Series, most: int) -> Counter[tuple[int, str]]:
    """Count the numbers that are shorter than the longest by length and first digit.

    What begins with a zero is counted whatever it is: there they were kept.
    """
    begins_so = (texts >= "0") & (texts < ":") & ((lengths < most) | (texts < "1"))
    some = pl.DataFrame([texts.alias("text"), lengths]).filter(begins_so)
    text = pl.col("text")
    counts = (
        some.filter(text.str.starts_with("0") | text.str.contains(_NUMBER))
        .group_by("length", text.str.head(1).alias("first"))
        .len()
    )
    return Counter({(length, first): count for length, first, count in counts.rows()})
