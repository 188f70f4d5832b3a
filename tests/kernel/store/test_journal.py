from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.store import journal
from cardoffers_cli.kernel.store.layout import folder_of, journal_path, kept_files
from cardoffers_cli.kernel.store.migrations import newest_version
from cardoffers_cli.kernel.store.runs import start_run
from cardoffers_cli.kernel.words.errors import CardoffersError, Refused
from cardoffers_cli.storage.stores import accept_loss, init, lost_commits, migrate
from sizes import one_in, slow
from tables import NOON, moment, read, select
from work import job, new_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from cardoffers_cli.kernel.store.job import Job

RUNS = """
    kind     at
    import   2026-06-01T02:00
    nightly  2026-06-01T02:00
    import   2026-06-02T02:00
    nightly  2026-06-02T02:00
    settle   2026-06-02T02:00
"""


def run(made: Job, kind: str = "import", now: datetime = NOON, *, keep: bool = True) -> None:
    with made.store() as store, store.transaction(keep=keep):
        start_run(store, kind=kind, now=now, actor="tester")


def runs(made: Job, text: str = RUNS) -> None:
    for row in read(text):
        run(made, row["kind"], moment(row["at"]))


def numbers(made: Job) -> list[int]:
    return [line.run_no for line in journal.lines(made.path)]


def whole(made: Job) -> bool:
    """Whether the journal says what the store says, run by run."""
    with made.store(read_only=True) as store:
        told = [(line.run_no, line.run_id, line.kind) for line in journal.lines(made.path)]
        return told == select(store, "select run_no, run_id, kind from runs order by run_no")


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return new_store(tmp_path)


# What is written


def test_every_committed_run_has_a_line(made: Job) -> None:
    runs(made)
    assert [1, 2, 3, 4, 5] == numbers(made)
    assert whole(made)


def test_a_run_has_its_line_before_the_store_is_closed(made: Job) -> None:
    with made.store() as store:
        for number in (1, 2):
            with store.transaction():
                start_run(store, kind="import", now=NOON, actor="tester")
            assert number == numbers(made)[-1]


def test_what_was_not_kept_has_no_line(made: Job) -> None:
    run(made)
    run(made, keep=False)
    with suppress(ZeroDivisionError), made.store() as store, store.transaction():
        start_run(store, kind="import", now=NOON, actor="tester")
        raise ZeroDivisionError
    assert [1] == numbers(made)


def test_what_was_committed_before_a_failure_has_its_line(made: Job) -> None:
    with suppress(ZeroDivisionError), made.store() as store:
        with store.transaction():
            start_run(store, kind="import", now=NOON, actor="tester")
        raise ZeroDivisionError
    assert [1] == numbers(made)


def test_the_journal_is_its_owners(made: Job) -> None:
    run(made)
    assert 0o600 == journal_path(made.path).stat().st_mode & 0o777


def test_a_store_without_a_journal_gets_one(made: Job) -> None:
    runs(made)
    journal_path(made.path).unlink()
    with made.store(read_only=True):
        assert not journal_path(made.path).exists()
    with made.store():
        assert [1, 2, 3, 4, 5] == numbers(made)


def test_a_store_that_is_ahead_is_caught_up_with(made: Job) -> None:
    runs(made)
    cut(journal_path(made.path), lines=2)
    with made.store(read_only=True):
        assert [1, 2] == numbers(made)
    with made.store():
        pass
    assert whole(made)


@pytest.mark.parametrize("torn", ["{", '{"run_no": 2, "run_id": "8', "\0" * 9000])
def test_a_torn_line_is_no_line(made: Job, torn: str) -> None:
    run(made)
    with journal_path(made.path).open("a") as file:
        file.write(torn)
    with made.store(read_only=True):
        assert [1] == numbers(made)
    run(made)
    assert whole(made)


def test_a_line_that_is_none_of_ours_is_told(made: Job) -> None:
    run(made)
    with journal_path(made.path).open("a") as file:
        file.write("birds\n")
    assert "journal_damaged" == code_of(made)
    journal_path(made.path).unlink()
    assert "opened" == code_of(made)


@slow
def test_of_a_long_journal_the_newer_half_stays(made: Job) -> None:
    runs(made)
    path = journal_path(made.path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0] * 150_000, *lines]))
    run(made)
    assert path.stat().st_size < 9 << 20
    assert [6] == numbers(made)[-1:]
    assert "opened" == code_of(made)
    assert not list(made.path.parent.glob(".*"))


# What is noticed


def cut(file: Path, *, lines: int) -> None:
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:lines]))


def code_of(made: Job) -> str:
    """Return the code by which every opening is refused, or `opened`."""
    codes = {_code(made, read_only=read_only) for read_only in (True, False)}
    assert 1 == len(codes)
    return codes.pop()


def _code(made: Job, *, read_only: bool) -> str:
    try:
        with made.store(read_only=read_only):
            return "opened"
    except CardoffersError as error:
        return error.code


def put_back(made: Job, after: int) -> None:
    """Do all runs, and put the store back as it was after some of them."""
    rows = read(RUNS)
    for row in rows[:after]:
        run(made, row["kind"], moment(row["at"]))
    shutil.copy(made.path, made.path.with_name("old"))
    for row in rows[after:]:
        run(made, row["kind"], moment(row["at"]))
    shutil.copy(made.path.with_name("old"), made.path)


@pytest.mark.parametrize(
    ("after", "lost", "nights"),
    [
        (0, [1, 2, 3, 4, 5], ["2026-06-01", "2026-06-02"]),
        (1, [2, 3, 4, 5], ["2026-06-01", "2026-06-02"]),
        (2, [3, 4, 5], ["2026-06-02"]),
        (4, [5], ["2026-06-02"]),
    ],
)
@one_in(3)
def test_an_old_copy_is_noticed_and_what_to_run_again_is_named(
    made: Job, after: int, lost: list[int], nights: list[str]
) -> None:
    put_back(made, after)
    assert journal.LOST == code_of(made)
    with pytest.raises(CardoffersError) as caught, made.store():
        pass
    told = caught.value
    assert lost == [line["run_no"] for line in told.details["lost_runs"]]
    assert len(lost) == told.details["lost_run_count"]
    assert nights == told.details["nights"]
    assert all(f"nightly DROP_DIR --as-of {date}" in str(told.hint) for date in nights)
    with pytest.raises(CardoffersError) as caught:
        migrate(made)
    assert journal.LOST == caught.value.code


@slow
def test_another_store_with_as_many_runs_is_noticed(made: Job, tmp_path: Path) -> None:
    runs(made)
    other = new_store(tmp_path, "other.duckdb")
    runs(other)
    runs(other)
    shutil.copy(other.path, made.path)
    assert "folder_foreign" == code_of(made)


COMMITS = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from cardoffers_cli.kernel.store.runs import start_run
from work import job
made = job(Path(sys.argv[1]))
with made.store() as store:
    for _ in range(4):
        with store.transaction():
            start_run(store, kind="import", now=made.now, actor="tester")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def zeroed(log: Path, at: int) -> None:
    content = log.read_bytes()
    log.write_bytes(content[:at] + bytes(len(content) - at))


def shortened(log: Path, at: int) -> None:
    log.write_bytes(log.read_bytes()[:at])


def deleted(log: Path, at: int) -> None:  # noqa: ARG001 - like the others
    log.unlink()


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Return a store whose writer was killed after four commits, which stand in its log."""
    made = new_store(tmp_path_factory.mktemp("killed"))
    tests = Path(__file__).parents[2] / "kit"
    ended = subprocess.run([sys.executable, "-c", COMMITS, made.path, tests], check=False)
    assert -signal.SIGKILL == ended.returncode
    return made


@pytest.mark.parametrize("damage", [shortened, zeroed, deleted])
@pytest.mark.parametrize("share", [0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_log_that_is_not_whole_is_noticed(
    killed: Job, tmp_path: Path, damage: Callable[[Path, int], None], share: float
) -> None:
    made = job(tmp_path / killed.path.name)
    shutil.copytree(killed.path.parent, tmp_path, dirs_exist_ok=True)
    log = Path(f"{made.path}.wal")
    damage(log, int(share * log.stat().st_size))
    assert code_of(made) in {journal.LOST, "store_damaged"}


def test_a_log_that_is_whole_is_not(killed: Job, tmp_path: Path) -> None:
    shutil.copytree(killed.path.parent, tmp_path, dirs_exist_ok=True)
    assert "opened" == code_of(job(tmp_path / killed.path.name))


# The way on


def test_a_loss_that_is_accepted_is_written_down_and_named(made: Job) -> None:
    put_back(made, after=2)
    assert [3, 4, 5] == [line["run_no"] for line in lost_commits(made)["lost_runs"]]
    report = accept_loss(made)
    assert (3, ["2026-06-02"], True) == (report["lost"], report["nights"], report["accepted"])
    assert ["cardoffers nightly DROP_DIR --as-of 2026-06-02"] == report["next"]
    assert '"kind": "loss_accepted"' in journal_path(made.path).read_text().splitlines()[-1]
    assert "opened" == code_of(made)
    runs(made)
    assert whole(made)


@slow
def test_after_a_loss_of_everything_the_journal_begins_anew(made: Job) -> None:
    put_back(made, after=0)
    accept_loss(made)
    assert "opened" == code_of(made)
    runs(made)
    put_back(made, after=0)
    assert journal.LOST == code_of(made)


def test_nothing_is_accepted_where_nothing_was_lost(made: Job) -> None:
    runs(made)
    with pytest.raises(Refused) as caught:
        accept_loss(made)
    assert "nothing_lost" == caught.value.code
    assert 0 == lost_commits(made)["lost"]


def test_a_store_moves_with_its_journal(made: Job) -> None:
    runs(made)
    moved = job(made.path.with_name("moved.duckdb"))
    made.path.rename(moved.path)
    folder_of(made.path).rename(folder_of(moved.path))
    run(moved)
    assert whole(moved)


def test_a_new_store_begins_a_new_journal_and_keeps_the_old_one(made: Job) -> None:
    runs(made)
    told = journal_path(made.path).read_text()
    made.path.unlink()
    init(made)
    run(made)
    assert [1] == numbers(made)
    aside = [path for path in kept_files(journal_path(made.path)) if path.read_text() == told]
    assert 1 == len(aside)


def test_a_migration_leaves_the_journal_as_it_is(made: Job) -> None:
    runs(made)
    told = journal_path(made.path).read_text()
    assert [] == migrate(made)["applied"]
    assert newest_version() == migrate(made)["schema_version"]
    assert told == journal_path(made.path).read_text()


def test_any_order_of_runs_losses_and_crashes_keeps_journal_and_store_together(
    made: Job,
) -> None:
    chance = random.Random(7)  # noqa: S311 - no secret
    copies: list[bytes] = []
    for _ in range(40):
        act: Any = chance.choice([keep_copy, lose, forget_lines, run, run])
        act(made, copies) if act is not run else run(made)
    run(made)
    assert whole(made)


def keep_copy(made: Job, copies: list[bytes]) -> None:
    copies.append(made.path.read_bytes())


def lose(made: Job, copies: list[bytes]) -> None:
    """Put an old copy back, and accept what is lost by it."""
    if copies:
        made.path.write_bytes(copies.pop())
        if lost_commits(made)["lost"]:
            accept_loss(made)


def forget_lines(made: Job, copies: list[bytes]) -> None:  # noqa: ARG001 - like the others
    """Be killed between a commit and its line."""
    run(made)
    text = journal_path(made.path).read_text().splitlines(keepends=True)
    cut(journal_path(made.path), lines=len(text) - 1)
