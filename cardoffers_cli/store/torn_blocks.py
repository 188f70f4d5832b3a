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
import re
from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import CardoffersError, StoreDamaged
from cardoffers_cli.store.copying import contents
from cardoffers_cli.store.layout import log_path
from cardoffers_cli.store.opening import connected

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.settings import Settings

    Checksums = dict[int, bytes]
    """The checksum of each block, by where the block begins in the file."""

_WORDS = re.compile(
    r"computed checksum (\d+) does not match stored checksum \d+ in block at location (\d+)"
)
_CHECKSUM_BYTES = 8
_HEADERS_BYTES = 3 * 4096
"""Where the first block begins."""


def mend(file: Path, settings: Settings) -> Checksums:
    """Mend the torn blocks of a closed store that nobody else has open; return what was written.

    All of the store is read. Raises `StoreDamaged`, the file being as it was, where something else
    is wrong with it, too.
    """
    before: Checksums = {}
    after: Checksums = {}
    try:
        while (error := _not_read(file, settings)) is not None:
            place, checksum = _torn(file, error, before)
            after[place] = checksum
            before[place] = _read(file, place)
            write(file, {place: checksum})
        _check_are_directory(file, settings, before)
    except BaseException:
        write(file, before)
        raise
    return after


def write(file: Path, checksums: Checksums) -> None:
    """Write checksums into a closed store, onto the disk."""
    if not checksums:
        return
    with file.open("r+b") as out:
        for place, checksum in checksums.items():
            out.seek(place)
            out.write(checksum)
        out.flush()
        os.fsync(out.fileno())


def _read(file: Path, place: int) -> bytes:
    with file.open("rb") as blocks:
        blocks.seek(place)
        return blocks.read(_CHECKSUM_BYTES)


def _not_read(file: Path, settings: Settings) -> CardoffersError | None:
    """Read every block that is in use; return what is wrong, or None."""
    try:
        with connected(file, settings, read_only=True) as store:
            contents(store)
    except CardoffersError as error:
        return error
    return None


def _torn(file: Path, error: CardoffersError, mended: Checksums) -> tuple[int, bytes]:
    """Return which block it is whose checksum is wrong, and the right one; else raise the error."""
    for each in _causes(error) if log_path(file).exists() else ():
        if (found := _WORDS.search(str(each))) and int(found[2]) not in mended:
            return int(found[2]), int(found[1]).to_bytes(_CHECKSUM_BYTES, "little")
    raise error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _check_are_directory(file: Path, settings: Settings, mended: Checksums) -> None:
    """Raise `StoreDamaged` for a block that is none of the directory."""
    with connected(file, settings, read_only=True) as store:
        size = int(store.value("store/torn_blocks:block_size"))
        rows = store.rows("store/torn_blocks:directory")
    if not mended.keys() <= {_HEADERS_BYTES + row["block_id"] * size for row in rows}:
        raise StoreDamaged(
            f"{file} is damaged, and not where a checkpoint writes.",
            hint="Put a backup in its place with `cardoffers store restore FILE`; nothing was "
            "changed.",
            file=str(file),
        )
