"""Read times as a profile says they are written, as columns: into UTC.

A local hour that a change of clocks repeats, or leaves out, is a fault and never a guess. A bare
date is the beginning of its day, which every day has: where midnight is left out, the first moment
after it, where midnight comes twice, the first of the two.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal

import polars as pl

from cardoffers_cli.intake.fields import SERIAL
from cardoffers_cli.intake.profiles.written import (
    AMBIGUOUS,
    NEGATIVE,
    SKIPPED,
    TURNED,
    TURNED_TEXT,
    UNREADABLE,
    amount_pattern,
    escaped,
)

if TYPE_CHECKING:
    from cardoffers_cli.intake.layout_model import AmountSource, TimeSource


_DAY_0 = datetime(1899, 12, 30)  # noqa: DTZ001 - a local day
_MS_OF_DAY = 86_400_000
_MOMENT = pl.Datetime("us")
_HOUR = pl.duration(hours=1)


def utc_texts(
    texts: pl.Series, source: TimeSource, zone: str | None
) -> tuple[pl.Series, pl.Series]:
    """Return each time as text in UTC, and the code of what is wrong with its hour, if anything.

    Without a zone the text is local and names no offset. What is not as `source` says, and what
    has a fault, stays as a text that is no time; what is null stays so.
    """
    frame = texts.to_frame("text").with_columns(local=_local(source))
    if source.has_offset or zone is None:
        frame = frame.with_columns(at="local", fault=pl.lit(None, pl.String))
    else:
        frame = frame.with_columns(at=_in_utc("local", zone, source))
        frame = frame.with_columns(fault=_fault(zone))
    if frame["local"].null_count() > frame["text"].null_count():
        is_turned = pl.col("local").is_null() & pl.col("text").str.contains(TURNED_TEXT)
        frame = frame.with_columns(fault=pl.when(is_turned).then(pl.lit(TURNED)).otherwise("fault"))
    form = "%Y-%m-%dT%H:%M:%S" + ("%.6f" if "%f" in source.format else "")
    ending = "" if zone is None and not source.has_offset else "Z"
    unreadable = pl.when(pl.col("text").is_not_null()).then(pl.lit("?"))
    result = frame.select(
        pl.coalesce(pl.col("at").dt.strftime(form + ending), unreadable).alias("transacted_at"),
        "fault",
    )
    return result["transacted_at"], result["fault"]


def _local(source: TimeSource) -> pl.Expr:
    """Read date and time of day as they are written; with an offset, in UTC."""
    if source.is_serial:
        return _counted(pl.col("text"))
    # the quick way of polars takes `1,` for the year 01; what names no padding goes the other one
    form = source.format.replace(".%f", "%.f").replace("%y", "%-y")
    text = pl.col("text")
    if source.has_offset:
        with_sign = text.str.replace("[Zz]$", "+0000")
        return with_sign.str.to_datetime(form, time_unit="us", strict=False).dt.replace_time_zone(
            None
        )
    if source.has_clock:
        return text.str.to_datetime(form, time_unit="us", strict=False)
    return text.str.to_date(form, strict=False).cast(_MOMENT)


def _counted(text: pl.Expr) -> pl.Expr:
    """Read days since the end of 1899, to the millisecond, as spreadsheets show them."""
    days = pl.when(text.str.contains(SERIAL)).then(text.str.replace(",", ".", literal=True))
    clock = (days.cast(pl.Float64) * _MS_OF_DAY).round().cast(pl.Int64)
    return pl.lit(_DAY_0, _MOMENT) + pl.duration(milliseconds=clock)


def _in_utc(local: str, zone: str, source: TimeSource) -> pl.Expr:
    def read(clock: pl.Expr, twice: Literal["null", "earliest"]) -> pl.Expr:
        there = clock.dt.replace_time_zone(zone, ambiguous=twice, non_existent="null")
        return there.dt.convert_time_zone("UTC").dt.replace_time_zone(None)

    clock = pl.col(local)
    if source.has_clock:
        return read(clock, "null")
    # a clock that goes forward at midnight leaves out an hour: then the day begins at one
    return pl.coalesce(read(clock, "earliest"), read(clock + _HOUR, "earliest"))


def _fault(zone: str) -> pl.Expr:
    is_faulted = pl.col("at").is_null() & pl.col("local").is_not_null()
    earliest = pl.col("local").dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    kind = pl.when(earliest.is_null()).then(pl.lit(SKIPPED)).otherwise(pl.lit(AMBIGUOUS))
    return pl.when(is_faulted).then(kind)


# Read amounts as a profile says they are written, as columns: into our own plain form.
#
# One pattern of the whole text decides; what it lets pass is then taken apart. Only one sign may
# stand in it: before or behind the number, or parentheses where the profile has them. `written.py`
# has the pattern, and says the same of one text.


def plain_amounts(texts: pl.Series, source: AmountSource, decimals: int) -> pl.Series:
    """Return each amount as digits with a point, a minus before it where it is negative.

    Amounts in minor units are given `decimals` of them. What is not as `source` says becomes
    `UNREADABLE`; what is null stays so.
    """
    text = pl.col(texts.name)
    # digits and the decimal mark, which becomes a point
    bare = text.str.replace_all(source.currency, "", literal=True) if source.currency else text
    bare = bare.str.replace_all(f"[^0-9{escaped(source.decimal)}]", "")
    bare = bare.str.replace(",", ".", literal=True) if source.decimal == "," else bare
    negative = text.str.contains(NEGATIVE)
    if source.negate:
        negative = ~negative
    if source.minor_units:
        digits = bare.str.strip_chars_start("0").str.zfill(decimals + 1)
        bare = pl.concat_str(digits.str.head(-decimals), pl.lit("."), digits.str.tail(decimals))
        bare = bare if decimals else digits
    else:
        bare = pl.when(bare.str.starts_with(".")).then(pl.lit("0") + bare).otherwise(bare)
    signed = pl.when(negative).then(pl.lit("-") + bare).otherwise(bare)
    plain = pl.when(text.str.contains(amount_pattern(source))).then(signed)
    unreadable = pl.when(text.is_not_null()).then(pl.lit(UNREADABLE))
    return texts.to_frame().select(pl.coalesce(plain, unreadable).alias("amount")).to_series()
