"""Read the timestamps of transactions as columns (rules.md#timestamps): as naive UTC.

The pattern is checked before anything is parsed, because parsers are kinder than the rule (they
take hour 24 or second 60). Beside the usual `2026-03-18T13:12:54Z` the forms of ISO 8601 that
programs write are read: a blank or `t` before the time of day, `z`, offsets such as `+0200` and
`+02`, a comma before the fraction. Fractions of seconds finer than a microsecond are cut, not
rounded, so that a moment never moves into the next second. Local times that a change of clocks
skips are not real moments; of those it repeats the earlier one is meant.
"""

from __future__ import annotations

import polars as pl

from cardoffers_cli.intake.fields import USUAL_TIME, WITH_OFFSET, WITHOUT_OFFSET

_FORMAT = "%Y-%m-%dT%H:%M:%S"


def moments(texts: pl.Series, zone: str | None) -> pl.DataFrame:
    """Return one row per text: `at` (naive UTC, null if not a moment) and `assumed`.

    `assumed` says that the text names no offset and was read as local time in `zone`.
    """
    is_usual = texts.str.contains(USUAL_TIME).fill_null(False)
    # Texts of seconds hardly repeat, and to remember them takes longer than to read them.
    at = texts.str.to_datetime(_FORMAT + "Z", time_unit="us", strict=False, cache=False)
    assumed = pl.repeat(False, len(at), dtype=pl.Boolean, eager=True)
    if not is_usual.all():
        others = _read_slowly(texts.filter(~is_usual), zone)
        rows = (~is_usual).arg_true()
        at, assumed = at.scatter(rows, others["at"]), assumed.scatter(rows, others["assumed"])
    return pl.DataFrame({"at": at, "assumed": assumed})


def _read_slowly(texts: pl.Series, zone: str | None) -> pl.DataFrame:
    text = pl.col(texts.name)
    return texts.to_frame().select(
        at=pl.when(text.str.contains(WITH_OFFSET))
        .then(_clock(text) - _offset(text))
        .when(text.str.contains(WITHOUT_OFFSET))
        .then(_localised(_clock(text), zone)),
        assumed=text.str.contains(WITHOUT_OFFSET).fill_null(False) & pl.lit(zone is not None),
    )


def _clock(text: pl.Expr) -> pl.Expr:
    """Read date and time of day, as written; midnight for a bare date."""
    minutes = pl.when(text.str.len_bytes() > len("YYYY-MM-DD")).then(text.str.slice(11, 5))
    seconds = text.str.extract(r"^.{16}:([0-9]{2})").fill_null("00")
    fraction = text.str.extract(r"[.,]([0-9]{1,6})").fill_null("0").str.pad_end(6, "0")
    whole = pl.concat_str(
        text.str.head(10), pl.lit("T"), minutes.fill_null("00:00"), pl.lit(":"), seconds
    )
    return whole.str.to_datetime(_FORMAT, time_unit="us", strict=False) + pl.duration(
        microseconds=fraction.cast(pl.Int64, strict=False)
    )


def _offset(text: pl.Expr) -> pl.Expr:
    """Read the offset, as a length of time; of `Z`, none."""
    sign, hours, minutes = (
        text.str.extract(r"([+-])([0-9]{2})(?::?([0-9]{2}))?$", group) for group in (1, 2, 3)
    )
    whole = hours.cast(pl.Int64) * 60 + minutes.cast(pl.Int64).fill_null(0)
    signed = pl.when(sign == "-").then(-whole).otherwise(whole)
    return pl.duration(minutes=signed.fill_null(0))


def _localised(clock: pl.Expr, zone: str | None) -> pl.Expr:
    if zone is None:
        return pl.lit(None, pl.Datetime("us"))
    local = clock.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    return local.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
