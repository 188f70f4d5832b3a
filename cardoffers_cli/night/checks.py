"""Before a night begins: a disk to write to, room on it, and a clock that is to be trusted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cardoffers_cli.drop.file_changes import ProcessedFolder
from cardoffers_cli.kernel.disk.folders import free_bytes, network_kind
from cardoffers_cli.kernel.words.errors import ConfigurationError, NoSpace, NotFound, Refused
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.night.findings import without_room
from cardoffers_cli.night.options import NightOptions, finding

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cardoffers_cli.drop.drop import DropFile
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.night.questions import Night, NightFinding

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
            raise Refused(
                f"The {name} is where nothing can be written: {folder}.",
                code="read_only",
                hint="Mount it for writing, or give this user the right to write there.",
            )
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
        raise ConfigurationError(
            f"What was taken would be kept in {processed}, in the drop folder.",
            code="processed_in_drop",
            hint="Set processed_dir to a folder where no institution may write.",
        )


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
