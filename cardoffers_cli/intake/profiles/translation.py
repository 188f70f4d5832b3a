"""From an institution's lines to columns, and to the fields of an event, as a profile says.

What comes out are the text columns that the rules read in our own layout too, so there is one set
of rules; faults of the reading itself (`Translated.faults`) name what the rules would call merely
invalid.

Delimited lines are those of `paging.py`, with its findings. It takes quoted fields line by line;
where one pattern proves that no quote is out of place, they are split in one call here.

Times come into UTC. A local hour that a change of clocks repeats, or leaves out, is a fault and
never a guess. A bare date is the beginning of its day, which every day has: where midnight is left
out, the first moment after it, where midnight comes twice, the first of the two.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

import polars as pl

from cardoffers_cli.intake.fields import REQUIRED, SERIAL
from cardoffers_cli.intake.layout_model import AmountSource, TextSource, TimeSource, TokenSource
from cardoffers_cli.intake.lines import Layout, has_long_line
from cardoffers_cli.intake.paging import TextPage, read_page
from cardoffers_cli.intake.profiles.places import STAND_IN, column_name
from cardoffers_cli.intake.profiles.texts import decoded_lines
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
from cardoffers_cli.kernel.words.findings import make_finding
from cardoffers_cli.kernel.words.money import AMOUNT_SCALE
from cardoffers_cli.kernel.words.row_kinds import LINE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from cardoffers_cli.intake.layout_model import Column, DropCondition, LineForm, Profile
    from cardoffers_cli.kernel.words.findings import Finding


_EXACT = pl.Decimal(38, AMOUNT_SCALE)
_FAULTS = {"line": pl.UInt64, "fault": pl.String}


@dataclass(frozen=True, kw_only=True)
class Translated:
    """Rows as text columns of our own, and what only their layout can have wrong.

    `faults` has line and code of times that are no moments; `left_out` rows were dropped by the
    profile, those `refunded` were negative. `read` and `total` are of all rows: how many, and the
    sum of their amounts, signs as they stand in the file.
    """

    rows: pl.DataFrame
    faults: pl.DataFrame
    left_out: int
    refunded: pl.DataFrame
    read: int
    total: Decimal


@dataclass(eq=False, repr=False)
class Translation:
    """A profile with its columns found: `positions` says where in the file each one is."""

    profile: Profile
    positions: Mapping[Column, int]
    decimals: int
    zone: str | None = None
    token_key: bytes | None = None

    def __post_init__(self) -> None:
        self._fields = self.profile.fields.given()

    def translate(self, frame: pl.DataFrame) -> Translated:
        """Translate rows of their columns."""
        part = frame
        if self.profile.drop_where:
            dropped = pl.any_horizontal(self._drops(rule) for rule in self.profile.drop_where)
            part = frame.filter(~dropped)
        rows = part.select("line", *(self._text(name) for name in self._fields))
        rows, faults = self._with_times(rows)
        rows = self._with_tokens(rows)
        amount = self._fields.get("amount")
        if isinstance(amount, AmountSource):
            rows = rows.with_columns(plain_amounts(rows["amount"], amount, self.decimals))
        refunded = rows.clear()
        if self.profile.negatives == "refund" and "amount" in rows.columns:
            is_refund = pl.col("amount").str.starts_with("-").fill_null(False)
            rows, refunded = rows.filter(~is_refund), rows.filter(is_refund)
        absent = [name for name in REQUIRED if name not in rows.columns]
        return Translated(
            rows=rows.with_columns(pl.lit(None, pl.String).alias(name) for name in absent),
            faults=faults,
            left_out=frame.height - part.height,
            refunded=refunded,
            read=frame.height,
            total=self._total_of(frame),
        )

    def _source(self, column: Column) -> pl.Expr:
        """Return a column, blanks taken off its ends; nothing is null."""
        if column == LINE:
            return pl.col("line").cast(pl.String)
        bare = pl.col(column_name(self.positions[column])).str.strip_chars()
        return pl.when(bare != "").then(bare)

    def _text(self, name: str) -> pl.Expr:
        source = self._fields[name]
        if source.constant is not None:
            return pl.lit(source.constant).alias(name)
        parts = [self._source(column) for column in source.sources]
        text = parts[0] if len(parts) == 1 else pl.concat_str(parts, separator=source.join)
        if source.empty:
            text = pl.when(~text.is_in(source.empty)).then(text)
        if isinstance(source, TextSource) and source.pad:
            padded = text.str.zfill(source.pad)
            text = pl.when(text.str.contains("^[0-9]+$")).then(padded).otherwise(text)
        return text.alias(name)

    def _with_times(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        source = self._fields.get("transacted_at")
        if not isinstance(source, TimeSource):
            return rows, pl.DataFrame(schema=_FAULTS)
        texts, faults = utc_texts(rows["transacted_at"], source, source.zone or self.zone)
        frame = pl.DataFrame({"line": rows["line"], "fault": faults}, schema=_FAULTS)
        return rows.with_columns(texts), frame.drop_nulls("fault")

    def _with_tokens(self, rows: pl.DataFrame) -> pl.DataFrame:
        keyed = [
            name
            for name, source in self._fields.items()
            if isinstance(source, TokenSource) and source.hmac
        ]
        if self.token_key is None or not keyed:
            return rows
        return rows.with_columns(tokens(rows[name], self.token_key) for name in keyed)

    def _drops(self, condition: DropCondition) -> pl.Expr:
        text = self._source(condition.column).fill_null("")
        if condition.starts_with:
            return pl.any_horizontal(text.str.starts_with(head) for head in condition.starts_with)
        is_one = text.is_in(condition.is_ or condition.is_not)
        return is_one if condition.is_ else ~is_one

    def _total_of(self, frame: pl.DataFrame) -> Decimal:
        """Add up every amount that can be read, signs as they stand, where a trailer says so."""
        source, trailer = self._fields.get("amount"), self.profile.trailer
        if trailer is None or trailer.sum is None or not isinstance(source, AmountSource):
            return Decimal(0)
        texts = frame.select(self._text("amount")).to_series()
        written = source.model_copy(update={"negate": False})
        plain = plain_amounts(texts, written, self.decimals)
        return Decimal(plain.cast(_EXACT, strict=False).sum() or 0)


def tokens(texts: pl.Series, key: bytes) -> pl.Series:
    """Return the HMAC-SHA256 of each text in lower-case hex; every text is computed once."""
    unique = texts.unique().drop_nulls()
    digests = [hmac.digest(key, text.encode(), "sha256").hex() for text in unique]
    return texts.replace_strict(unique, pl.Series(digests, dtype=pl.String), default=None)


_QUOTE = b'"'
_NEVER = "\x01"


class Cutter:
    """Cuts pages of lines; their frames have `line` and the columns `used`, empty as null."""

    def __init__(self, form: LineForm, width: int, used: Collection[int]) -> None:
        self._form = form
        self._used = sorted(used)
        self._names = [column_name(position) for position in range(1, width + 1)]
        self._kept = [column_name(position) for position in self._used]
        if form.delimiter is not None:
            self._layout = Layout(names=tuple(self._names), delimiter=form.delimiter)
            other = f"\\x{{{ord(form.delimiter):x}}}"
            field = rf'(?:"[^"]*"|[^"{other}]*)'
            self._well_quoted = rf"^{field}(?:{other}{field}){{{width - 1}}}$"

    def page(self, text: bytes, first_line: int) -> TextPage:
        """Cut whole, LF-ended lines of which the first has the number `first_line`."""
        if self._form.widths:
            return self._fixed(text, first_line)
        swapped = self._form.quote != '"' and (_QUOTE in text or self._form.quote.encode() in text)
        if swapped:
            text = text.replace(_QUOTE, STAND_IN.encode())
            if self._form.quote:
                text = text.replace(self._form.quote.encode(), _QUOTE)
        page = self._delimited(text, first_line)
        frame = page.frame.select("line", *self._kept)
        if swapped:
            cells = pl.col(self._kept)
            if self._form.quote:
                cells = cells.str.replace_all('"', self._form.quote, literal=True)
            frame = frame.with_columns(cells.str.replace_all(STAND_IN, '"', literal=True))
        return replace(page, frame=frame)

    def _delimited(self, text: bytes, first_line: int) -> TextPage:
        lines = _lines_of(text) if _QUOTE in text and len(self._names) > 1 else None
        if lines is None:
            return read_page(text, self._layout, first_line=first_line)
        is_well = lines.str.contains(self._well_quoted).fill_null(False)
        numbers = pl.int_range(first_line, first_line + len(lines), dtype=pl.UInt64, eager=True)
        if is_well.all():
            return self._well(text, numbers)
        well = self._well(_joined(lines.filter(is_well)), numbers.filter(is_well))
        others = read_page(_joined(lines.filter(~is_well)), self._layout, first_line=0)
        own = numbers.filter(~is_well)
        placed = others.frame.with_columns(line=own.gather(others.frame["line"]))
        return TextPage(
            frame=pl.concat([well.frame, placed]).sort("line"),
            findings=[replace(finding, line=own[finding.line or 0]) for finding in others.findings],
            lines=len(lines),
            blank_lines=others.blank_lines,
        )

    def _well(self, text: bytes, numbers: pl.Series) -> TextPage:
        """Read lines of which every one has its fields and no quote out of place."""
        schema = dict.fromkeys(self._names, pl.String)
        if not len(numbers):
            frame = pl.DataFrame(schema=schema)
        else:
            frame = pl.read_csv(
                text,
                has_header=False,
                separator=self._layout.delimiter,
                quote_char='"',
                infer_schema=False,
                schema=schema,
            )
        columns = pl.col(self._names)
        filled = frame.with_columns(pl.when(columns != "").then(columns))
        return TextPage(
            frame=filled.insert_column(0, numbers.alias("line")),
            lines=len(numbers),
        )

    def _fixed(self, text: bytes, first_line: int) -> TextPage:
        widths = self._form.widths
        ends = list(accumulate(widths))
        least, most = ends[self._used[-1] - 1] if self._used else 1, ends[-1]
        lines = None if has_long_line(text) else _lines_of(text)
        findings: list[Finding] = []
        if lines is None:
            texts, findings = decoded_lines(text, first_line)
            lines = pl.Series("text", texts, dtype=pl.String)
        line_text = pl.col("text")
        numbered = lines.to_frame("text").with_columns(
            line=pl.int_range(first_line, first_line + len(lines), dtype=pl.UInt64)
        )
        filled = numbered.filter(line_text.str.contains(r"[^ \t]"))
        length = line_text.str.len_chars()
        fits = length.is_between(least, most) | (
            (length > most) & ~line_text.str.slice(most).str.contains(r"[^ \t]")
        )
        for line, count in filled.filter(~fits).select("line", length).rows():
            message = f"the line has {count} characters, the widths come to {most}"
            findings.append(make_finding("field_count", message, line=line))
        cut = filled.filter(fits).select(
            "line",
            *(
                line_text.str.slice(
                    ends[position - 1] - widths[position - 1], widths[position - 1]
                ).alias(column_name(position))
                for position in self._used
            ),
        )
        encoding = sum(finding.code != "field_count" for finding in findings)
        return TextPage(
            frame=cut,
            findings=sorted(findings, key=lambda finding: finding.line or 0),
            lines=len(lines),
            blank_lines=len(lines) - filled.height - encoding,
        )


def _lines_of(text: bytes) -> pl.Series | None:
    """Return the lines as one String each, or None where polars would not give them as they are."""
    if _NEVER.encode() in text or has_long_line(text):
        return None
    try:
        frame = pl.read_csv(
            text,
            has_header=False,
            separator=_NEVER,
            quote_char=None,
            infer_schema=False,
            schema={"text": pl.String},
        )
    except pl.exceptions.PolarsError:  # not UTF-8
        return None
    return frame["text"]


def _joined(lines: pl.Series) -> bytes:
    return "".join(f"{line}\n" for line in lines.fill_null("")).encode()


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
        is_faulted = pl.col("at").is_null() & pl.col("local").is_not_null()
        earliest = pl.col("local").dt.replace_time_zone(
            zone, ambiguous="earliest", non_existent="null"
        )
        kind = pl.when(earliest.is_null()).then(pl.lit(SKIPPED)).otherwise(pl.lit(AMBIGUOUS))
        frame = frame.with_columns(fault=pl.when(is_faulted).then(kind))
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
