"""A store that stays open until somebody wants it: who gets it when, and what is looked at anew."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.store import journal
from cardoffers_cli.kernel.store import opening as module
from cardoffers_cli.kernel.store.layout import folder_of, log_path, turn_path
from cardoffers_cli.kernel.store.opening import Holding
from cardoffers_cli.kernel.store.runs import write_run
from cardoffers_cli.kernel.words.errors import NoStore, StoreBusy
from sizes import slow
from tables import NOON
from work import job, new_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from cardoffers_cli.kernel.store.opening import Holding
from test_shared import write
from work import job
made, holding = job(sys.argv[1]), Holding()
for number in range(20):
    with holding.use(made.opening()) as store:
        write(store)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return new_store(tmp_path)


@pytest.fixture
def holding() -> Iterator[Holding]:
    made = Holding()
    yield made
    made.let_go()


def used(holding: Holding, made: Job, *, read_only: bool = False) -> Store:
    """Use a store once, and return it."""
    with holding.use(made.opening(read_only=read_only)) as store:
        store.value("kernel/store/journal:newest")
    return store


def write(store: Store) -> None:
    with store.transaction():
        write_run(store, kind="receive", now=NOON, actor="tester", counts={})


def runs(made: Job) -> int:
    with made.store() as store:
        return len(store.rows("kernel/store/journal:all_runs"))


@contextmanager
def giving_way(holding: Holding) -> Iterator[None]:
    """Let the holder look, as a server does, in a thread of its own for the length of the block."""
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            holding.yields()
            time.sleep(0.005)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield
    finally:
        done.set()
        looking.join()


def test_a_store_stays_open_from_one_use_to_the_next(made: Job, holding: Holding) -> None:
    first = used(holding, made)
    assert not holding.yields()
    assert first is used(holding, made)


def test_what_is_open_for_writing_will_do_for_reading_and_not_the_other_way(
    made: Job, holding: Holding
) -> None:
    reading = used(holding, made, read_only=True)
    writing = used(holding, made)
    assert reading is not writing
    assert writing is used(holding, made, read_only=True)


@pytest.mark.parametrize("wait_s", [0, 5])
@pytest.mark.parametrize("read_only", [True, False], ids=["reader", "writer"])
def test_who_wants_the_store_has_it_however_short_of_patience(
    made: Job, holding: Holding, wait_s: int, *, read_only: bool
) -> None:
    with holding.use(made.opening()) as store:
        write(store)
    with giving_way(holding):
        command = job(made.path, lock_wait_s=wait_s)
        with command.store(read_only=read_only) as store:
            assert 1 == len(store.rows("kernel/store/journal:all_runs"))
        assert not holding.is_open
    assert 1 == runs(made)


def test_who_holds_the_store_and_does_not_look_is_told_of(made: Job, holding: Holding) -> None:
    used(holding, replace(made, command="cardoffers serve"))
    with pytest.raises(StoreBusy) as caught, job(made.path, lock_wait_s=0).store():
        pass
    assert "held by `cardoffers serve`" in caught.value.message


def test_a_reader_of_a_held_store_is_no_reason_to_let_go(made: Job, holding: Holding) -> None:
    used(holding, made, read_only=True)
    with made.store(read_only=True):
        assert not holding.yields()


def test_a_holder_wants_the_store_back_behind_who_waits(made: Job, holding: Holding) -> None:
    used(holding, made)
    order: list[str] = []

    def command() -> None:
        with made.store():
            order.append("command")

    waiting = threading.Thread(target=command)
    waiting.start()
    wait_until(holding.yields)
    with holding.use(made.opening()):
        order.append("server")
    waiting.join()
    assert ["command", "server"] == order


@slow
def test_two_holders_take_turns(made: Job) -> None:
    def serve() -> None:
        holding = Holding()
        for _ in range(10):
            with holding.use(made.opening()) as store:
                write(store)
            holding.yields()
        holding.let_go()

    servers = [threading.Thread(target=serve) for _ in range(2)]
    for server in servers:
        server.start()
    for server in servers:
        server.join()
    assert 20 == runs(made)


def test_a_store_that_nobody_uses_is_closed(
    made: Job, holding: Holding, monkeypatch: pytest.MonkeyPatch
) -> None:
    with holding.use(made.opening()) as store:
        write(store)
    assert log_path(made.path).exists()
    monkeypatch.setattr(module, "_IDLE_S", 0)
    assert holding.yields()
    assert (False, False) == (holding.is_open, log_path(made.path).exists())


def test_a_store_is_opened_anew_after_a_fault(made: Job, holding: Holding) -> None:
    with pytest.raises(ZeroDivisionError), holding.use(made.opening()) as failed:
        raise ZeroDivisionError
    assert failed is not used(holding, made)


def replaced(path: Path) -> None:
    shutil.copyfile(path, path.with_name("other"))
    path.with_name("other").replace(path)


def without_folder(path: Path) -> None:
    shutil.rmtree(folder_of(path))


@pytest.mark.parametrize("change", [replaced, without_folder])
def test_what_is_not_in_its_place_any_more_is_not_used(
    made: Job, holding: Holding, change: Callable[[Path], None]
) -> None:
    before = used(holding, made)
    change(made.path)
    assert before is not used(holding, made)
    change(made.path)
    assert holding.yields()


def test_nobody_waits_where_there_is_no_turn(made: Job, holding: Holding) -> None:
    before = used(holding, made)
    turn_path(made.path).unlink()
    assert (False, before) == (holding.yields(), used(holding, made))


def test_a_store_that_is_gone_is_told_of(made: Job, holding: Holding) -> None:
    used(holding, made)
    made.path.unlink()
    with pytest.raises(NoStore):
        used(holding, made)


def test_what_is_committed_is_in_the_journal_while_the_store_is_held(
    made: Job, holding: Holding
) -> None:
    for number in range(1, 4):
        with holding.use(made.opening()) as store:
            write(store)
        assert [*range(1, number + 1)] == [line.run_no for line in journal.lines(made.path)]


def test_a_killed_holder_has_kept_what_it_committed(made: Job) -> None:
    words = [sys.executable, "-c", KILLED, str(made.path), str(Path(__file__).parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(words, check=False, env=environment)
    assert log_path(made.path).exists()
    assert 20 == runs(made)
    assert 20 == len(journal.lines(made.path))


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)
