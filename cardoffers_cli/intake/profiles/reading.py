"""Read a file by a profile, as chunks of judged rows.

Read this file first: `texts` frames the lines, `translation` makes columns of them and these our
fields, and the rules judge them as they judge any file. Findings keep our names for fields;
`labels` has those of the institution's columns, for whoever shows them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, BinaryIO

import polars as pl

from cardoffers_cli.intake import transactions
from cardoffers_cli.intake.chunks import AMOUNT, Judge
from cardoffers_cli.intake.copies import LineCopy, copy_lines
from cardoffers_cli.intake.paging import read_sheet
from cardoffers_cli.intake.profiles.places import (
    ProfiledMasks,
    Reencoded,
    check_fields,
    check_trailer,
    columns_of,
    labels_of,
    named_positions,
    positions_of,
)
from cardoffers_cli.intake.profiles.refunds import BACK, FIRST, NAMES, with_refunds_labels
from cardoffers_cli.intake.profiles.texts import WIDE, Texts, transcoded, workbook_refused
from cardoffers_cli.intake.profiles.translation import Cutter, Translation
from cardoffers_cli.intake.profiles.written import messages_of, refunds_told
from cardoffers_cli.intake.sources import WORKBOOKS
from cardoffers_cli.kernel.words.money import AMOUNT_SCALE
from cardoffers_cli.kernel.words.row_kinds import PURCHASES, REFUNDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cardoffers_cli.intake.chunks import Chunk, FileReading
    from cardoffers_cli.intake.layout_model import Profile
    from cardoffers_cli.intake.profiles.translation import Translated
    from cardoffers_cli.intake.sources import Source
    from cardoffers_cli.kernel.words.findings import Finding


_FIRST = (
    *("cardholder_token", "card_token", "card_acceptor_id"),
    *("amount", "transaction_ref", "transacted_at"),
)


class ProfiledFile(transactions.TransactionFile):
    """An open file in an institution's own layout; read as a `TransactionFile` is.

    `received` counts the rows that the profile keeps, of which the refunds are judged apart; where
    these are wanted alone they are all that is read. `left_out` counts the rows that its
    `drop_where` drops. A trailer that says otherwise than the rows is a `FileUnusable` at the end.
    """

    def __init__(self, source: Source, reading: FileReading, profile: Profile) -> None:
        form = profile.form
        if form.sheet is not None:
            amount = profile.fields.amount
            decimal = amount.decimal if amount else "."  # numbers as texts of the file are written
            header = profile.header
            read_sheet(source, named=form.sheet, header=header, decimal=decimal, or_text=True)
        elif source.sheet is None and source.start in WORKBOOKS:  # of which no sheet is read yet
            raise workbook_refused()
        super().__init__(source, replace(reading, kind=PURCHASES), kind="csv")
        self.profile = profile
        self._texts_of = Texts(source, profile)
        self.left_out = self._read = 0
        self._among: transactions.MixedFile | None = None
        if profile.negatives == "refund":
            self._among = transactions.MixedFile(Judge(reading, REFUNDS))
            self._among.judge.numbers = self.numbers  # both have their references in one column
            if reading.kind is REFUNDS:
                self.row_kind = REFUNDS
            else:
                self.refunds = self._among
        self._total = Decimal(0)
        self.reading = reading
        self._translated: deque[tuple[Translated, list[Finding]]] = deque()
        columns = columns_of(self._texts_of.head(), profile)
        self.labels = with_refunds_labels(labels_of(profile))
        positions = positions_of(columns, profile)
        self.header = profile.header
        self._cutter = Cutter(form, len(columns), set(positions.values()))
        self._positions = positions
        self._width = len(columns)
        zone, key = reading.assume_timezone, reading.token_key
        self._translation = Translation(
            profile, positions, decimals=reading.decimals, zone=zone, token_key=key
        )

    @property
    def file_findings(self) -> list[Finding]:
        """Return the warnings for the file as a whole, which are not said of refunds alone."""
        if self.row_kind is REFUNDS:
            return []
        findings = super().file_findings
        if self.refunds and self.refunds.received:
            findings.append(refunds_told(self.refunds.received))
        return findings

    def chunks(self) -> Iterator[Chunk]:
        """Read and judge the file, as a `TransactionFile` does.

        Raises `FileUnusable` where the profile lacks a field that every event has.
        """
        check_fields(self.profile)
        for chunk in super().chunks():
            translated, of_refunds = self._translated.popleft()
            refunds = self._judged(translated, of_refunds)
            if refunds is None or self.refunds:
                yield replace(self._told(chunk, translated), refunds=refunds)
            else:
                yield replace(refunds, bytes_read=chunk.bytes_read, size_hint=chunk.size_hint)
        check_trailer(
            self.profile,
            self._texts_of.trailer,
            rows=self._read,
            total=self._total,
            decimals=self.reading.decimals,
        )
        if self._among and not self.refunds:
            self.received, self.invalid = self._among.received, self._among.invalid
            self.blank_lines = 0

    def write_canonical(
        self, rejected: pl.Series, out: BinaryIO, refunds_to: BinaryIO | None = None
    ) -> None:
        """Read the file once more, and write the rows not rejected in our own layout, as CSV.

        The six columns that every file has come first, then those that the profile has besides.
        The same file and profile give the same bytes. Its refunds are written too, where somebody
        asks for them.
        """
        more = self.profile.fields.given().keys() - set(_FIRST)
        names, of_refunds = (
            [*first, *(name for name in kind.columns if name in more)]
            for kind, first in ((PURCHASES, _FIRST), (REFUNDS, FIRST))
        )
        is_good, header = ~pl.col("line").is_in(rejected.implode()), True
        for translated, _ in self.translated():
            self._write(out, translated.rows.filter(is_good), names, header=header)
            if refunds_to:
                good = _as_refunds(translated.refunded).filter(is_good)
                self._write(refunds_to, good, of_refunds, header=header)
            header = False

    def _write(
        self, out: BinaryIO, rows: pl.DataFrame, names: Sequence[str], *, header: bool
    ) -> None:
        rows.select(self._written(name, rows) for name in names).write_csv(
            out, include_header=header, line_terminator="\n"
        )

    def _written(self, name: str, rows: pl.DataFrame) -> pl.Expr:
        if name not in rows.columns:
            return pl.lit(None, pl.String).alias(name)
        if name != "amount":
            return pl.col(name)
        places = AMOUNT_SCALE - self.reading.decimals
        exact = pl.col(name).cast(AMOUNT).cast(pl.String)
        text = exact.str.head(-places) if places else exact
        return (text if self.reading.decimals else text.str.strip_suffix(".")).alias(name)

    def canonical(self) -> Iterator[pl.DataFrame]:
        """Yield the rows as text columns of our own, `line` first, unjudged."""
        for translated, _ in self.translated():
            yield translated.rows

    def _pages(self) -> Iterator[tuple[pl.DataFrame, list[Finding], bool]]:
        for translated, findings in self.translated():
            yield translated.rows, findings, False

    def translated(self) -> Iterator[tuple[Translated, list[Finding]]]:
        """Yield the rows stretch by stretch, with what is wrong with lines that are none."""
        for text in self._texts_of:
            page = self._cutter.page(text.text, text.first_line)
            has_header = text.first_line <= self.header < text.first_line + page.lines
            translated = self._translation.translate(page.frame)
            faulted = len(page.findings)
            self.received += translated.rows.height + translated.refunded.height + faulted
            self.left_out += translated.left_out
            self._read += translated.read + faulted
            self._total += translated.total
            of_refunds: list[Finding] = []
            if self._texts_of.trailer is None:  # a line without its end is a row that was counted
                last = text.first_line + page.lines - 1
                is_refund = last in translated.refunded["line"]
                target = of_refunds if is_refund else page.findings
                target.extend(self.unended(text.text, last))
            self._translated.append((translated, of_refunds))
            self.blank_lines += page.blank_lines - has_header
            yield translated, page.findings

    def _judged(self, translated: Translated, findings: list[Finding]) -> Chunk | None:
        """Judge the refunds of a stretch, with what was found of their lines."""
        if self._among is None:
            return None
        chunk = self._among.judge.chunk(_as_refunds(translated.refunded), findings)
        self._among.received += translated.refunded.height
        self._among.invalid += len(chunk.rejected)
        self.invalid += len(chunk.rejected)
        return self._told(chunk, translated)

    def _told(self, chunk: Chunk, translated: Translated) -> Chunk:
        """Say what was expected of a value, and of an hour what is wrong with it."""
        findings, text = chunk.findings, pl.col("message")
        if translated.faults.height:
            is_time = pl.col("code") == "timestamp_invalid"
            code = pl.when(is_time).then(pl.coalesce("fault", "code")).otherwise("code")
            joined = findings.join(translated.faults, on="line", how="left", maintain_order="left")
            findings = joined.with_columns(code=code).drop("fault")
        messages = messages_of(self.profile, self.reading.assume_timezone)
        for name, message in messages.items():
            text = pl.when(pl.col("code") == name).then(pl.lit(message)).otherwise(text)
        return replace(chunk, findings=findings.with_columns(message=text))

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
        profile = self.profile
        blocks: Iterable[bytes] = self.source.blocks()
        if profile.encoding in WIDE:
            blocks = transcoded(blocks, profile.encoding)
            valid_to, rejected_to = (
                Reencoded(out, profile.encoding) if out else None for out in (valid_to, rejected_to)
            )
        if masked is not None:
            masked = masked.with_columns(pl.col("field").replace(BACK))
        positions = named_positions(profile, self._positions)
        masks = ProfiledMasks(transactions.rows_of(masked), profile, self._width, positions)
        outs, above = (valid_to, rejected_to), profile.skip_lines
        copy_lines(blocks, LineCopy(profile.header, rejected, *outs, masks=masks, above=above))


def _as_refunds(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows that are refunds with the columns of refunds, their amounts without a sign."""
    refunds = rows.rename(NAMES, strict=False).with_columns(pl.col("amount").str.strip_prefix("-"))
    return refunds.select(name for name in refunds.columns if name in ("line", *REFUNDS.columns))
