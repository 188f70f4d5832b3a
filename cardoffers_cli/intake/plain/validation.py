"""Check one file of rows that is handed over piece by piece.

    check = PlainValidation("june.csv", {"now": "2026-06-01T00:00:00Z", "currency": "GBP"})
    for piece in pieces:          # of any size, as the file is stored, gzip too
        check.feed(piece)
    document = check.finish()     # what `validate --format json` shows
    report = check.errors_csv()   # what `--errors` writes
    apart = check.apart()         # the rows that `--valid` and `--rejected` write:
    for piece in pieces:          # the same pieces a second time
        valid, rejected = apart.add(piece)
    valid, rejected = apart.end()

A file is judged in slices of some MiB, so memory does not grow with its size, but for a reference
and a fingerprint of each row, each cardholder once, and the findings. A JSON document is held
whole: whether it is one is known at its end.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.copies import LineCopy, Masks, copy_items
from cardoffers_cli.intake.headers import row_kind_of
from cardoffers_cli.intake.plain.blocks import FileBlocks
from cardoffers_cli.intake.plain.judging import PlainJudge
from cardoffers_cli.intake.plain.profiled import ProfiledRows, is_in_our_layout, refuser
from cardoffers_cli.intake.plain.readers import LineRows, reader_of
from cardoffers_cli.intake.profiles.guessing import of_wide_text
from cardoffers_cli.intake.profiles.refunds import profile_of
from cardoffers_cli.intake.verdicts import (
    about_code,
    about_error,
    about_file,
    in_their_words,
    not_asked,
)
from cardoffers_cli.kernel.sheets.sheets import write_findings
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.moments import parse_moment
from cardoffers_cli.kernel.words.money import MINOR_UNITS
from cardoffers_cli.kernel.words.row_kinds import BY_NAME, PURCHASES, REFUNDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from cardoffers_cli.intake.layout_model import Profile
    from cardoffers_cli.intake.plain.readers import Reader
    from cardoffers_cli.intake.plain.slices import RowSlice
    from cardoffers_cli.kernel.words.findings import Finding


class PlainValidation:
    """The check of one file, which is called `name` in what is said of it.

    `options` are those of the command by their names: `now` (a naive datetime in UTC, or its text,
    which is needed), `kind`, `currency`, `delimiter`, `assume_timezone`, `allow_unterminated`,
    `raw_rejected`; `profile` is a layout as `profiles/refunds.py` has it.
    """

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        self._name = name
        self._options = options
        profile = options.get("profile")
        self._profile = profile_of(profile) if profile else None
        self._blocks = _blocks_of(self._profile)
        self._read: _Reading | None = None
        self._of_file: list[Finding] = []
        self._error: FileUnusable | None = None

    @property
    def progress(self) -> int:
        """Return how many rows were judged."""
        return sum(judge.received for judge in self._read.judges) if self._read else 0

    @property
    def is_unusable(self) -> bool:
        """Whether it is known already that the file cannot be read: no more of it is needed."""
        return self._error is not None

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the file, as it is stored."""
        self._take(self._blocks.add(piece))

    def finish(self) -> Mapping[str, Any]:
        """Judge what is left, and the file as a whole; return the document of `validate`."""
        self._take(self._blocks.end(), is_end=True)
        read = None if self._error else self._read
        judges = read.judges if read else []
        findings = read.findings.by_code() if read else ()
        document = self._told(judges, [*map(about_code, findings), *map(about_file, self._of_file)])
        refunds = judges[1:]
        if read is None or not sum(judge.received for judge in refunds):
            return document
        of_refunds = [*map(about_code, read.findings.by_code(refunds[0].lines))]
        return {**document, "refunds": self._told(refunds, of_refunds)}

    def errors_csv(self) -> Iterator[bytes]:
        """Yield the report of every finding, one a line; of a file that cannot be read, none."""
        if self._read is None or self._error:
            return
        of_file = ({**asdict(finding), "field": finding.column} for finding in self._of_file)
        findings = [*of_file, *self._read.findings.in_order()]
        out = BytesIO()
        rows = in_their_words(findings, self._read.labels)
        write_findings(out, rows, position=self._read.reader.position)
        yield out.getvalue()

    def apart(self) -> RowSplitter:
        """Return what sorts the rows of the file apart, which is handed over a second time.

        Raises the error of a file that cannot be read.
        """
        if self._read is None or self._error:
            raise self._error or LookupError("finish() comes first")
        is_raw = bool(self._options.get("raw_rejected"))
        return RowSplitter(self._read, _blocks_of(self._profile), is_raw=is_raw)

    def _take(self, blocks: Iterator[bytes], *, is_end: bool = False) -> None:
        if self._error is not None:
            return
        try:
            for block in blocks:
                self._opened().take(block)
            if is_end:
                self._of_file = self._opened().end()
        except FileUnusable as error:
            self._error = error
            if self._profile is None:
                self._error = of_wide_text(error, self._name, self._blocks.head)

    def _opened(self) -> _Reading:
        if self._read is None:
            self._read = _Reading(self._name, self._blocks.head, self._options, self._profile)
        return self._read

    def _told(
        self, judges: Sequence[PlainJudge], rows: Sequence[Mapping[str, Any]]
    ) -> Mapping[str, Any]:
        """Return what is said of the rows of some judges."""
        read = None if self._error else self._read
        names = ("invalid", "duplicates", "conflicts", "blank_lines", "look_alikes_by_date")
        received, invalid, duplicates, conflicts, blank_lines, by_date = (
            sum(getattr(judge, name) for judge in judges) for name in ("received", *names)
        )
        earning = judges[0].earning if judges and judges[0].kind is PURCHASES else None
        return {
            "file": self._name,
            "kind": read and read.reader.kind,
            "kind_of_rows": judges[0].kind.name if judges else None,
            "sha256": self._blocks.sha256 if read else None,
            "bytes": self._blocks.size_bytes if read else 0,
            "received": received,
            "valid": received - invalid - duplicates,
            "invalid": invalid,
            "duplicates": duplicates,
            "conflicts": conflicts,
            "blank_lines": blank_lines,
            "can_be_taken": received - invalid - duplicates,
            "can_earn": earning,
            "look_alikes_by_date": by_date,
            "not_asked": not_asked(
                {judge.kind for judge in judges if judge.received}, earning, rows
            ),
            "ok": bool(read and not invalid and not conflicts),
            "findings": rows,
            "file_error": about_error(self._error),
        }


def _blocks_of(profile: Profile | None) -> FileBlocks:
    return FileBlocks(refuser(profile) if profile else None)


class _Reading:
    """What reads and judges a file, chosen by its first bytes."""

    def __init__(
        self, name: str, head: bytes, options: Mapping[str, Any], profile: Profile | None
    ) -> None:
        now, currency, kind = options["now"], options.get("currency"), options.get("kind")
        zone = options.get("assume_timezone")
        decimals = MINOR_UNITS[currency] if currency else 2
        self.labels: Mapping[str, str] = {}
        messages: Mapping[str, str] = {}
        self.row_kind = PURCHASES  # which is what a profile describes
        self.reader: Reader | ProfiledRows
        has_refunds = False
        if profile and not is_in_our_layout(head):
            self.reader = ProfiledRows(profile, head, decimals=decimals, zone=zone)
            self.labels, messages = self.reader.labels, self.reader.messages
            has_refunds = profile.negatives == "refund"
        else:
            self.row_kind = BY_NAME[kind] if kind else row_kind_of(head, PURCHASES)
            delimiter = options.get("delimiter") or ","
            self.reader = reader_of(name, head, self.row_kind, delimiter)
        if isinstance(self.reader, LineRows):
            self.reader.is_whole = bool(options.get("allow_unterminated"))
        judge = partial(
            PlainJudge,
            now=parse_moment(now) if isinstance(now, str) else now,
            currency=currency,
            decimals=decimals,
            zone=zone,
            is_table=self.reader.kind == "csv",
            has_days=isinstance(self.reader, ProfiledRows) and self.reader.has_days,
            messages=messages,
        )
        self._all = [judge(self.row_kind)]
        self.judges = self._all
        if has_refunds:
            rows = self._all[0]
            is_alone = kind == REFUNDS.name
            findings = None if is_alone else rows.findings
            self._all = [rows, judge(REFUNDS, among=rows, findings=findings)]
            self.judges = self._all[is_alone:]
        self.findings = self.judges[0].findings

    @property
    def repeated(self) -> set[int]:
        """The lines of the rows whose reference was there before."""
        return set().union(*(judge.repeated() for judge in self.judges))

    def take(self, block: bytes) -> None:
        """Judge the rows that are whole with a block."""
        self._judge(self.reader.read(block))

    def _judge(self, slices: Iterable[RowSlice]) -> None:
        for rows in slices:
            for judge, own in zip(self._all, (rows, rows.refunds), strict=False):
                if own:
                    judge.judge(own)

    def end(self) -> list[Finding]:
        """Judge what is left; return what is found of the file as a whole."""
        self._judge(self.reader.end())
        position = self.reader.position
        rows, *refunds = self._all
        findings = rows.end(position, refunds=sum(judge.received for judge in refunds))
        for judge in refunds:
            judge.end(position)
        return [*self.reader.findings, *findings] if rows in self.judges else []


class RowSplitter:
    """The rows of a file that was checked, sorted apart as it is handed over again."""

    def __init__(self, read: _Reading, blocks: FileBlocks, *, is_raw: bool) -> None:
        reader = read.reader
        self._rejected_rows = sorted(read.findings.error_lines() | read.repeated)
        masked = None if is_raw else read.findings.masked_fields()
        self._masks = Masks(masked, reader.layout)
        self._blocks = blocks
        self._valid, self._rejected = BytesIO(), BytesIO()
        outs = self._valid, self._rejected
        self._list_key = read.row_kind.list_key if reader.kind == "json" else None
        self._held: list[bytes] = []
        self._for_copy: Callable[[bytes], bytes] = bytes
        if isinstance(reader, ProfiledRows):
            self._copy = reader.copy(self._rejected_rows, masked, *outs)
            self._for_copy = reader.for_copy
        else:
            self._copy = LineCopy(reader.header, self._rejected_rows, *outs, masks=self._masks)

    def add(self, piece: bytes) -> tuple[bytes, bytes]:
        """Take the next bytes of the file; return the valid and the rejected rows among them."""
        self._take(self._blocks.add(piece))
        return self._taken()

    def end(self) -> tuple[bytes, bytes]:
        """Return the last valid and rejected rows; of a JSON document, all of them."""
        self._take(self._blocks.end())
        if self._list_key is None:
            self._copy.end()
        else:
            outs = self._valid, self._rejected
            copy_items(self._held, self._rejected_rows, self._list_key, *outs, masks=self._masks)
        return self._taken()

    def _take(self, blocks: Iterator[bytes]) -> None:
        for block in blocks:
            if self._list_key is None:
                self._copy.add(self._for_copy(block))
            else:
                self._held.append(block)

    def _taken(self) -> tuple[bytes, bytes]:
        contents = self._valid.getvalue(), self._rejected.getvalue()
        for buffer in (self._valid, self._rejected):
            buffer.seek(0)
            buffer.truncate()
        return contents
