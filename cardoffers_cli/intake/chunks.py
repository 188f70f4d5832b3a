"""Judge one stretch of rows: the valid ones with their types, the findings, the rejected lines.

A `Chunk` is what every door gets. The valid fields of a row keep one instrument and one merchant
identifier (a `merchant_identifier` goes before `card_acceptor_id`). Rows of every kind have the
same columns from here on: `transaction_ref` is the row's own reference, and `transacted_at` its
moment, of which `is_day` says that only the day was given. A number with a right check digit is a
doubt until the end of the file, kept beside its row (`river/judge.py`). Tokens repeat, so they are
hashed here once, in columns, with a seed that is drawn anew for every file; the store checks that
there is no collision (`river/number.py`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import polars as pl

from cardoffers_cli.intake import rules
from cardoffers_cli.intake.conditions import predicate
from cardoffers_cli.intake.fields import FREE_TEXTS as READ_TEXTS
from cardoffers_cli.intake.fields import IDENTIFIERS, REFERENCES
from cardoffers_cli.intake.numbers import moments, numbers_of
from cardoffers_cli.intake.rulebook import FEW_ROWS, rulebook
from cardoffers_cli.kernel.words.card_forms import NumberEvidence, NumberForm
from cardoffers_cli.kernel.words.cards import BARE, JOINED
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.findings import CODES
from cardoffers_cli.kernel.words.money import AMOUNT_DIGITS, AMOUNT_SCALE
from cardoffers_cli.kernel.words.row_kinds import FREE_TEXTS, IDS, MERCHANTS, PURCHASES, TOKENS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.intake.layout_model import Profile
    from cardoffers_cli.kernel.words.findings import Finding, Level
    from cardoffers_cli.kernel.words.row_kinds import RowKind


AMOUNT = pl.Decimal(AMOUNT_DIGITS, AMOUNT_SCALE)
DOUBT_SCHEMA = {
    "line": pl.UInt64,
    "field": pl.String,
    "length": pl.UInt32,
    "form": pl.String,
    "text": pl.String,
}
"""Numbers that are right: where they stand, their form, and the text of the field. Grain: one row
per number."""
VALID_SCHEMA: Mapping[str, Any] = {
    "line": pl.UInt64,
    "transaction_ref": pl.String,
    "cardholder_token": pl.String,
    "instrument_token": pl.String,
    "instrument_type": pl.String,
    "merchant_identifier_type": pl.String,
    "merchant_identifier": pl.String,
    "merchant_id": pl.String,
    **dict.fromkeys(FREE_TEXTS, pl.String),
    "amount": AMOUNT,
    "transacted_at": pl.Datetime("us"),
    "is_day": pl.Boolean,
}
FINDING_SCHEMA: Mapping[str, Any] = {
    "line": pl.UInt64,
    "transaction_ref": pl.String,
    "column": pl.String,
    "code": pl.String,
    "level": pl.String,
    "message": pl.String,
}
_AHEAD = timedelta(hours=24)
_DAY = len("YYYY-MM-DD")


@dataclass(frozen=True, kw_only=True)
class FileReading:
    """How to read rows: `now` is naive UTC, rows over 24 hours ahead of it are faulted.

    Rows are of this `kind` where the file says nothing else, or where somebody has said so
    (`is_kind_given`).
    `currency` is the program's, `decimals` its minor unit, `institution_id` whose events they must
    be (JSON only), `assume_timezone` what a timestamp without an offset means. Without a currency
    any of ISO 4217 will do. `unterminated` is the level of the finding on a last line without its
    end; none, where somebody vouches for it. `numbers` are what is known of the numbers
    of its institution. A `profile` says how the file is laid out, if not as our own; `token_key`
    makes the tokens of raw customer keys, where it has those. `sheet` is the name, or the number,
    of the sheet of a workbook.
    """

    now: datetime
    currency: str | None = None
    decimals: int = 2
    institution_id: str | None = None
    delimiter: str = ","
    assume_timezone: str | None = None
    unterminated: Level | None = None
    numbers: NumberEvidence = field(default_factory=NumberEvidence)
    profile: Profile | None = None
    token_key: bytes | None = field(default=None, repr=False)
    kind: RowKind = PURCHASES
    is_kind_given: bool = False
    sheet: str | None = None


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Judged rows: `rows` as `valid_schema`, `findings` as `FINDING_SCHEMA`, in line order.

    `doubts` (`DOUBT_SCHEMA`) are numbers in rows that the end of the file judges.
    `rejected` holds the lines of the invalid rows (u64, sorted). `bytes_read` and `size_hint` tell
    how far into the source reading is. `refunds` are those among the same rows, judged as such.
    """

    rows: pl.DataFrame
    findings: pl.DataFrame
    rejected: pl.Series
    doubts: pl.DataFrame
    assumed_timezone: bool = False
    bytes_read: int = 0
    size_hint: int | None = None
    refunds: Chunk | None = None

    def errors(self) -> list[dict[str, Any]]:
        """Return the errors among the findings by line: line, field, code and message."""
        return (
            self.findings.filter(pl.col("level") == "error")
            .select("line", pl.col("column").alias("field"), "code", "message")
            .sort("line", "field", "code")
            .rows(named=True)
        )


def valid_schema(kind: RowKind) -> Mapping[str, Any]:
    """Return the columns of valid rows of a kind: those of every kind, and what it has further."""
    return {**VALID_SCHEMA, **dict.fromkeys(kind.further_names.values(), pl.String)}


def no_rows(kind: RowKind) -> Chunk:
    """Return a chunk without rows."""
    return Chunk(
        rows=pl.DataFrame(schema=valid_schema(kind)),
        findings=pl.DataFrame(schema=FINDING_SCHEMA),
        rejected=pl.Series("line", dtype=pl.UInt64),
        doubts=pl.DataFrame(schema=DOUBT_SCHEMA),
    )


NO_ROWS = no_rows(PURCHASES)


class Judge:
    """The rules of a kind of rows, with the limits of one reading.

    `numbers` gathers what the numbers of the rows look like. Of a table, whose rows have the same
    columns, `is_nameless` says that none of them names a merchant.
    """

    def __init__(
        self, reading: FileReading, kind: RowKind = PURCHASES, *, is_table: bool = False
    ) -> None:
        time = reading.profile.fields.transacted_at if reading.profile else None
        self._has_days = time is not None and not time.has_clock
        self.reading = reading
        self.is_nameless = False
        self._is_table = is_table
        self.numbers = reading.numbers.of_file()
        self._kind = kind
        self._rules = rulebook(kind)

    def chunk(
        self, raw: pl.DataFrame, line_findings: Sequence[Finding] = (), *, is_plain: bool = False
    ) -> Chunk:
        """Judge rows of text columns, together with the lines that never became rows.

        `raw` has `line`, the columns that its kind requires and others of `rulebook.optional`;
        `is_plain` is the promise of `delimited.Page`.
        """
        rows = self.with_derived(raw)
        is_suspicious = self._rules.suspicious(rows, is_plain=is_plain)
        suspicious = rows.filter(is_suspicious) if is_suspicious.any() else rows.clear()
        broken = suspicious
        if 0 < suspicious.height <= FEW_ROWS < rows.height:  # by chance mostly
            broken = suspicious.filter(self._rules.suspicious(suspicious, is_plain=False))
        findings = pl.DataFrame(
            {name: [getattr(item, name) for item in line_findings] for name in FINDING_SCHEMA},
            schema=FINDING_SCHEMA,
        )
        if broken.height:
            row_findings = self._rules.findings(broken)
            findings = pl.concat([findings, row_findings]).sort("line", maintain_order=True)
        bad = findings["line"]
        if len(bad):
            bad = bad.filter(findings["level"] == "error").unique().sort()
        valid = rows.filter(~pl.col("line").is_in(bad.implode())) if len(bad) else rows
        return Chunk(
            rows=_valid(valid, self._kind),
            findings=findings,
            rejected=bad.rename("line"),
            doubts=note_numbers(self.numbers, self._kind, rows, suspicious),
            assumed_timezone=bool(valid["assumed"].any()),
        )

    def with_derived(self, raw: pl.DataFrame) -> pl.DataFrame:
        """Add what the rules read beside the text: moment, amount and limits."""
        reading = self.reading
        if self._is_table and self._kind is PURCHASES and raw.height:
            self.is_nameless = set(MERCHANTS).isdisjoint(raw.columns)
        fraction = rf"(?:\.[0-9]{{1,{reading.decimals}}})?" if reading.decimals else ""
        return raw.with_columns(
            moments(raw[self._kind.moment], reading.assume_timezone).get_columns(),
            is_day=(pl.col(self._kind.moment).str.len_bytes() == _DAY) | pl.lit(self._has_days),
            value=pl.col("amount").cast(AMOUNT, strict=False),
            is_usual_amount=pl.col("amount").str.contains(f"^[0-9]{{1,12}}{fraction}$"),
            decimals=pl.lit(reading.decimals, pl.UInt32),
            program_currency=pl.lit(reading.currency, pl.String),
            latest=pl.lit(reading.now + _AHEAD, pl.Datetime("us")),
            is_nameless=pl.lit(self.is_nameless),
            **{f"declared_{name}": self._is_declared(raw, name) for name in TOKENS},
            caller=pl.lit(reading.institution_id, pl.String),
        )

    def _is_declared(self, raw: pl.DataFrame, name: str) -> pl.Expr:
        """Say of tokens whether they are numbers of a length that a person declared."""
        lengths = self.reading.numbers.lengths_of(name)
        if not lengths or name not in raw.columns:
            return pl.lit(False)
        text = pl.col(name).str
        return text.contains(BARE) & text.len_bytes().is_in(lengths)


def _valid(rows: pl.DataFrame, kind: RowKind) -> pl.DataFrame:
    def given(name: str, default: str | None = None) -> pl.Expr:
        if name not in rows.columns:
            return pl.lit(default, pl.String)
        return pl.col(name) if default is None else pl.col(name).fill_null(default)

    typed, acceptor = given("merchant_identifier"), given("card_acceptor_id")
    return rows.select(
        "line",
        pl.col(kind.reference).alias("transaction_ref"),
        given("cardholder_token").alias("cardholder_token"),
        pl.coalesce(given("instrument_token"), given("card_token")).alias("instrument_token"),
        given("instrument_type").alias("instrument_type"),
        pl.when(typed.is_not_null())
        .then(given("merchant_identifier_type").fill_null("card_acceptor"))
        .when(acceptor.is_not_null())
        .then(pl.lit("card_acceptor"))
        .alias("merchant_identifier_type"),
        pl.coalesce(typed, acceptor).alias("merchant_identifier"),
        given("merchant_id").str.to_lowercase().alias("merchant_id"),
        *(given(name).alias(name) for name in FREE_TEXTS),
        pl.col("value").alias("amount"),
        pl.col("at").alias("transacted_at"),
        pl.col("is_day"),
        *(
            (given(name).str.to_lowercase() if name in IDS else given(name, default)).alias(
                kind.further_names[name]
            )
            for name, default in kind.further.items()
        ),
    )


_HELD = (*REFERENCES, *IDENTIFIERS, *READ_TEXTS)
"""The fields in which a number may break no rule."""


def note_numbers(
    evidence: NumberEvidence, kind: RowKind, rows: pl.DataFrame, suspicious: pl.DataFrame
) -> pl.DataFrame:
    """Count the numbers of a stretch of rows of a kind; return the doubts, as `DOUBT_SCHEMA`.

    Every row with a number in another field than these is among the `suspicious` ones.
    """
    doubts = [pl.DataFrame(schema=DOUBT_SCHEMA)]
    for name in kind.columns:
        among = rows if name in _HELD else suspicious
        if name not in among.columns or among.is_empty():
            continue
        frame = numbers_of(among[name], name)
        if name in TOKENS:
            frame = frame.filter(pl.col("form") == JOINED)
        if frame.is_empty():
            continue
        new = frame.unique(("length", "form", "place"), keep="first", maintain_order=True)
        counted: defaultdict[NumberForm, list[tuple[int, bool]]] = defaultdict(list)
        for _, length, form, place, is_right in new.iter_rows():
            counted[NumberForm(name, length, form)].append((place, is_right))
        for number_form, numbers in counted.items():
            evidence.count(number_form, numbers)
        right = frame.filter("is_right")
        doubts.append(
            right.select(
                line=among["line"].gather(right["row"]),
                field=pl.lit(name),
                length="length",
                form="form",
                text=among[name].gather(right["row"]),
            )
        )
    return pl.concat(doubts)


def refused(doubts: pl.DataFrame, evidence: NumberEvidence) -> pl.DataFrame:
    """Return the doubts that are card numbers by the evidence."""
    forms = doubts.select("field", "length", "form")
    verdicts = {form: evidence.is_refused(NumberForm(*form)) for form in forms.unique().rows()}
    return doubts.filter(pl.Series([verdicts[form] for form in forms.rows()], dtype=pl.Boolean))


_MICROSECONDS = 1_000_000


def with_fingerprints(rows: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Add u64 columns to valid rows; every text is hashed once.

    `reference` is of the transaction_ref, `cardholder` and `instrument` of the tokens, `payer` of
    both (null where there is no cardholder), `identifier` of the merchant identifier with its type
    (null where there is none), `look` of all that look-alikes have in common
    (rules.md#look-alikes), which is odd where the time is a bare date, and `content` of all that
    tells a duplicate from a conflict (rules.md#duplicates), the fields that only some kinds have
    among it. What is of several fields has the bits of their hashes put together: each field is
    hashed by a seed of its own, so none cancels another.
    """

    def hashed(field: str | pl.Expr, number: int) -> pl.Expr:
        return (pl.col(field) if isinstance(field, str) else field).hash(seed ^ number)

    identifier = hashed("merchant_identifier_type", 3) ^ hashed("merchant_identifier", 4)
    second = pl.col("transacted_at").cast(pl.Int64) // _MICROSECONDS
    texts = rows.with_columns(
        reference=hashed("transaction_ref", 0),
        cardholder=hashed("cardholder_token", 1),
        instrument=hashed("instrument_token", 2),
        identifier=pl.when(pl.col("merchant_identifier").is_not_null()).then(identifier),
    )
    payer = pl.col("cardholder") ^ pl.col("instrument")
    if rows["cardholder_token"].null_count():  # a card is somebody's, or nothing that was sent
        payer = pl.when(pl.col("cardholder_token").is_not_null()).then(payer)
    merchant = pl.col("identifier").fill_null(0) ^ hashed("merchant_id", 5)
    look = payer.fill_null(0) ^ merchant ^ hashed("amount", 6) ^ hashed(second, 7)
    content = look ^ hashed("transacted_at", 8)
    further = (name for name in rows.columns if name not in VALID_SCHEMA)
    for number, name in enumerate(further, start=9):
        content ^= hashed(name, number)
    is_day = pl.col("is_day").fill_null(False).cast(pl.UInt64)
    return texts.with_columns(payer=payer, look=look // 2 * 2 + is_day, content=content)


# A token that came by another way than a file, judged by the rules of transaction files.


def check_token(column: str, token: str) -> None:
    """Raise `UsageError` with the code of the first rule that a token breaks.

    `column` is what the token would be in a file: one of `TOKENS`. The message names the column
    and the rule, never the value.
    """
    # A command line carries what is no Unicode text as lone surrogates.
    row = {column: token.encode("utf-8", "surrogatepass").decode("utf-8", "replace") or None}
    for rule in rules.RULES:
        code = CODES[rule.code]
        if rule.column == column and code.level == "error" and predicate(rule.broken)(row):
            raise UsageError(f"The {rule.message}.", code=code.code, hint=code.advice)
