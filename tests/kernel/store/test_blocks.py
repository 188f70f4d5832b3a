"""Every block of a store's file is read: what is in use and not as it was written is named."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.store.blocks import damaged_blocks
from cardoffers_cli.kernel.words.errors import StoreDamaged
from work import job, new_store

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

START = 3 * 4096
BLOCK = 1 << 18


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Return a store with blocks in use, of an index too, and blocks that hold nothing."""
    made = new_store(tmp_path_factory.mktemp("blocks"))
    columns = "select range as n, md5(range::varchar) as t from range(60_000)"
    for statements in (
        [f"create table {name} as {columns}" for name in ("one", "two", "three")],
        ["create table keyed (n integer primary key)", "insert into keyed from range(150_000)"],
        ["drop table one", "create table four as from range(10)"],
    ):
        with made.store() as store:
            for statement in statements:
                store.connection.execute(statement)
    return made


@pytest.fixture
def copy(made: Job, tmp_path: Path) -> Path:
    path = tmp_path / made.path.name
    path.write_bytes(made.path.read_bytes())
    return path


def free(path: Path) -> int:
    """Return how many blocks of the file hold nothing, as the engine counts them."""
    with job(path).store(read_only=True) as store:
        query = "select total_blocks, free_blocks from pragma_database_size()"
        total, free = store.connection.execute(query).fetchall()[0]
    return int(free - (total - blocks(path)))


def blocks(path: Path) -> int:
    return (path.stat().st_size - START) // BLOCK


def flip(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 64]))


def test_a_store_that_is_whole_has_no_damaged_block(made: Job) -> None:
    assert [] == damaged_blocks(made.path)


def test_a_flip_in_any_block_in_use_is_seen_and_in_no_other(copy: Path) -> None:
    """Takes as long as the file is read once for each of its blocks."""
    unused = free(copy)
    assert unused > 2
    seen = {}
    for number in range(blocks(copy)):
        at = START + number * BLOCK + number * 97 % BLOCK
        flip(copy, at)
        seen[number] = damaged_blocks(copy)
        flip(copy, at)
    assert [[number] for number, found in seen.items() if found] == [
        found for found in seen.values() if found
    ]
    assert unused == sum(not found for found in seen.values())


def test_blocks_that_are_gone_are_named(copy: Path) -> None:
    os.truncate(copy, START + BLOCK)
    assert damaged_blocks(copy)


@pytest.mark.parametrize("left", [0, 100, START - 1])
def test_a_file_without_its_headers_cannot_be_read(copy: Path, left: int) -> None:
    os.truncate(copy, left)
    with pytest.raises(StoreDamaged) as caught:
        damaged_blocks(copy)
    assert "store restore" in str(caught.value.hint)


def test_headers_of_no_sense_are_told(copy: Path) -> None:
    copy.write_bytes(bytes(START) + copy.read_bytes()[START:])
    with pytest.raises(StoreDamaged):
        damaged_blocks(copy)


def test_to_look_leaves_the_engine_its_lock(copy: Path) -> None:
    with job(copy).store():
        damaged_blocks(copy)
        child = os.fork()
        if not child:
            os._exit(is_free(copy))
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def is_free(path: Path) -> int:
    """Return 1 where nobody has the engine's lock, which is of a process."""
    file = os.open(path, os.O_RDWR)
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return 0
    return 1
