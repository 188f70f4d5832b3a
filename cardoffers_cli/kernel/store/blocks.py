"""Every block of a store's file, read and held against its checksum.

The engine checks a block when it reads it, and reads what a question needs: an index, say, when a
row of its table is written. So whoever wants to know of damage before it is met reads the file past
the engine. Three headers of 4 KiB stand first, which the engine checks whenever it opens the file;
then blocks of one size, each of which begins with the checksum of the rest. Blocks that hold
nothing are on a list of the engine's: what a crash left in them is no damage.

To open the file of a store in this process would free the engine's lock, so another one reads it.
"""

from __future__ import annotations

import os
import struct
import subprocess
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.layout import log_path, log_paths
from cardoffers_cli.kernel.store.opening import connected
from cardoffers_cli.kernel.words.errors import StoreDamaged

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.settings import Settings


_HEADER_BYTES = 4096
_BLOCKS_AT = 3 * _HEADER_BYTES
_NUMBERS = struct.Struct("<6Q")
"""Of the second and third header, behind their checksum: iteration, where the metadata begin, where
the free list begins, how many blocks there are, their size; the higher iteration counts."""
_NOWHERE = 2**64 - 1
_PARTS = 64
"""Parts that a block of metadata has; a pointer holds the number of the part in its highest byte,
and each part begins with the pointer to the next."""
CHECKSUM_BYTES = 8
_SUM, _FACTOR = 5381, 0xBF58476D1CE4E5B9
"""What the checksum starts from, and what each word of eight bytes is multiplied by."""
_LARGEST_BLOCK = 1 << 24


@dataclass(frozen=True, kw_only=True)
class _Header:
    iteration: int
    free_list: int
    count: int
    size: int


def damaged_blocks(path: Path) -> list[int]:
    """Return the numbers of the blocks that are in use and are not what was written, in order.

    Raises `StoreDamaged` where the file cannot be read.
    """
    words = ["/bin/cat", "--", str(path)]
    wrong, number = [], 0
    with subprocess.Popen(  # noqa: S603 - our own path, and no shell
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as reader:
        read = reader.stdout.read if reader.stdout else bytes
        header = _header(path, read(_BLOCKS_AT))
        while len(block := read(header.size)) == header.size:
            if checksum_of(block) != block[:CHECKSUM_BYTES]:
                wrong.append(number)
            number += 1
    if reader.returncode:
        raise _unreadable(path)
    missing = range(number, header.count)
    if not (wrong or missing):
        return []
    free = _free_blocks(path, header, frozenset(wrong))
    if free is None:
        return wrong or list(missing)
    return [number for number in (*wrong, *missing) if number not in free]


def _header(path: Path, start: bytes) -> _Header:
    if len(start) < _BLOCKS_AT:
        raise _unreadable(path)
    numbers = (_NUMBERS.unpack_from(start, at + 8) for at in (_HEADER_BYTES, 2 * _HEADER_BYTES))
    iteration, _, free_list, count, size, _ = max(numbers)
    if not 0 < size <= _LARGEST_BLOCK or size % _HEADER_BYTES:
        raise _unreadable(path)
    return _Header(iteration=iteration, free_list=free_list, count=count, size=size)


def checksum_of(block: bytes) -> bytes:
    """Return the checksum that a block of this content begins with."""
    import polars as pl  # noqa: PLC0415 - heavy, and only this needs it
    import pyarrow as pa  # noqa: PLC0415 - as above

    buffers = [None, pa.py_buffer(block)]
    words = pl.Series(pa.Array.from_buffers(pa.uint64(), len(block) // CHECKSUM_BYTES, buffers))
    checksum: Any = (words.slice(1) * _FACTOR).bitwise_xor()
    return int((checksum or 0) ^ _SUM).to_bytes(CHECKSUM_BYTES, "little")


def block_of(path: Path, number: int) -> tuple[int, bytes]:
    """Return where a block of a closed store begins in its file, and the block."""
    with path.open("rb") as file:
        header = _header(path, file.read(_BLOCKS_AT))
        at = _BLOCKS_AT + number * header.size
        file.seek(at)
        return at, file.read(header.size)


def _free_blocks(path: Path, header: _Header, wrong: frozenset[int]) -> frozenset[int] | None:
    """Return the blocks that hold nothing, or None where the list of them is damaged itself."""
    text, pointer = b"", header.free_list
    part_bytes = (header.size - 8) // _PARTS // 8 * 8
    seen = set()
    while pointer != _NOWHERE and pointer not in seen:
        seen.add(pointer)
        number, part = pointer & (2**56 - 1), pointer >> 56
        if number in wrong or number >= header.count or part >= _PARTS:
            return None
        if len(block := _block(path, header, number)) < header.size:
            return None
        content = block[8 + part * part_bytes : 8 + (part + 1) * part_bytes]
        (pointer,) = struct.unpack_from("<Q", content)
        text += content[8:]
    count = int.from_bytes(text[:8], "little")
    if count > header.count:
        return None
    return frozenset(struct.unpack_from(f"<{count}Q", text, 8))


def _block(path: Path, header: _Header, number: int) -> bytes:
    at = _BLOCKS_AT + number * header.size
    words = ["/bin/dd", f"if={path}", f"bs={_HEADER_BYTES}", f"skip={at // _HEADER_BYTES}"]
    words.append(f"count={header.size // _HEADER_BYTES}")
    return subprocess.run(  # noqa: S603 - as above
        words, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ).stdout


def _unreadable(path: Path) -> StoreDamaged:
    return StoreDamaged(
        f"{path} cannot be read to its end.",
        hint="Look at the disk; `cardoffers store restore FILE` puts a backup in its place.",
        file=str(path),
    )


# Blocks of a store over which a checkpoint was writing when the power went.
#
# The engine keeps its directory (tables, columns, where their rows are) in blocks of many parts. A
# checkpoint writes new parts into what is free in such a block, and the whole block over the one on
# the disk; the header names the new parts when all of that is done. Where it was cut off, some
# sectors of the block are old and some are new. What the present header names is the same in both,
# so nothing is lost; but the checksum is that of neither, and the engine refuses the store.
#
# So the block gets the checksum of what it holds. That is right while the log is there, which goes
# when a checkpoint is over, and for blocks of the directory alone: rows are never written over.


if TYPE_CHECKING:
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
    # That is the one of the file, whatever is wrong with the log.
    directory = set[int]()
    with (
        suppress(StoreDamaged),
        _without_logs(file),
        connected(file, settings, read_only=True) as store,
    ):
        directory = {row["block_id"] for row in store.rows("kernel/store/blocks:directory")}
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
