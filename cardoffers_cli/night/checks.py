"""Before a night begins: its disk and its clock, the files it takes, and what one may come to.

The time of a file is looked at wherever the file is read, and ends the statement that runs in the
store when it is over. So one file takes no longer, whatever is in it, and what it began is rolled
back.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from threading import Lock, Timer
from time import monotonic
from typing import TYPE_CHECKING

from cardoffers_cli.drop.drop import WaitingFile, held_open, look, ready
from cardoffers_cli.drop.file_changes import ProcessedFolder, free_name
from cardoffers_cli.intake.sources import Limits
from cardoffers_cli.kernel.disk.folders import free_bytes, network_kind
from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.store.institutions import list_institutions
from cardoffers_cli.kernel.words.errors import (
    ConfigurationError,
    FileUnusable,
    Interrupted,
    NoSpace,
    NotFound,
    Refused,
)
from cardoffers_cli.kernel.words.findings import unusable
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.night.findings import stranger, stray, too_many, unready, without_room
from cardoffers_cli.night.options import WITHOUT_CONSEQUENCE, NightOptions, finding
from cardoffers_cli.night.questions import FileOfNight
from cardoffers_cli.pickup.work import visit_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from cardoffers_cli.drop.drop import DropFile
    from cardoffers_cli.intake.transactions import TransactionFile
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.settings import Settings
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.night.questions import Night, NightFile, NightFinding
    from cardoffers_cli.pickup.questions import PickupFinding


GZIP_GROWS = 8
"""Bytes that a byte of a compressed file is expected to unpack to, at the most."""
_STORE_GROWS = 2
"""Bytes that the store, its log and the reports take for a byte of input, at the most."""
_ALWAYS = 16 << 20


def check_places(job: Job, order: NightOptions) -> list[NightFinding]:
    """Raise what makes a night impossible where it is to work; return what is to be wary of."""
    if not order.drop.is_dir():
        raise NotFound(
            f"There is no folder {order.drop}.",
            code="folder_missing",
            hint="Name the folder that holds a folder for each institution.",
        )
    processed = processed_root(job)
    kept_in = _existing(processed)
    folders = {
        "store": job.path.resolve().parent,
        "drop folder": order.drop,
        "processed folder": kept_in,
    }
    _must_be_apart(processed, order.drop, is_chosen=job.settings.processed_dir is not None)
    if processed.exists():
        ProcessedFolder(processed).check()
    for name, folder in folders.items():
        if not folder.is_dir():
            raise NotFound(
                f"There is no folder {folder}, where the {name} is to be.",
                code="folder_missing",
                hint="Make it, or set processed_dir.",
            )
        is_read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
        if is_read_only or not os.access(folder, os.W_OK | os.X_OK):
            raise Refused.from_table("night", "read_only", name=name, folder=folder)
    return [
        finding(
            "network_disk",
            f"The {name} is on a network's disk ({kind}), whose locks are not to be relied on.",
            level="warning",
            then="keep the store on a disk of this machine",
        )
        for name, folder in folders.items()
        if (kind := network_kind(folder))
    ]


def processed_root(job: Job) -> Path:
    """Return where a night keeps the files that it takes, by the settings, or beside the store."""
    chosen = job.settings.processed_dir
    return chosen.resolve() if chosen else job.path.resolve().parent / "processed"


def _must_be_apart(processed: Path, drop: Path, *, is_chosen: bool) -> None:
    """Raise `ConfigurationError` where an institution might write to what was taken.

    A store may lie in the drop folder itself, and has its own `processed` beside it then.
    """
    top = drop.resolve()
    if top in processed.parents and (is_chosen or processed.parent != top):
        raise ConfigurationError.from_table("night", "processed_in_drop", processed=processed)


def check_space(job: Job) -> None:
    """Raise `NoSpace`, with the bytes, where not even a night without files would fit."""
    folder = job.path.resolve().parent
    needed, free = job.path.stat().st_size + _ALWAYS, free_bytes(folder)
    if free < needed:
        raise NoSpace(
            f"The nightly run needs {needed:,} bytes in {folder}, and {free:,} are free.",
            hint=f"Free {needed - free:,} bytes there and run it again: nothing was begun.",
            needed_bytes=needed,
            free_bytes=free,
        )


def fitting(job: Job, files: Sequence[DropFile]) -> tuple[list[DropFile], list[NightFinding]]:
    """Choose the files that fit on the disks, small ones first; return findings on the others.

    One that is too large would otherwise keep the night from all of them, on every night. One over
    the limit of its size is no matter: it is moved, and never read.
    """
    processed = processed_root(job)
    store = job.path.resolve().parent
    disks = {folder.stat().st_dev: folder for folder in (store, _existing(processed))}
    needed = dict.fromkeys(disks, 0)
    needed[store.stat().st_dev] = job.path.stat().st_size + _ALWAYS
    fit, remarks = set(), []
    for file in sorted(files, key=_unpacked):
        wanted = dict(needed)
        if file.size_bytes <= job.settings.file_most_bytes:
            wanted[store.stat().st_dev] += _STORE_GROWS * _unpacked(file)
            wanted[_existing(processed).stat().st_dev] += file.size_bytes + _unpacked(file)
        short = [disk for disk, bytes_ in wanted.items() if bytes_ > free_bytes(disks[disk])]
        if short:
            folder = disks[short[0]]
            remarks.append(without_room(file, folder, wanted[short[0]], free_bytes(folder)))
        else:
            needed = wanted
            fit.add(file)
    return [file for file in files if file in fit], remarks


def _existing(processed: Path) -> Path:
    return processed if processed.exists() else processed.parent


def check_clock(job: Job, order: NightOptions, newest: Night | None) -> None:
    """Raise `Refused` for a clock behind the last night's, unless somebody chose it."""
    if newest is None or order.is_clock_chosen or job.now >= newest.as_of:
        return
    raise Refused(
        f"The clock says {format_moment(job.now)}, but the nightly run of {newest.name} has ended, "
        f"and it ran at {format_moment(newest.as_of)}.",
        code="clock_backwards",
        hint="Set the clock right; if you mean an earlier nightly run, say so with --as-of.",
    )


def _unpacked(file: DropFile) -> int:
    return file.size_bytes * (GZIP_GROWS if file.is_compressed else 1)


class Bounds:
    """The bounds of one file, whose time begins now. `room_bytes` is what the disk has for it."""

    def __init__(self, settings: Settings, *, room_bytes: int) -> None:
        self._settings = settings
        self._ends = monotonic() + settings.file_most_seconds
        self.limits = Limits(
            stored_bytes=settings.file_most_bytes,
            unpacked_bytes=min(settings.file_most_unpacked_bytes, room_bytes),
            ratio=settings.file_most_ratio,
            check_time=self.check_time,
        )

    def check_time(self) -> None:
        """Raise `FileUnusable` when the time of the file is over."""
        if monotonic() > self._ends:
            raise self._too_slow()

    def check_rows(self, file: TransactionFile) -> None:
        """Raise `FileUnusable` for a file that has more invalid rows than anybody will read."""
        if file.invalid > self._settings.file_most_rejects:
            raise unusable(
                "too_many_rejects",
                f"Over {self._settings.file_most_rejects:,} rows of the file are invalid.",
            )

    @contextmanager
    def over(self, store: Store) -> Iterator[None]:
        """Break off what runs in the store for the file when its time is over.

        To be left before the transaction ends: what is committed must not be broken off any more.
        """
        lock, is_left = Lock(), False

        def strike() -> None:
            with lock:
                if not is_left:
                    store.interrupt()

        timer = Timer(max(0.0, self._ends - monotonic()), strike)
        timer.daemon = True
        timer.start()
        try:
            yield
        except Interrupted:
            raise self._too_slow() from None
        finally:
            with lock:
                is_left = True
            timer.cancel()
        self.check_time()

    def _too_slow(self) -> FileUnusable:
        most = self._settings.file_most_seconds
        return unusable("file_too_slow", f"The file took over {most:g} seconds.")


# Fetching files before a night looks into the drop folder, and tidying up when it took them in.
#
# Whatever goes wrong with it is a finding of the night, and what is in the drop folder is taken all
# the same. Where no place is configured nothing is done, and nothing is told.


def picked_up(job: Job, drop: Path, *, dry_run: bool = False) -> list[NightFinding]:
    """Fetch what is new at the places into the drop folder; return what is to be told of it."""
    if not job.settings.pickup:
        return []
    result = visit_all(job, drop, dry_run=dry_run)
    findings = [_told(item) for item in result.findings]
    if new := sum(file.state == "new" for file in result.files):
        verb = "is" if new == 1 else "are"
        message = f"{counted(new, 'file')} would be fetched first, and {verb} not looked into."
        findings.append(finding("pickup_waiting", message, level=WITHOUT_CONSEQUENCE, count=new))
    return findings


def tidied_up(job: Job, drop: Path) -> list[NightFinding]:
    """Do with files that are imported by now, at their places, what the configuration says."""
    if not job.settings.pickup:
        return []
    return [_told(item) for item in visit_all(job, drop, fetches=False).findings]


def _told(item: PickupFinding) -> NightFinding:
    about = {name: item[name] for name in ("institution", "file", "count") if name in item}
    return finding(item.code, item.message, level=item.level, then=item.next, **about)


LOOK_S = 1.0
"""How long after the first look at the drop folder the second one is, at the most."""


@dataclass(frozen=True, kw_only=True)
class SelectedFiles:
    """What lies in the drop folder: files to take, and what to say of the others."""

    files: list[DropFile]
    remarks: list[NightFinding]


def look_twice(job: Job, drop: Path, before: Sequence[NightFile] = ()) -> SelectedFiles:
    """Return what is ready in the drop folder, and remarks on what is not to be taken.

    What the night found `before` is not found again, and counts among its files.
    """
    seen = {(file.institution, file.file_name, file.stamp) for file in before}
    taken_of = Counter(file.institution for file in before)
    with job.store(read_only=True) as store:
        owners = {owner.slug: owner for owner in list_institutions(store)}
    quiet_s = job.settings.quiet_s
    first = look(drop)
    if any(not file.is_marked for file in first.files):
        time.sleep(min(LOOK_S, quiet_s))
    second, now_s = look(drop), real_now().replace(tzinfo=UTC).timestamp()
    by_marker = {slug for slug, owner in owners.items() if owner.require_marker}
    ready_files, waiting = ready(first, second, now_s=now_s, quiet_s=quiet_s, by_marker=by_marker)
    strangers = {file.institution for file in second.files} - owners.keys()
    own = [
        file
        for file in ready_files
        if file.institution in owners and (file.institution, file.name, file.stamp) not in seen
    ]
    open_files = held_open(drop, [file for file in own if not file.is_marked])
    waiting += [WaitingFile(file=file, why="open") for file in own if file in open_files]
    files, surplus = _at_most(
        [file for file in own if file not in open_files],
        job.settings.file_most_per_institution,
        taken_of,
    )
    fit, without_room = fitting(job, files)
    return SelectedFiles(
        files=fit,
        remarks=[
            *(stray(item) for item in second.strays),
            *(stranger(name) for name in sorted(strangers)),
            *(unready(item.file, item.why) for item in waiting if item.file.institution in owners),
            *surplus,
            *without_room,
        ],
    )


def _at_most(
    files: Sequence[DropFile], most: int, seen: Counter[str]
) -> tuple[list[DropFile], Iterator[NightFinding]]:
    """Choose so many files of each institution; return findings on the others.

    `seen` is how many of each there were before.
    """
    chosen = []
    for file in files:
        seen[file.institution] += 1
        if seen[file.institution] <= most:
            chosen.append(file)
    surplus = (
        too_many(institution, number - most, most)
        for institution, number in seen.items()
        if number > most
    )
    return chosen, surplus


def file_rows(
    processed: ProcessedFolder, files: Sequence[DropFile], first: int = 1
) -> Iterator[FileOfNight]:
    """Yield files as rows of `night_files`, each with the name that it is to be kept under."""
    used: dict[str, set[str]] = {}
    for number, file in enumerate(files, start=first):
        if file.institution not in used:
            used[file.institution] = processed.used_names(file.institution)
        name = free_name(file.name, used[file.institution])
        used[file.institution].add(name)
        yield FileOfNight(
            file_no=number,
            institution=file.institution,
            file_name=file.name,
            stamp=file.stamp,
            taken_as=name,
        )
