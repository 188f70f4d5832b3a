"""Pick up: fetch the files of institutions into the drop folder; tidy up when they are imported.

The store is open only while something is read or recorded, never while a server is waited for. One
place that fails is a finding, and the others go on.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.drop.fetched_files import PickupPool
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
from cardoffers_cli.pickup import questions as pickups
from cardoffers_cli.pickup.fetching import PickupJob
from cardoffers_cli.pickup.objects import object_folder
from cardoffers_cli.pickup.remote import Deadline
from cardoffers_cli.pickup.result import NOTE, PickupFinding, PickupResult, PickupRow, failed
from cardoffers_cli.pickup.session import PickupSession
from cardoffers_cli.pickup.ssh import sftp_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.words.pickups import PickupPlace
    from cardoffers_cli.pickup.remote import Remote

    _Opens = Callable[[PickupPlace, Deadline], AbstractContextManager[Remote]]

_OF_A_PLACE = (ConfigurationError, FileUnusable, NetworkFailure, NotFound, UsageError)


def pick_up(
    job: Job,
    drop: Path | None,
    institution: str | None = None,
    *,
    wait_s: float = 0,
    dry_run: bool = False,
) -> PickupResult:
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
        last = pickups.last_folder(store)
    if only and only not in job.settings.pickup:
        raise NotFound(
            f"No place is configured to fetch files of {only} from.",
            code="pickup_missing",
            hint=f"Write a table [pickup.{only}] in the configuration: `cardoffers help pickup`.",
        )
    folder = drop or (Path(last) if last else None)
    if folder is None:
        raise UsageError(
            "There was no nightly run yet, so it is not known where its drop folder is.",
            code="drop_unknown",
            hint="Name it: cardoffers pickup DROP_DIR.",
        )
    if not folder.is_dir():
        raise NotFound(
            f"There is no folder {folder}.",
            code="folder_missing",
            hint="Name the folder that holds a folder for each institution.",
        )
    with night_lock(job.path, since=real_now(), wait_s=wait_s) as lock:
        lock.tell(step="pickup")
        return visit_all(job, folder, only, dry_run=dry_run)


def visit_all(
    job: Job, drop: Path, only: str | None = None, *, fetches: bool = True, dry_run: bool = False
) -> PickupResult:
    """Visit the places, under the lock of the night; without `fetches` only tidy up.

    Then places are visited only where an imported file still is to be removed or moved.
    """
    files, findings, places = list[PickupRow](), list[PickupFinding](), 0
    for slug, owner in _owners(job):
        if only not in {None, slug}:
            continue
        if owner is None:
            findings += [_unknown(slug)] if fetches else []
            continue
        more, more_findings = _visited(job, drop, owner, fetches=fetches, dry_run=dry_run)
        files, findings, places = [*files, *more], [*findings, *more_findings], places + 1
    return PickupResult(
        drop=str(drop),
        places=places,
        fetched=sum(file.state == "fetched" for file in files),
        files=files,
        findings=findings,
        dry_run=dry_run,
    )


def needs_attention(findings: Sequence[PickupFinding]) -> bool:
    """Return whether a finding needs attention."""
    return any(finding.level != NOTE for finding in findings)


def _owners(job: Job) -> Iterator[tuple[str, Institution | None]]:
    with job.store(read_only=True) as store:
        institutions = {institution.slug: institution for institution in list_institutions(store)}
    yield from ((slug, institutions.get(slug)) for slug in sorted(job.settings.pickup))


def _unknown(slug: str) -> PickupFinding:
    return PickupFinding(
        code="institution_unknown",
        level="warning",
        message=f"[pickup.{slug}] of the configuration is no institution's.",
        next="cardoffers institution list",
        institution=slug,
    )


def _visited(
    job: Job, drop: Path, owner: Institution, *, fetches: bool, dry_run: bool
) -> tuple[list[PickupRow], list[PickupFinding]]:
    """Visit a place; what ends that early is a finding behind those that were made before."""
    place = job.settings.pickup[owner.slug]
    with job.store(read_only=True) as store:
        rows = pickups.known(store, owner.id, place.shown)
    files, findings = list[PickupRow](), list[PickupFinding]()
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
        findings.append(failed(owner.slug, error))
    except OSError as error:
        failure = CardoffersError(f"The system says: {error.strerror}.", code="disk")
        findings.append(failed(owner.slug, failure))
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
