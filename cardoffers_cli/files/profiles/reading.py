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

from cardoffers_cli.domain.money import AMOUNT_SCALE
from cardoffers_cli.domain.row_kinds import PURCHASES, REFUNDS
from cardoffers_cli.files.chunks import AMOUNT
from cardoffers_cli.files.copies import LineCopy, copy_lines
from cardoffers_cli.files.profiles import refunds
from cardoffers_cli.files.profiles.cutting import Cutter
from cardoffers_cli.files.profiles.masking import ProfiledMasks, Reencoded
from cardoffers_cli.files.profiles.places import (
    check_fields,
    columns_of,
    labels_of,
    named_positions,
    positions_of,
)
from cardoffers_cli.files.profiles.texts import WIDE, Texts, transcoded, workbook_refused
from cardoffers_cli.files.profiles.trailers import check_trailer
from cardoffers_cli.files.profiles.translation import Translation
from cardoffers_cli.files.profiles.written import messages_of, refunds_told
from cardoffers_cli.files.spreadsheets import is_workbook, read_sheet
from cardoffers_cli.files.transactions import TransactionFile, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cardoffers_cli.domain.findings import Finding
    from cardoffers_cli.domain.profiles import Profile
    from cardoffers_cli.files.chunks import Chunk, FileReading
    from cardoffers_cli.files.profiles.refunds import RefundsApart
    from cardoffers_cli.files.profiles.translation import Translated
    from cardoffers_cli.files.sources import Source

_FIRST = (
    *("cardholder_token", "card_token", "card_acceptor_id"),
    *("amount", "transaction_ref", "transacted_at"),
)


class ProfiledFile(TransactionFile):
    """An open file in an institution's own layout; read as a `TransactionFile` is.

    `received` counts the rows that the profile keeps; `left_out` those that its `drop_where` drops
    and its refunds. A trailer that says otherwise than the rows raises `FileUnusable` at the end.
    """

    rows_are = PURCHASES
    """What the rows are that are judged."""

    def __init__(self, source: Source, reading: FileReading, profile: Profile) -> None:
        form = profile.form
        if form.sheet is not None:
            amount = profile.fields.amount
            decimal = amount.decimal if amount else "."  # numbers as texts of the file are written
            header = profile.header
            read_sheet(source, named=form.sheet, header=header, decimal=decimal, or_text=True)
        elif is_workbook(source):
            raise workbook_refused()
        super().__init__(source, replace(reading, kind=self.rows_are), kind="csv")
        self.profile = profile
        self._texts_of = Texts(source, profile)
        self.left_out = self.refunds = self._read = 0
        self._total = Decimal(0)
        self.reading = reading
        self._faults: deque[pl.DataFrame] = deque()
        columns = columns_of(self._texts_of.head(), profile)
        self.labels = labels_of(profile)
        positions = positions_of(columns, profile)
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
            findings.append(refunds_told(self.refunds))
        return findings

    def chunks(self) -> Iterator[Chunk]:
        """Read and judge the file, as a `TransactionFile` does.

        Raises `FileUnusable` where the profile lacks a field that every event has.
        """
        check_fields(self.profile)
        for chunk in super().chunks():
            yield self._with_faults(chunk)
        check_trailer(
            self.profile,
            self._texts_of.trailer,
            rows=self._read,
            total=self._total,
            decimals=self.reading.decimals,
        )

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
        apart = refunds.RefundsApart(self.reading, self.numbers)
        header = True
        for found, _ in self.translated():
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
        return self.profile.fields.given().keys() - set(_FIRST)

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
        for found, _ in self.translated():
            yield found.rows

    def _pages(self) -> Iterator[tuple[pl.DataFrame, list[Finding], bool]]:
        for found, findings in self.translated():
            yield found.rows, findings, False

    def translated(self) -> Iterator[tuple[Translated, list[Finding]]]:
        """Yield the rows stretch by stretch, with what is wrong with lines that are none."""
        for text in self._texts_of:
            page = self._cutter.page(text.text, text.first_line)
            has_header = text.first_line <= self.header < text.first_line + page.lines
            found = self._translation.translate(page.frame)
            self.note(found, len(page.findings))
            if self._texts_of.trailer is None:  # a line without its end is a row that was counted
                last = text.first_line + page.lines - 1
                page.findings.extend(self.unended(text.text, last))
            self.blank_lines += page.blank_lines - has_header
            yield found, page.findings

    def note(self, found: Translated, faulted: int) -> None:
        """Count a stretch: its rows, and the lines that are none."""
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
        messages = messages_of(self.profile, self.reading.assume_timezone)
        for told, message in messages.items():
            said = pl.when(pl.col("code") == told).then(pl.lit(message)).otherwise(said)
        return replace(chunk, findings=findings.with_columns(message=said))

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
        masks = ProfiledMasks(
            rows_of(refunds.in_purchases(masked)),
            profile,
            self._width,
            named_positions(profile, self._positions),
        )
        copy = LineCopy(
            profile.header,
            rejected,
            valid_to,
            rejected_to,
            masks=masks,
            above=profile.skip_lines,
        )
        copy_lines(blocks, copy)
