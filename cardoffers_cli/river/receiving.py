"""Intake: what `validate`, `import` and `simulate` do alike with one file of rows of any kind.

The file is read ahead in a thread while the store takes the chunk before, and the report says the
same of a file whichever command read it.
"""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from cardoffers_cli.intake.chunks import no_rows, with_fingerprints
from cardoffers_cli.intake.sources import ahead
from cardoffers_cli.intake.verdicts import (
    about_code,
    about_error,
    about_file,
    in_their_words,
    not_asked,
)
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.sheets.sheets import write_findings
from cardoffers_cli.kernel.store.card_numbers import refused_before
from cardoffers_cli.kernel.words.findings import CODES, make_finding
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.kernel.words.row_kinds import PURCHASES, REFUNDS
from cardoffers_cli.river.handles import KnownReferences, Staged, StagedImport
from cardoffers_cli.river.judge import (
    all_findings,
    find_common,
    find_known,
    find_repeats,
    findings,
    first_findings,
    none_known,
    note_left_out,
    note_repeats,
    refuse_card_numbers,
    rejected_lines,
    tokens_look_rotated,
)
from cardoffers_cli.river.stage import stage_slim, stage_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from uuid import UUID

    import polars as pl

    from cardoffers_cli.archive.target import EngineTarget
    from cardoffers_cli.intake.chunks import Chunk
    from cardoffers_cli.intake.transactions import TransactionFile
    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.errors import FileUnusable
    from cardoffers_cli.kernel.words.findings import Finding
    from cardoffers_cli.kernel.words.row_kinds import RowKind
    from cardoffers_cli.river.handles import Numbered, Repeats

    Progress = Callable[[int, int | None], None]
    """Told how many bytes of the file are read, of how many if that is known."""

    Frames = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]
    """A chunk as it is staged: its rows with fingerprints, its findings, its doubtful numbers."""

S = TypeVar("S", Staged, StagedImport)

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


class FileResult(Record):
    """What was found in one file, in the shape of `validate --format json`.

    `can_earn` are the rows that can be taken whose merchant is known or, where no store was asked,
    named; None of rows that earn nothing. `look_alikes_by_date` are those within the file that have
    a bare date, and are no findings. `not_asked` is what only a store can say. `refunds` is
    the same of the refunds alone, where there are any among its rows.
    """

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
    can_be_taken: int
    can_earn: int | None
    look_alikes_by_date: int
    not_asked: Sequence[str]
    ok: bool
    findings: Sequence[Mapping[str, Any]]
    file_error: Mapping[str, Any] | None
    refunds: FileResult | None = if_any()


@dataclass(frozen=True, kw_only=True)
class FileReport:
    """What was found in one file; `document` is the shape of the command line's contract.

    `refunds` is what was found in the refunds among its rows, which all counts include; they may
    be left out (`leaves_refunds`) of what is written of the file.
    """

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
    can_earn: int | None = None
    look_alikes_by_date: int = 0
    not_asked: Sequence[str] = ()
    findings: list[dict[str, Any]] = field(default_factory=list)
    common_findings: Sequence[Mapping[str, Any]] = ()
    first_findings: Sequence[Mapping[str, Any]] = ()
    file_error: FileUnusable | None = None
    refunds: FileReport | None = None
    leaves_refunds: bool = False

    @property
    def valid(self) -> int:
        """Rows without an error that are no duplicates."""
        return self.received - self.invalid - self.duplicates

    @property
    def ok(self) -> bool:
        """Whether every row was good, or harmlessly known already, and none is left out."""
        is_good = self.file_error is None and not self.invalid and not self.conflicts
        return is_good and not (self.leaves_refunds and self.refunds and self.refunds.valid)

    @property
    def parts(self) -> list[FileReport]:
        """The report with the counts of its other rows alone, and that of its refunds."""
        if self.refunds is None:
            return [self]
        counts = ("received", "invalid", "duplicates", "conflicts")
        others = {name: getattr(self, name) - getattr(self.refunds, name) for name in counts}
        return [replace(self, refunds=None, **others), self.refunds]

    @property
    def look_alikes(self) -> int:
        """Rows that are taken though they look like others."""
        return sum(row["rows"] for row in self.findings if row["code"] == "look_alike")

    def document(self) -> FileResult:
        """Return the report in the shape of `validate --format json`."""
        return FileResult(
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
            can_be_taken=self.valid,
            can_earn=self.can_earn,
            look_alikes_by_date=self.look_alikes_by_date,
            not_asked=[*self.not_asked],
            ok=self.ok,
            findings=self.findings,
            file_error=about_error(self.file_error),
            refunds=self.refunds.document() if self.refunds else None,
        )


def stage_check(
    store: Store, file: TransactionFile, *, progress: Progress | None = None
) -> list[Staged]:
    """Read what a check needs of the file: its rows, and apart from them the refunds among them.

    What the end of the file says of its numbers is applied to all of its rows.
    """
    return _settled(store, file, stage_slim(store, _read(file, progress), _kinds(file)))


def stage_file(
    store: Store, file: TransactionFile, *, progress: Progress | None = None
) -> list[StagedImport]:
    """Read what an import needs of the file, with the same care as `stage_check`."""
    return _settled(store, file, stage_whole(store, _read(file, progress), _kinds(file)))


def _kinds(file: TransactionFile) -> list[RowKind]:
    return [file.row_kind, REFUNDS] if file.refunds else [file.row_kind]


def _settled(store: Store, file: TransactionFile, staged: list[S]) -> list[S]:
    """Settle which numbers are card numbers; leave refunds out where there are none."""
    file.invalid += refuse_card_numbers(store, staged[0], file.numbers)
    if file.refunds is None or not file.refunds.received:
        return staged[:1]
    refused = refuse_card_numbers(store, staged[1], file.numbers)
    file.refunds.invalid += refused
    file.invalid += refused
    return staged


def _read(file: TransactionFile, progress: Progress | None) -> Iterator[tuple[Frames, ...]]:
    """Yield the file's chunks, after an empty one; the next one is judged in a thread meanwhile."""
    seed = secrets.randbits(64)
    file.numbers.load_now()
    yield tuple(_frames(no_rows(kind), seed) for kind in _kinds(file))
    for chunk in ahead(file.chunks()):
        parts = (chunk, chunk.refunds) if chunk.refunds else (chunk,)
        yield tuple(_frames(part, seed) for part in parts)
        if progress:
            progress(chunk.bytes_read, chunk.size_hint)


def _frames(chunk: Chunk, seed: int) -> Frames:
    return with_fingerprints(chunk.rows, seed), chunk.findings, chunk.doubts


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What is known beside a file: nothing, or what the store has of an institution.

    It is all in which the ways in differ. At a `target` it is the engine there that knows the
    history of purchases, and look-alikes are those of the file alone.
    """

    institution_id: UUID | None = None
    target: EngineTarget | None = None

    def references(
        self, store: Store, staged: Staged, numbered: Numbered | None
    ) -> KnownReferences:
        """Return the rows whose references are known."""
        if self.institution_id is None or numbered is None or not isinstance(staged, StagedImport):
            return none_known(store)
        if self.target and staged.kind is PURCHASES:
            of = {"institution_id": self.institution_id}
            same = store.make("river/judge:same_refs", staged.rows, **of)
            refs = self.target.known_references(store, numbered.refs, same, name=uuid4())
            return KnownReferences(refs=store.make("river/judge:fetched_refs", frame=refs))
        return find_known(store, staged, numbered, self.institution_id)

    def look_alikes(
        self, store: Store, staged: Staged, numbered: Numbered | None, repeats: Repeats
    ) -> Table:
        """Return the rows that are like others of the file, or like purchases before it."""
        if staged.kind is not PURCHASES:
            # Goods of one price that go back together are alike, and none may be kept by it.
            return store.define("river/judge:no_look_alikes")
        alike, of = store.make("river/judge:alike", staged.rows, repeats.rows), self.institution_id
        if of is None or self.target or numbered is None or not isinstance(staged, StagedImport):
            return alike.called("look_alikes")
        store.execute("river/judge:index_looks")
        return store.make(
            "river/judge:look_alikes",
            *(staged.rows, numbered.payers, numbered.identifiers, repeats.rows, alike),
            institution_id=of,
        )

    def earning(
        self,
        store: Store,
        file: TransactionFile,
        staged: Staged,
        repeats: Repeats,
        numbered: Numbered | None,
    ) -> int | None:
        """Return how many purchases that can be taken have a merchant that is known, or named."""
        if staged.kind is not PURCHASES:
            return None
        if file.is_nameless:
            return 0
        if numbered is not None:
            tables = (staged.rows, numbered.identifiers, repeats.rows)
            return int(store.value("river/judge:earning", *tables))
        among = file.refunds.received - file.refunds.invalid if file.refunds else 0
        valid = file.received - file.invalid - among - repeats.duplicates
        return valid - int(store.value("river/judge:nameless", staged.findings, repeats.rows))


NOTHING_KNOWN = Knowledge()
"""What a check knows that asks no store."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One file as it was staged, the rows of it that repeat others, and what was found in it.

    There are two of `staged` and of `repeats` where refunds are among its rows. `found` are the
    findings of all rows, `of_file` those of the file as a whole; the report has both.
    `known_otherwise` are rows that are like earlier ones under other references.
    """

    staged: Sequence[Staged]
    repeats: Sequence[Repeats]
    found: Table
    of_file: Sequence[Finding]
    report: FileReport
    known_otherwise: int


def judge(
    store: Store,
    file: TransactionFile,
    staged: Sequence[Staged],
    knows: Knowledge = NOTHING_KNOWN,
    numbered: Sequence[Numbered] = (),
    *,
    takes_refunds: bool = True,
) -> Judged:
    """Judge what was staged of the file: which rows can be taken, and what is against the others.

    Every file comes through here, and its verdict depends on nothing else than what is known
    beside it. Rows are `numbered` by the store that is asked. Where nobody `takes_refunds`, those
    among the rows are said to be left out.
    """
    repeats, by_date, before = [], 0, 0
    for part, numbers in zip_longest(staged, numbered):
        repeated = find_repeats(store, part, knows.references(store, part, numbers))
        alike = knows.look_alikes(store, part, numbers, repeated)
        note_repeats(store, part, repeated, alike, file.position)
        repeats.append(repeated)
        counts = store.rows("river/judge:look_counts", alike)[0]
        by_date, before = by_date + counts["by_date"], before + counts["before"]
    left_out = staged[1:] if not takes_refunds else ()
    for part in left_out:
        note_left_out(store, part, repeats[1])
    table, of_file = all_findings(store, staged), _of_file(store, file, staged[0])
    common = find_common(store, table, file.received)
    first = first_findings(store, table, common, FINDINGS_SHOWN)
    by_code = [
        *map(about_code, store.rows("river/judge:summary", table)),
        *map(about_file, of_file),
    ]
    earning = knows.earning(store, file, staged[0], repeats[0], numbered[0] if numbered else None)
    report = FileReport(
        **_facts(file),
        row_kind=file.row_kind,
        received=file.received,
        invalid=file.invalid,
        duplicates=sum(repeat.duplicates for repeat in repeats),
        conflicts=sum(repeat.conflicts for repeat in repeats),
        blank_lines=file.blank_lines,
        is_unterminated=file.is_unterminated,
        can_earn=earning,
        look_alikes_by_date=by_date,
        not_asked=[] if knows.institution_id else not_asked(_met(file), earning, by_code),
        findings=by_code,
        common_findings=[*in_their_words(store.rows("river/judge:common", common), file.labels)],
        first_findings=[*in_their_words(first, file.labels)],
        refunds=_of_refunds(
            *(store, file, staged[1], repeats[1]), is_asked=knows.institution_id is not None
        )
        if len(staged) > 1
        else None,
        leaves_refunds=bool(left_out),
    )
    return Judged(
        staged=staged,
        repeats=repeats,
        found=table,
        of_file=of_file,
        report=report,
        known_otherwise=before,
    )


def _met(file: TransactionFile) -> set[RowKind]:
    """Return the kinds of the rows of a file."""
    among = file.refunds.received if file.refunds else 0
    counts = {REFUNDS: among, file.row_kind: file.received - among}
    return {kind for kind, count in counts.items() if count}


def _facts(file: TransactionFile) -> Mapping[str, Any]:
    return {
        "file": file.name,
        "kind": file.told_kind,
        "sha256": file.sha256,
        "size_bytes": file.size_bytes,
    }


def _of_refunds(
    store: Store, file: TransactionFile, staged: Staged, repeats: Repeats, *, is_asked: bool
) -> FileReport:
    """Report the same of the refunds among the rows of a file alone."""
    by_code = [*map(about_code, store.rows("river/judge:summary", staged.findings))]
    return FileReport(
        **_facts(file),
        row_kind=REFUNDS,
        received=file.refunds.received if file.refunds else 0,
        invalid=file.refunds.invalid if file.refunds else 0,
        duplicates=repeats.duplicates,
        conflicts=repeats.conflicts,
        not_asked=[] if is_asked else not_asked([REFUNDS], None, by_code),
        findings=by_code,
    )


def write_outputs(
    store: Store, file: TransactionFile, judged: Judged, outputs: Outputs, *, mode: int
) -> None:
    """Write the files that were asked for, of a mode; each appears whole or not at all.

    In the report what is found of the file as a whole comes before what is found in its rows.
    """
    if outputs.errors:
        of_file = ({**asdict(finding), "field": finding.column} for finding in judged.of_file)
        rows = chain(of_file, findings(store, judged.found))
        with replacing(outputs.errors, mode=mode) as out:
            write_findings(out, in_their_words(rows, file.labels), position=file.position)
    if outputs.valid or outputs.rejected:
        with ExitStack() as stack:
            valid, rejected = (
                stack.enter_context(replacing(path, mode=mode)) if path else None
                for path in (outputs.valid, outputs.rejected)
            )
            masked = (
                None if outputs.raw else store.frame("river/judge:fields_to_mask", judged.found)
            )
            lines = rejected_lines(store, judged.found, judged.repeats)
            file.split(lines, valid, rejected, masked)


def _of_file(store: Store, file: TransactionFile, staged: Staged) -> list[Finding]:
    file_findings = [*file.file_findings, *refused_before(store, file.numbers)]
    received = file.received - (file.refunds.received if file.refunds else 0)
    if tokens_look_rotated(store, staged, received):
        file_findings.append(make_finding("tokens_unstable", CODES["tokens_unstable"].summary))
    return file_findings
