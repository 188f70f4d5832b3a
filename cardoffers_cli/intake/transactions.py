"""Read a file of rows: chunks of judged rows, then, if wanted, its lines sorted apart.

Which files are read stands in rules.md#file-kinds. Rows are of a kind
(`kernel/words/row_kinds.py`), which the names in the file tell; all else is the same for each.

Read this file first to follow a file from its bytes to valid rows: `sources` opens it, `pages`
numbers its records and splits them into text columns, `chunks` judges them by `rules`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import polars as pl

from cardoffers_cli.intake.chunks import FINDING_SCHEMA, VALID_SCHEMA, Chunk, FileReading, Judge
from cardoffers_cli.intake.copies import LineCopy, Masks, copy_items, copy_lines
from cardoffers_cli.intake.fields import OTHERS
from cardoffers_cli.intake.headers import Names, nameless, row_kind_of, unknown_column
from cardoffers_cli.intake.numbers import LostZerosOfColumns
from cardoffers_cli.intake.paging import RecordFile, read_sheet
from cardoffers_cli.intake.records import columns_of
from cardoffers_cli.intake.sources import Source, ahead, open_source
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.findings import Finding, make_finding
from cardoffers_cli.kernel.words.row_kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cardoffers_cli.intake.lines import Layout
    from cardoffers_cli.kernel.words.card_forms import NumberEvidence

__all__ = [
    "FINDING_SCHEMA",
    "VALID_SCHEMA",
    "Chunk",
    "FileReading",
    "TransactionFile",
    "open_transactions",
]

_MOST_UNKNOWN = 20


@dataclass
class MixedFile:
    """The refunds among the rows of a file, judged by the rules of refunds, and their counts."""

    judge: Judge
    received: int = 0
    invalid: int = 0


class TransactionFile(RecordFile):
    """An open file of rows of one `row_kind`; `chunks()` reads it once, `split()` once more.

    `sha256`, `size_bytes` (of the decompressed bytes), the counts, `assumed_timezone` (some valid
    row needed the assumed time zone) and `file_findings` are complete when `chunks()` is exhausted.
    `received` counts every record, `invalid` those with an error.
    """

    labels: Mapping[str, str] = MappingProxyType({})
    """What the columns of fields are called in the file, where not as the fields."""
    refunds: MixedFile | None = None
    """The refunds among its purchases, where a profile says that there may be any."""

    def __init__(self, source: Source, reading: FileReading, *, kind: str | None = None) -> None:
        read_sheet(source, named=reading.sheet, names=[Names.of(row_kind) for row_kind in KINDS])
        try:
            beginning = b"" if kind else source.head()
        except FileUnusable as error:  # of one in another encoding say what layout it seems to have
            from cardoffers_cli.intake.profiles.guessing import of_wide_text  # noqa: PLC0415 - heavy

            raise of_wide_text(error, source.name, source.first_bytes()) from None
        is_said = kind is not None or reading.is_kind_given
        self.row_kind = reading.kind if is_said else row_kind_of(beginning, reading.kind)
        super().__init__(
            source,
            Names.of(self.row_kind),
            list_key=self.row_kind.list_key,
            delimiter=reading.delimiter,
            unterminated=reading.unterminated,
            kind=kind,
            beginning=beginning,
        )
        self.name = source.name
        self.invalid = 0
        self.assumed_timezone = False
        self._zeros = LostZerosOfColumns()
        self._judge = Judge(reading, self.row_kind, is_table=self.kind == "csv")
        self._unknown: list[str] = []

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of the decompressed bytes, in lower-case hex."""
        return self.source.sha256

    @property
    def size_bytes(self) -> int:
        """Return the number of decompressed bytes."""
        return self.source.size_bytes

    @property
    def file_findings(self) -> list[Finding]:
        """Return the warnings for the file as a whole."""
        findings = list(self.header_findings)
        findings += [unknown_column(name, n) for n, name in enumerate(self._unknown, start=1)]
        if not self.received:
            findings.append(make_finding("rows_missing", "the file has no rows"))
        if self.is_nameless:
            findings.append(nameless())
        return [*findings, *self._zeros.findings(), *self.numbers.findings()]

    @property
    def is_nameless(self) -> bool:
        """Whether the file has no column that names a merchant."""
        return self._judge.is_nameless

    @property
    def numbers(self) -> NumberEvidence:
        """What is known of the numbers of the file's institution, its own among them."""
        return self._judge.numbers

    def chunks(self) -> Iterator[Chunk]:
        """Read and judge the file, stretch by stretch.

        Raises `FileUnusable`, at the latest at the end: what a damaged file gave before is void.
        """
        for raw, findings, is_plain in ahead(self._pages()):
            self._zeros.note(raw)
            chunk = self._judge.chunk(raw, findings, is_plain=is_plain)
            self.invalid += len(chunk.rejected)
            self.assumed_timezone |= chunk.assumed_timezone
            yield replace(chunk, bytes_read=self.source.bytes_read, size_hint=self.source.size_hint)

    def _pages(self) -> Iterator[tuple[pl.DataFrame, list[Finding], bool]]:
        if self.kind == "csv":
            for page in self.csv_pages():
                yield _with_others(page.frame), page.findings, page.is_plain
        else:
            for objects in self.object_pages():
                # The first few of the fields that are not known.
                given = set[str]().union(*objects.values)
                for name in sorted(given.difference(self.row_kind.columns, self._unknown)):
                    if len(self._unknown) < _MOST_UNKNOWN:
                        self._unknown.append(name)
                yield columns_of(objects, self.row_kind), objects.findings, False

    def take_header(self, header: bytes, line: int) -> Layout:
        """Read the header; of a file in another layout say what that seems to be."""
        try:
            return super().take_header(header, line)
        except FileUnusable as error:
            if self.names.are_in(header):
                raise
            from cardoffers_cli.intake.profiles.guessing import in_other_layout  # noqa: PLC0415

            raise in_other_layout(
                error, self.source.name, self.beginning, self.source.sheet
            ) from None

    def split(
        self,
        rejected: pl.Series,
        valid_to: BinaryIO | None,
        rejected_to: BinaryIO | None,
        masked: pl.DataFrame | None = None,
    ) -> None:
        """Copy each record, byte for byte, to one of two files by its line; each gets the header.

        `rejected` are the sorted lines (u64) of those for `rejected_to`; `masked` are the fields
        (line and field, sorted) that do not go there as they came. Blank lines go to neither. A
        JSON array is cut into its items, and each file is an array again.
        """
        blocks = self.source.blocks()
        masks = Masks(rows_of(masked), self.layout)
        if self.kind == "json":
            copy_items(blocks, rejected, self.row_kind.list_key, valid_to, rejected_to, masks=masks)
        else:
            copy = LineCopy(self.header, rejected, valid_to, rejected_to, masks=masks)
            copy_lines(blocks, copy)

    def close(self) -> None:
        """Close the file."""
        self.source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()


def open_transactions(source: str | Source, reading: FileReading) -> TransactionFile:
    """Open a path, `-` for standard input, or what is open already, which is closed with the file.

    Raises `FileUnusable` if it is no transaction file.
    """
    opened = open_source(source) if isinstance(source, str) else source
    try:
        return TransactionFile(opened, reading)
    except BaseException:
        opened.close()
        raise


def rows_of(masked: pl.DataFrame | None) -> Iterator[tuple[Any, ...]] | None:
    """Return the fields that are to be masked, one by one."""
    return None if masked is None else masked.iter_rows()


def _with_others(frame: pl.DataFrame) -> pl.DataFrame:
    """Put the columns that are not known together as one, for the rules that hold of any text."""
    unknown = [name for name in frame.columns if name.startswith(" ")]
    if not unknown:
        return frame
    others = pl.concat_str(unknown, separator=" ", ignore_nulls=True)
    return frame.with_columns(others.alias(OTHERS)).drop(unknown)
