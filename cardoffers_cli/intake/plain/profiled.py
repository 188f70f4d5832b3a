"""Files in an institution's own layout, read by a profile in plain Python.

What `profiles/reading.py` and `profiles/translation.py` do by columns: the same lines, columns,
fields and trailer; rows come as slices of the columns that a profile reads (`cN` for the column N),
and leave as slices of our own fields. The profile comes settled (`profiles/refunds.py`), as whoever
is handed it may have no pydantic.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from itertools import accumulate, compress
from typing import TYPE_CHECKING

from cardoffers_cli.intake.conditions import WHITE_SPACE
from cardoffers_cli.intake.copies import LineCopy
from cardoffers_cli.intake.headers import is_of_other_kind
from cardoffers_cli.intake.lines import QUOTE, Layout, is_cut_off, unterminated
from cardoffers_cli.intake.plain.clocks import ProfiledTimes
from cardoffers_cli.intake.plain.readers import LineRows
from cardoffers_cli.intake.plain.slices import RowSlice, read_lines
from cardoffers_cli.intake.profiles.places import (
    STAND_IN,
    ProfiledMasks,
    Reencoded,
    check_fields,
    check_trailer,
    column_name,
    columns_of,
    labels_of,
    named_positions,
    positions_of,
)
from cardoffers_cli.intake.profiles.refunds import BACK, NAMES, with_refunds_labels
from cardoffers_cli.intake.profiles.texts import (
    WIDE,
    Frame,
    Transcoder,
    decoded_lines,
    first_lines,
    workbook_refused,
)
from cardoffers_cli.intake.profiles.written import UNREADABLE, PlainAmounts, messages_of
from cardoffers_cli.intake.sources import WORKBOOKS, refuse_binary
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.findings import make_finding, unusable
from cardoffers_cli.kernel.words.money import AMOUNT_SCALE
from cardoffers_cli.kernel.words.row_kinds import LINE, REFUNDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import BinaryIO

    from cardoffers_cli.intake.layout_model import Column, DropCondition, FieldSource, Profile
    from cardoffers_cli.intake.profiles.texts import RowLines
    from cardoffers_cli.kernel.words.findings import Finding


class ProfiledRows(LineRows):
    """The rows of a file that a profile describes; `labels` are what it calls our fields.

    Raises `FileUnusable` where the profile does not fit the file, by its `head` or at its end.
    """

    kind, layout = "csv", None

    def __init__(self, profile: Profile, head: bytes, *, decimals: int, zone: str | None) -> None:
        super().__init__()
        columns = columns_of(first_lines(head, profile.encoding), profile)
        self._positions = positions_of(columns, profile)
        check_fields(profile)
        self.header = profile.header
        self.findings: list[Finding] = []
        self.labels = with_refunds_labels(labels_of(profile))
        self.messages = messages_of(profile, zone)
        time = profile.fields.transacted_at
        self.has_days = time is not None and not time.has_clock
        self._profile = profile
        self._decimals = decimals
        self._cutter = PlainCutter(profile, len(columns), set(self._positions.values()))
        self._translation = PlainTranslation(profile, self._positions, decimals=decimals, zone=zone)
        self._transcoder = Transcoder(profile.encoding)
        self._frame = Frame(profile)
        self._read_rows = 0

    def read(self, block: bytes) -> Iterator[RowSlice]:
        """Yield the rows that are whole with a block."""
        yield from super().read(self._transcoder.add(block))

    def end(self) -> Iterator[RowSlice]:
        """Yield what is left, and hold the trailer against the rows."""
        yield from super().read(self._transcoder.end())
        yield from super().end()
        check_trailer(
            self._profile,
            self._frame.trailer,
            rows=self._read_rows,
            total=self._translation.total,
            decimals=self._decimals,
        )

    def _read(self, text: bytes) -> Iterator[RowSlice]:
        for lines in self._frame.rows(text):
            yield self._rows(lines)

    def _rows(self, lines: RowLines) -> RowSlice:
        cut = self._cutter.cut(lines)
        has_header = lines.first_line <= self.header < lines.first_line + cut.lines
        last = lines.first_line + cut.lines - 1
        self._read_rows += len(cut.numbers) + len(cut.findings)
        rows = self._translation.translate(cut)
        findings = [*cut.findings]
        if self._frame.trailer is None and is_cut_off(lines.text) and not self.is_whole:
            refunds = rows.refunds if rows.refunds and last in rows.refunds.numbers else None
            (refunds.findings if refunds else findings).append(unterminated(last, "error"))
        lines_of_rows, blank_lines = rows.lines - has_header, rows.blank_lines - has_header
        return replace(rows, findings=findings, lines=lines_of_rows, blank_lines=blank_lines)

    def copy(
        self,
        rejected: Iterable[int],
        masked: Iterable[tuple[int, str]] | None,
        valid_to: BinaryIO,
        rejected_to: BinaryIO,
    ) -> LineCopy:
        """Return what copies the lines apart; those before the rows go to both.

        It takes lines as `for_copy` returns them.
        """
        profile = self._profile
        self._transcoder = Transcoder(profile.encoding if profile.encoding in WIDE else "utf-8")
        if profile.encoding in WIDE:
            valid_to, rejected_to = (
                Reencoded(out, profile.encoding) for out in (valid_to, rejected_to)
            )
        positions = named_positions(profile, self._positions)
        if masked is not None:
            masked = [(number, BACK.get(name, name)) for number, name in masked]
        masks = ProfiledMasks(masked, profile, self._cutter.width, positions)
        return LineCopy(
            profile.header, rejected, valid_to, rejected_to, masks=masks, above=profile.skip_lines
        )

    def for_copy(self, block: bytes) -> bytes:
        """Return a block of the file with line ends of one byte."""
        return self._transcoder.add(block)


class PlainCutter:
    """Cuts lines into slices of the columns `used`, by a delimiter or at fixed widths."""

    def __init__(self, profile: Profile, width: int, used: Iterable[int]) -> None:
        self.width = width
        self._form = profile.form
        self._used = sorted(used)
        names = tuple(column_name(position) for position in range(1, width + 1))
        self._layout = Layout(names=names, delimiter=self._form.delimiter or ",")

    def cut(self, lines: RowLines) -> RowSlice:
        """Cut whole, LF-ended lines."""
        rows = self._fixed(lines) if self._form.widths else self._delimited(lines)
        names = {column_name(position) for position in self._used}
        columns = {name: texts for name, texts in rows.columns.items() if name in names}
        return replace(rows, columns=columns)

    def _delimited(self, lines: RowLines) -> RowSlice:
        text, quote = lines.text, self._form.quote
        is_swapped = quote != QUOTE and (QUOTE.encode() in text or quote.encode() in text)
        if is_swapped:
            text = text.replace(QUOTE.encode(), STAND_IN.encode())
            text = text.replace(quote.encode(), QUOTE.encode()) if quote else text
        rows = read_lines(text, self._layout, first_line=lines.first_line, is_plain=False)
        if not is_swapped:
            return rows
        columns = {
            name: [
                (text.replace(QUOTE, quote) if quote else text).replace(STAND_IN, QUOTE)
                for text in texts
            ]
            for name, texts in rows.columns.items()
        }
        return replace(rows, columns=columns)

    def _fixed(self, lines: RowLines) -> RowSlice:
        widths = self._form.widths
        ends = [*accumulate(widths)]
        least, most = ends[self._used[-1] - 1] if self._used else 1, ends[-1]
        texts, findings = decoded_lines(lines.text, lines.first_line)
        blank_lines = -len(findings)  # a line that cannot be decoded is empty, and not blank
        numbers, rows = list[int](), list[str]()
        for number, text in enumerate(texts, lines.first_line):
            if not text.strip(" \t"):
                blank_lines += 1
            elif len(text) < least or text[most:].strip(" \t"):
                message = f"the line has {len(text)} characters, the widths come to {most}"
                findings.append(make_finding("field_count", message, line=number))
            else:
                numbers.append(number)
                rows.append(text)
        places = {position: ends[position - 1] for position in self._used}
        columns = {
            column_name(position): [text[end - widths[position - 1] : end] for text in rows]
            for position, end in places.items()
        }
        return RowSlice(
            numbers=numbers,
            columns=columns,
            findings=findings,
            lines=len(texts),
            blank_lines=blank_lines,
        )


def refuser(profile: Profile) -> Callable[[bytes, bool], None]:
    """Return what refuses a file by its head, as it is no text that the profile describes.

    A sheet of a workbook is out of reach here, but what was saved of it as CSV is read by the same
    profile, as the command reads it.
    """

    def refuse(head: bytes, is_packed: bool) -> None:
        if head.startswith(WORKBOOKS) and not is_packed:
            if profile.form.sheet is None:
                raise workbook_refused()
            raise unusable(
                "file_binary",
                "The file is a workbook, and only text is read here.",
                hint="Save the sheet as CSV in UTF-8, with commas, and check that.",
            )
        if profile.encoding not in WIDE:
            refuse_binary(head)

    return refuse


def is_in_our_layout(head: bytes) -> bool:
    """Whether a file begins with the whole header of a kind of rows that no profile describes."""
    try:
        refuse_binary(head)
    except FileUnusable:  # what no text of ours is, its profile may read
        return False
    return is_of_other_kind(head)


_NUMBER = re.compile("[0-9]+")
_SMALLEST = Decimal(1).scaleb(-AMOUNT_SCALE)
_MOST_DIGITS = 38 - AMOUNT_SCALE


class PlainTranslation:
    """A profile with its columns found: `positions` says where in the file each one is.

    Where a trailer says what the amounts come to, `total` is that of all rows so far, also of those
    that are left out, signs as they stand.
    """

    def __init__(
        self,
        profile: Profile,
        positions: Mapping[Column, int],
        *,
        decimals: int,
        zone: str | None,
    ) -> None:
        self.total = Decimal(0)
        self._profile = profile
        self._fields = profile.fields.given()
        self._positions = positions
        amount, time = profile.fields.amount, profile.fields.transacted_at
        self._amounts = PlainAmounts(amount, decimals) if amount else None
        self._times = ProfiledTimes(time, zone) if time else None
        self._summed: PlainAmounts | None = None
        if amount and profile.trailer and profile.trailer.sum is not None:
            self._summed = PlainAmounts(amount, decimals, as_written=True)

    def translate(self, rows: RowSlice) -> RowSlice:
        """Translate rows of their columns."""
        self._add_up(rows)
        for condition in self._profile.drop_where:
            rows = _where(rows, [not dropped for dropped in self._dropped(condition, rows)])
        columns = {name: self._texts(source, rows) for name, source in self._fields.items()}
        faults: Mapping[int, str] = {}
        if self._times is not None:
            read = [self._times[text] for text in columns["transacted_at"]]
            columns["transacted_at"] = [time.text for time in read]
            numbered = zip(rows.numbers, read, strict=True)
            faults = {number: time.fault for number, time in numbered if time.fault}
        if self._amounts is not None:
            columns["amount"] = [self._amounts[text] for text in columns["amount"]]
        rows = replace(rows, columns=columns, faults=faults, is_plain=False)
        if self._profile.negatives == "refund" and self._amounts is not None:
            are_refunds = [text.startswith("-") for text in columns["amount"]]
            refunds = _as_refunds(_where(rows, are_refunds))
            rows = replace(_where(rows, [not flag for flag in are_refunds]), refunds=refunds)
        return rows

    def _source(self, column: Column, rows: RowSlice) -> Sequence[str]:
        """Return the texts of a column, blanks taken off their ends."""
        if column == LINE:
            return [*map(str, rows.numbers)]
        texts = rows.columns[column_name(self._positions[column])]
        return [text.strip(WHITE_SPACE) for text in texts]

    def _texts(self, source: FieldSource, rows: RowSlice) -> Sequence[str]:
        if source.constant is not None:
            return [source.constant] * len(rows.numbers)
        parts = [self._source(column, rows) for column in source.sources]
        texts = parts[0]
        if len(parts) > 1:
            joined = zip(*parts, strict=True)
            texts = [source.join.join(row) if all(row) else "" for row in joined]
        if source.empty:
            texts = ["" if text in source.empty else text for text in texts]
        if pad := getattr(source, "pad", None):
            texts = [text.zfill(pad) if _NUMBER.fullmatch(text) else text for text in texts]
        return texts

    def _dropped(self, condition: DropCondition, rows: RowSlice) -> Sequence[bool]:
        texts = self._source(condition.column, rows)
        if condition.starts_with:
            return [text.startswith(tuple(condition.starts_with)) for text in texts]
        if condition.is_:
            return [text in condition.is_ for text in texts]
        return [text not in condition.is_not for text in texts]

    def _add_up(self, rows: RowSlice) -> None:
        """Add every amount that can be read to the total, where a trailer says what that is."""
        if self._summed is None or self._profile.fields.amount is None:
            return
        texts = (self._summed[text] for text in self._texts(self._profile.fields.amount, rows))
        exact = (Decimal(text) for text in texts if text not in {"", UNREADABLE})
        self.total += sum(
            amount.quantize(_SMALLEST) for amount in exact if amount.adjusted() < _MOST_DIGITS
        )


def _where(rows: RowSlice, is_kept: Sequence[bool]) -> RowSlice:
    """Leave out the rows that are not kept; they are not counted among the lines either."""
    columns = {name: [*compress(texts, is_kept)] for name, texts in rows.columns.items()}
    numbers = [*compress(rows.numbers, is_kept)]
    left_out = len(is_kept) - len(numbers)
    return replace(rows, numbers=numbers, columns=columns, lines=rows.lines - left_out)


def _as_refunds(rows: RowSlice) -> RowSlice:
    """Return rows that are refunds with the columns of refunds, their amounts without a sign."""
    columns = {NAMES.get(name, name): texts for name, texts in rows.columns.items()}
    columns["amount"] = [text.removeprefix("-") for text in columns["amount"]]
    own = {name: texts for name, texts in columns.items() if name in REFUNDS.columns}
    return replace(rows, columns=own, findings=[], lines=len(rows.numbers), blank_lines=0)
