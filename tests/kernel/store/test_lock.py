from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.store.layout import lock_path, make_folder, turn_path
from cardoffers_cli.kernel.store.lock import store_lock
from cardoffers_cli.kernel.words.errors import StoreBusy
from cardoffers_cli.river.engines import match_purchases
from tables import NOON
from work import job, new_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

HOLDER = """
import sys, time
from datetime import datetime
from pathlib import Path
from cardoffers_cli.kernel.store.lock import store_lock
shared = sys.argv[2] == "reader"
since, command = datetime(2026, 6, 1, 12), f"a {sys.argv[2]}"
with store_lock(Path(sys.argv[1]), command=command, since=since, wait_s=9, shared=shared):
    print("held", flush=True)
    time.sleep(float(sys.argv[3]))
"""

SERVER = """
import sys, time
from datetime import datetime
from pathlib import Path
from cardoffers_cli.kernel.store.lock import store_lock
print("held", flush=True)
since = datetime(2026, 6, 1, 12)
while True:
    with store_lock(Path(sys.argv[1]), command="a server", since=since, wait_s=9):
        time.sleep(0.02)
"""


GIVER = """
import os, sys, time
from datetime import datetime
from pathlib import Path
from cardoffers_cli.kernel.store.layout import lock_path
from cardoffers_cli.kernel.store.lock import store_lock
path, since = Path(sys.argv[1]), datetime(2026, 6, 1, 12)
with store_lock(path, command="a server", since=since, wait_s=9, gives_way=True):
    print("held", flush=True)
    time.sleep(0.4)
    os.truncate(lock_path(path), 0)
    time.sleep(0.4)
"""
"""It has no name for a while before it goes, as between two who hold a lock."""


@contextmanager
def held(path: Path, *, by: str, for_s: float = 60) -> Iterator[int]:
    """Hold the lock of a store in another process, which is killed at the end; give its pid."""
    with running(HOLDER, path, by, for_s) as pid:
        yield pid


@contextmanager
def running(code: str, *words: object) -> Iterator[int]:
    """Run code in another process, which says when it holds a lock and is killed at the end."""
    line = [sys.executable, "-c", code, *map(str, words)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert "held\n" == holder.stdout.readline()
        try:
            yield holder.pid
        finally:
            holder.kill()


@pytest.fixture
def quick(tmp_path: Path) -> Job:
    """A job on a new store that does not wait for others."""
    return job(new_store(tmp_path).path, lock_wait_s=0)


def test_who_holds_the_store_is_told(quick: Job) -> None:
    with held(quick.path, by="writer") as pid, pytest.raises(StoreBusy) as caught:
        match_purchases(quick)
    assert {
        "pid": pid,
        "host": socket.gethostname(),
        "command": "a writer",
        "since": "2026-06-01T12:00:00Z",
    } == caught.value.details["holder"]
    said = (
        f"held by `a writer`, process {pid} on {socket.gethostname()}, since 2026-06-01T12:00:00Z"
    )
    assert said in caught.value.message


def test_a_reader_is_not_mistaken_for_the_writer_before_it(quick: Job) -> None:
    match_purchases(quick)
    with held(quick.path, by="reader") as pid, pytest.raises(StoreBusy) as caught:
        match_purchases(quick)
    assert ("a reader", pid) == tuple(
        caught.value.details["holder"][name] for name in ("command", "pid")
    )


def test_of_two_readers_one_that_left_is_not_named(quick: Job) -> None:
    with held(quick.path, by="reader"):
        with quick.store(read_only=True):
            pass
        with pytest.raises(StoreBusy) as caught:
            match_purchases(quick)
    assert "held by another process" in caught.value.message


def test_the_second_waits_for_its_turn(quick: Job) -> None:
    patient = job(quick.path, lock_wait_s=30)
    began = time.monotonic()
    with held(quick.path, by="writer", for_s=0.5):
        match_purchases(patient)
    assert 0.4 < time.monotonic() - began < 10


def test_a_wait_has_an_end(tmp_path: Path) -> None:
    made = job(new_store(tmp_path).path, lock_wait_s=1)
    with held(made.path, by="writer"):
        began = time.monotonic()
        with pytest.raises(StoreBusy):
            match_purchases(made)
        assert 1 <= time.monotonic() - began < 5


def test_the_lock_of_a_killed_holder_is_free_at_once(quick: Job) -> None:
    with held(quick.path, by="writer") as pid:
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        match_purchases(quick)


def test_readers_do_not_block_each_other(quick: Job) -> None:
    with held(quick.path, by="reader"), quick.store(read_only=True) as store:
        assert 0 == store.value("storage/overview:due", now=NOON)


def test_a_reader_waits_for_a_writer_and_a_writer_for_readers(quick: Job) -> None:
    with held(quick.path, by="writer"), pytest.raises(StoreBusy), quick.store(read_only=True):
        pass
    with held(quick.path, by="reader"), pytest.raises(StoreBusy), quick.store():
        pass


def test_a_program_without_our_lock_is_told_from_a_damaged_store(quick: Job) -> None:
    code = f"import duckdb, time; c = duckdb.connect({str(quick.path)!r}); print(1, flush=True);"
    words = [sys.executable, "-c", f"{code} time.sleep(60)"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        try:
            with pytest.raises(StoreBusy) as caught:
                match_purchases(quick)
        finally:
            other.kill()
    assert {"pid": other.pid} == caught.value.details["holder"]


def test_the_lock_is_private_and_says_who_holds_it_while_it_is_held(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    with store_lock(path, command="test", since=NOON, wait_s=0):
        assert "test" == json.loads(lock_path(path).read_text())["command"]
        assert 0o600 == lock_path(path).stat().st_mode & 0o777
    assert "" == lock_path(path).read_text()


@pytest.mark.parametrize("shared", [False, True], ids=["writer", "reader"])
def test_a_server_that_takes_and_frees_the_store_keeps_nobody_waiting(
    tmp_path: Path, *, shared: bool
) -> None:
    path = tmp_path / "store.duckdb"
    with running(SERVER, path):
        began = time.monotonic()
        for _ in range(10):
            with store_lock(path, command="nightly", since=NOON, wait_s=5, shared=shared):
                time.sleep(0.02)
        assert time.monotonic() - began < 10


def test_a_server_gets_its_turn_between_two_jobs(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    with running(SERVER, path), running(SERVER, path):
        began = time.monotonic()
        for _ in range(5):
            with store_lock(path, command="serve", since=NOON, wait_s=5):
                pass
        assert time.monotonic() - began < 10


def test_who_was_stopped_while_it_was_next_stops_nobody(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    with held(path, by="writer") as holder, running(SERVER, path) as waiting:
        wait_until(lambda: is_locked(turn_path(path)))
        os.kill(waiting, signal.SIGSTOP)
        os.kill(holder, signal.SIGKILL)
        for wait_s in (1, 0.25, 0):
            with store_lock(path, command="test", since=NOON, wait_s=wait_s):
                assert is_locked(turn_path(path))


def test_who_gives_way_is_waited_for_while_it_has_no_name(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    with running(GIVER, path), store_lock(path, command="test", since=NOON, wait_s=0):
        assert is_locked(lock_path(path))


def is_locked(path: Path) -> bool:
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_lock_that_cannot_be_signed_is_held_and_given_back(tmp_path: Path) -> None:
    store = tmp_path / "store.duckdb"
    make_folder(store)
    lock_path(store).symlink_to("/dev/full")
    for _ in range(2):
        with store_lock(store, command="test", since=NOON, wait_s=0):
            pass
