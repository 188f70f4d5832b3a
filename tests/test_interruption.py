"""An import killed at any moment leaves all or nothing, and running it again ends the same."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.store.layout import lock_path
from commands import cardoffers, command
from sizes import FULL, slow, tries
from tables import select
from work import file_of, job, new_store, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KILLS = 120 if FULL else tries(2, 12)
ROWS = 40_000
DIRTY = 97


@dataclass(frozen=True)
class Undisturbed:
    """A store before the import, the file, and what an undisturbed run takes and leaves."""

    store: Path
    file: Path
    seconds: float
    content: list[Any]


def words(store: Path, file: Path) -> tuple[object, ...]:
    return ("import", file, "-i", "alder", "--store", store, "--as-of", "2026-06-01T12:00:00Z")


def content(store: Path) -> list[Any]:
    """Return what an import leaves in a store, but for its random id and the machine's clock."""
    with job(store).store() as opened:
        return [
            select(opened, sql)
            for sql in (
                "select count(*), sum(amount), sum(line), bit_xor(hash(purchases)) from purchases",
                "select bit_xor(hash(cardholders)) from cardholders",
                "select bit_xor(hash(instruments)) from instruments",
                "select bit_xor(hash(identifiers)) from identifiers",
                "select bit_xor(hash(rejects)), count(*) from rejects",
                "select bit_xor(hash(duplicates)), count(*) from duplicates",
                "select columns(* exclude import_id) from imports",
                "select columns(* exclude (run_id, actor, machine_at)) from runs",
            )
        ]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    made = new_store(folder, "before.duckdb")
    tell(made, institutions="institution\nalder")
    rows = [
        {
            "ref": f"ref-{n - n // DIRTY % 2}",
            "cardholder": f"ch_{n * 7919 % 9973:040}",
            "identifier": f"M{n % 211}",
            "amount": "0" if n % DIRTY == 0 else f"{n % 90}.07",
        }
        for n in range(ROWS)
    ]
    file = file_of(folder / "tx.csv", rows)
    shutil.copy(made.path, folder / "after.duckdb")
    began = time.monotonic()
    cardoffers(*words(folder / "after.duckdb", file), exit_code=3)
    return Undisturbed(made.path, file, time.monotonic() - began, content(folder / "after.duckdb"))


@slow
@pytest.mark.parametrize("moment", [(n + 0.5) / KILLS for n in range(KILLS)])
def test_an_import_killed_at_any_moment_leaves_all_or_nothing(
    undisturbed: Undisturbed, tmp_path: Path, moment: float
) -> None:
    store = tmp_path / "store.duckdb"
    shutil.copy(undisturbed.store, store)
    nothing = content(store)
    kill_after(moment * undisturbed.seconds, words(store, undisturbed.file))
    assert content(store) in (nothing, undisturbed.content)
    if content(store) == nothing:
        cardoffers(*words(store, undisturbed.file), exit_code=3)
    assert undisturbed.content == content(store)


def kill_after(seconds: float, line: tuple[object, ...]) -> None:
    with subprocess.Popen(
        command(*line), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as importing:
        time.sleep(seconds)
        importing.kill()


@slow
@pytest.mark.parametrize("moment", ["while it is written", "while it is taken in"])
@pytest.mark.parametrize(
    ("how", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "terminate"]
)
def test_an_import_that_is_asked_to_stop_keeps_nothing(
    undisturbed: Undisturbed, tmp_path: Path, how: signal.Signals, exit_code: int, moment: str
) -> None:
    store, slow = tmp_path / "store.duckdb", tmp_path / "slow.csv"
    shutil.copy(undisturbed.store, store)
    nothing = content(store)
    text = undisturbed.file.read_bytes()
    os.mkfifo(slow)
    with subprocess.Popen(
        command(*words(store, slow)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as importing:
        with slow.open("wb", buffering=0) as pipe:
            pipe.write(text[: 1 << 20])
            if moment == "while it is written":
                importing.send_signal(how)
            else:
                pipe.write(text[1 << 20 :] + 20 * text)
        if moment == "while it is taken in":
            wait_until(lambda: lock_path(tmp_path / "store.duckdb").stat().st_size > 0)
            importing.send_signal(how)
        _, told = importing.communicate(timeout=30)
    assert exit_code == importing.returncode, told
    assert "Traceback" not in told
    assert nothing == content(store)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
