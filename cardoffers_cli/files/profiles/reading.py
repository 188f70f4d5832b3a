"""Read an institution's own file by a profile: chunks of judged rows, as of our own layout.

Read this file first: `texts` frames the lines, `cutting` makes columns of them, `translation` makes
these our fields, and the rules judge them as they judge any file. Findings keep our names for
fields; `labels` has those of the institution's columns, for whoever shows them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, BinaryIO

import polars as pl

from cardoffers_cli.domain.counting import counted
from cardoffers_cli.domain.findings import make_finding
from cardoffers_cli.domain.money import AMOUNT_SCALE
from cardoffers_cli.domain.nearest import did_you_mean, nearest
from cardoffers_cli.domain.profiles import LINE, AmountSource, TimeSource
from cardoffers_cli.domain.row_kinds import PURCHASES, REFUNDS
from cardoffers_cli.files.chunks import AMOUNT
from cardoffers_cli.files.copies import LineCopy, copy_lines
from cardoffers_cli.files.fields import REQUIRED
from cardoffers_cli.files.lines import is_blank
from cardoffers_cli.files.profiles import refunds
from cardoffers_cli.files.profiles.amounts import UNREADABLE, plain_amounts
from cardoffers_cli.files.profiles.cutting import STAND_IN, Cutter
from cardoffers_cli.files.profiles.masking import ProfiledMasks, Reencoded
from cardoffers_cli.files.profiles.texts import WIDE, Texts, transcoded
from cardoffers_cli.files.profiles.times import FAULTS, TURNED
from cardoffers_cli.files.profiles.translation import Translation, label_of
from cardoffers_cli.files.sources import unusable
from cardoffers_cli.files.splitting import LineFault, split_fields
from cardoffers_cli.files.spreadsheets import is_workbook, read_sheet
from cardoffers_cli.files.transactions import TransactionFile, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cardoffers_cli.domain.findings import Finding
    from cardoffers_cli.domain.profiles import Column, Place, Profile
    from cardoffers_cli.files.chunks import Chunk, FileReading
    from cardoffers_cli.files.profiles.refunds import RefundsApart
    from cardoffers_cli.files.profiles.translation import Translated
    from cardoffers_cli.files.sources import Source

_MOST_SHOWN = 20
_FIRST = (
    *("cardholder_token", "card_token", "card_acceptor_id"),
    *("amount", "transaction_ref", "transacted_at"),
)
_TOKENS = ("card_token", "instrument_token")


class ProfiledFile(TransactionFile):
    """An open file in an institution's own layout; read as a `TransactionFile` is.

    `received` counts the rows that the profile keeps; `left_out` those that its `drop_where` drops
    and its refunds. A trailer that says otherwise than the rows raises `FileUnusable` at the end.
    """

    def __init__(self, source: Source, reading: FileReading, profile: Profile) -> None:
        form = profile.form
        if form.sheet is not None:
            amount = profile.fields.amount
            decimal = amount.decimal if amount else "."  # numbers as texts of the file are written
            header = profile.header
            read_sheet(source, named=form.sheet, header=header, decimal=decimal, or_text=True)
        elif is_workbook(source):
            raise unusable(
                "file_binary",
                "The file is a workbook or an archive, and the profile describes text.",
                hint='Write form = {sheet = "…"} in the profile, with the name of the sheet.',
            )
        super().__init__(source, reading, kind="csv")
        self._profile = profile
        self._texts_of = Texts(source, profile)
        self.left_out = self.refunds = self._read = 0
        self._total = Decimal(0)
        self._reading = reading
        self._faults: deque[pl.DataFrame] = deque()
        columns = _columns_of(self._texts_of, profile)
        self.labels = {
            name: label_of(field) for name, field in profile.fields.given().items() if field.sources
        }
        positions = _positions(columns, profile)
        self.header = profile.header
        self._cutter = Cutter(form, len(columns), set(positions.values()))
        self._positions = positions
        self._width = len(columns)
        self._translation = Translation(
            profile,
            positions,
            decimals=reading.decimals,
            zone=reading.assume_timezone,
            token_key=reading.token_key,
        )

    @property
    def file_findings(self) -> list[Finding]:
        """Return the warnings for the file as a whole."""
        findings = super().file_findings
        if self.refunds:
            message = f"{counted(self.refunds, 'refund')} left out: purchases only are taken"
            findings.append(make_finding("refunds_left_out", message))
        return findings

    def chunks(self) -> Iterator[Chunk]:
        """Read and judge the file, as a `TransactionFile` does.

        Raises `FileUnusable` where the profile lacks a field that every event has.
        """
        _check_fields(self._profile)
        for chunk in super().chunks():
            yield self._with_faults(chunk)
        self._check_trailer()

    def write_canonical(
        self, rejected: pl.Series, out: BinaryIO, refunds_to: BinaryIO | None = None
    ) -> RefundsApart:
        """Read the file once more, and write the rows not rejected in our own layout, as CSV.

        The six columns that every file has come first, then those that the profile has besides.
        The same file and profile give the same bytes. Those of its refunds that are good as such
        are written too, where somebody asks for them; returns what came of them.
        """
        names, of_refunds = (
            [*first, *(name for name in kind.columns if name in self._more)]
            for kind, first in ((PURCHASES, _FIRST), (REFUNDS, refunds.FIRST))
        )
        apart = refunds.RefundsApart(self._reading, self.reference_forms)
        header = True
        for found, _ in self._translated():
            good = found.rows.filter(~pl.col("line").is_in(rejected.implode()))
            self._write(out, good, names, header=header)
            if refunds_to:
                self._write(refunds_to, apart.take(found.refunded), of_refunds, header=header)
            header = False
        return apart

    def _write(
        self, out: BinaryIO, rows: pl.DataFrame, names: Sequence[str], *, header: bool
    ) -> None:
        rows.select(self._written(name, rows) for name in names).write_csv(
            out, include_header=header, line_terminator="\n"
        )

    @property
    def _more(self) -> set[str]:
        return self._profile.fields.given().keys() - set(_FIRST)

    def _written(self, name: str, rows: pl.DataFrame) -> pl.Expr:
        if name not in rows.columns:
            return pl.lit(None, pl.String).alias(name)
        if name != "amount":
            return pl.col(name)
        places = AMOUNT_SCALE - self._reading.decimals
        exact = pl.col(name).cast(AMOUNT).cast(pl.String)
        text = exact.str.head(-places) if places else exact
        return (text if self._reading.decimals else text.str.strip_suffix(".")).alias(name)

    def canonical(self) -> Iterator[pl.DataFrame]:
        """Yield the rows as text columns of our own, `line` first, unjudged."""
        for found, _ in self._translated():
            yield found.rows

    def _pages(self) -> Iterator[tuple[pl.DataFrame, list[Finding], bool]]:
        for found, findings in self._translated():
            yield found.rows, findings, False

    def _translated(self) -> Iterator[tuple[Translated, list[Finding]]]:
        for text in self._texts_of:
            page = self._cutter.page(text.text, text.first_line)
            has_header = text.first_line <= self.header < text.first_line + page.lines
            found = self._translation.translate(page.frame)
            self._note(found, len(page.findings))
            if self._texts_of.trailer is None:  # a line without its end is a row that was counted
                last = text.first_line + page.lines - 1
                page.findings.extend(self.unended(text.text, last))
            self.blank_lines += page.blank_lines - has_header
            yield found, page.findings

    def _note(self, found: Translated, faulted: int) -> None:
        self.received += found.rows.height + faulted
        self.left_out += found.left_out + found.refunded.height
        self.refunds += found.refunded.height
        self._read += found.read + faulted
        self._total += found.total
        self._faults.append(found.faults)

    def _with_faults(self, chunk: Chunk) -> Chunk:
        """Say what was expected of a value, and of an hour what is wrong with it."""
        faults, code = self._faults.popleft(), pl.col("code")
        findings = chunk.findings
        if faults.height:
            findings = (
                findings.join(faults, on="line", how="left", maintain_order="left")
                .with_columns(
                    code=pl.when(code == "timestamp_invalid")
                    .then(pl.coalesce("fault", "code"))
                    .otherwise(code)
                )
                .drop("fault")
            )
        said = pl.col("message")
        for told, message in self._messages.items():
            said = pl.when(pl.col("code") == told).then(pl.lit(message)).otherwise(said)
        return replace(chunk, findings=findings.with_columns(message=said))

    @property
    def _messages(self) -> Mapping[str, str]:
        """Return what is said where a value is not as the profile says, by code."""
        amount, time = self._profile.fields.amount, self._profile.fields.transacted_at
        messages = {}
        if isinstance(amount, AmountSource):
            messages["amount_invalid"] = (
                f"amount is not written as the profile says: {_form(amount)}"
            )
        if isinstance(time, TimeSource):
            zone = time.zone or self._reading.assume_timezone
            messages |= {
                "timestamp_invalid": f"transacted_at is not written as {time.format}, "
                "or not a real time",
                **{code: f"transacted_at {what} in {zone}" for code, what in FAULTS.items()},
                TURNED: f"transacted_at is not written as {time.format}: a spreadsheet has turned "
                "it into a date of its own",
            }
        return messages

    def _check_trailer(self) -> None:
        wanted = self._profile.trailer
        if wanted is None:
            return
        trailer = self._texts_of.trailer
        if trailer is None:
            raise unusable(
                "trailer_mismatch",
                f"No line begins with {wanted.starts_with}: the trailer is not there.",
            )
        line = self._texts_of.trailer_line
        count = self._said(trailer, wanted.count)
        if wanted.count is not None and not (count.isdigit() and int(count) == self._read):
            message = f"The trailer does not say that there are {counted(self._read, 'row')}."
            raise unusable("trailer_mismatch", message, line=line)
        amount = self._profile.fields.amount
        if wanted.sum is not None and isinstance(amount, AmountSource):
            written = amount.model_copy(update={"negate": False})
            text = pl.Series("amount", [self._said(trailer, wanted.sum)])
            (total,) = plain_amounts(text, written, self._reading.decimals)
            if total == UNREADABLE or Decimal(total) != self._total:
                message = "The trailer does not say what the amounts of the rows add up to."
                raise unusable("trailer_mismatch", message, line=line)

    def _said(self, trailer: str, place: Place | None) -> str:
        """Return what stands at a place of the trailer."""
        if place is None:
            return ""
        if isinstance(place, tuple):
            return trailer[place[0] - 1 : place[1]].strip()
        fields = _split(trailer, self._profile)
        return fields[place - 1].strip() if place <= len(fields) else ""

    def split(
        self,
        rejected: pl.Series,
        valid_to: BinaryIO | None,
        rejected_to: BinaryIO | None,
        masked: pl.DataFrame | None = None,
    ) -> None:
        """Copy each line, byte for byte, to one of two files; see `TransactionFile.split`.

        What comes before the rows goes to both, so that both can be read by the profile again.
        """
        profile = self._profile
        blocks: Iterable[bytes] = self.source.blocks()
        if profile.encoding in WIDE:
            blocks = transcoded(blocks, profile.encoding)
            valid_to, rejected_to = (
                Reencoded(out, profile.encoding) if out else None for out in (valid_to, rejected_to)
            )
        masks = ProfiledMasks(rows_of(masked), profile, self._width, self._named)
        copy = LineCopy(
            profile.header,
            rejected,
            valid_to,
            rejected_to,
            masks=masks,
            above=profile.skip_lines,
        )
        copy_lines(blocks, copy)

    @property
    def _named(self) -> Mapping[str, Sequence[int]]:
        """Return where the columns of each field stand."""
        fields = self._profile.fields.given()
        return {
            name: [self._positions[each] for each in field.sources if each != LINE]
            for name, field in fields.items()
        }


def _columns_of(texts: Texts, profile: Profile) -> list[str]:
    """Return the names of the columns; those of a file without a header may have none."""
    if profile.form.widths:
        names = list(profile.columns)
        return names + [""] * (len(profile.form.widths) - len(names))
    lines = texts.head()
    number = profile.header or profile.skip_lines + 1
    if number > len(lines) or is_blank(lines[number - 1].encode()):
        what = "header" if profile.header else "row"
        raise unusable(
            "header_missing",
            f"There is no {what} on line {number}, where the profile says it is.",
            hint="Check skip_lines and header_line of the profile.",
            line=number,
        )
    fields = _split(lines[number - 1], profile)
    if profile.header:
        return [field.strip() for field in fields]
    if profile.columns and len(profile.columns) != len(fields):
        raise unusable(
            "header_column_missing",
            f"Line {number} has {counted(len(fields), 'field')}, and the profile names "
            f"{counted(len(profile.columns), 'column')}.",
            hint="Check columns and the delimiter of the profile.",
            line=number,
        )
    return list(profile.columns) or [""] * len(fields)


def _split(line: str, profile: Profile) -> list[str]:
    """Split one line into its fields, with the profile's quote."""
    form = profile.form
    if form.widths or form.delimiter is None:
        return [line]
    if form.quote != '"':
        line = line.replace('"', STAND_IN)
        line = line.replace(form.quote, '"') if form.quote else line
    try:
        fields = split_fields(line, form.delimiter)
    except LineFault as fault:
        raise unusable(
            "header_missing",
            f"The header cannot be split: {fault.message}.",
            hint="Check delimiter and quote of the profile.",
        ) from None
    if form.quote == '"':
        return fields
    return [each.replace('"', form.quote).replace(STAND_IN, '"') for each in fields]


def _positions(columns: Sequence[str], profile: Profile) -> dict[Column, int]:
    """Find the columns that the profile reads; raise `FileUnusable` for one that is not there."""
    wanted: list[Column] = [
        *(each for field in profile.fields.given().values() for each in field.sources),
        *(condition.column for condition in profile.drop_where),
    ]
    return {each: _position(each, columns, profile) for each in wanted if each != LINE}


def _position(column: Column, columns: Sequence[str], profile: Profile) -> int:
    if isinstance(column, int):
        if column <= len(columns):
            return column
        message = f"There is no column {column}: there are {len(columns)}."
        raise unusable("header_column_missing", message, line=profile.header or None)
    if columns.count(column) == 1:
        return columns.index(column) + 1
    if columns.count(column) > 1:
        raise unusable(
            "header_column_duplicate",
            f"The header names {column} twice.",
            hint="Name the column in the profile by its number, counted from 1.",
            line=profile.header or None,
        )
    near = nearest(column, filter(None, columns))
    shown = ", ".join(filter(None, columns[:_MOST_SHOWN])) if profile.header else ""
    raise unusable(
        "header_column_missing",
        f"There is no column {column}, which the profile names.",
        hint=did_you_mean(near)
        or (f"The columns are: {shown}." if near else None)
        or "Check header_line, encoding and the delimiter of the profile.",
        line=profile.header or None,
    )


def _check_fields(profile: Profile) -> None:
    given = profile.fields.given()
    missing = [name for name in REQUIRED if name not in given]
    if not any(name in given for name in _TOKENS):
        missing.append(" or ".join(_TOKENS))
    if missing:
        raise unusable(
            "profile_field_missing",
            f"The profile does not say where {missing[0]} is.",
            hint=f"Add [fields.{missing[0].split()[0]}] with its column; also missing: "
            f"{', '.join(missing[1:])}."
            if missing[1:]
            else f"Add [fields.{missing[0].split()[0]}] with its column.",
        )


def _form(source: AmountSource) -> str:
    """Say how amounts are written, by an example."""
    if source.minor_units:
        return "digits without a decimal mark"
    example = f"{source.currency}1{source.thousands}234{source.decimal}50"
    return f"as {example}, or ({example})" if source.parentheses else f"as {example}"
