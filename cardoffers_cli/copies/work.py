"""Copies: points in files, as the snapshot for readers, and in the repository."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from cardoffers_cli.copies import plain
from cardoffers_cli.copies.borg import BorgRepository
from cardoffers_cli.copies.points import StorePoint, pack, point_of, take, unpacked, with_digests
from cardoffers_cli.kernel.disk.folders import check_room, stamp_of
from cardoffers_cli.kernel.store import copying, erasures, journal, layout
from cardoffers_cli.kernel.store.opening import must_exist
from cardoffers_cli.kernel.words import errors
from cardoffers_cli.kernel.words.moments import format_minute, format_moment, parse_duration
from cardoffers_cli.kernel.words.moments import parse_moment as moment
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

    Repository = plain.PlainRepository | BorgRepository

POINT, ERASURES, LINEAGE = "point-", "erasures-", "lineage"
"""How names begin in a repository: of points, of lists of erasures, of lineages."""
_PERIODS = {"d": ("%Y-%m-%d", 1), "w": ("%G-%V", 7), "m": ("%Y-%m", 31), "y": ("%Y", 366)}
"""The periods of which the last point is kept: how one is told from another, its most days."""


class CopyResult(Record, sheet="point taken_at run_no store_bytes added_bytes"):
    """A point that was put somewhere, and what that took; `point` is its name there, or its file.

    `history` is the folder that is not in it. Of a dry run it is what would be.
    """

    point: str
    taken_at: datetime
    run_no: int = shown("up to run")
    lineage: str
    repository: str | None
    store_bytes: int = shown("bytes")
    added_bytes: int = shown("added")
    took_s: float
    history: str | None
    dry_run: bool


def backup(job: Job, target: Path, *, dry_run: bool = False) -> CopyResult:
    """Put a point into new files, or into a folder under a name with the time.

    Raises `Refused` where a file is already, and `NoSpace`.
    """
    must_exist(job.path)
    began = time.monotonic()
    file = target / layout.backup_name(job.path, job.now) if target.is_dir() else target
    plain.must_be_folder(file.parent)
    check_room(file.parent, copying.size_with_log(job.path), "The backup")
    if dry_run:
        plain.check_free(file)
        point = _point_now(job)
    else:
        with plain.placing(file):
            point, packed = take(job, file)
            plain.finish(file, point, packed)
    return result_of(point, began, point=str(file), added_bytes=point.size_bytes, dry_run=dry_run)


def publish(job: Job, *, dry_run: bool = False) -> CopyResult:
    """Take a point, and let readers have it as the snapshot."""
    began, file, draft = time.monotonic(), layout.snapshot_path(job.path), _draft(job)
    try:
        point = _point_now(job) if dry_run else take(job, draft, publishes=True)[0]
    finally:
        draft.unlink(missing_ok=True)
    return result_of(point, began, point=str(file), dry_run=dry_run)


def copy(job: Job, *, dry_run: bool = False) -> CopyResult:
    """Take a point and put it into the repository, which is made the first time.

    A state that is there already is not put again. Raises what reaching the repository raises.
    """
    must_exist(job.path)
    journal.check_not_scratch(job.path)
    began, repository, place = time.monotonic(), repository_of(job), str(job.settings.copies)
    last, there, draft = last_copy(job.path), _points_there(job, repository), _draft(job)
    copied = json.loads(layout.copied_path(job.path).read_bytes())["stamp"] if last else ""
    is_there = last and last.point in {each.point for each in there}
    is_same = copied and copied == _stamp(job.path) and layout.snapshot_path(job.path).exists()
    if last and is_there and is_same:
        check_lineage(last.lineage, there)
        return CopyResult.part(last, added_bytes=0, dry_run=dry_run)
    if dry_run:
        return result_of(_point_now(job), began, repository=place, dry_run=True)
    try:
        point, packed = take(job, draft, publishes=True)
        check_lineage(point.lineage, there)
        stamp = _stamp(job.path)
        if _point_now(job).run_no != point.run_no:  # somebody wrote since: that is in no point yet
            stamp = ""
        _put_list(repository, there, point, unpacked(packed).get("erasures"))
        added = repository.put(point, packed, draft)
    finally:
        draft.unlink(missing_ok=True)
    result = result_of(point, began, repository=place, added_bytes=added, dry_run=False)
    note_copy(job, result, stamp)
    return result


def check_lineage(lineage: str, there: Sequence[StorePoint]) -> None:
    """Raise `Refused` where a later lineage of the same store is in the repository."""
    of = lineage.partition(".")[0]
    newest = max((each.lineage for each in there if each.store_id == of), default="")
    if newest > lineage:
        raise errors.Refused.from_table("copies", "store_superseded", newest=newest)


def check_current(job: Job) -> None:
    """Raise `Refused` for a store that is scratch or superseded, as far as the repository says."""
    journal.check_not_scratch(job.path)
    if job.settings.copies and job.path.exists():
        there: list[StorePoint] = []
        with suppress(errors.CardoffersError, OSError):
            there = repository_of(job).points()
        check_lineage(_point_now(job).lineage, there)


def begin_lineage(job: Job, point: StorePoint) -> str:
    """Put a new lineage of a store into the repository, if one is set; return it.

    Raises `NotFound` where the repository that the store was copied into is not there.
    """
    repository = repository_of(job) if job.settings.copies else None
    there = _points_there(job, repository) if repository else []
    latest = max([point.lineage, *(e.lineage for e in there if e.store_id == point.store_id)])
    number = int(f"{latest}.0".split(".")[1]) + 1
    lineage, packed = f"{point.store_id}.{number:03}.{uuid4().hex[:8]}", pack({LINEAGE: b""})
    if repository:
        entry = StorePoint.part(point, point=f"{LINEAGE}-{lineage}", lineage=lineage, erasures=0)
        repository.put(with_digests(entry, packed), packed)
    return lineage


def _points_there(job: Job, repository: Repository) -> list[StorePoint]:
    """Return what is in a repository; raise `NotFound` where there was one and is none."""
    try:
        return repository.points()
    except errors.NotFound:
        last = last_copy(job.path)
        if last and last.repository == job.settings.copies:
            raise
        return []


def note_copy(job: Job, result: CopyResult, stamp: str = "") -> None:
    """Remember the newest point in the repository, and what its store's file is told by."""
    text = json.dumps({**result, "taken_at": format_moment(result.taken_at), "stamp": stamp})
    layout.replace_whole(layout.copied_path(job.path), text.encode(), _draft(job))


def result_of(of: StorePoint, began: float, **values: Any) -> CopyResult:
    """Return what was done with a point, since a moment of the monotonic clock."""
    took_s = round(time.monotonic() - began, 3)
    more = {"repository": None, "added_bytes": 0, "took_s": took_s, **values}
    return CopyResult.part(of, store_bytes=of.size_bytes, **more)


def _draft(job: Job) -> Path:
    layout.make_folder(job.path)
    return layout.own_draft(job.path, "point")


def _point_now(job: Job) -> StorePoint:
    with job.store(read_only=True) as store:
        return point_of(store, job)


def _stamp(store: Path) -> str:
    """Return what tells the file of a store from itself at another time, while nobody has it."""
    return "" if layout.log_path(store).exists() else stamp_of(store.stat())


def last_copy(store: Path) -> CopyResult | None:
    """Return the newest point that was put into a repository from here, if one was."""
    try:
        told = json.loads(layout.copied_path(store).read_bytes())
        return CopyResult.part(told, taken_at=moment(told["taken_at"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def copy_fault(job: Job, store: Store) -> tuple[str, str] | None:
    """Return what is wrong with the copies of an open store: its code, and what is said of it."""
    last, place = last_copy(job.path), job.settings.copies or ""
    folder = Path(place.partition(":")[2] or place)
    on_same_disk = folder.is_dir() and folder.stat().st_dev == job.path.stat().st_dev
    if not place or on_same_disk:
        first = store.rows("kernel/store/journal:runs_from", run_no=0, most=1)
        since = f" since {format_minute(first[0]['as_of'])}" if first else ""
        why = "; that of `copies` is on the same disk" if place else ""
        return "copy_missing", f"There is no copy of this store outside its disk{since}{why}."
    if last is None or job.now - last.taken_at > parse_duration(job.settings.copies_max_age):
        at = f"The newest is of {format_minute(last.taken_at)}" if last else "It was never copied"
        most = job.settings.copies_max_age
        return "copy_old", f"This store has no copy that is at most {most} old. {at}."
    return None


def repository_of(job: Job, named: str | None = None) -> Repository:
    """Return the repository of the settings, or another one that is named."""
    place = named or job.settings.copies
    if not place:
        raise errors.ConfigurationError.from_table("copies", "copies_unset")
    if place.startswith("plain:"):
        return plain.PlainRepository(Path(place.removeprefix("plain:")))
    if not (job.settings.copies_passphrase or job.settings.copies_passphrase_file):
        raise errors.ConfigurationError.from_table("copies", "copies_passphrase_missing")
    return BorgRepository(place.removeprefix("borg:"), job.path, job.settings)


def entries(job: Job, repository: Repository, kind: str = "") -> list[StorePoint]:
    """Return what a repository has of the store that is here, or of all where none opens.

    They are in the order of lineages and runs. Raises `NotFound` where there is no repository.
    """
    own = None
    with suppress(errors.CardoffersError):
        own = _point_now(job).store_id
    there = [each for each in repository.points() if each.point.startswith(kind)]
    named = [each for each in there if own in {None, each.store_id}]
    return sorted(named, key=lambda each: (each.lineage, each.run_no, each.point))


def put_erasures(job: Job) -> str | None:
    """Put the list of erasures into the repository; return why that failed, if it did."""
    try:
        if job.settings.copies:
            repository, content = repository_of(job), layout.erasures_path(job.path).read_bytes()
            _put_list(repository, _points_there(job, repository), _point_now(job), content)
    except (OSError, errors.CardoffersError) as error:
        return str(error)
    return None


def _put_list(
    repository: Repository, there: Sequence[StorePoint], point: StorePoint, content: bytes | None
) -> None:
    """Put a list of erasures under its own name, unless one of as many is there."""
    known = [each.erasures for each in there if each.lineage == point.lineage]
    if content and point.erasures > max(known, default=0):
        packed, name = pack({"erasures": content}), point.point.replace(POINT, ERASURES, 1)
        repository.put(with_digests(StorePoint.part(point, point=name), packed), packed)


def newest_erasures(repository: Repository, of: Sequence[StorePoint]) -> erasures.ErasureList:
    """Join the lists of entries of a store: of each lineage the longest has all of the others."""
    longest = {each.lineage: each for each in sorted(of, key=lambda each: each.erasures)}
    listed = erasures.ErasureList()
    for entry in longest.values():
        if entry.erasures:
            content = unpacked(repository.get(entry))["erasures"]
            listed = listed.joined(erasures.list_in(content))
    return listed


def prune(job: Job, *, before: datetime | None = None, dry_run: bool = False) -> list[StorePoint]:
    """Remove points that are not to be kept, or were taken before a moment; return them.

    The newest stays in any case. A list of erasures goes once a longer one is there.
    """
    repository = repository_of(job)
    points, lists = entries(job, repository, POINT), entries(job, repository, ERASURES)
    kept = {point.point for point in points[-1:]}
    for number, unit in [] if before else _kept_periods(job):
        newest = {f"{point.taken_at:{_PERIODS[unit][0]}}": point.point for point in points}
        kept |= {newest[period] for period in sorted(newest)[-number:]}
    if before:
        kept |= {point.point for point in points if point.taken_at >= before}
    longest = {each.lineage: each.point for each in sorted(lists, key=lambda each: each.erasures)}
    gone = [point for point in points if point.point not in kept]
    old_lists = [each for each in lists if each.point not in longest.values()]
    if not dry_run and (gone or old_lists):
        repository.prune([*gone, *old_lists])
    return gone


def _kept_periods(job: Job) -> list[tuple[int, str]]:
    return [(int(text[:-1]), text[-1]) for text in job.settings.copies_keep.split()]


def last_trace_on(job: Job) -> datetime:
    """Return when the points of today are pruned at last, by what is set."""
    return job.now + timedelta(
        sum(number * _PERIODS[unit][1] for number, unit in _kept_periods(job))
    )
