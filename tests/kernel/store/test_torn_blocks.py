from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from cardoffers_cli.kernel.store.blocks import mend
from cardoffers_cli.kernel.store.runs import start_run
from cardoffers_cli.kernel.words.errors import StoreDamaged
from cardoffers_cli.storage.doctor import doctor
from cardoffers_cli.storage.recover import recover
from sizes import FULL, one_in, slow
from tables import NOON
from work import job, kept, new_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardoffers_cli.kernel.store.job import Job

BLOCK, PAGE = 262_144, 4096
SEEDS = range(100 if FULL else 4)

COMMITS = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from work import job, tell
made = job(Path(sys.argv[1]))
with made.store() as store:
    for number in range(40):
        with store.transaction():
            store.connection.execute(f"create table more_{number} as from range({number}) as r(n)")
    os.kill(os.getpid(), signal.SIGKILL)
"""


class Stores:
    """A store whose checkpoint is still to come, with its log; and as it is after that."""

    def __init__(self, folder: Path) -> None:
        made = new_store(folder)
        with made.store() as store:
            for number in range(40):
                store.connection.execute(f"create table kept_{number} (n int)")
        words = [sys.executable, "-c", COMMITS, made.path, Path(__file__).parents[2] / "kit"]
        ended = subprocess.run(list(map(str, words)), check=False)
        assert -signal.SIGKILL == ended.returncode
        self.before = made.path
        self.after = folder / "after.duckdb"
        for file in (made.path, Path(f"{made.path}.wal")):
            shutil.copy(file, str(file).replace(made.path.name, self.after.name))
        with duckdb.connect(str(self.after)) as store:
            self.directory = blocks(store, "pragma_metadata_info()")
            self.rows = blocks(store, "pragma_storage_info('currencies')")[0]

    def torn(self, folder: Path, seed: int) -> Job:
        """Copy the store of before, with some pages of its directory as they are after."""
        chance = random.Random(seed)  # noqa: S311 - pages, not secrets
        made = self.copy(folder)
        content = bytearray(made.path.read_bytes())
        newer = self.after.read_bytes()
        for place in self.directory:
            for page in range(place, min(place + BLOCK, len(content)), PAGE):
                if chance.random() < 1 / 2:
                    content[page : page + PAGE] = newer[page : page + PAGE]
        made.path.write_bytes(content)
        return made

    def mixed(self, made: Job) -> list[int]:
        """Return where blocks of the directory are neither as they were before nor as after."""
        now, *whole = (file.read_bytes() for file in (made.path, self.before, self.after))
        parts = [slice(place, place + BLOCK) for place in self.directory]
        return [part.start for part in parts if now[part] not in (each[part] for each in whole)]

    def copy(self, folder: Path) -> Job:
        for file in (self.before, Path(f"{self.before}.wal")):
            shutil.copy(file, folder)
        return job(folder / self.before.name)


def blocks(store: duckdb.DuckDBPyConnection, source: str) -> list[int]:
    """Return where blocks begin."""
    found = store.execute(f"select distinct block_id from {source} where block_id >= 0").fetchall()  # noqa: S608 - ours
    return sorted(3 * PAGE + block * BLOCK for (block,) in found)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    return Stores(tmp_path_factory.mktemp("stores"))


@slow
@pytest.mark.parametrize("seed", SEEDS)
@one_in(3)
def test_a_checkpoint_that_was_cut_off_loses_nothing(
    stores: Stores, tmp_path: Path, seed: int
) -> None:
    made = stores.torn(tmp_path, seed)
    with pytest.raises(StoreDamaged), made.store(read_only=True):
        pass
    assert mend(made.path, made.settings).keys() <= set(stores.directory)
    assert kept(job(stores.after)) == kept(made)
    with made.store() as store, store.transaction():  # and it can be written to
        start_run(store, kind="import", now=NOON, actor="tester")


@slow
@pytest.mark.parametrize("log_damaged", [False, True])
def test_a_store_with_a_torn_block_is_recovered(
    stores: Stores, tmp_path: Path, *, log_damaged: bool
) -> None:
    made = stores.torn(tmp_path, 1)
    log = Path(f"{made.path}.wal")
    if log_damaged:
        log.write_bytes(log.read_bytes()[:-100] + bytes(100))
    torn = stores.mixed(made)
    assert torn
    report = recover(made, agree=lambda _: None)
    assert (len(torn), 0) == (report["blocks_mended"], report["lost"])
    assert log_damaged == bool(report["kept_logs"])
    assert log_damaged == (report["log_bytes_used"] < report["log_bytes"])
    assert log_damaged == (kept(job(stores.after)) != kept(made))
    assert doctor(made, strict=True)["ok"]


def without_log(made: Job, _stores: Stores) -> None:
    Path(f"{made.path}.wal").unlink()


def with_another_row(made: Job, stores: Stores) -> None:
    """Damage a block of rows, beside the torn one."""
    content = bytearray(made.path.read_bytes())
    content[stores.rows + 100] ^= 1
    made.path.write_bytes(content)


@pytest.mark.parametrize("spoil", [without_log, with_another_row])
def test_what_no_checkpoint_does_is_left_as_it_is(
    stores: Stores, tmp_path: Path, spoil: Callable[[Job, Stores], None]
) -> None:
    made = stores.torn(tmp_path, 1)
    spoil(made, stores)
    before = made.path.read_bytes()
    assert {} == mend(made.path, made.settings)
    assert before == made.path.read_bytes()


def test_a_store_that_is_whole_is_left_as_it_is(stores: Stores, tmp_path: Path) -> None:
    made = stores.copy(tmp_path)
    before = made.path.read_bytes()
    assert {} == mend(made.path, made.settings)
    assert before == made.path.read_bytes()
