"""Import: every file that the night found, each in one transaction, then out of the way.

What became of a file is recorded in the transaction that takes it, and its reports are written
before that ends: a night that dies afterwards finds the record, and only has to move the file. A
file that cannot be taken goes to `failed/` and stops no other.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.counting import counted
from cardoffers_cli.domain.errors import CardoffersError, FileUnusable, NotFound, Refused
from cardoffers_cli.domain.money import quantize
from cardoffers_cli.domain.visible import shortened
from cardoffers_cli.files import drop
from cardoffers_cli.files.exports import replacing
from cardoffers_cli.files.findings import write_findings
from cardoffers_cli.files.transactions import open_transactions
from cardoffers_cli.jobs.engines import site_of
from cardoffers_cli.jobs.imports import (
    ImportOptions,
    ImportReport,
    may_upload,
    reading_for,
    take_in,
)
from cardoffers_cli.jobs.intake import Outputs, write_outputs
from cardoffers_cli.jobs.night.order import WITHOUT_CONSEQUENCE, Done, finding
from cardoffers_cli.pipeline.stage import staged_amount
from cardoffers_cli.services import nights
from cardoffers_cli.services.institutions import find_institution

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.files.drop import Manifest
    from cardoffers_cli.files.transactions import TransactionFile
    from cardoffers_cli.jobs.intake import FileReport
    from cardoffers_cli.jobs.night.order import Work
    from cardoffers_cli.services.institutions import Institution
    from cardoffers_cli.services.nights import NightFile
    from cardoffers_cli.store.store import Store

OPTIONS = ImportOptions()
_BLOCK = 1 << 20


_NO_FILE = (FileUnusable, Refused, NotFound)
"""What is wrong with one file, and stops no other."""


class _Changed(CardoffersError):
    """Somebody wrote to the file meanwhile."""


def import_files(work: Work) -> Done:
    """Take in every file of the night; the reports and the moves are finished where one was."""
    with work.job.store(read_only=True) as store:
        files = nights.files(store, work.night)
        work.site = site_of(store, work.job)
    for number, file in enumerate(files):
        work.onlooker.moves(f"{file.institution}/{file.file_name}", number, len(files))
        _File(work, file).finish()
    with work.job.store() as store, store.transaction():
        nights.files_moved(store, work.night)
        return taken_in(work, store)


def rehearse_files(work: Work, store: Store) -> Done:
    """Do to the store what taking in the files would, in a transaction that will be undone."""
    for file in nights.files(store, work.night):
        if file.state == "waiting":
            _File(work, file).rehearse(store)
    return taken_in(work, store)


def taken_in(work: Work, store: Store) -> Done:
    """Return what became of the files of the night, by its records."""
    files = nights.files(store, work.night)
    return Done(counts=_counts(files), findings=[*work.remarks, *_findings(files)])


@dataclass(frozen=True)
class _File:
    """A file of the night, on its way through the import and out of the drop folder."""

    work: Work
    file: NightFile

    @property
    def path(self) -> Path:
        return self.work.order.drop / self.file.institution / self.file.file_name

    @property
    def shown(self) -> str:
        return f"{self.file.institution}/{self.file.file_name}"

    def finish(self) -> None:
        """Do what is still to be done with it."""
        state = self.file.state
        if state == "waiting":
            state = self._take()
        if not self.file.is_moved:
            self._move(state)

    def _take(self) -> str:
        found = drop.stamp_of(self.path)
        if found != self.file.stamp:
            return self._judge("gone" if found is None else "changed", {})
        try:
            self._import()
        except _Changed:
            return self._judge("changed", {})
        except _NO_FILE as error:
            return self._fail(error)
        return "imported"

    def _import(self) -> None:
        with self.work.job.store() as store, store.transaction():
            made = self.take_in(store, keeps_reports=True)
            if drop.stamp_of(self.path) != self.file.stamp:
                raise _Changed
            nights.judge_file(
                store, self.work.night, self.file.file_no, "imported", made.document()
            )

    def take_in(self, store: Store, *, keeps_reports: bool) -> ImportReport:
        """Import the file in the caller's transaction, if its manifest says nothing against it."""
        job = self.work.job
        owner = find_institution(store, self.file.institution)
        may_upload(owner)
        manifest = drop.read_manifest(self.path)
        _check_digest(self.path, manifest)
        options = replace(OPTIONS, allow_unterminated=_vouches(manifest))
        with open_transactions(str(self.path), reading_for(owner, job, options)) as opened:
            opened.name = self.shown
            made = take_in(
                store,
                opened,
                owner,
                job,
                options,
                site=self.work.site,
                approve=lambda report: _check_sums(store, report, owner, manifest),
            )
            if keeps_reports and (not made.report.ok or made.report.look_alikes):
                self._write_reports(store, opened)
        return made

    def rehearse(self, store: Store) -> None:
        """Do to the store what taking the file would, in a transaction that will be undone."""
        try:
            state, report = "imported", self.take_in(store, keeps_reports=False).document()
        except _NO_FILE as error:
            state, report = "failed", self._failure(error)
        nights.judge_file(store, self.work.night, self.file.file_no, state, report)

    def _write_reports(self, store: Store, opened: TransactionFile) -> None:
        folder = self._folder(drop.DONE)
        name = self.file.taken_as
        outputs = Outputs(
            errors=folder / f"{name}.errors.csv", rejected=folder / f"{name}.rejected.{opened.kind}"
        )
        write_outputs(store, opened, outputs, mode=self.work.job.settings.mode)

    def _fail(self, error: CardoffersError) -> str:
        row = {
            "line": error.details.get("line"),
            "transaction_ref": None,
            "field": None,
            "code": error.code,
            "level": "error",
            "message": error.message,
        }
        name = f"{self.file.taken_as}.errors.csv"
        mode = self.work.job.settings.mode
        with replacing(self._folder(drop.FAILED) / name, mode=mode) as out:
            write_findings(out, [row])
        return self._judge("failed", self._failure(error))

    def _failure(self, error: CardoffersError) -> dict[str, Any]:
        return {
            "file": self.shown,
            "file_error": {"code": error.code, "message": error.message, "hint": error.hint},
        }

    def _judge(self, state: str, report: dict[str, Any]) -> str:
        with self.work.job.store() as store, store.transaction():
            nights.judge_file(
                store, self.work.night, self.file.file_no, state, {"file": self.shown, **report}
            )
        return state

    def _move(self, state: str) -> None:
        """Move the file and its markers, unless what lies there now is another file."""
        if state in {"imported", "failed"} and drop.stamp_of(self.path) == self.file.stamp:
            folder = self._folder(drop.DONE if state == "imported" else drop.FAILED)
            for marker in drop.markers_of(self.path):
                drop.move(marker, folder, marker.name)
            drop.move(self.path, folder, self.file.taken_as)

    def _folder(self, name: str) -> Path:
        folder = self.path.parent / name
        folder.mkdir(exist_ok=True)
        drop.clear_drafts(folder)
        return folder


def _check_digest(path: Path, manifest: Manifest | None) -> None:
    """Raise `FileUnusable` where a file, as it lies, is not what its manifest says."""
    if manifest is None or manifest.sha256 is None:
        return
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    if digest.hexdigest() != manifest.sha256:
        raise _mismatch("its SHA-256 is another one")


def _vouches(manifest: Manifest | None) -> bool:
    """Say whether a manifest would not agree with a file that was cut in its last line."""
    return manifest is not None and (manifest.sha256 is not None or manifest.amount_sum is not None)


def _check_sums(
    store: Store, report: FileReport, owner: Institution, manifest: Manifest | None
) -> None:
    """Raise `FileUnusable` where rows or amounts differ from the manifest.

    The amount of an invalid row may be anything: where there are such rows, the sum of the valid
    ones can only be held to be no more than what the manifest says. That does not tell whether the
    last line was cut.
    """
    if manifest is None:
        return
    if manifest.rows is not None and manifest.rows != report.received:
        raise _mismatch(f"it has {counted(report.received, 'row')}, not {manifest.rows:,}")
    if manifest.amount_sum is None:
        return
    found = quantize(staged_amount(store), owner.currency)
    may_lack = report.invalid and (manifest.sha256 or not report.is_unterminated)
    is_right = found <= manifest.amount_sum if may_lack else found == manifest.amount_sum
    if not is_right:
        raise _mismatch(f"its amounts are {found:,} in all, not {manifest.amount_sum:,}")


def _mismatch(what: str) -> FileUnusable:
    return FileUnusable(
        f"The file is not what its manifest says: {what}.",
        code="manifest_mismatch",
        hint="Ask the sender for the whole file, with its manifest.",
    )


_STATES = ("imported", "failed", "changed", "gone")
_SUMS = ("received", "accepted", "duplicates", "conflicts", "invalid")


def _counts(files: list[NightFile]) -> dict[str, Any]:
    reports = [file.report or {} for file in files if file.state == "imported"]
    return {
        "files": len(files),
        **{state: sum(file.state == state for file in files) for state in _STATES},
        **{name: sum(report[name] for report in reports) for name in _SUMS},
    }


def _findings(files: list[NightFile]) -> Iterator[dict[str, Any]]:
    for file in files:
        shown = f"{file.institution}/{file.file_name}"
        about: dict[str, Any] = {"institution": file.institution, "file": shown}
        report = file.report or {}
        if file.state == "failed":
            error = report["file_error"]
            where = f"see {file.institution}/{drop.FAILED}/{file.taken_as}.errors.csv"
            yield finding(error["code"], f"{shown}: {error['message']}", then=where, **about)
        elif file.state in {"changed", "gone"}:
            message = f"{shown} was {file.state} while the night ran; nothing of it was taken."
            yield finding(f"file_{file.state}", message, level=WITHOUT_CONSEQUENCE, **about)
        elif report["already_imported"] and not report["accepted"]:
            yield _known(report, shown, about)
        elif not report["ok"]:
            wrong = report["invalid"] + report["conflicts"]
            message = f"{shown}: {wrong:,} of {counted(report['received'], 'row')} not taken."
            where = f"see {file.institution}/{drop.DONE}/{file.taken_as}.errors.csv"
            yield finding("rows_rejected", message, then=where, count=wrong, **about)
        yield from _look_alikes(report, shown, about)


def _known(report: dict[str, Any], shown: str, about: dict[str, Any]) -> dict[str, Any]:
    """Say that a file is wholly known, in the place of how many of its rows are not taken."""
    as_file, at = shortened(report["already_imported_as"]), report["already_imported_at"][:10]
    message = f"{shown} is the same file as {as_file}, taken on {at}: nothing in it is new."
    return finding("file_known", message, level=WITHOUT_CONSEQUENCE, **about)


def _look_alikes(
    report: dict[str, Any], shown: str, about: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    for found in report.get("findings", ()):
        if found["code"] == "look_alike":
            rows, lines = found["rows"], ", ".join(map(str, found["lines"]))
            more = " and more" if rows > len(found["lines"]) else ""
            message = (
                f"{shown}: {counted(rows, 'row')} taken that look like others ({lines}{more})."
            )
            then = "cardoffers help findings look_alike"
            yield finding("look_alike", message, level="warning", then=then, count=rows, **about)
