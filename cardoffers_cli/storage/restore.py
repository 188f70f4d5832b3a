"""Restore: a point in the place of the store.

Only a whole point of this version is taken. The store of before is kept under another name, with a
journal which says that it is a store no more; signing secrets that were here stay. Nothing is ever
overwritten or deleted. Cardholders who were erased since the point was taken are erased in it again
before anything else is done with it (rules.md#erasure): by the lists beside the store that was
here, in the point, in the repository, and one that is named. Where none of these is known to be
whole, the report says since when.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cardoffers_cli.copies import plain, work
from cardoffers_cli.copies.points import FILES, USAGE, unpacked
from cardoffers_cli.kernel.disk.folders import check_room
from cardoffers_cli.kernel.store import copying, journal, layout, signing_secrets
from cardoffers_cli.kernel.store.erasures import ErasureList, keep, list_in, own_list, read_list
from cardoffers_cli.kernel.store.journal_file import standing
from cardoffers_cli.kernel.store.layout import draft_path, put_aside, put_logs_aside
from cardoffers_cli.kernel.store.migrations import newest_version
from cardoffers_cli.kernel.store.opening import lock_for, open_copy, opened
from cardoffers_cli.kernel.words.errors import CardoffersError, NotFound, Refused, StoreVersion
from cardoffers_cli.kernel.words.moments import parse_moment
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.privacy.erasures import erase_again, missing_erasures
from cardoffers_cli.storage.doctor import Audit, examine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from cardoffers_cli.copies.points import StorePoint
    from cardoffers_cli.copies.work import Repository
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.journal_file import JournalLine


class Restored(Record, sheet="store backup run_no kept_aside"):
    """A store that a point took the place of, up to its run `run_no`, and what is lost by it.

    `next` are the commands that run the lost nights again, `kept_aside` is the store of before.
    `history` is the folder that the point reads and does not hold, `secrets_missing` are the
    institutions whose signing secrets are neither here nor in it, `faults` audits it fails.
    `erased_again` are cardholders who were erased since, and are now in this store too; who was
    erased after `erasures_unknown_since` may be back. Where it was not before it `is_scratch`, for
    reading, until it is promoted.
    """

    store: str
    backup: str
    run_no: int = shown("at run")
    kept_aside: str | None = shown("before it")
    lost_runs: Sequence[Mapping[str, Any]]
    nights: Sequence[str]
    next: Sequence[str]
    history: str | None
    secrets_missing: Sequence[str]
    faults: Sequence[Audit]
    erased_again: int | None = if_any()
    erasures_unknown_since: datetime | None = if_any()
    is_scratch: bool | None = if_any()
    dry_run: bool


class DraftState(Record):
    """What a draft of a store is: its newest run, what the journal knows beyond it, its faults.

    `loss` is what is said of `lost`, as long as the journal knows these runs. `secrets_missing` are
    the institutions whose signing secrets are not at hand.
    """

    newest: JournalLine | None
    lost: list[JournalLine]
    loss: Mapping[str, Any]
    secrets_missing: list[str]
    faults: list[Audit]


def state_of(job: Job, draft: Path, secrets: Mapping[str, str]) -> DraftState:
    """Look at a draft that may take the place of the store of a job, and audit it."""
    with open_copy(draft, job.settings) as store:
        lost = journal.lost(store, job.path)
        return DraftState(
            newest=journal.newest(store),
            lost=lost,
            loss=journal.loss(job.path, lost),
            secrets_missing=signing_secrets.missing(
                store, {**signing_secrets.read_secrets(job.path), **secrets}
            ),
            faults=[audit for audit in examine(store, None) if not audit.ok],
        )


def restore(
    job: Job,
    file: Path | None = None,
    *,
    named: str | None = None,
    erasures: Path | None = None,
    accept_loss: bool = False,
    promote: bool = False,
    dry_run: bool = False,
) -> Restored:
    """Put a point in the place of the store; return what it is, and what is lost by it.

    Without a file it is one of the repository: the newest, or that of a name or moment. `erasures`
    is the newest list of erasures, where no other is at hand. With `dry_run` the point is looked at
    all the same. Raises `FileUnusable` for what is no whole point of this product, `StoreVersion`,
    `NoSpace`, and `Refused` for one older than the journal, unless the loss is accepted.
    """
    plain.must_be_folder(job.path.parent)
    here = standing(job.path)
    if file:
        repository: Repository = plain.PlainRepository(file.parent)
        point = plain.read_point(file)
        if job.path.exists() and file.samefile(job.path):
            raise Refused("This file is the store itself.", code="is_store", hint="Name a backup.")
    else:
        repository = work.repository_of(job)
        point = chosen_point(job, repository, named)
    if point.schema_version != newest_version():
        raise StoreVersion(
            f"{point.point} has schema {point.schema_version}; not {newest_version()}.",
            code="backup_version",
            hint="Restore it with the version that made it, then run `cardoffers store migrate`.",
        )
    in_repository = newest_list(job, point)
    draft = layout.draft_path(job.path, "restore")
    with lock_for(job.opening()):
        check_room(job.path.parent, point.size_bytes, "The restored store")
        try:
            files = unpacked(repository.get(point, draft))
            with open_copy(draft, job.settings, read_only=False) as store:
                newest = journal.newest(store)  # as it came: the journal then finds it behind
            more = read_list(erasures) if erasures else in_repository
            listed = _known_erasures(job, newest, point, list_of(files), more)
            erased_again = _erase_again(job, draft, listed)
            if job.path.exists():
                with suppress(CardoffersError), opened(job.opening()):
                    pass  # its journal is caught up with, and its log written, if that can be
            secrets = signing_secrets.texts_of(files["secrets"]) if "secrets" in files else {}
            state = state_of(job, draft, secrets)
            if state.lost and not (accept_loss or dry_run):
                raise _older(job.path, point, state)
            standing_as = _standing(job, point, newest, here)
            if promote and not dry_run:
                standing_as = {"lineage": work.begin_lineage(job, point)}
            old_store = None if dry_run else _swap(job, draft, newest, files, listed, **standing_as)
            if not (file or dry_run):
                place = job.settings.copies
                work.note_copy(
                    job, work.result_of(point, 0, repository=place, took_s=0, dry_run=False)
                )
        finally:
            copying.discard(draft)
    return Restored(
        store=str(job.path),
        backup=str(file or point.point),
        run_no=newest.run_no if newest else 0,
        kept_aside=str(old_store) if old_store else None,
        **state.loss,
        history=point.history,
        secrets_missing=state.secrets_missing,
        faults=state.faults,
        erased_again=erased_again or None,
        erasures_unknown_since=listed.unknown_since,
        is_scratch=standing_as.get("is_scratch"),
        dry_run=dry_run,
    )


def _standing(
    job: Job, point: StorePoint, newest: JournalLine | None, here: JournalLine | None
) -> Mapping[str, Any]:
    """Say of which lineage the store is, and that it is scratch; nothing where it is as before."""
    is_same = (here.lineage if here else point.store_id) == point.lineage
    is_known = newest is None or (is_same and newest.run_id in journal.all_ids(job.path))
    if is_known and not (here and here.is_scratch):
        return {"lineage": point.lineage} if here else {}
    return {"lineage": point.lineage, "is_scratch": True}


def chosen_point(job: Job, repository: Repository, named: str | None) -> StorePoint:
    """Return the newest point of a repository, or that of a name, or of a moment."""
    points = work.entries(job, repository, work.POINT)
    if named and named not in {point.point for point in points}:
        with suppress(ValueError):
            moment = parse_moment(named)
            points = [point for point in points if point.taken_at <= moment]
            named = points[-1].point if points else named
    points = [point for point in points if named in {None, point.point}]
    if len({point.store_id for point in points}) > 1:
        names = ", ".join(sorted({point.store_id for point in points}))
        raise Refused.from_table("storage", "points_of_two_stores", names=names)
    if not points:
        raise NotFound.from_table("storage", "point_missing")
    return points[-1]


def newest_list(job: Job, point: StorePoint) -> ErasureList | None:
    """Return the newest list of a point's store, where the repository has it and answers."""
    with suppress(CardoffersError, OSError):
        repository = work.repository_of(job)
        own = [each for each in repository.points() if each.store_id == point.store_id]
        return work.newest_erasures(repository, own) if own else None
    return None


def list_of(files: Mapping[str, bytes]) -> ErasureList:
    """Return the list of erasures that is in a point."""
    return list_in(files["erasures"]) if "erasures" in files else ErasureList()


def _known_erasures(
    job: Job,
    newest: JournalLine | None,
    point: StorePoint,
    inside: ErasureList,
    newest_list: ErasureList | None,
) -> ErasureList:
    """Join the lists there are, and say since when there may be more erasures.

    Nobody is missing in one that a person names, or that a repository has; nor in that of the store
    that was here if its journal knows the point's run, or that lies here before there is a store.
    """
    own = own_list(job.path)
    listed, run_ids = own.joined(inside), journal.all_ids(job.path) - {None}
    is_here = newest is not None and newest.run_id in run_ids if run_ids else own.key is not None
    since = own.unknown_since
    if not is_here or len(listed.erasures) > len(own.erasures):
        until = inside.unknown_since or point.taken_at
        since = max(until, since or until)
    if newest_list:
        listed = listed.joined(newest_list)
    if newest is None or newest_list:
        since = None
    return replace(listed, unknown_since=since)


def _erase_again(job: Job, draft: Path, listed: ErasureList) -> int:
    """Erase in a draft whom a list names; return how many.

    The draft is written anew then, as freed blocks would hold what was erased.
    """
    with open_copy(draft, job.settings) as store:
        if not missing_erasures(store, listed):
            return 0
    clean = layout.draft_path(job.path, "erased")
    try:
        with open_copy(draft, job.settings, read_only=False) as store:
            count = erase_again(store, job, listed)
            original = copying.contents(store)
        copying.copy_store(draft, clean, job.settings)
        with open_copy(clean, job.settings) as store:
            copying.check_copy(original, copying.contents(store))
        copying.put_in_place(clean, draft)
    finally:
        copying.discard(clean)
    return count


def _swap(
    job: Job,
    draft: Path,
    newest: JournalLine | None,
    files: Mapping[str, bytes],
    listed: ErasureList,
    **more: Any,
) -> Path | None:
    """Keep the store of before aside and put the draft in its place; return where it is kept.

    The journal comes first: killed before the last step, the store is ahead of it, or noticed. The
    second name is taken back then by whoever takes the lock next (`kernel/store/identity.py`). The
    secrets and the list of erasures come before the store that needs them.
    """
    since = job.opening().since or job.now
    old_store = layout.kept_name(job.path, since) if job.path.exists() else None
    if old_store:
        copying.keep_aside(job.path, old_store)
        if before := signing_secrets.read_secrets(job.path):
            signing_secrets.write_secrets(old_store, before)
        keep(old_store, own_list(job.path))
        journal.mark_replaced(old_store, job.path, now=job.now)
    put_logs_aside(job.path, since)
    # It may show what will be lost, and nobody knew then.
    put_aside(layout.snapshot_path(job.path), since)
    if "secrets" in files:
        signing_secrets.add_secrets(job.path, signing_secrets.texts_of(files["secrets"]).values())
    keep(job.path, listed)
    for name, path in (("mask-key", FILES["mask-key"]), (USAGE, layout.usage_path)):
        if name in files and not path(job.path).exists():
            layout.replace_whole(path(job.path), files[name], draft_path(job.path, "secrets"))
    journal.reset(job.path, newest, kind="store_restored", now=job.now, **more)
    copying.put_in_place(draft, job.path)
    return old_store


def _older(path: Path, point: StorePoint, state: DraftState) -> Refused:
    first, last = state.lost[0], state.lost[-1]
    return Refused(
        f"{point.point} is older than the journal of {path}: {counted(len(state.lost), 'run')} "
        f"would be lost, from {first.run_no} ({first.kind}, {first.as_of:%Y-%m-%d}) to "
        f"{last.run_no} ({last.kind}, {last.as_of:%Y-%m-%d}).",
        code="backup_older",
        hint="Add --yes if that is what you want; the present store is kept under another name.",
        **state.loss,
    )
