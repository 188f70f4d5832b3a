"""Import: every file that the night found, each in one transaction, then out of the way.

A file is claimed out of the folder of its institution first (`drop/claims.py`), and read from a
copy of its own, which is held against its manifest. What became of it is recorded in the
transaction that takes it, and its reports are written before that ends: a night that dies
afterwards finds the record, and only has to move the file to `done/` or `failed/` of the processed
folder.

A file that cannot be taken stops no other: whatever it does, within its bounds, is a finding. What
stops the night is what no file can do (`findings.py`).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardoffers_cli.drop.claims import FileClaim, put_away
from cardoffers_cli.drop.drop import MANIFEST, DropFile, clear_drafts, marker_names
from cardoffers_cli.drop.fetched_files import FileChangedError, private_copy, read_manifest
from cardoffers_cli.drop.file_changes import DONE, FAILED, HELD, KEPT_IN, TAKEN, ProcessedFolder
from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.intake.layouts import find_profile, open_layout
from cardoffers_cli.intake.sources import Source
from cardoffers_cli.kernel.disk.folders import free_bytes, stamp_of
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.sheets.sheets import write_findings
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.errors import CardoffersError, FileUnusable, NotFound, UsageError
from cardoffers_cli.kernel.words.findings import unusable
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.money import quantize
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.night import questions as nights
from cardoffers_cli.night.checks import GZIP_GROWS, Bounds, file_rows, look_twice, tidied_up
from cardoffers_cli.night.findings import failure_of, file_counts, file_findings
from cardoffers_cli.night.options import NightContext, NightObserver, NightOptions, StepResult
from cardoffers_cli.river import imports
from cardoffers_cli.river.engines import target_of
from cardoffers_cli.river.imports import HELD as FILE_HELD
from cardoffers_cli.river.receiving import Outputs, write_outputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from cardoffers_cli.drop.fetched_files import Copy
    from cardoffers_cli.drop.manifests import Manifest
    from cardoffers_cli.intake.layout_model import Profile
    from cardoffers_cli.intake.transactions import TransactionFile
    from cardoffers_cli.kernel.disk.folders import OpenFolder
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.night.questions import NightFile
    from cardoffers_cli.river.imports import JudgedImport
    from cardoffers_cli.river.receiving import Judged


OPTIONS = imports.ImportOptions()

_ROOM_FOR_ONE = 3
"""The part of the free disk that one file may unpack to, where that is more than expected: a third,
because the store takes up to twice as much."""


def import_files(work: NightContext) -> StepResult:
    """Take in every file of the night; the reports and the moves are finished where one was."""
    with work.job.store(read_only=True) as store:
        files = nights.files(store, work.night)
    take_files(work, files)
    tidied = tidied_up(work.job, work.order.drop)
    work.remarks += [remark for remark in tidied if remark not in work.remarks]
    with work.job.store() as store, store.transaction():
        store.execute("night/questions:files_moved", night_no=work.night.night_no)
        return taken_in(work, store)


def take_late_files(work: NightContext) -> list[NightFile]:
    """Look into the drop folder again, and take in what is ready by now; return what became of it.

    Done again after a crash it goes on with the files that it found. They are out of the way, but
    not recorded to be so: that is for whoever has done with them what else is to be done.

    A night that goes on at a later date looks no more: by its clock the rows of files that came
    since would be in the future. They are for the next night.
    """
    with work.job.store(read_only=True) as store:
        files = nights.files(store, work.night)
    pending = [file for file in files if not file.is_moved]
    if not pending and work.clock.date() <= work.night.as_of.date():
        new_files = list[DropFile]()
        with suppress(OSError):  # a drop folder that is gone by now has nothing more
            new_files = look_twice(work.job, work.order.drop, files).files
        rows = list(file_rows(work.processed, new_files, first=len(files) + 1))
        if not rows:
            return []
        with work.job.store() as store, store.transaction():
            nights.add_files(store, work.night, rows)
            pending = nights.files(store, work.night)[len(files) :]
    take_files(work, pending)
    with work.job.store(read_only=True) as store:
        numbers = {file.file_no for file in pending}
        return [file for file in nights.files(store, work.night) if file.file_no in numbers]


def take_files(work: NightContext, files: Sequence[NightFile]) -> None:
    """Take in files of the night that wait, and move those out of the way that are judged."""
    with work.job.store(read_only=True) as store:
        work.target = target_of(store, work.job)
    if files:
        work.processed.prepare()
    for number, file in enumerate(files):
        work.onlooker.moves(f"{file.institution}/{file.file_name}", number, len(files))
        _File(work, file).finish()


def rehearse_files(work: NightContext, store: Store) -> StepResult:
    """Do to the store what taking in the files would, in a transaction that will be undone."""
    for file in nights.files(store, work.night):
        if file.state == "waiting":
            _File(work, file).rehearse(store)
    return taken_in(work, store)


def taken_in(work: NightContext, store: Store) -> StepResult:
    """Return what became of the files of the night, by its records."""
    files = nights.files(store, work.night)
    counts = {**file_counts(files), "processed": str(work.processed.root)}
    return StepResult(counts=counts, findings=[*file_findings(work.processed, files)])


@dataclass(frozen=True)
class _File:
    """A file of the night, on its way through the import and out of the drop folder."""

    work: NightContext
    file: NightFile

    @property
    def claim(self) -> FileClaim:
        return FileClaim(
            drop=self.work.order.drop,
            institution=self.file.institution,
            name=self.file.file_name,
            stamp=self.file.stamp,
            as_name=f"{self.work.night.run_id}-{self.file.file_no}",
        )

    @property
    def shown(self) -> str:
        return f"{self.file.institution}/{self.file.file_name}"

    def finish(self) -> None:
        """Do what is still to be done with it."""
        if self.file.is_moved:
            return
        with self._folder(TAKEN) as taken_folder:
            clear_drafts(taken_folder.path)
            state = self._take(taken_folder) if self.file.state == "waiting" else self.file.state
            if state in KEPT_IN and taken_folder.look(self.claim.as_name) is not None:
                with self._folder(KEPT_IN[state]) as target:
                    put_away(taken_folder, self.claim.as_name, target, self.file.taken_as)
                self.claim.release()

    def _take(self, taken_folder: OpenFolder) -> str:
        bounds, columns = self._bounds(), dict[str, Any]()
        try:
            self.claim.take(taken_folder, bounds.limits)
            self._import(taken_folder, bounds, columns)
        except FileChangedError as error:
            # Somebody exchanged it or wrote to it: the next look finds it.
            if taken_folder.look(self.claim.as_name) is not None:
                try:
                    self.claim.give_back(taken_folder)
                except (FileChangedError, FileUnusable) as worse:
                    return self._fail(taken_folder, worse, {})
            return self._judge(error.code, {}, {})
        except Exception as error:  # noqa: BLE001  what is no file's doing is raised there
            return self._fail(taken_folder, self._failure_of(error), columns)
        return "imported"

    def _failure_of(self, error: Exception) -> CardoffersError:
        """Return what an error says of the file; raise it where it says nothing of it.

        Who is told to stop in the middle of a statement hears an error of the engine.
        """
        if self.work.onlooker.is_stopping():
            raise error
        return failure_of(error)

    def _bounds(self) -> Bounds:
        size = int(self.file.stamp.partition(":")[0])
        free = free_bytes(self.work.job.path.resolve().parent)
        room = max(GZIP_GROWS * size, free // _ROOM_FOR_ONE)
        return Bounds(self.work.job.settings, room_bytes=room)

    def _import(self, taken_folder: OpenFolder, bounds: Bounds, columns: dict[str, Any]) -> None:
        name = self.claim.as_name
        stamp = self.claim.stamp_in(taken_folder)
        copy = private_copy(taken_folder, name, stamp, bounds.limits, beside=taken_folder.path)
        with copy.file:
            columns |= {"taken_bytes": copy.size_bytes, "taken_sha256": copy.sha256}
            manifest = read_manifest(taken_folder, [name + MANIFEST], self.shown)
            with self.work.job.store() as store, store.transaction(), bounds.over(store):
                report = self.take_in(store, copy, manifest, bounds, keeps_reports=True)
                self._record(store, "imported", report.document(), columns)

    def take_in(
        self,
        store: Store,
        copy: Copy,
        manifest: Manifest | None,
        bounds: Bounds,
        *,
        keeps_reports: bool,
    ) -> imports.ImportReport:
        """Import a copy in the caller's transaction, if its manifest says nothing against it."""
        job = self.work.job
        owner = find_institution(store, self.file.institution)
        imports.may_upload(owner)
        check_digest(copy, manifest)
        source = Source(self.shown, copy.file, bounds.limits)
        options = replace(
            OPTIONS,
            allow_unterminated=vouches(manifest),
            is_whole=self.file.state == "held",
            profile=_profile_of(store, owner),
        )
        with open_layout(source, imports.reading_for(store, owner, job, options)) as opened:

            def look(_done: int, _total: int | None) -> None:
                bounds.check_time()
                bounds.check_rows(opened)

            def approve(judged: Judged) -> None:
                bounds.check_rows(opened)  # again: the end of a file tells which are card numbers
                check_sums(store, judged, owner, manifest)

            intake = imports.take_in(
                store,
                opened,
                owner,
                job,
                options,
                target=self.work.target,
                progress=look,
                approve=approve,
            )
            report = intake.judged.report
            if keeps_reports and (not report.ok or report.look_alikes):
                self._write_reports(store, opened, intake)
        return intake.made

    def rehearse(self, store: Store) -> None:
        """Do to the store what taking the file would, in a transaction that will be undone."""
        report: Mapping[str, Any]
        try:
            state, report = "imported", self._rehearsed(store).document()
        except FileChangedError as error:
            state, report = error.code, {"file": self.shown}
        except Exception as error:  # noqa: BLE001  what is no file's doing is raised there
            failure = self._failure_of(error)
            state, report = _state_of(failure), self._failure(failure)
        self._record(store, state, report, {})

    def _rehearsed(self, store: Store) -> imports.ImportReport:
        bounds, claim = self._bounds(), self.claim
        beside = self.work.job.path.resolve().parent
        with claim.origin() as origin:
            copy = private_copy(origin, claim.name, claim.stamp, bounds.limits, beside=beside)
            with copy.file:
                names = [name for name in marker_names(claim.name) if name.endswith(MANIFEST)]
                manifest = read_manifest(origin, names, self.shown)
                return self.take_in(store, copy, manifest, bounds, keeps_reports=False)

    def _write_reports(self, store: Store, opened: TransactionFile, intake: JudgedImport) -> None:
        name = self.file.taken_as
        outputs = Outputs(
            errors=self._path(DONE, f"{name}.errors.csv"),
            rejected=self._path(DONE, f"{name}.rejected.{opened.kind}"),
        )
        mode = self.work.job.settings.mode
        write_outputs(store, opened, intake.judged, outputs, mode=mode)

    def _fail(
        self, taken_folder: OpenFolder, error: CardoffersError, columns: dict[str, Any]
    ) -> str:
        is_kept = taken_folder.look(self.claim.as_name) is not None
        if is_kept and error.code != FILE_HELD:
            row = {
                "line": error.details.get("line"),
                "transaction_ref": None,
                "field": None,
                "code": error.code,
                "level": "error",
                "message": error.message,
            }
            name, mode = f"{self.file.taken_as}.errors.csv", self.work.job.settings.mode
            with replacing(self._path(FAILED, name), mode=mode) as out:
                write_findings(out, [row])
        report = {**self._failure(error), "is_kept": is_kept}
        return self._judge(_state_of(error), report, columns)

    def release(self, store: Store, *, dry_run: bool) -> imports.ImportReport:
        """Take a file that is held, in the caller's transaction, and move it to `done/`.

        Broken off behind the move it is found there when it is run again.
        """
        bounds, name = self._bounds(), self.file.taken_as
        with self._folder(HELD) as held_folder, self._folder(DONE) as done_folder:
            folder = held_folder if held_folder.look(name) is not None else done_folder
            file_stat = folder.look(name)
            if file_stat is None:
                raise unusable("file_missing", f"{held_folder.path / name} is not there any more.")
            copy = private_copy(
                folder, name, stamp_of(file_stat), bounds.limits, beside=held_folder.path
            )
            with copy.file:
                manifest = read_manifest(folder, [name + MANIFEST], self.shown)
                report = self.take_in(store, copy, manifest, bounds, keeps_reports=not dry_run)
            read = {"taken_bytes": copy.size_bytes, "taken_sha256": copy.sha256}
            self._record(store, "imported", report.document(), read)
            if folder is held_folder and not dry_run:
                put_away(held_folder, name, done_folder, name)
        return replace(report, dry_run=dry_run)

    def _failure(self, error: CardoffersError) -> dict[str, Any]:
        return {
            "file": self.shown,
            "held": error.code == FILE_HELD,
            "file_error": {"code": error.code, "message": error.message, "hint": error.hint},
        }

    def _judge(self, state: str, report: Mapping[str, Any], columns: dict[str, Any]) -> str:
        with self.work.job.store() as store, store.transaction():
            self._record(store, state, {"file": self.shown, **report}, columns)
        return state

    def _record(
        self, store: Store, state: str, report: Mapping[str, Any], columns: dict[str, Any]
    ) -> None:
        store.execute(
            "night/questions:judge_file",
            night_no=self.work.night.night_no,
            file_no=self.file.file_no,
            state=state,
            report=dumps(report),
            taken_bytes=columns.get("taken_bytes"),
            taken_sha256=columns.get("taken_sha256"),
        )

    def _folder(self, kind: str) -> AbstractContextManager[OpenFolder]:
        return self.work.processed.folder(self.file.institution, kind)

    def _path(self, kind: str, name: str) -> Path:
        """Return the path of a report, in a folder that is there and has no drafts of a crash."""
        with self._folder(kind) as folder:
            clear_drafts(folder.path)
        return self.work.processed.path(self.file.institution, kind, name)


def release_file(
    job: Job, name: str, institution: str | None, *, dry_run: bool
) -> imports.ImportReport:
    """Take a file that is held in `held/` as it is now, and move it to `done/`.

    It is named as it was dropped, or as it is kept; of several of one name it is the newest. Raises
    `NotFound`, `UsageError` where several institutions have one, and what its import raises.
    """
    with job.store() as store, store.transaction(keep=not dry_run):
        owner = find_institution(store, institution) if institution else None
        # The newest file of the name that is held, and the night that found it.
        candidates = nights.held_files(store, name, owner.slug if owner else None)
        if not candidates:
            raise NotFound.from_table("night", "held_file_not_found", name=name)
        if len({file.institution for _, file in candidates}) > 1:
            raise UsageError(
                f"Several institutions have a file {name!r} that is held.", hint="Add -i."
            )
        night, file = candidates[0]
        drop, processed = Path(night.drop_folder), ProcessedFolder(Path(night.processed_folder))
        work = NightContext(
            job=job,
            night=night,
            order=NightOptions(drop=drop),
            onlooker=NightObserver(),
            clock=job.now,
            processed=processed,
            target=target_of(store, job),
        )
        return _File(work, file).release(store, dry_run=dry_run)


def _state_of(failure: CardoffersError) -> str:
    """Return what becomes of a file that was not taken."""
    return "held" if failure.code == FILE_HELD else "failed"


def _profile_of(store: Store, owner: Institution) -> Profile | None:
    """Return the layout that the institution keeps for its own files, if it keeps one."""
    stored = find_profile(store, owner.id)
    return parse_profile(stored.toml, f"The profile of {owner.slug}") if stored else None


def check_digest(copy: Copy, manifest: Manifest | None) -> None:
    """Raise `FileUnusable` where a file, as it lies, is not what its manifest says."""
    if manifest and manifest.sha256 not in {None, copy.sha256}:
        raise _mismatch("its SHA-256 is another one")


def vouches(manifest: Manifest | None) -> bool:
    """Say whether a manifest would not agree with a file that was cut in its last line."""
    return manifest is not None and (manifest.sha256 is not None or manifest.amount_sum is not None)


def check_sums(store: Store, judged: Judged, owner: Institution, manifest: Manifest | None) -> None:
    """Raise `FileUnusable` where rows or amounts differ from the manifest.

    The refunds among the rows of a file count as rows, and their amounts as they stand in the file,
    below zero.

    The amount of an invalid row may be anything: where there are such rows, the sum of the valid
    ones can only be held to be no more than what the manifest says, and where a refund is invalid
    not even that. It does not tell whether the last line was cut.
    """
    if manifest is None:
        return
    report = judged.report
    if manifest.rows is not None and manifest.rows != report.received:
        raise _mismatch(f"it has {counted(report.received, 'row')}, not {manifest.rows:,}")
    if manifest.amount_sum is None:
        return
    amount, *refunded = (store.value("river/stage:amount", part.rows) for part in judged.staged)
    total = quantize(amount - sum(refunded), owner.currency)
    is_whole = manifest.sha256 or not report.is_unterminated
    lacks_refunds = report.refunds and report.refunds.invalid
    is_less = report.invalid and total <= manifest.amount_sum
    if total != manifest.amount_sum and not (is_whole and (lacks_refunds or is_less)):
        raise _mismatch(f"its amounts are {total:,} in all, not {manifest.amount_sum:,f}")


def _mismatch(what: str) -> FileUnusable:
    return unusable("manifest_mismatch", f"The file is not what its manifest says: {what}.")
