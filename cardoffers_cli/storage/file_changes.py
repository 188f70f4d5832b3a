"""Files that were taken, looked at again: what was written to them later was read by nobody.

Each is held against the size and digest of what was read, by every later night and by `doctor`; one
that a later night found the same is read again only when its times say that it was touched. A file
that is not there any more was taken away by somebody who may, and is no matter.

Whoever is told of a change answers it: an import of the file, where it lies, takes the rows that
were not read (the others are known by their references), and `run accept` leaves it as it is. Until
then every night says it again, and a further change is a new one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from cardoffers_cli.drop import file_changes
from cardoffers_cli.drop import file_changes as taken_files
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.nearest import did_you_mean, nearest
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.river.stored_imports import earlier_import

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cardoffers_cli.drop.file_changes import ProcessedFile
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


class FileChangeRow(Record, sheet="file change first_line last_line rows path"):
    """What became of a file after it was taken, with the lines that were not read, if known.

    One that was accepted as it is has the run that did it.
    """

    file: str
    path: str = shown(gives_way=1)
    change: str
    first_line: int | None
    last_line: int | None
    rows: int | None
    message: str
    next: str
    run_id: UUID | None = if_any()
    dry_run: bool | None = if_any()


@dataclass(frozen=True, kw_only=True)
class Change:
    """A file that grew or changed after it was taken, and that nobody has answered for."""

    file: ProcessedFile
    later: file_changes.FileChange

    @property
    def path(self) -> Path:
        """Where it lies."""
        return _path(self.file)

    @property
    def rows(self) -> int | None:
        """How many lines were not read, where that can be told."""
        first, last = self.later.first_line, self.later.last_line
        return None if first is None or last is None else last - first + 1

    @property
    def message(self) -> str:
        """What happened, in words."""
        subject = f"{self.file.shown}, taken on {self.file.as_of.date()},"
        if self.later.what != "grew":
            return f"{subject} was changed afterwards: it is not what was read."
        if self.rows is None:
            return f"{subject} grew afterwards, and what came was not read."
        first, last = self.later.first_line, self.later.last_line
        part = f" (line {first} was read in part)" if self.later.is_cut else ""
        span = f"line {first}" if first == last else f"lines {first} to {last}"
        return f"{subject} grew afterwards: {span}, {counted(self.rows, 'row')}, not read{part}."

    @property
    def then(self) -> str:
        """What to type: to take the rest, or to leave it."""
        if self.file.state == "held":
            return f"cardoffers file release {quote(self.file.shown)}, if it is whole now"
        take = f"cardoffers import {quote(str(self.path))} -i {self.file.institution}"
        return f"{take}, or to leave it: cardoffers run accept {quote(self.file.shown)}"

    def document(self) -> FileChangeRow:
        """Return the change as data."""
        return FileChangeRow(
            file=self.file.shown,
            path=str(self.path),
            change=self.later.what,
            first_line=self.later.first_line,
            last_line=self.later.last_line,
            rows=self.rows,
            message=self.message,
            next=self.then,
        )

    @property
    def content_sha256(self) -> str | None:
        """The digest by which an import of it would be known."""
        return file_changes.content_sha256(self.path, self.file.taken_bytes)


@dataclass(frozen=True, kw_only=True)
class FileCheck:
    """What a look at the taken files came to: how many there are, and those that were read again.

    `same` are what was read of them, or accepted, with the state in which they were found so. To
    `changed` there is the digest by which an import of each would be known.
    """

    files: int
    same: list[tuple[ProcessedFile, str]]
    changed: list[tuple[Change, str | None]]


def watched(store: Store) -> list[ProcessedFile]:
    """Return the files to look at."""
    return taken_files.watched(store)


def look_at(files: Sequence[ProcessedFile]) -> FileCheck:
    """Hold files that are kept against what was read of them; it takes no store, but its time."""
    there, same, changed = 0, [], []
    for file in files:
        stamp = file_changes.later_stamp(_path(file))
        there += stamp is not None
        if stamp is None or stamp == file.looked_stamp:
            continue
        file_change = file_changes.look_later(_path(file), file.taken_bytes, file.taken_sha256)
        if file_change is None:
            continue
        if file_change.what == "same" or file_change.mark == file.accepted_mark:
            same.append((file, file_change.stamp))
        else:
            change = Change(file=file, later=file_change)
            changed.append((change, change.content_sha256))
    return FileCheck(files=there, same=same, changed=changed)


def unanswered(store: Store, check: FileCheck) -> list[Change]:
    """Return the changes that nobody has answered, by an import of the file as it is now."""
    return [
        change
        for change, sha256 in check.changed
        if sha256 is None or earlier_import(store, change.file.institution_id, sha256) is None
    ]


def keep_looked(
    store: Store, check: FileCheck, changes: Sequence[Change], *, before_night: int
) -> None:
    """Write which files need not be read again, in the caller's transaction: all but `changes`.

    Of a file of the night that looks, somebody may still be writing the rest: the next one looks.
    """
    answered = [(item.file, item.later.stamp) for item, _ in check.changed if item not in changes]
    for file, stamp in [*check.same, *answered]:
        if file.night_no < before_night:
            store.execute(
                "drop/file_changes:looked",
                night_no=file.night_no,
                file_no=file.file_no,
                stamp=stamp,
            )


def accept_taken(job: Job, name: str, *, dry_run: bool = False) -> FileChangeRow:
    """Accept a file that changed after it was taken as it is now; raise `NotFound`."""
    with job.store(read_only=True) as store:
        files = watched(store)
    check = look_at(files)  # which takes its time: others may have the store meanwhile
    with job.store() as store, store.transaction(keep=not dry_run):
        open_changes = unanswered(store, check)
        changes = {change.file.shown: change for change in open_changes}
        if name not in changes:
            raise NotFound(
                f"No file {name!r} changed after it was taken.",
                code="taken_file_not_found",
                hint=did_you_mean(nearest(name, changes)) or "`cardoffers doctor` names one.",
            )
        change = changes[name]
        with run_record(store, kind="file_accept", now=job.now, actor=job.actor) as run:
            store.execute(
                "drop/file_changes:accept",
                night_no=change.file.night_no,
                file_no=change.file.file_no,
                mark=change.later.mark,
            )
            run.counts["accepted"] = 1
    return replace(change.document(), run_id=run.run_id, dry_run=dry_run)


def _path(file: ProcessedFile) -> Path:
    folder = file_changes.ProcessedFolder(Path(file.processed_folder))
    return folder.path(file.institution, file_changes.KEPT_IN[file.state], file.taken_as)
