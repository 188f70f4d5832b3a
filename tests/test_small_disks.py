"""What is written whole is whole, or is not there: on disks that have room for a part of it.

Real small disks, which take root to mount. Every size that is tried ends in one of two ways: all is
there, or it is said that there was no room, and nothing is.
"""

from __future__ import annotations

import shlex
import shutil
import zipfile
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.copies.work import publish
from cardoffers_cli.kernel.store import copying
from cardoffers_cli.kernel.store.layout import log_path, snapshot_path
from cardoffers_cli.kernel.store.opening import open_copy
from cardoffers_cli.kernel.words.errors import NoSpace
from cardoffers_cli.storage.stores import init
from commands import in_a_pipe
from disks import fill, small_disk
from sampled import sampled
from sizes import FULL, one_in, slow
from work import job, kept, new_store, settings, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

STEPS = 20 if FULL else 5


def sizes(whole_bytes: int) -> list[int]:
    """Return sizes in KiB, from hardly any to more than enough."""
    return [4 + step * whole_bytes // 1024 * 5 // 4 // STEPS for step in range(STEPS + 1)]


def ended(tmp_path: Path, whole_bytes: int, work: Callable[[Path], None]) -> list[bool]:
    """Do work on disks of all sizes; return on which it was done: all that are large enough."""
    done = []
    for kib in sizes(whole_bytes):
        with small_disk(tmp_path / str(kib), f"{kib}k") as disk:
            before = content(disk)
            try:
                work(disk)
            except NoSpace:
                done.append(False)
                assert before == content(disk)
            else:
                done.append(True)
    assert {True, False} == set(done)
    return done


def content(folder: Path) -> dict[str, int]:
    """Return the size of every file but those of locks."""
    return {
        path.name: path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and path.name not in {"lock", "turn"} and path.suffix != ".filler"
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    made = new_store(tmp_path_factory.mktemp("made"))
    tell(made, merchants="merchant\nbakery\nbutcher")
    return made


@slow
def test_a_store_is_made_whole_or_not_at_all(made: Job, tmp_path: Path) -> None:
    def make(disk: Path) -> None:
        fresh = job(disk / "store.duckdb")
        try:
            init(fresh)
        except NoSpace:
            assert [] == list(disk.iterdir())
            raise
        assert not log_path(fresh.path).exists()
        assert kept(fresh)["schema_versions"]

    done = ended(tmp_path, made.path.stat().st_size, make)
    assert sorted(done) == done


@slow
def test_a_copy_of_a_store_is_whole_or_not_at_all(made: Job, tmp_path: Path) -> None:
    with made.store(read_only=True) as store:
        whole = copying.contents(store)

    def copy(disk: Path) -> None:
        copying.copy_store(made.path, disk / "draft", settings())
        alone = tmp_path / "alone"
        shutil.copy(disk / "draft", alone)  # the file, and nothing beside it
        with open_copy(alone, settings()) as store:
            assert whole == copying.contents(store)
        assert ["draft"] == [path.name for path in disk.iterdir()]

    ended(tmp_path, made.path.stat().st_size, copy)


@slow
def test_a_snapshot_is_whole_or_the_one_before(made: Job, tmp_path: Path) -> None:
    size = made.path.stat().st_size
    with small_disk(tmp_path / "disk", f"{8 * size}") as disk:
        here = job(disk / "store.duckdb")
        shutil.copy(made.path, here.path)
        publish(here)
        told = set()
        for step in range(STEPS + 1):
            room = step * size * 7 // 4 // STEPS
            before = snapshot_path(here.path).read_bytes()
            filler = disk / "room.filler"
            filler.write_bytes(bytes(room))
            fill(disk / "rest.filler")
            filler.unlink()
            try:
                publish(here)
                told.add("published")
            except NoSpace:
                told.add("full")
                assert before == snapshot_path(here.path).read_bytes()
            (disk / "rest.filler").unlink()
            assert [] == [path.name for path in disk.iterdir() if path.name.startswith(".")]
            with open_copy(snapshot_path(here.path), settings()) as store:
                assert 2 == copying.contents(store)["merchants"][0]
    assert {"published", "full"} == told


FILES = """
report redemptions -i larkmere -o {disk}/a.csv
report redemptions -i larkmere -o {disk}/a.json
report redemptions -i larkmere -o {disk}/a.parquet
report redemptions -i larkmere -o {disk}/a.xlsx
report redemptions -i larkmere -o {disk}/a.html
validate ../transactions/larkmere-dirty.csv --valid {disk}/a.csv
validate ../transactions/larkmere-dirty.csv --rejected {disk}/a.csv
api GET /openapi.json -o {disk}/a.json
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sampled(tmp_path_factory.mktemp("place") / "place")


@slow
@pytest.mark.parametrize("line", FILES.strip().splitlines())
@one_in(2)
def test_a_file_is_written_whole_or_not_at_all(
    place: Path, tmp_path: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Takes as long as some seven commands do."""
    monkeypatch.chdir(place)
    assert 16 != run(line, tmp_path)
    (whole,) = [path for path in tmp_path.iterdir() if path.is_file()]

    def write(disk: Path) -> None:
        exit_code = run(line, disk)
        if exit_code == 16:
            raise NoSpace
        assert exit_code in {0, 3}
        (written,) = disk.iterdir()
        if line.endswith("xlsx"):  # which holds the moment it was made at
            with zipfile.ZipFile(written) as book:
                assert book.testzip() is None
        else:
            assert whole.read_bytes() == written.read_bytes()

    ended(tmp_path, whole.stat().st_size + 4096, write)


def run(line: str, disk: Path) -> int:
    words = [*shlex.split(line.format(disk=disk)), "--as-of", "2026-10-10"]
    return in_a_pipe(words).exit_code
