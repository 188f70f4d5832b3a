"""A store whose log was damaged when the power went: it says so, and loses what is told, no more.

What a loss of power leaves of a log is made by hand, sector by sector: an end that was never
written, sectors in the middle that were not, and the old content of the disk in their place.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.copies.work import backup, publish
from cardoffers_cli.kernel.store import journal
from cardoffers_cli.kernel.store.journal_file import last_line
from cardoffers_cli.kernel.store.layout import draft_path, log_path, log_paths, snapshot_path
from cardoffers_cli.kernel.store.runs import start_run
from cardoffers_cli.kernel.words.errors import CardoffersError, StoreDamaged
from cardoffers_cli.night.options import NightObserver, NightOptions
from cardoffers_cli.night.run import recovered, run_night
from cardoffers_cli.storage.doctor import doctor
from cardoffers_cli.storage.recover import recover
from cardoffers_cli.storage.restore import restore
from cardoffers_cli.storage.stores import accept_loss
from sizes import FULL, one_in, slow
from tables import NOON, put
from work import found, job, kept, new_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardoffers_cli.kernel.store.job import Job

CUTS = 200 if FULL else 5
SECTOR = 512
COMMITS = 12

WRITER = """
import os, signal, sys
from datetime import timedelta
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from cardoffers_cli.kernel.store.runs import start_run
from cardoffers_cli.kernel.store.layout import log_path
from tables import put
from work import job
made = job(Path(sys.argv[1]))
with made.store() as store:
    for day in range(int(sys.argv[3])):
        with store.transaction():
            now = made.now + timedelta(days=day)
            start_run(store, kind="nightly", now=now, actor="tester")
            put(store, "merchants", [{"merchant": f"{day}-{n}"} for n in range(7 * day % 50)])
        print(log_path(made.path).stat().st_size, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@dataclass(frozen=True)
class Killed:
    """A folder whose store was killed, and how long its log was after each of its commits."""

    folder: Path
    ends: list[int]

    def copy(self, folder: Path) -> Job:
        return job(Path(shutil.copytree(self.folder, folder)) / "store.duckdb")


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Killed:
    made = new_store(tmp_path_factory.mktemp("killed") / "")
    with made.store() as store, store.transaction():
        start_run(store, kind="import", now=NOON, actor="tester")
    publish(made)
    words = [sys.executable, "-c", WRITER, made.path, Path(__file__).parents[1] / "kit", COMMITS]
    ended = subprocess.run(list(map(str, words)), check=False, stdout=subprocess.PIPE)
    assert -signal.SIGKILL == ended.returncode
    return Killed(made.path.parent, [int(size) for size in ended.stdout.split()])


FIRST = 2
"""The runs that were in the file before the log was begun."""


# What the power leaves


def shortened(log: bytes, at: int, chance: random.Random) -> bytes:  # noqa: ARG001 - like the others
    return log[:at]


def ends_in_nothing(log: bytes, at: int, chance: random.Random) -> bytes:  # noqa: ARG001
    return log[:at] + bytes(len(log) - at)


def ends_in_what_was_there(log: bytes, at: int, chance: random.Random) -> bytes:
    return log[:at] + chance.randbytes(len(log) - at)


def lacks_sectors(log: bytes, at: int, chance: random.Random) -> bytes:
    """Leave some sectors out, from `at` on."""
    torn = bytearray(log)
    for start in range(at, len(log), SECTOR):
        if start == at or chance.random() < 0.3:
            end = min(start + SECTOR, len(log))
            torn[start:end] = bytes(end - start)
    return bytes(torn)


def has_one_other_bit(log: bytes, at: int, chance: random.Random) -> bytes:
    torn = bytearray(log)
    torn[min(at + chance.randrange(SECTOR), len(log) - 1)] ^= 1 << chance.randrange(8)
    return bytes(torn)


DAMAGE = [
    shortened,
    ends_in_nothing,
    ends_in_what_was_there,
    lacks_sectors,
    has_one_other_bit,
]


def opens(made: Job) -> str:
    """Open a store as a reader and a writer; return what both were told."""
    told = {_opened(made, read_only=read_only) for read_only in (True, False)}
    assert 1 == len(told)
    return told.pop()


def _opened(made: Job, *, read_only: bool) -> str:
    try:
        with made.store(read_only=read_only):
            return "opened"
    except CardoffersError as error:
        names_the_way = "cardoffers store recover" in str(error.hint)
        return error.code if names_the_way == (error.code == "store_damaged") else "wrong hint"


def agreed(_found: dict[str, Any]) -> None:
    """Agree to whatever is found."""


def content(folder: Path) -> dict[str, bytes]:
    """Return every file but those of the lock."""
    return {
        path.name: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in {"lock", "turn", "night"}
    }


@slow
@pytest.mark.parametrize("seed", range(CUTS))
@one_in(3)
def test_whatever_the_power_leaves_of_a_log_no_more_is_lost_than_went_with_it(
    killed: Killed, tmp_path: Path, seed: int
) -> None:
    """Takes a second: the store is opened some 30 times."""
    chance, size = random.Random(seed), killed.ends[-1]  # noqa: S311 - no secret
    made = killed.copy(tmp_path / "made")
    log = log_path(made.path)
    at = chance.randrange(size) // SECTOR * SECTOR
    log.write_bytes(DAMAGE[seed % len(DAMAGE)](log.read_bytes()[:size], at, chance))
    first_bad = differs_at(killed.folder / log.name, log)
    whole = FIRST + sum(end <= first_bad for end in killed.ends)
    told, torn = opens(made), log.exists() and log.read_bytes()
    if told == "opened":  # nothing that was committed is damaged
        assert FIRST + COMMITS == whole
        return
    assert told in {"store_damaged", journal.LOST}
    report = recover(made, agree=agreed)
    assert whole <= report["run_no"]
    lost = list(range(report["run_no"] + 1, FIRST + COMMITS + 1))
    assert lost == [line["run_no"] for line in report["lost_runs"]]
    assert len(report["nights"]) == len(report["next"]) == report["lost"] == len(lost)
    assert [torn] == [Path(each).read_bytes() for each in report["kept_logs"]]
    assert "opened" == opens(made)
    assert [(report["run_no"],)] == found(made, "select max(run_no) from runs")
    assert doctor(made, strict=True)["ok"]
    assert bool(lost) != snapshot_path(made.path).exists()


def differs_at(file: Path, other: Path) -> int:
    ours, theirs = file.read_bytes(), other.read_bytes()
    pairs = enumerate(zip(ours, theirs, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(ours), len(theirs)))


# What it does with it


@pytest.fixture
def torn(killed: Killed, tmp_path: Path) -> Job:
    """Return a store that does not open, and whole is but for its last two commits."""
    made = killed.copy(tmp_path / "torn")
    log = log_path(made.path)
    log.write_bytes(ends_in_nothing(log.read_bytes(), killed.ends[-3] + 60, random.Random(1)))  # noqa: S311
    assert "store_damaged" == opens(made)
    return made


@slow
def test_to_look_is_to_change_nothing_and_to_say_what_will_be(torn: Job) -> None:
    before = content(torn.path.parent)
    looked = recover(torn, agree=agreed, dry_run=True)
    assert before == content(torn.path.parent)
    report = recover(torn, agree=agreed)
    assert {**looked, "dry_run": False, "kept_logs": report["kept_logs"]} == report


@slow
def test_a_night_does_not_recover_what_would_lose_a_run(torn: Job) -> None:
    (torn.path.parent / "drop").mkdir()
    before = content(torn.path.parent)
    with pytest.raises(StoreDamaged) as caught:
        run_night(torn, NightOptions(drop=torn.path.parent / "drop"))
    assert "store recover" in str(caught.value.hint)
    assert before == content(torn.path.parent)


@slow
def test_nothing_is_done_before_somebody_agreed(torn: Job) -> None:
    before, heard = content(torn.path.parent), []

    def no(found: dict[str, Any]) -> None:
        heard.append(found["lost"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recover(torn, agree=no)
    assert [2] == heard
    assert before == content(torn.path.parent)


@slow
def test_what_is_lost_is_accepted_by_it_and_written_down(torn: Job) -> None:
    report = recover(torn, agree=agreed)
    assert [13, 14] == [line["run_no"] for line in report["lost_runs"]]
    assert ["2026-06-11", "2026-06-12"] == report["nights"]
    assert "cardoffers nightly DROP_DIR --as-of 2026-06-11" == report["next"][0]
    last = last_line(torn.path)
    assert last
    assert ("log_put_aside", 12) == (last.kind, last.run_no)
    with torn.store() as store, store.transaction():
        start_run(store, kind="import", now=NOON, actor="tester")
    assert "opened" == opens(torn)


def killed_there(*_given: Any, **_more: Any) -> None:
    raise KeyboardInterrupt


@slow
@pytest.mark.parametrize("work", [lambda made: recover(made, agree=agreed), accept_loss])
def test_a_snapshot_goes_before_the_loss_is_written_down(
    torn: Job, monkeypatch: pytest.MonkeyPatch, work: Callable[[Job], Any]
) -> None:
    """Killed between the two, the journal still tells of the loss, and running it again goes on."""
    snapshot = snapshot_path(torn.path)
    if work is accept_loss:
        log_path(torn.path).unlink()
    snapshot.write_bytes(b"what was lost")
    monkeypatch.setattr(journal, "reset", killed_there)
    with pytest.raises(KeyboardInterrupt):
        work(torn)
    assert not snapshot.exists()
    assert "lost" in opens(torn)


@slow
def test_a_log_of_which_nothing_can_be_read_goes_whole(torn: Job) -> None:
    log_path(torn.path).write_bytes(b"d" + bytes(5000))
    report = recover(torn, agree=agreed)
    assert (FIRST, COMMITS) == (report["run_no"], report["lost"])
    assert not log_path(torn.path).exists()


@slow
def test_a_log_that_the_file_has_already_is_put_aside_and_nothing_is_lost(
    killed: Killed, tmp_path: Path
) -> None:
    made = killed.copy(tmp_path / "made")
    log = log_path(made.path).read_bytes()
    with made.store():
        pass
    before = kept(made)
    log_path(made.path).write_bytes(log)
    assert "store_damaged" == opens(made)
    report = recover(made, agree=agreed, dry_run=True)
    assert (0, [], FIRST + COMMITS) == (report["lost"], report["lost_runs"], report["run_no"])
    assert ["store_recovered"] == [each.code for each in recovered(made, NightObserver())]
    assert before == kept(made)
    assert doctor(made, strict=True)["ok"]


@slow
def test_the_logs_of_a_checkpoint_are_put_aside_with_it(torn: Job) -> None:
    for log in log_paths(torn.path)[1:]:
        log.write_bytes(b"half a log")
    assert 3 == len(recover(torn, agree=agreed)["kept_logs"])
    assert "opened" == opens(torn)


@slow
def test_a_draft_that_was_left_is_in_nobodys_way(torn: Job) -> None:
    draft = draft_path(torn.path, "recover")
    for path in (draft, *log_paths(draft)):
        path.write_bytes(b"half a copy")
    recover(torn, agree=agreed)
    assert [] == list(torn.path.parent.rglob("*.new*"))


@slow
def test_running_it_again_goes_on_where_it_was_killed(torn: Job) -> None:
    log = log_path(torn.path)
    os.link(log, log.with_name(f"{log.name}.20260601T120000Z.kept"))
    assert 2 == recover(torn, agree=agreed)["lost"]


def refused(work: Callable[[], Any]) -> str:
    with pytest.raises(CardoffersError) as caught:
        work()
    assert caught.value.hint
    return f"{type(caught.value).__name__} {caught.value.code}"


def test_a_store_that_is_well_has_nothing_to_recover(killed: Killed, tmp_path: Path) -> None:
    made = killed.copy(tmp_path / "made")
    for _ in range(2):
        assert "Refused nothing_to_recover" == refused(lambda: recover(made, agree=agreed))
        with made.store():
            pass


def test_a_file_that_is_damaged_itself_is_told_as_such_and_left_as_it_is(torn: Job) -> None:
    torn.path.write_bytes(torn.path.read_bytes()[:20_000])
    log = log_path(torn.path)
    before = content(torn.path.parent)
    with pytest.raises(StoreDamaged, match="not by its log alone") as caught:
        recover(torn, agree=agreed)
    assert "store restore FILE" in str(caught.value.hint)
    log.rename(log.with_suffix(".away"))
    with pytest.raises(StoreDamaged) as caught:
        recover(torn, agree=agreed)
    assert "store restore FILE" in str(caught.value.hint)
    log.with_suffix(".away").rename(log)
    assert before == content(torn.path.parent)


def test_a_store_that_lost_commits_without_a_log_is_not_recovered_by_it(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    copy = made.path.read_bytes()
    with made.store() as store, store.transaction():
        start_run(store, kind="import", now=NOON, actor="tester")
        put(store, "merchants", [{"merchant": "bakery"}])
    made.path.write_bytes(copy)
    assert f"StoreDamaged {journal.LOST}" == refused(lambda: recover(made, agree=agreed))


@slow
def test_a_store_that_was_replaced_is_not_made_one_by_it(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    backup(made, tmp_path / "b")
    aside = job(restore(made, tmp_path / "b")["kept_aside"])
    log_path(aside.path).write_bytes(b"half a log")
    assert f"Refused {journal.REPLACED}" == refused(lambda: recover(aside, agree=agreed))
