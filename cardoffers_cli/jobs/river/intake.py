"""Intake: what `validate`, `import` and `simulate` do alike with one file of rows of any kind.

The file is read ahead in a thread while the store takes the chunk before, and the report says the
same of a file whichever command read it.
"""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from heapq import merge
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.findings import CODES, make_finding
from cardoffers_cli.domain.records import Record, if_any
from cardoffers_cli.domain.row_kinds import PURCHASES
from cardoffers_cli.files.chunks import no_rows
from cardoffers_cli.files.exports import replacing
from cardoffers_cli.files.findings import write_findings
from cardoffers_cli.files.fingerprints import with_fingerprints
from cardoffers_cli.files.profiles.refunds import lines_together, masked_together
from cardoffers_cli.files.sources import ahead
from cardoffers_cli.files.verdicts import about_code, about_error, about_file, in_their_words
from cardoffers_cli.jobs.river.engines import dedupe
from cardoffers_cli.pipeline.judge import (
    common_findings,
    fields_to_mask,
    find_common,
    find_known,
    find_look_alikes,
    find_repeats,
    find_same,
    findings,
    first_findings,
    no_look_alikes,
    none_known,
    note_repeats,
    refuse_card_numbers,
    rejected_lines,
    summary,
    tokens_look_rotated,
)
from cardoffers_cli.pipeline.stage import stage_slim, stage_whole
from cardoffers_cli.services.card_numbers import refused_before

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from uuid import UUID

    import polars as pl

    from cardoffers_cli.archive.target import EngineTarget
    from cardoffers_cli.domain.errors import FileUnusable
    from cardoffers_cli.domain.findings import Finding
    from cardoffers_cli.domain.row_kinds import RowKind
    from cardoffers_cli.files.transactions import TransactionFile
    from cardoffers_cli.pipeline.handles import Numbered, Repeats, Staged, StagedWhole
    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store

    Progress = Callable[[int, int | None], None]
    """Told how many bytes of the file are read, of how many if that is known."""


FINDINGS_SHOWN = 20
"""How many single findings a report carries for the eye; `--errors` has them all."""


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """The files a run may write about the rows: the report, and the rows apart.

    Fields that were refused as card numbers or personal data are masked in `rejected`, unless it is
    to be `raw`.
    """

    errors: Path | None = None
    valid: Path | None = None
    rejected: Path | None = None
    raw: bool = False


class FileTold(Record):
    """What was found in one file, in the shape of `validate --format json`."""

    simulated: bool | None = if_any()
    file: str
    kind: str | None
    kind_of_rows: str | None
    sha256: str | None
    bytes: int
    received: int
    valid: int
    invalid: int
    duplicates: int
    conflicts: int
    blank_lines: int
    ok: bool
    findings: Sequence[Mapping[str, Any]]
    file_error: Mapping[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class FileReport:
    """What was found in one file; `document` is the shape of the command line's contract."""

    file: str
    kind: str | None = None
    row_kind: RowKind | None = None
    sha256: str | None = None
    size_bytes: int = 0
    received: int = 0
    invalid: int = 0
    duplicates: int = 0
    conflicts: int = 0
    blank_lines: int = 0
    is_unterminated: bool = False
    findings: list[dict[str, Any]] = field(default_factory=list)
    common_findings: Sequence[Mapping[str, Any]] = ()
    first_findings: Sequence[Mapping[str, Any]] = ()
    file_error: FileUnusable | None = None

    @property
    def valid(self) -> int:
        """Rows without an error that are no duplicates."""
        return self.received - self.invalid - self.duplicates

    @property
    def ok(self) -> bool:
        """Whether every row was good, or harmlessly known already."""
        return self.file_error is None and not self.invalid and not self.conflicts

    @property
    def look_alikes(self) -> int:
        """Rows that are taken though they look like others."""
        return sum(row["rows"] for row in self.findings if row["code"] == "look_alike")

    def document(self) -> FileTold:
        """Return the report in the shape of `validate --format json`."""
        return FileTold(
            file=self.file,
            kind=self.kind,
            kind_of_rows=self.row_kind.name if self.row_kind else None,
            sha256=self.sha256,
            bytes=self.size_bytes,
            received=self.received,
            valid=self.valid,
            invalid=self.invalid,
            duplicates=self.duplicates,
            conflicts=self.conflicts,
            blank_lines=self.blank_lines,
            ok=self.ok,
            findings=self.findings,
            file_error=about_error(self.file_error),
        )


def stage_check(store: Store, file: TransactionFile, *, progress: Progress | None = None) -> Staged:
    """Read what a check needs of the file.

    What the end of the file says of its numbers is applied to all of its rows.
    """
    file.numbers.load_now()
    staged = stage_slim(store, _read(file, progress), file.row_kind)
    _refuse_card_numbers(store, staged, file)
    return staged


def stage_file(
    store: Store, file: TransactionFile, *, progress: Progress | None = None
) -> StagedWhole:
    """Read what an import needs of the file, with the same care as `stage_check`."""
    file.numbers.load_now()
    staged = stage_whole(store, _read(file, progress), file.row_kind)
    _refuse_card_numbers(store, staged, file)
    return staged


def _refuse_card_numbers(store: Store, staged: Staged, file: TransactionFile) -> None:
    file.invalid += refuse_card_numbers(store, staged, file.numbers)


def _read(
    file: TransactionFile, progress: Progress | None
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]]:
    """Yield the file's chunks, after an empty one; the next one is judged in a thread meanwhile."""
    seed = secrets.randbits(64)
    nothing = no_rows(file.row_kind)
    yield with_fingerprints(nothing.rows, seed), nothing.findings, nothing.doubts
    for chunk in ahead(file.chunks()):
        yield with_fingerprints(chunk.rows, seed), chunk.findings, chunk.doubts
        if progress:
            progress(chunk.bytes_read, chunk.size_hint)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One file as it was staged, the rows of it that repeat others, and what was found in it.

    `of_file` is what was found of the file as a whole; the report has it too. `labels` are what the
    file calls our fields.
    """

    staged: Staged
    repeats: Repeats
    of_file: list[Finding]
    report: FileReport
    labels: Mapping[str, str]


def check_file(store: Store, file: TransactionFile, staged: Staged) -> Judged:
    """Judge what was staged of the file by itself: nothing is known of its institution."""
    repeats = find_repeats(store, staged, none_known(store))
    return _judged(store, file, staged, repeats, no_look_alikes(store))


def judge_file(
    store: Store,
    file: TransactionFile,
    staged: StagedWhole,
    numbered: Numbered,
    institution_id: UUID,
    *,
    target: EngineTarget | None = None,
) -> Judged:
    """Judge what was staged of the file, against the history of its institution.

    At a `target` it is the engine there that knows the history of purchases, and look-alikes are
    those of the file alone.
    """
    if target and staged.kind is PURCHASES:
        known = dedupe(store, target, numbered, find_same(store, staged, institution_id))
    else:
        known = find_known(store, staged, numbered, institution_id)
    repeats = find_repeats(store, staged, known)
    look_alikes = find_look_alikes(
        store, staged, numbered, repeats, institution_id, with_history=target is None
    )
    return _judged(store, file, staged, repeats, look_alikes)


def _judged(
    store: Store, file: TransactionFile, staged: Staged, repeats: Repeats, look_alikes: Table
) -> Judged:
    note_repeats(store, staged, repeats, look_alikes, file.position)
    common = find_common(store, staged, file.received)
    of_file = _of_file(store, file, staged)
    report = FileReport(
        file=file.name,
        kind=file.told_kind,
        row_kind=file.row_kind,
        sha256=file.sha256,
        size_bytes=file.size_bytes,
        received=file.received,
        invalid=file.invalid,
        duplicates=repeats.duplicates,
        conflicts=repeats.conflicts,
        blank_lines=file.blank_lines,
        is_unterminated=file.is_unterminated,
        findings=[*map(about_code, summary(store, staged)), *map(about_file, of_file)],
        common_findings=[*in_their_words(common_findings(store, common), file.labels)],
        first_findings=[
            *in_their_words(first_findings(store, staged, common, FINDINGS_SHOWN), file.labels)
        ],
    )
    return Judged(
        staged=staged, repeats=repeats, of_file=of_file, report=report, labels=file.labels
    )


def write_outputs(
    store: Store,
    file: TransactionFile,
    judged: Judged,
    outputs: Outputs,
    *,
    mode: int,
    refunds: Judged | None = None,
) -> None:
    """Write the files that were asked for, of a mode; each appears whole or not at all.

    In the report what is found of the file as a whole comes before what is found in its rows. The
    `refunds` among the rows of the file were judged apart.
    """
    parts = [judged, refunds] if refunds else [judged]
    if outputs.errors:
        of_file = [in_their_words(map(_row_of, each.of_file), each.labels) for each in parts]
        of_rows = [in_their_words(findings(store, each.staged), each.labels) for each in parts]
        with replacing(outputs.errors, mode=mode) as out:
            told = chain(*of_file, merge(*of_rows, key=itemgetter("line")))
            write_findings(out, told, position=file.position)
    if outputs.valid or outputs.rejected:
        with ExitStack() as stack:
            valid, rejected = (
                stack.enter_context(replacing(path, mode=mode)) if path else None
                for path in (outputs.valid, outputs.rejected)
            )
            masked = None if outputs.raw else fields_to_mask(store, judged.staged)
            lines = rejected_lines(store, judged.staged, judged.repeats)
            if refunds:
                others = rejected_lines(store, refunds.staged, refunds.repeats)
                lines = lines_together(lines, others)
                if masked is not None:
                    masked = masked_together(masked, fields_to_mask(store, refunds.staged))
            file.split(lines, valid, rejected, masked)


def _row_of(finding: Finding) -> dict[str, Any]:
    return {**asdict(finding), "field": finding.column}


def _of_file(store: Store, file: TransactionFile, staged: Staged) -> list[Finding]:
    found = [*file.file_findings, *refused_before(store, file.numbers)]
    if tokens_look_rotated(store, staged, file.received):
        found.append(make_finding("tokens_unstable", CODES["tokens_unstable"].summary))
    return found
