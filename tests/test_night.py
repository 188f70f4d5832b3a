"""The night can be trusted: killed at any moment and run again, it ends as if nothing had been.

Its files, the reports and the store are compared with those of a night that nobody disturbed.
`CARDOFFERS_TESTS=full` strikes ten times as often, and at large nights only; the counts that
`operations.md` quotes are those of `tests/benchmarks/nights.py`.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.events.receiver import Behaviour, Receiver
from cardoffers_cli.kernel.store.layout import draft_path, night_path
from cardoffers_cli.kernel.words.errors import Refused, StoreBusy
from cardoffers_cli.night.options import NightObserver, NightOptions
from cardoffers_cli.night.run import resume_night, run_night
from cardoffers_cli.night.steps import STEPS
from cardoffers_cli.sample.plan import Plan
from commands import processes_per_core
from disks import small_disk
from nights import (
    DROP,
    FINISHED,
    NIGHT,
    PROCESSED,
    STORE,
    Driver,
    World,
    at,
    content,
    exports,
    furnish,
    read_now_and_then,
    real_now,
    said,
    started,
    wait_until,
    world,
)
from sizes import FULL, at_the_gate, one_in, slow, tries
from tables import select

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.process import BaseProcess
    from pathlib import Path

pytestmark = slow

LARGE = {"rows": 200_000, "links": 6_000}
SMALL = LARGE if FULL else {"rows": tries(2_000, 8_000), "links": 400}
SEEDS = range(50 if FULL else tries(1, 2))
KILLS_PER_SEED = 10 if FULL else tries(2, 5)
STARVINGS_PER_SEED = 20 if FULL else 5
NOTHING_NEW, WITH_FINDINGS, BUSY = 0, 3, 11
SOON_S = 10
"""On an idle machine; on a busy one a night waits its turn, as long as others run."""
"""Two seconds are promised; the rest is for a machine that has others to serve. One attempt to
deliver a webhook may take longer."""
STEP_NAMES = [step.name for step in STEPS]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("nights"), **SMALL) as found:
        yield found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_night_killed_at_any_moment_ends_as_if_undisturbed(
    made: World, tmp_path: Path, seed: int
) -> None:
    driver = Driver(made, random.Random(seed))  # noqa: S311
    between = read_now_and_then if seed % 2 else lambda _: None
    while driver.kills < KILLS_PER_SEED:
        folder = made.copy(tmp_path / str(driver.nights))
        driver.kill_until_ended(folder, between)
        shutil.rmtree(folder)


@pytest.mark.parametrize("seed", range(10 if FULL else 1))
@at_the_gate
def test_a_night_without_room_ends_as_if_undisturbed(
    made: World, tmp_path: Path, seed: int
) -> None:
    driver = Driver(made, random.Random(seed))  # noqa: S311
    with small_disk(tmp_path / "disk", "2g" if FULL else "192m") as disk:
        while driver.kills < STARVINGS_PER_SEED:
            shutil.rmtree(disk / "night", ignore_errors=True)
            driver.starve_until_ended(made.copy(disk / "night"))


@pytest.mark.parametrize(
    ("how", "exit_code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)],
    ids=["ctrl-c", "terminate", "hang-up"],
)
@one_in(3)
def test_a_night_that_is_asked_to_stop_ends_soon(
    made: World, tmp_path: Path, how: signal.Signals, exit_code: int
) -> None:
    driver = Driver(made, random.Random(how))  # noqa: S311
    folder = made.copy(tmp_path)
    for _ in range(3):
        night = started(folder)
        wait_until(lambda: runs_the_night(folder, night))  # noqa: B023  waited for here
        night.join(driver.moment())
        if night.exitcode is None and night.pid:
            os.kill(night.pid, how)
            asked = time.monotonic()
            night.join()
            assert night.exitcode in {exit_code, *FINISHED}, said(folder)
            assert time.monotonic() - asked < SOON_S * processes_per_core()
    driver.run_to_the_end(folder)


def runs_the_night(folder: Path, night: BaseProcess) -> bool:
    """Return whether a process has got so far that others are told of it, or has ended."""
    lock = night_path(folder / STORE)
    named = lock.exists() and f'"pid": {night.pid},' in lock.read_text()
    return named or night.exitcode is not None


def test_of_eight_nights_at_once_exactly_one_runs(made: World, tmp_path: Path) -> None:
    folder = made.copy(tmp_path)
    all_of_them = [started(folder) for _ in range(8)]
    for night in all_of_them:
        night.join()
    codes = Counter(night.exitcode for night in all_of_them)
    assert 1 == codes[WITH_FINDINGS], (codes, said(folder))
    assert codes.keys() <= {WITH_FINDINGS, NOTHING_NEW, BUSY}
    assert made.exports == exports(folder)
    assert made.content == content(folder)


@at_the_gate
def test_a_second_night_waits_when_it_is_told_to(made: World, tmp_path: Path) -> None:
    folder = made.copy(tmp_path)
    first = started(folder)
    wait_until(lambda: "1/9" in said(folder) or first.exitcode is not None)
    second = started(folder, "--lock-wait", "60")
    first.join()
    second.join()
    assert (WITH_FINDINGS, NOTHING_NEW) == (first.exitcode, second.exitcode), said(folder)
    assert made.content == content(folder)


class Stopped(Exception):
    """The test broke the night off."""


class Breaking(NightObserver):
    """Breaks a night off when a step begins."""

    def __init__(self, at_step: str | None) -> None:
        self._at = at_step

    def begins(self, step: str, position: int, of: int) -> None:  # noqa: ARG002
        if step == self._at:
            raise Stopped


@pytest.fixture(scope="module")
def little(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with a small store, a drop folder and a receiver that listens."""
    base = tmp_path_factory.mktemp("little")
    with Receiver(clock=real_now) as receiver:
        furnish(base, Plan(rows=300, links=150, seed=3, institutions=2, files=1), receiver.url)
        yield base


@pytest.fixture
def folder(little: Path, tmp_path: Path) -> Path:
    shutil.copytree(little, tmp_path, dirs_exist_ok=True)
    return tmp_path


def run(folder: Path, now: datetime = NIGHT, stop_at: str | None = None, **order: Any) -> Any:
    """Run the night of a folder in this process."""
    return run_night(at(folder, now), NightOptions(drop=folder / DROP, **order), Breaking(stop_at))


def found(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    with at(folder).store(read_only=True) as store:
        return select(store, sql)


ONCE = {
    "notices": "select key_id, notice, count(*) from key_notices group by all having count(*) > 1",
    "settled": """
        select redemption_no, count(*) from ledger_moves where status = 'settled'
        group by all having count(*) > 1
    """,
    "settlements": """
        select (select sum(entries) from settlements) - count(*) as missing
        from ledger_entries where status = 'settled' having missing <> 0
    """,
    "due_left": """
        select redemption_no from ledger_entries where status = 'pending' and settles_at <= $now
    """,
    "attempts": "select redemption_no, count(*) from attempts group by all having count(*) > 1",
    "undelivered": "select redemption_no from outbox where state <> 'delivered'",
}


@pytest.mark.parametrize("step", STEP_NAMES if FULL else ["match", "key_notices", "reports"])
@pytest.mark.parametrize(
    ("first", "second", "nights"),
    [
        ("2026-10-25T00:30", "2026-10-25T00:45", ["2026-10-25"]),
        ("2026-10-25T00:30", "2026-10-24T23:30", ["2026-10-25"]),
        ("2026-10-25T01:30", "2026-10-25T00:30", ["2026-10-25"]),
        ("2026-10-25T00:30", "2026-10-27T00:30", ["2026-10-25", "2026-10-27"]),
        ("2026-12-31T23:59:59", "2027-01-01T00:59", ["2026-12-31", "2027-01-01"]),
        ("2027-03-28T00:59", "2027-03-28T02:01", ["2027-03-28"]),
    ],
    ids=["same clock", "an hour back", "the hour twice", "two days ahead", "new year", "summer"],
)
@one_in(6, gate=2)
def test_nothing_is_done_twice_or_left_out_when_the_clock_moves(
    folder: Path, step: str, first: str, second: str, nights: list[str]
) -> None:
    before, after = datetime.fromisoformat(first), datetime.fromisoformat(second)
    with pytest.raises(Stopped):
        run(folder, before, stop_at=step)
    assert nights[-1] == run(folder, after)["night"]
    assert [(night,) for night in nights] == found(
        folder, "select cast(cast(as_of as date) as varchar) from nights order by night_no"
    )
    for name, sql in ONCE.items():
        last = f"timestamp '{max(before, after).isoformat(sep=' ')}'"
        assert [] == found(folder, sql.replace("$now", last)), name
    keys = found(folder, "select count(*) from api_keys")
    assert keys == found(folder, "select count(distinct key_id) from key_notices")


def test_a_night_that_has_ended_says_so_and_does_nothing(folder: Path) -> None:
    first = run(folder)
    runs = found(folder, "select max(run_no) from runs")
    second = run(folder, NIGHT + timedelta(hours=2))
    assert ("finished", "nothing_new") == (first["status"], second["status"])
    assert first["run_id"] == second["run_id"]
    assert runs == found(folder, "select max(run_no) from runs")


@at_the_gate
def test_a_file_that_comes_later_has_a_night_of_its_own(folder: Path) -> None:
    run(folder)
    before = exports(folder)
    late = folder / DROP / "larkmere" / "late.csv"
    shutil.copy(folder / PROCESSED / "larkmere" / "done" / "larkmere.csv", late)
    late.with_name("late.csv.done").touch()
    second = run(folder)
    assert ("2026-10-25-2", "finished") == (second["night"], second["status"])
    assert [("late.csv", 0)] == [(each["taken_as"], each["accepted"]) for each in second["imports"]]
    assert before.items() <= exports(folder).items()


@at_the_gate
def test_two_undisturbed_nights_write_the_same_bytes(little: Path, tmp_path: Path) -> None:
    made = [shutil.copytree(little, tmp_path / name) for name in ("one", "other")]
    for each in made:
        run(each)
    assert exports(made[0]) == exports(made[1])
    assert content(made[0]) == content(made[1])


def test_what_a_killed_process_left_is_swept_away(folder: Path) -> None:
    store = at(folder).path
    left = draft_path(store, "snapshot")
    left.touch()
    result = run(folder)
    assert not left.exists()
    assert "finished" == result["status"]
    assert "audit_failed" not in {each["code"] for each in result["findings"]}


def test_a_crash_between_commit_and_move_loses_nothing(folder: Path) -> None:
    with pytest.raises(Stopped):
        run(folder, stop_at="match")
    purchases = found(folder, "select count(*), sum(amount) from purchases")
    done = folder / PROCESSED / "larkmere" / "done" / "larkmere.csv"
    ((run_id, file_no),) = found(
        folder,
        "select run_id, file_no from night_files join nights using (night_no)"
        " where taken_as = 'larkmere.csv'",
    )
    done.rename(folder / PROCESSED / "larkmere" / "taken" / f"{run_id}-{file_no}")
    with at(folder).store() as store:
        store.connection.execute("delete from night_steps")
        store.connection.execute("update night_files set is_moved = false")
    result = run(folder)
    assert "finished" == result["status"]
    assert done.exists()
    assert purchases == found(folder, "select count(*), sum(amount) from purchases")


def test_a_clock_behind_the_last_night_is_refused_unless_it_is_meant(folder: Path) -> None:
    run(folder)
    earlier = NIGHT - timedelta(days=1)
    with pytest.raises(Refused) as refused:
        run(folder, earlier)
    assert "clock_backwards" == refused.value.code
    assert "finished" == run(folder, earlier, is_clock_chosen=True)["status"]


def test_a_night_is_resumed_by_its_run(folder: Path) -> None:
    with pytest.raises(Stopped):
        run(folder, stop_at="reports")
    ((run_id,),) = found(folder, "select run_id from nights")
    result = resume_night(at(folder, NIGHT + timedelta(days=3)), str(run_id))
    assert (run_id, "finished") == (result["run_id"], result["status"])
    assert NIGHT == result["as_of"]


def test_a_busy_night_names_its_holder(folder: Path) -> None:
    class Second(NightObserver):
        def begins(self, step: str, position: int, of: int) -> None:  # noqa: ARG002
            if step == "settle":
                with pytest.raises(StoreBusy) as busy:
                    run(folder)
                told.append(busy.value)

    told: list[StoreBusy] = []
    run_night(at(folder), NightOptions(drop=folder / DROP), Second())
    (refusal,) = told
    assert ("night_busy", "settle") == (refusal.code, refusal.details["holder"]["step"])
    assert os.getpid() == refusal.details["holder"]["pid"]


def test_webhooks_stop_when_their_time_is_over(little: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(little, tmp_path / "slow")
    with Receiver(clock=real_now, behaviour=Behaviour(delay_s=1)) as slow:
        with at(folder).store() as store:
            store.connection.execute("update institutions set webhook_url = ?", [slow.url])
        result = run(folder, webhook_time_s=0.2)
    (webhooks,) = (step for step in result["steps"] if step["name"] == "webhooks")
    assert 0 < webhooks["counts"]["still_due"]
    assert "finished" == result["status"]
