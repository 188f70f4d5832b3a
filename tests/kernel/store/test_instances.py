"""An instance of the engine is used again, and nobody notices but by the time it takes."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from cardoffers_cli.kernel.store import instances
from cardoffers_cli.kernel.store.instances import IN_MEMORY, connect

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.instances import Opened

CONFIG = {"threads": 1, "memory_limit": "60MB", "autoload_known_extensions": False}
NUMBERS = "create table numbers as select range as number from range(3)"
SORTED = (
    "create temp table sorted as select hash(range)::varchar as a from range(2000000) order by a"
)


def opened(path: Path | str, *, read_only: bool = False, **config: object) -> Opened:
    return connect(
        str(path), CONFIG | config, read_only=read_only, spill_to=str(spilled(Path(path)))
    )


def spilled(path: Path) -> Path:
    return path.with_name(f"{path.name}.spilled")


def made(path: Path) -> Path:
    """Make a database of one table, and let its instance be idle."""
    file = opened(path)
    file.connection.execute(NUMBERS)
    file.close()
    return path


def count(file: Opened) -> int:
    (found,) = file.connection.execute("select count(*) from numbers").fetchone() or ()
    return int(found)


def open_files(folder: Path) -> list[str]:
    """Return the files below a folder that this process has open."""
    links = (each.readlink() for each in Path("/proc/self/fd").iterdir() if each.is_symlink())
    return sorted(str(link) for link in links if folder in link.parents)


def test_an_instance_is_used_again_for_another_file(tmp_path: Path) -> None:
    first = opened(tmp_path / "first")
    first.connection.execute(NUMBERS)
    first.connection.execute("create temp table numbers as select 1 as a")
    first.connection.execute("set variable told = 1")
    first.close()
    assert [] == open_files(tmp_path)
    assert ["first"] == [each.name for each in tmp_path.iterdir()]
    second = opened(tmp_path / "second")
    assert first.instance is second.instance
    assert [(None,)] == second.connection.execute("select getvariable('told')").fetchall()
    assert (
        []
        == second.connection.execute(
            "select table_name from duckdb_tables() where not internal"
        ).fetchall()
    )
    second.close()
    again = opened(tmp_path / "first", read_only=True)
    assert (first.instance, 3) == (again.instance, count(again))
    with pytest.raises(duckdb.InvalidInputException, match="read-only"):
        again.connection.execute("delete from numbers")
    again.close()


def test_an_instance_has_one_file_at_a_time(tmp_path: Path) -> None:
    files = [opened(made(tmp_path / name)) for name in "abc"]
    files += [opened(IN_MEMORY), opened(IN_MEMORY)]
    assert 5 == len({id(each.instance) for each in files})
    for each in files:
        each.close()


def test_an_instance_of_other_limits_is_another(tmp_path: Path) -> None:
    path = made(tmp_path / "file")
    used = {}
    for limit in ("60MB", "40MB", "60MB"):
        file = opened(path, memory_limit=limit)
        used.setdefault(limit, []).append(id(file.instance))
        asked = file.connection.execute("select current_setting('memory_limit')").fetchall()
        assert {"60MB": [("57.2 MiB",)], "40MB": [("38.1 MiB",)]}[limit] == asked
        file.close()
    assert 1 == len({*used["60MB"]})


def test_a_file_is_open_until_the_last_connection_to_it_is_closed(tmp_path: Path) -> None:
    path = made(tmp_path / "file")
    (tmp_path / "link").symlink_to(path)
    first, second = opened(path, read_only=True), opened(tmp_path / "link", read_only=True)
    assert first.instance is second.instance
    first.close()
    assert 3 == count(second)
    assert b"Conflicting lock" in write_elsewhere(path)
    with pytest.raises(duckdb.ConnectionException, match="another mode"):
        opened(path)
    second.close()
    assert b"" == write_elsewhere(path)
    assert [] == open_files(tmp_path)


def write_elsewhere(path: Path) -> bytes:
    """Return what another process is told that opens a file for writing."""
    code = "import duckdb, sys; duckdb.connect(sys.argv[1]).close()"
    return subprocess.run(
        [sys.executable, "-c", code, str(path)], check=False, stderr=subprocess.PIPE
    ).stderr


def test_what_is_not_committed_is_gone_and_what_is_is_in_the_file_alone(tmp_path: Path) -> None:
    file = opened(made(tmp_path / "file"))
    file.connection.execute("insert into numbers values (4)")
    file.connection.begin()
    file.connection.execute("insert into numbers values (5)")
    file.close()
    assert ["file"] == [each.name for each in tmp_path.iterdir()]
    again = opened(tmp_path / "file")
    assert 4 == count(again)
    again.close()


LARGE = "create table large as select hash(range) as a from range(5000000)"


@pytest.mark.parametrize(
    ("leaves", "limit"),
    [("attach '{folder}/other' as other", "60MB"), (SORTED, "30MB"), (LARGE, "60MB")],
    ids=["a file", "a folder", "memory"],
)
def test_an_instance_in_which_something_is_left_is_not_used_again(
    tmp_path: Path, leaves: str, limit: str
) -> None:
    file = opened(made(tmp_path / "file"), memory_limit=limit)
    root = file.instance.root
    file.connection.execute(leaves.format(folder=tmp_path)).fetchall()
    assert (leaves == SORTED) is spilled(tmp_path / "file").exists()
    file.close()
    assert [] == open_files(tmp_path)
    assert not spilled(tmp_path / "file").exists()
    again = opened(tmp_path / "file", memory_limit=limit)
    assert root is not again.instance.root
    again.close()


def test_a_file_system_is_not_there_for_the_next(tmp_path: Path) -> None:
    file = opened(made(tmp_path / "file"))
    file.connection.register_filesystem(MemoryFileSystem())
    file.close()
    again = opened(tmp_path / "file")
    assert [] == again.connection.list_filesystems()
    again.close()


def test_what_is_no_database_breaks_nothing_else(tmp_path: Path) -> None:
    path = made(tmp_path / "file")
    broken = tmp_path / "broken"
    broken.write_bytes(bytes(4096) + path.read_bytes()[4096:])
    for _ in range(3):
        with pytest.raises(duckdb.Error):
            opened(broken)
        with pytest.raises(duckdb.IOException, match="No such file"):
            opened(tmp_path / "no" / "file")
        file = opened(path)
        assert 3 == count(file)
        file.close()
    assert [] == open_files(tmp_path)


def test_threads_open_and_close_as_they_like(tmp_path: Path) -> None:
    paths = [made(tmp_path / name) for name in "abc"]

    def read(path: Path) -> int:
        file = opened(path, read_only=True)
        try:
            return count(file)
        finally:
            file.close()

    with ThreadPoolExecutor(6) as pool:
        assert [3] * 120 == list(pool.map(read, paths * 40))
    assert [] == open_files(tmp_path)


@pytest.mark.parametrize("where", ["_unused", "_run"])
def test_what_is_collected_while_a_file_is_opened_is_closed_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """As the collector of garbage closes a store that nobody closed, at any time."""
    forgotten = [opened(made(tmp_path / "forgotten"))]
    usual = getattr(instances, where)

    def collects(*words: Any, **more: Any) -> Any:
        if forgotten:
            forgotten.pop().close()
        return usual(*words, **more)

    made(tmp_path / "wanted")
    with monkeypatch.context() as patch:
        patch.setattr(instances, where, collects)
        file = opened(tmp_path / "wanted")
    assert (3, [str(tmp_path / "wanted")]) == (count(file), open_files(tmp_path))
    file.close()
    assert [] == open_files(tmp_path)
