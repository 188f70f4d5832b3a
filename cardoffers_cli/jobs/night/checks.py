"""Before a night begins: a disk to write to, room on it, and a clock that is to be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.errors import NoSpace, NotFound, Refused
from cardoffers_cli.domain.moments import format_moment
from cardoffers_cli.files.disks import free_bytes, is_read_only, network_kind
from cardoffers_cli.jobs.night.order import Order, finding

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cardoffers_cli.files.drop import Dropped
    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.services.nights import Night

_GZIP_GROWS = 8
_STORE_GROWS = 2
"""Bytes that the store, its log and the reports take for a byte of input, at the most."""
_ALWAYS = 16 << 20


def check_places(job: Job, order: Order) -> list[dict[str, Any]]:
    """Raise what makes a night impossible where it is to work; return what is to be wary of."""
    if not order.drop.is_dir():
        raise NotFound(
            f"There is no folder {order.drop}.",
            code="folder_missing",
            hint="Name the folder that holds a folder for each institution.",
        )
    folders = {"store": job.path.resolve().parent, "drop folder": order.drop}
    for name, folder in folders.items():
        if is_read_only(folder):
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


def check_space(job: Job, drop: Path, files: Sequence[Dropped]) -> None:
    """Raise `NoSpace`, with the bytes, where the night would not fit on its disks."""
    incoming = sum(_unpacked(file) for file in files)
    snapshot = job.path.stat().st_size
    _must_fit(job.path.resolve().parent, snapshot + _STORE_GROWS * incoming + _ALWAYS)
    _must_fit(drop, incoming)  # the rejected rows, if they are all of them


def _must_fit(folder: Path, needed: int) -> None:
    free = free_bytes(folder)
    if free < needed:
        raise NoSpace(
            f"The night needs {needed:,} bytes in {folder}, and {free:,} are free.",
            hint=f"Free {needed - free:,} bytes there and run it again: nothing was begun.",
            needed_bytes=needed,
            free_bytes=free,
        )


def check_clock(job: Job, order: Order, newest: Night | None) -> None:
    """Raise `Refused` for a clock behind the last night's, unless somebody chose it."""
    if newest is None or order.is_clock_chosen or job.now >= newest.as_of:
        return
    raise Refused(
        f"The clock says {format_moment(job.now)}, but the night of {newest.name} has ended, "
        f"and it ran at {format_moment(newest.as_of)}.",
        code="clock_backwards",
        hint="Set the clock right; if you mean an earlier night, say so with --as-of.",
    )


def _unpacked(file: Dropped) -> int:
    return file.size_bytes * (_GZIP_GROWS if file.is_compressed else 1)
