"""Blocks of a store over which a checkpoint was writing when the power went.

The engine keeps its directory (tables, columns, where their rows are) in blocks of many parts. A
checkpoint writes new parts into what is free in such a block, and the whole block over the one on
the disk; the header names the new parts when all of that is done. Where it was cut off, some
sectors of the block are old and some are new. What the present header names is the same in both, so
nothing is lost; but the checksum is that of neither, and the engine refuses the store.

So the block gets the checksum of what it holds. That is right while the log is there, which goes
when a checkpoint is over, and for blocks of the directory alone: rows are never written over.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.blocks import CHECKSUM_BYTES, block_of, checksum_of, damaged_blocks
from cardoffers_cli.kernel.store.layout import log_path, log_paths
from cardoffers_cli.kernel.store.opening import connected
from cardoffers_cli.kernel.words.errors import StoreDamaged

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.settings import Settings

    Checksums = dict[int, bytes]
    """The checksum of each block, by where the block begins in the file."""


def mend(file: Path, settings: Settings) -> Checksums:
    """Mend the torn blocks of a copy of a store, with its log; return what was written.

    Where another block is damaged too, or all are whole, the file stays as it is.
    """
    damaged = damaged_blocks(file) if log_path(file).exists() else []
    blocks = dict(block_of(file, number) for number in damaged)
    before = {at: block[:CHECKSUM_BYTES] for at, block in blocks.items()}
    after = {at: checksum_of(block) for at, block in blocks.items()}
    write(file, after)
    # What is free is known when the directory can be read: blocks without content may be torn too.
    directory = _directory(file, settings)
    mended = {
        at: after[at] for at, number in zip(after, damaged, strict=True) if number in directory
    }
    write(file, {at: before[at] for at in before.keys() - mended})
    if mended and not damaged_blocks(file):
        return mended
    write(file, before)
    return {}


def write(file: Path, checksums: Checksums) -> None:
    """Write checksums into a closed store, onto the disk."""
    if not checksums:
        return
    with file.open("r+b") as out:
        for at, checksum in checksums.items():
            out.seek(at)
            out.write(checksum)
        out.flush()
        os.fsync(out.fileno())


@contextmanager
def _without_logs(file: Path) -> Iterator[None]:
    logs = [(log, log.with_name(f"{log.name}.away")) for log in log_paths(file) if log.exists()]
    for log, away in logs:
        log.rename(away)
    try:
        yield
    finally:
        for log, away in logs:
            away.rename(log)


def _directory(file: Path, settings: Settings) -> set[int]:
    """Return the numbers of the blocks of the directory; none where it cannot be read.

    That is the one of the file, whatever is wrong with the log.
    """
    try:
        with _without_logs(file), connected(file, settings, read_only=True) as store:
            return {row["block_id"] for row in store.rows("kernel/store/torn_blocks:directory")}
    except StoreDamaged:
        return set()
