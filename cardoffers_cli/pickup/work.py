"""Pick up: fetch the files of institutions into the drop folder; tidy up when they are imported.

The store is open only while something is read or recorded, never while a server is waited for. One
place that fails is a finding, and the others go on. What is to be done at a place follows from what
is there and what is recorded, never from what was done in this run: so a session that was broken
off anywhere is simply made again.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.drop.drop import HALVES, MANIFEST, MARKER, REPORTS, marker_names
from cardoffers_cli.drop.fetched_files import PickupPool
from cardoffers_cli.kernel.disk.folders import numbered
from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.store.institutions import find_institution, list_institutions
from cardoffers_cli.kernel.store.lock import night_lock
from cardoffers_cli.kernel.store.opening import must_exist
from cardoffers_cli.kernel.words.errors import (
    CardoffersError,
    ConfigurationError,
    FileUnusable,
    NetworkFailure,
    NotFound,
    UsageError,
)
from cardoffers_cli.kernel.words.pickups import KEEP
from cardoffers_cli.pickup import questions
from cardoffers_cli.pickup import questions as pickups
from cardoffers_cli.pickup import questions as told
from cardoffers_cli.pickup.fetching import PickupJob, fetch, place, record
from cardoffers_cli.pickup.objects import object_folder
from cardoffers_cli.pickup.openpgp import plain_name
from cardoffers_cli.pickup.remote import Deadline, RemoteRefusal
from cardoffers_cli.pickup.ssh import sftp_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.words.pickups import PickupPlace
    from cardoffers_cli.pickup.questions import FetchedFileRow
    from cardoffers_cli.pickup.remote import Listing, Remote, RemoteFile


if TYPE_CHECKING:
    _Opens = Callable[[PickupPlace, Deadline], AbstractContextManager[Remote]]

_OF_A_PLACE = (ConfigurationError, FileUnusable, NetworkFailure, NotFound, UsageError)


def pick_up(
    job: Job,
    drop: Path | None,
    institution: str | None = None,
    *,
    wait_s: float = 0,
    dry_run: bool = False,
) -> questions.PickupResult:
    """Fetch what is new for one institution, or all that have a place; `drop` is where to.

    None is the drop folder of the newest nightly run, whose lock is held meanwhile. Raises
    `ConfigurationError` where no place is configured, `NotFound`, and `StoreBusy` night_busy.
    """
    must_exist(job.path)
    if not job.settings.pickup:
        raise ConfigurationError(
            "No place is configured to fetch files from.",
            code="pickup_missing",
            hint="Write a table [pickup.INST] in the configuration: `cardoffers help pickup`.",
        )
    with job.store(read_only=True) as store:
        only = find_institution(store, institution).slug if institution else None
        last = store.row("pickup/questions:last_folder")
    if only and only not in job.settings.pickup:
        raise NotFound(
            f"No place is configured to fetch files of {only} from.",
            code="pickup_missing",
            hint=f"Write a table [pickup.{only}] in the configuration: `cardoffers help pickup`.",
        )
    folder = drop or (Path(last["drop_folder"]) if last else None)
    if folder is None:
        raise UsageError.from_table("pickup", "drop_unknown")
    if not folder.is_dir():
        raise NotFound.from_table("pickup", "folder_missing", folder=folder)
    with night_lock(job.path, since=real_now(), wait_s=wait_s) as lock:
        lock.tell(step="pickup")
        return visit_all(job, folder, only, dry_run=dry_run)


def visit_all(
    job: Job, drop: Path, only: str | None = None, *, fetches: bool = True, dry_run: bool = False
) -> questions.PickupResult:
    """Visit the places, under the lock of the night; without `fetches` only tidy up.

    Then places are visited only where an imported file still is to be removed or moved.
    """
    with job.store(read_only=True) as store:
        institutions = {institution.slug: institution for institution in list_institutions(store)}
    files, findings, places = list[questions.PickupRow](), list[questions.PickupFinding](), 0
    for slug in sorted(job.settings.pickup):
        owner = institutions.get(slug)
        if only not in {None, slug}:
            continue
        if owner is None:
            findings += [_unknown(slug)] if fetches else []
            continue
        more, more_findings = _visited(job, drop, owner, fetches=fetches, dry_run=dry_run)
        files, findings, places = [*files, *more], [*findings, *more_findings], places + 1
    return questions.PickupResult(
        drop=str(drop),
        places=places,
        fetched=sum(file.state == "fetched" for file in files),
        files=files,
        findings=findings,
        dry_run=dry_run,
    )


def needs_attention(findings: Sequence[questions.PickupFinding]) -> bool:
    """Return whether a finding needs attention."""
    return any(finding.level != questions.NOTE for finding in findings)


def _unknown(slug: str) -> questions.PickupFinding:
    return questions.PickupFinding(
        code="institution_unknown",
        level="warning",
        message=f"[pickup.{slug}] of the configuration is no institution's.",
        next="cardoffers institution list",
        institution=slug,
    )


def _visited(
    job: Job, drop: Path, owner: Institution, *, fetches: bool, dry_run: bool
) -> tuple[list[questions.PickupRow], list[questions.PickupFinding]]:
    """Visit a place; what ends that early is a finding behind those that were made before."""
    place = job.settings.pickup[owner.slug]
    with job.store(read_only=True) as store:
        rows = pickups.known(store, owner.id, place.shown)
    files, findings = list[questions.PickupRow](), list[questions.PickupFinding]()
    try:
        with PickupPool.open(drop, make=not dry_run) as pool:
            pickup_job = PickupJob(
                job=job,
                owner=owner,
                place=place,
                drop=drop,
                pool=pool,
                deadline=Deadline(place.most_seconds),
            )
            session = PickupSession(
                pickup_job=pickup_job, known=rows, dry_run=dry_run, files=files, findings=findings
            )
            _run_session(session, fetches=fetches)
    except _OF_A_PLACE as error:
        findings.append(questions.failed(owner.slug, error))
    except OSError as error:
        failure = CardoffersError(f"The system says: {error.strerror}.", code="disk")
        findings.append(questions.failed(owner.slug, failure))
    return files, findings


def _run_session(session: PickupSession, *, fetches: bool) -> None:
    pickup_job = session.pickup_job
    if fetches and not session.dry_run:
        session.settle_pool()
    if not fetches and not session.is_to_finish:
        return
    with ExitStack() as stack:
        if fetches and (keys := pickup_job.keys):
            keys.check()
            stack.callback(keys.close)
        opens: _Opens = sftp_folder if pickup_job.place.is_sftp else object_folder
        remote = stack.enter_context(opens(pickup_job.place, pickup_job.deadline))
        listing = remote.list()
        session.finish(remote, listing)
        if fetches:
            session.fetch(remote, listing)


_NO_INPUT = (MARKER, MANIFEST, *REPORTS, *HALVES)
_TAKEN_AWAY = frozenset({"removed", "moved", "gone"})


@dataclass(kw_only=True)
class PickupSession:
    """One session of a place, and what is to be told of it."""

    pickup_job: PickupJob
    known: Sequence[FetchedFileRow]
    dry_run: bool = False
    files: list[questions.PickupRow] = field(default_factory=list)
    findings: list[questions.PickupFinding] = field(default_factory=list)

    @property
    def slug(self) -> str:
        """The institution's."""
        return self.pickup_job.owner.slug

    @property
    def is_to_finish(self) -> bool:
        """Whether an imported file may still lie at its place."""
        return any(row.outcome is None and row.is_imported for row in self.known)

    def settle_pool(self) -> None:
        """Put what a killed process recorded and did not place where it belongs."""
        waiting = {self._id(row): row for row in self.known if row.outcome is None}
        self.pickup_job.pool.clear(str(self.pickup_job.owner.id), waiting)
        for file_id, row in waiting.items():
            if self.pickup_job.pool.has(file_id):
                drop_name = self._free(row)
                place(self.pickup_job, row.remote_name, row.stamp, drop_name)
                self._tell(row.remote_name, row.size_bytes, "fetched", drop_name)

    def finish(self, remote: Remote, listing: Listing) -> None:
        """Do with imported files at their place what the configuration says."""
        for row in self.known:
            if row.outcome is None and row.is_imported:
                try:
                    outcome = self._finished(remote, listing, row)
                except RemoteRefusal as error:
                    self.findings.append(told.left_there(self.slug, row.remote_name, error))
                    outcome = "imported"
                self._tell(row.remote_name, row.size_bytes, outcome, row.drop_name)

    def _finished(self, remote: Remote, listing: Listing, row: FetchedFileRow) -> str:
        after, outcome = self.pickup_job.place.after, "kept"
        entry = listing.files.get(row.remote_name)
        if entry is None:
            outcome = "gone"
        elif entry.stamp != row.stamp:
            outcome = "replaced"
        elif self.dry_run:
            return "imported"
        elif after != KEEP:
            outcome = self._put_away(remote, listing, row)
        if not self.dry_run:
            with self.pickup_job.job.store() as store, store.transaction():
                owner = self.pickup_job.owner.id
                store.execute(
                    "pickup/questions:finish",
                    institution_id=owner,
                    picked_no=row.picked_no,
                    outcome=outcome,
                    ended_at=real_now(),
                )
        return outcome

    def _put_away(self, remote: Remote, listing: Listing, row: FetchedFileRow) -> str:
        """Remove or move a file at its place, its markers first: one left behind marks the next."""
        now = remote.look(row.remote_name)
        if now is None or now.stamp != row.stamp:
            return "gone" if now is None else "replaced"
        folder = self.pickup_job.place.folder_to_move_to
        # The markers of the file and of no other.
        inputs = [
            file
            for file in listing.files
            if not file.endswith(_NO_INPUT) and file != row.remote_name
        ]
        others = {marker for file in inputs for marker in marker_names(file)}
        own = (marker for marker in marker_names(row.remote_name) if marker in listing.files)
        for name in (*[marker for marker in own if marker not in others], row.remote_name):
            if folder is None:
                remote.remove(name)
            else:
                remote.move(name, folder, numbered(name))
        return "removed" if folder is None else "moved"

    def fetch(self, remote: Remote, listing: Listing) -> None:
        """Fetch what is new and ready, so many at once; say what is not to be fetched."""
        self.findings += told.strays(self.slug, listing.strays)
        settings = self.pickup_job.job.settings
        most, new = settings.file_most_per_institution, self._new(listing)
        for file in new[:most]:
            if self.dry_run:
                self._tell(file.name, file.size_bytes, "new")
                continue
            try:
                self._fetch(remote, listing, file)
            except (FileUnusable, RemoteRefusal) as error:
                self.findings.append(told.left(self.slug, file.name, error))
                self._tell(file.name, file.size_bytes, "left")
        if len(new) > most:
            self.findings.append(told.too_many(self.slug, len(new) - most, most))

    def _new(self, listing: Listing) -> list[RemoteFile]:
        recorded = {(row.remote_name, row.stamp): row for row in self.known}
        new = []
        for name, file in sorted(listing.files.items()):
            # Neither it nor what a message would be called may be a marker.
            inside = plain_name(name) if self.pickup_job.keys else name
            is_input = not name.endswith(_NO_INPUT) and not inside.endswith(_NO_INPUT)
            if not (is_input and fnmatchcase(name, self.pickup_job.place.pattern)):
                continue
            fetched_row = recorded.get((name, file.stamp))
            if fetched_row and (state := self._state(fetched_row)) is not None:
                if fetched_row.outcome is None and not fetched_row.is_imported:
                    self._tell(name, file.size_bytes, state, fetched_row.drop_name)
            elif self._is_ready(listing, file):
                new.append(file)
        return new

    def _state(self, row: FetchedFileRow) -> str | None:
        """Say how far a file is that was fetched; None where it has to be fetched again."""
        if row.outcome is not None:
            return "kept" if row.outcome == "kept" else None
        if row.is_imported:
            return "imported"
        if row.is_refused:
            return "refused"
        pool, name = self.pickup_job.pool, row.drop_name
        lies = pool.lies(self.slug, name) or pool.has(self._id(row))
        return "waiting" if lies or row.is_in_hand else None

    def _is_ready(self, listing: Listing, file: RemoteFile) -> bool:
        """Whether it is marked, or nobody wrote to it for a while, by the clock of its server."""
        if any(marker in listing.files for marker in marker_names(file.name)):
            return True
        if self.pickup_job.owner.require_marker:
            self.findings.append(told.unmarked(self.slug, file.name))
        elif file.modified_s is None:
            return True
        else:
            age = real_now().replace(tzinfo=UTC).timestamp() - file.modified_s
            if not 0 <= age < self.pickup_job.job.settings.quiet_s:
                return True
        self._tell(file.name, file.size_bytes, "not_ready")
        return False

    def _fetch(self, remote: Remote, listing: Listing, file: RemoteFile) -> None:
        fetched = fetch(self.pickup_job, remote, listing, file)
        before = [row for row in self.known if row.remote_name == file.name]
        same = [
            row
            for row in before
            if row.sha256 == fetched.sha256
            and row.stamp != file.stamp
            and self._state(row) in {"waiting", "imported"}
        ]
        if same:  # it was touched, and no more
            record(
                self.pickup_job,
                questions.FetchedFile(**{**fetched, "drop_name": same[-1].drop_name}),
            )
            self.pickup_job.pool.clear(self.pickup_job.id_of(file.name, file.stamp), ())
            self._tell(file.name, file.size_bytes, "same")
            return
        record(self.pickup_job, fetched)
        place(self.pickup_job, file.name, file.stamp, fetched.drop_name)
        self._tell(file.name, file.size_bytes, "fetched", fetched.drop_name)
        if before and before[-1].sha256 != fetched.sha256:
            is_usual = before[-1].outcome in _TAKEN_AWAY
            self.findings.append(told.came_again(self.slug, file.name, is_usual=is_usual))

    def _free(self, row: FetchedFileRow) -> str:
        """Return the name that a recorded file gets, which is its own unless that is in use."""
        pool, name = self.pickup_job.pool, row.drop_name
        if not pool.lies(self.slug, name):
            return name
        free = pool.free_name(self.slug, name)
        with self.pickup_job.job.store() as store, store.transaction():
            store.execute(
                "pickup/questions:placed_as",
                institution_id=self.pickup_job.owner.id,
                picked_no=row.picked_no,
                drop_name=free,
            )
        return free

    def _id(self, row: FetchedFileRow) -> str:
        return self.pickup_job.id_of(row.remote_name, row.stamp)

    def _tell(self, name: str, size: int, state: str, drop_name: str | None = None) -> None:
        self.files.append(
            questions.PickupRow(
                institution=self.slug, file=name, size_bytes=size, state=state, drop_name=drop_name
            )
        )
