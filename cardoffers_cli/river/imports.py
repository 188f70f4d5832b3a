"""Import: a file of rows of one kind into the store, all or nothing, in one transaction.

Who imports one kind of rows is told of a file that holds another (rules.md#row-kinds): what a row
means must not depend on a file being where it does not belong. The nightly run takes each for what
it is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from cardoffers_cli.intake.copies import MASK
from cardoffers_cli.intake.layouts import open_layout
from cardoffers_cli.intake.sources import aside
from cardoffers_cli.intake.transactions import FileReading
from cardoffers_cli.kernel.store import acts
from cardoffers_cli.kernel.store.card_numbers import keep_numbers, masked_references, numbers_of
from cardoffers_cli.kernel.store.institutions import Institution, find_institution
from cardoffers_cli.kernel.store.interning import next_number
from cardoffers_cli.kernel.store.runs import finish_run, start_run
from cardoffers_cli.kernel.words.cards import without_card_numbers
from cardoffers_cli.kernel.words.errors import FileRefused, Refused
from cardoffers_cli.kernel.words.findings import make_finding, unusable
from cardoffers_cli.kernel.words.money import quantize
from cardoffers_cli.kernel.words.records import if_any
from cardoffers_cli.kernel.words.row_kinds import PURCHASES
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.river import receiving, stored_imports
from cardoffers_cli.river.admit import admit, amount_of
from cardoffers_cli.river.counts import keep_counts
from cardoffers_cli.river.judge import doubtful_references, take_masked
from cardoffers_cli.river.number import number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from decimal import Decimal

    from cardoffers_cli.archive.target import EngineTarget
    from cardoffers_cli.intake.layout_model import Profile
    from cardoffers_cli.intake.transactions import TransactionFile
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount
    from cardoffers_cli.kernel.words.row_kinds import RowKind
    from cardoffers_cli.river.handles import StagedImport
    from cardoffers_cli.river.receiving import FileReport, Judged, Progress
    from cardoffers_cli.river.stored_imports import EarlierImport

    Approve = Callable[[Judged], None]
    """Is shown a file as it was judged."""

    Look = Callable[[Store, Job, Institution, Sequence[int]], Sequence[str]]
    """Compares imports of who is watched with those before; returns what is unusual in them."""

_NEXT_CARDHOLDER = "kernel/store/interning:next_cardholder"
"""The number from which on cardholders are new."""


# Owners: a file that is provably another institution's is refused before anything is taken.


OTHER_OWNER = "file_of_other_institution"

_SAYS = {
    "digest": "The same file was taken for another institution.",
    "rows": "{alike:,} of {among:,} rows are another institution's: reference, amount and time.",
    "tokens": "{alike:,} of {among:,} cardholder tokens are another institution's.",
}


def check_owner(
    store: Store,
    file: TransactionFile,
    staged: Sequence[StagedImport],
    owner: Institution,
    job: Job,
    *,
    is_own: bool,
) -> None:
    """Raise `FileRefused` for a file that is another institution's (rules.md#whose-file).

    Where somebody vouches that it `is_own` it is taken, and the security log says so. The other one
    is named in the hint alone, for operators: messages are written beside the institution's files.
    """
    for part in staged:
        match = stored_imports.find_other_owner(
            *(store, part.kind.name, part.rows, part.tokens),
            institution_id=owner.id,
            file_sha256=file.sha256,
        )
        if match:
            break
    else:
        return
    evidence, other = match
    if is_own:
        acts.append(
            store,
            "file_of_other_institution_taken",
            job,
            institution_id=owner.id,
            details={"file": file.name, "evidence": evidence, **other},
        )
        return
    name = "FILE" if file.name == "-" else quote(file.name)
    hint = f"`cardoffers {part.kind.command} {name} -i {other.institution}` takes it for"
    hint += f" {other.institution}; --yes-it-is takes it for {owner.slug} all the same."
    if evidence == "tokens":
        hint += " Where both have the same cardholders, `cardoffers institution set"
        hint += f" {owner.slug} --shares-tokens-with {other.institution}`."
    says = _SAYS[evidence].format(**other)
    raise FileRefused(says, code=OTHER_OWNER, hint=hint)


HELD = "file_held"
"""The code of a file that is held, as it seems to be the half of one (rules.md#half-a-file)."""
_LEAST_LIKE, _LEAST_PERCENT = 3, 60

PLANS_WITH_FILES = frozenset({"growth", "enterprise"})
"""The plans that may upload files (rules.md#uploads)."""


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """How to read the file, rows of what `kind` it must hold, if of one, and whether to keep them.

    Somebody vouches for a last line without a line end (rules.md#last-lines): the operator, or a
    manifest. Of a `profile` the record of the import keeps the digest. A `sheet` of a workbook is
    named, or numbered. Somebody vouches that it is of the institution (`is_own`,
    rules.md#whose-file), or no half of a file (`is_whole`, rules.md#half-a-file).
    """

    delimiter: str = ","
    assume_timezone: str | None = None
    allow_unterminated: bool = False
    profile: Profile | None = None
    sheet: str | None = None
    dry_run: bool = False
    is_own: bool = False
    is_whole: bool = False
    kind: RowKind | None = PURCHASES


class ImportResult(receiving.FileResult):
    """What was found in a file and taken of it, in the shape of `import --format json`.

    `refunds` is the same of the refunds among its rows, where its profile knows of them.
    """

    import_id: UUID
    institution_id: UUID
    accepted: int
    amount_accepted: Amount
    currency: str
    already_imported: UUID | None
    already_imported_as: str | None
    already_imported_at: datetime | None
    held: bool
    dry_run: bool
    refunds: ImportResult | None = if_any()


@dataclass(frozen=True, kw_only=True)
class ImportReport:
    """One import: what was found in the file and what was taken of it, and of its refunds.

    The `report` is of all rows of the file. `unusual` is what the watch says of it, a sentence or
    two for each finding.
    """

    report: FileReport
    import_no: int
    import_id: UUID
    institution: Institution
    accepted: int
    amount_accepted: Decimal
    earlier: EarlierImport | None
    dry_run: bool
    refunds: ImportReport | None = None
    unusual: Sequence[str] = ()

    @property
    def parts(self) -> list[ImportReport]:
        """The import itself, and that of the refunds of its file."""
        return [self, self.refunds] if self.refunds else [self]

    def document(self) -> ImportResult:
        """Return the report in the shape of `import --format json`."""
        row = ImportResult(
            **self.report.document(),
            import_id=self.import_id,
            institution_id=self.institution.id,
            accepted=sum(part.accepted for part in self.parts),
            amount_accepted=quantize(self.amount_accepted, self.institution.currency),
            currency=self.institution.currency,
            already_imported=self.earlier.import_id if self.earlier else None,
            already_imported_as=self.earlier.file_name if self.earlier else None,
            already_imported_at=self.earlier.imported_at if self.earlier else None,
            held=False,
            dry_run=self.dry_run,
        )
        return ImportResult.part(row, refunds=self.refunds.document()) if self.refunds else row


@dataclass(frozen=True, kw_only=True)
class JudgedImport:
    """An import as it is told, and its file as it was judged."""

    made: ImportReport
    judged: Judged


def import_file(
    source: str,
    institution: str,
    job: Job,
    options: ImportOptions,
    *,
    outputs: receiving.Outputs,
    look: Look | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import one file for an institution, and `look` at it behind the transaction that took it.

    Raises `FileUnusable` when nothing of it can be read.
    """
    with aside(source) as copy, job.store() as store:
        target = None
        if job.settings.engine:
            from cardoffers_cli.river.engines import target_of  # noqa: PLC0415 - heavy, and seldom

            target = target_of(store, job)
        with store.transaction(keep=not options.dry_run):
            owner = find_institution(store, institution)
            may_upload(owner)
            with open_layout(copy, reading_for(store, owner, job, options)) as file:
                check_kind(file, owner, options)
                intake = take_in(store, file, owner, job, options, target=target, progress=progress)
                receiving.write_outputs(store, file, intake.judged, outputs, mode=job.settings.mode)
        if target and not options.dry_run:
            target.move_recent(store, job)
        if options.dry_run or look is None or not owner.is_watched:
            return intake.made
        import_nos = [part.import_no for part in intake.made.parts]
        return replace(intake.made, unusual=look(store, job, owner, import_nos))


def take_in(
    store: Store,
    file: TransactionFile,
    owner: Institution,
    job: Job,
    options: ImportOptions,
    *,
    target: EngineTarget | None = None,
    progress: Progress | None = None,
    approve: Approve | None = None,
) -> JudgedImport:
    """Stage, judge and admit an open file in the caller's transaction, and record the import.

    The refunds among its rows are an import of their own (rules.md#refunds-among-purchases). On a
    `target` an engine looks for what is known already. `approve` is shown the file before anything
    is admitted, and raises what is against it.
    """
    if target is not None:
        target.begin(store)  # or the purchases would be in a store without one
    staged = receiving.stage_file(store, file, progress=progress)
    check_owner(store, file, staged, owner, job, is_own=options.is_own)
    check_whole(store, file, owner, options)
    numbered, new_cardholders = [], list[int | None]()
    for part in staged:
        doubtful = partial(doubtful_references, store, part)
        masked = masked_references(job.path, owner.id, doubtful)
        take_masked(store, part, masked, owner.id)
        first_no = next_number(store, _NEXT_CARDHOLDER) if owner.is_watched else None
        numbered.append(number(store, part, owner.id))
        new = None if first_no is None else next_number(store, _NEXT_CARDHOLDER) - first_no
        new_cardholders.append(new)
    knows = receiving.Knowledge(institution_id=owner.id, target=target)
    judged = receiving.judge(store, file, staged, knows, numbered)
    if not options.is_own:
        _refuse_known(judged, owner)
    if approve:
        approve(judged)
    keep_numbers(store, file.numbers)
    earlier = stored_imports.earlier_import(store, owner.id, file.sha256)
    held = store.rows("river/stored_imports:held", institution=owner.slug, name=None)
    halves = [(half["taken_bytes"], half["taken_sha256"]) for half in held]
    whole_of = [sha256 for size, sha256 in halves if file.source.begins_with(size, sha256)]
    file_report = judged.report
    reports = []
    for part, numbers, repeats, new, report in zip(
        *(staged, numbered, judged.repeats, new_cardholders, file_report.parts), strict=True
    ):
        run = start_run(store, kind="import", now=job.now, actor=job.actor)
        import_no = stored_imports.next_import_no(store)
        accepted = admit(
            *(store, part, numbers, repeats),
            import_no=import_no,
            institution_id=owner.id,
            currency=owner.currency,
            received_at=job.now,
        )
        reports.append(
            ImportReport(
                report=report,
                import_no=import_no,
                import_id=uuid4(),
                institution=owner,
                accepted=accepted,
                amount_accepted=amount_of(store, part, repeats),
                earlier=earlier,
                dry_run=options.dry_run,
            )
        )
        record = _record(reports[-1], run.run_no, job, options, whole_of)
        store.execute("river/stored_imports:record", **record)
        counts = {"received": report.received, "accepted": accepted}
        if new is not None:
            counts["new_cardholders"] = new
        finish_run(store, run, counts)
    if not options.dry_run:
        # Who takes a single event need not: the next import does.
        store.execute("river/judge:index_looks")
        keep_counts(store)
    full = replace(reports[0], report=file_report, refunds=reports[1] if len(reports) > 1 else None)
    return JudgedImport(made=full, judged=judged)


def reading_for(store: Store, owner: Institution, job: Job, options: ImportOptions) -> FileReading:
    """Return how the files of an institution are read."""
    return FileReading(
        now=job.now,
        currency=owner.currency,
        decimals=owner.minor_unit,
        institution_id=str(owner.id),
        numbers=numbers_of(store, owner.id, owner.numbers),
        delimiter=options.delimiter,
        assume_timezone=options.assume_timezone,
        unterminated=None if options.allow_unterminated else "error",
        profile=options.profile,
        kind=options.kind or PURCHASES,
        sheet=options.sheet,
    )


def _refuse_known(judged: Judged, owner: Institution) -> None:
    """Raise `Refused` where half of the rows are like earlier ones under other references."""
    alike, received = judged.known_otherwise, judged.report.received
    if alike < stored_imports.FEWEST_ALIKE or alike * 2 < received:
        return
    raise Refused.from_table(
        "river",
        "file_known_under_other_references",
        alike=alike,
        received=counted(received, "row"),
        owner=owner,
    )


def check_kind(file: TransactionFile, owner: Institution, options: ImportOptions) -> None:
    """Raise `FileUnusable` for a file whose rows are of another kind than those that are wanted."""
    kind = file.row_kind
    if options.kind and kind is not options.kind:
        name = "FILE" if file.name == "-" else quote(file.name)
        hint = f"Take it with `cardoffers {kind.command} {name} -i {owner.slug}`."
        if options.profile and kind is PURCHASES:
            hint = 'Write negatives = "refund" in the profile, if negative amounts are refunds.'
        raise unusable(
            "kind_of_rows_mismatch",
            f"The file holds {kind.name}, not {options.kind.name}.",
            hint=hint,
        )


def check_whole(
    store: Store, file: TransactionFile, owner: Institution, options: ImportOptions
) -> None:
    """Raise `FileRefused` for a file that seems to be the half of one (rules.md#half-a-file).

    One that only has too few rows gets a finding, unless its institution holds such files too.
    """
    filters = {"institution_id": owner.id, "kind_of_rows": file.row_kind.name}
    like = store.rows("river/stored_imports:like", **filters)[0]
    received = file.received - (file.refunds.received if file.refunds else 0)
    if like["fewest_rows"] is None or like["files"] < _LEAST_LIKE:
        return
    if received * 100 >= like["fewest_rows"] * _LEAST_PERCENT:
        return
    if stored_imports.earlier_import(store, owner.id, file.sha256):
        return
    is_cut = file.is_unterminated and not options.allow_unterminated
    few = (
        f"it has {counted(received, 'row')}, under {_LEAST_PERCENT} % of the"
        f" {like['fewest_rows']:,} of the smallest of the last {like['files']} files of"
        f" {file.row_kind.name}"
    )
    is_held = owner.hold_short == "on" or (owner.hold_short == "both" and is_cut)
    if options.is_whole or not is_held:
        file.header_findings.append(make_finding("file_short", few))
        return
    cut = "its last line has no end, and " if is_cut else ""
    raise FileRefused(
        f"The file may be cut off: {cut}{few}. It is held, and nothing of it was taken.",
        code=HELD,
        hint="Have it sent again as a whole; take it as it is with --yes-it-is-whole.",
        held=True,
        received=received,
        fewest_rows=like["fewest_rows"],
        like_files=like["files"],
    )


def may_upload(owner: Institution) -> None:
    """Raise `Refused` for an institution whose plan has no files."""
    if owner.plan not in PLANS_WITH_FILES:
        raise Refused.from_table("river", "plan_not_allowed", owner=owner)


def _record(
    result: ImportReport, run_no: int, job: Job, options: ImportOptions, whole_of: list[str]
) -> dict[str, Any]:
    report = result.report
    return {
        "import_no": result.import_no,
        "import_id": result.import_id,
        "institution_id": result.institution.id,
        "run_no": run_no,
        "file_name": without_card_numbers(report.file, instead=MASK),
        "file_kind": report.kind,
        "kind_of_rows": report.row_kind and report.row_kind.name,
        "file_sha256": report.sha256,
        "size_bytes": report.size_bytes,
        "received": report.received,
        "accepted": result.accepted,
        "duplicates": report.duplicates,
        "conflicts": report.conflicts,
        "invalid": report.invalid,
        "blank_lines": report.blank_lines,
        "amount_accepted": result.amount_accepted,
        "currency": result.institution.currency,
        "options": json.dumps(
            {
                "delimiter": options.delimiter,
                "assume_timezone": options.assume_timezone,
                "allow_unterminated": options.allow_unterminated,
                **({"profile": options.profile.digest} if options.profile else {}),
                **({"sheet": options.sheet} if options.sheet else {}),
                **({"is_whole": True} if options.is_whole else {}),
                **({"whole_of": whole_of} if whole_of else {}),
            }
        ),
        "imported_at": job.now,
    }
