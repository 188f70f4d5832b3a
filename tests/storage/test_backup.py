from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.archive.export import compact
from cardoffers_cli.copies.plain import PlainRepository, checksum_path
from cardoffers_cli.copies.work import backup, publish
from cardoffers_cli.kernel.store import journal
from cardoffers_cli.kernel.store.journal_file import last_line
from cardoffers_cli.kernel.store.layout import journal_path, kept_files, log_path, snapshot_path
from cardoffers_cli.kernel.store.migrations import newest_version
from cardoffers_cli.kernel.store.opening import open_copy
from cardoffers_cli.kernel.store.runs import start_run
from cardoffers_cli.kernel.words.errors import CardoffersError, NoSpace
from cardoffers_cli.storage.doctor import doctor
from cardoffers_cli.storage.restore import restore
from killing import killed_everywhere
from sizes import FULL, at_the_gate, one_in, slow
from tables import NOON, put, snapshot
from work import job, kept, new_store, once, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardoffers_cli.kernel.store.job import Job

KIT = Path(__file__).parents[1] / "kit"
MERCHANTS = 2000
TOO_LARGE = 8 << 40
MOMENTS = 40 if FULL else 3


def buy(made: Job, name: str, *, rows: int = 1, kind: str = "nightly") -> None:
    """Commit a run that leaves something."""
    with made.store() as store, store.transaction():
        start_run(store, kind=kind, now=made.now, actor="tester")
        put(store, "merchants", [{"merchant": f"{name}-{row}"} for row in range(rows)])


def files_of(name: str) -> set[str]:
    return {name, f"{name}.checksum", f"{name}.secrets"}


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return with_purchases(tmp_path)


@once
def with_purchases(folder: Path) -> Job:
    made = new_store(folder)
    buy(made, "first", rows=50)
    return made


@pytest.fixture
def kept_in(tmp_path: Path) -> Path:
    folder = tmp_path / "backups"
    folder.mkdir()
    return folder


def copied(path: Path) -> Any:
    """Return every row of a file that is a store no more, or not yet."""
    with open_copy(path, settings()) as store:
        return snapshot(store)


def refused(work: Callable[[], Any]) -> str:
    """Return the code and the class of a refusal."""
    with pytest.raises(CardoffersError) as caught:
        work()
    assert caught.value.hint
    return f"{type(caught.value).__name__} {caught.value.code}"


# Backup


def test_a_backup_is_the_whole_store(made: Job, kept_in: Path) -> None:
    report = backup(made, kept_in / "b")
    assert (str(kept_in / "b"), 1) == (report["point"], report["run_no"])
    assert kept(made) == kept(job(kept_in / "b"))


@slow
def test_a_backup_and_its_checksum_are_their_owners(made: Job, kept_in: Path) -> None:
    before = os.umask(0)
    try:
        backup(made, kept_in / "b")
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in kept_in.iterdir()}
    assert dict.fromkeys(files_of("b"), 0o600) == modes


@slow
def test_a_backup_in_a_folder_is_named_by_the_time(made: Job, kept_in: Path) -> None:
    report = backup(made, kept_in)
    assert str(kept_in / "store-20260601T120000Z.duckdb") == report["point"]


@slow
def test_a_checksum_says_what_a_backup_is(made: Job, kept_in: Path) -> None:
    backup(made, kept_in / "b")
    told = json.loads((kept_in / "b.checksum").read_text())
    last = last_line(made.path)
    assert last
    assert (newest_version(), 1, str(last.run_id)) == (
        told["schema_version"],
        told["run_no"],
        told["run_id"],
    )
    assert (kept_in / "b").stat().st_size == told["size_bytes"]


@pytest.mark.parametrize("name", sorted(files_of("b")))
def test_a_backup_overwrites_nothing(made: Job, kept_in: Path, name: str) -> None:
    (kept_in / name).write_text("mine")
    assert "Refused file_exists" == refused(lambda: backup(made, kept_in / "b"))
    assert {name: "mine"} == {path.name: path.read_text() for path in kept_in.iterdir()}


def test_a_backup_needs_a_folder(made: Job, kept_in: Path) -> None:
    assert "UsageError folder_missing" == refused(lambda: backup(made, kept_in / "no" / "b"))


@pytest.mark.parametrize("work", [lambda made: backup(made, made.path.with_name("b")), compact])
def test_a_copy_is_not_begun_where_there_is_no_room_for_it(
    made: Job, work: Callable[[Job], Any]
) -> None:
    names = {path.name for path in made.path.parent.rglob("*")}
    log = Path(f"{made.path}.wal")
    log.touch()
    os.truncate(log, TOO_LARGE)  # of nothing, which takes no room itself
    with pytest.raises(NoSpace) as caught:
        work(made)
    assert TOO_LARGE + made.path.stat().st_size <= caught.value.details["needed_bytes"]
    assert caught.value.details["free_bytes"] < TOO_LARGE
    log.unlink()
    assert names == {path.name for path in made.path.parent.rglob("*")}


BACK_UP = """
from cardoffers_cli.copies.work import backup
from work import job

def work(folder):
    backup(job(folder / "store.duckdb"), folder / "backups" / "b")
"""


@slow
def test_a_backup_that_is_killed_is_whole_or_none_and_the_next_removes_it(
    made: Job, tmp_path: Path
) -> None:
    (made.path.parent / "backups").mkdir()
    (made.path.parent / "backups" / "note").write_text("of somebody")
    template = shutil.copytree(made.path.parent, tmp_path / "template")
    for each in killed_everywhere(template, tmp_path / "killed", BACK_UP, "^b$|^b[.]|[.]b[.]"):
        left = job(each / "store.duckdb")
        if is_whole := [point.point for point in PlainRepository(each / "backups").points()]:
            restore(left, each / "backups" / "b")
        backup(left, each / "backups" / "c")
        whole = {*(files_of("b") if is_whole else ()), *files_of("c"), "note"}
        assert whole == {path.name for path in (each / "backups").iterdir()}
        assert kept(made) == copied(each / "backups" / "c")


# Restore


@slow
def test_a_restored_store_is_the_one_that_was_backed_up(made: Job, kept_in: Path) -> None:
    before = kept(made)
    backup(made, kept_in / "b")
    report = restore(made, kept_in / "b")
    assert before == kept(made)
    assert [] == report["lost_runs"]
    assert before == copied(Path(report["kept_aside"]))


@slow
def test_a_store_that_is_gone_is_restored(made: Job, kept_in: Path) -> None:
    before = kept(made)
    backup(made, kept_in / "b")
    made.path.unlink()
    assert restore(made, kept_in / "b")["kept_aside"] is None
    assert before == kept(made)


@slow
def test_the_log_of_a_store_that_is_gone_is_kept_and_not_read(made: Job, kept_in: Path) -> None:
    before = kept(made)
    backup(made, kept_in / "b")
    made.path.unlink()
    log_path(made.path).write_text("of the store before")
    restore(made, kept_in / "b")
    assert before == kept(made)
    (log,) = made.path.parent.glob("*.wal.*.kept")
    assert "of the store before" == log.read_text()


@slow
def test_a_store_that_is_damaged_is_restored(made: Job, kept_in: Path) -> None:
    before = kept(made)
    backup(made, kept_in / "b")
    made.path.write_text("no store any more\n" * 1000)
    Path(f"{made.path}.wal").write_text("nor its log")
    aside = Path(restore(made, kept_in / "b")["kept_aside"])
    assert before == kept(made)
    assert aside.read_text().startswith("no store")
    assert "nor its log" == Path(f"{aside}.wal").read_text()


@slow
def test_a_backup_that_is_older_takes_a_yes_and_says_what_is_lost(made: Job, kept_in: Path) -> None:
    before = kept(made)
    backup(made, kept_in / "b")
    buy(job(made.path, now=NOON + timedelta(days=1)), "second")
    after = kept(made)
    with pytest.raises(CardoffersError) as caught:
        restore(made, kept_in / "b")
    assert "backup_older" == caught.value.code
    assert ["2026-06-02"] == caught.value.details["nights"]
    rehearsed = restore(made, kept_in / "b", dry_run=True)
    assert after == kept(made)
    report = restore(made, kept_in / "b", accept_loss=True)
    assert {**report, "kept_aside": None, "dry_run": True} == rehearsed
    assert ["cardoffers nightly DROP_DIR --as-of 2026-06-02"] == report["next"]
    assert [2] == [line["run_no"] for line in report["lost_runs"]]
    assert before == kept(made)
    assert after == copied(Path(report["kept_aside"]))
    buy(made, "third")
    assert [1, 2] == [line.run_no for line in journal.lines(made.path)]
    assert doctor(made, strict=True)["ok"]


@slow
def test_a_snapshot_of_what_may_be_lost_is_shown_no_more_and_kept(made: Job, kept_in: Path) -> None:
    publish(made)
    shown = snapshot_path(made.path).read_bytes()
    backup(made, kept_in / "b")
    restore(made, kept_in / "b")
    assert not snapshot_path(made.path).exists()
    assert [shown] == [path.read_bytes() for path in kept_files(snapshot_path(made.path))]


RESTORE = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from cardoffers_cli.storage import restore as restores
from work import job
put_in_place = restores.copying.put_in_place
def killed(draft, path):
    put_in_place(draft, path)
    os.kill(os.getpid(), signal.SIGKILL)
restores.copying.put_in_place = killed
restores.restore(job(Path(sys.argv[1])), Path(sys.argv[2]), accept_loss=True)
"""


@slow
def test_a_restore_killed_at_its_last_step_leaves_no_snapshot_of_before(
    made: Job, kept_in: Path
) -> None:
    backup(made, kept_in / "b")
    publish(made)
    words = [sys.executable, "-c", RESTORE, made.path, kept_in / "b", KIT]
    ended = subprocess.run([*map(str, words)], check=False)
    assert -signal.SIGKILL == ended.returncode
    assert kept(made) == copied(kept_in / "b")
    assert not snapshot_path(made.path).exists()


@slow
def test_what_is_kept_aside_has_a_name_of_its_own(made: Job, kept_in: Path) -> None:
    backup(made, kept_in / "b")
    aside = {restore(made, kept_in / "b")["kept_aside"] for _ in range(3)}
    assert 3 == len(aside)
    assert all(Path(each).exists() for each in aside)


@slow
def test_a_store_is_restored_to_a_folder_that_exists(made: Job, kept_in: Path) -> None:
    backup(made, kept_in / "b")
    nowhere = job(made.path.parent / "nowhere" / "store.duckdb")
    assert "UsageError folder_missing" == refused(lambda: restore(nowhere, kept_in / "b"))
    elsewhere = job(kept_in / "moved.duckdb")
    restore(elsewhere, kept_in / "b")
    assert kept(made) == kept(elsewhere)


def nothing_there(file: Path, made: Job) -> None:  # noqa: ARG001 - like the others
    file.unlink()


def no_checksum(file: Path, made: Job) -> None:  # noqa: ARG001 - like the others
    checksum_path(file).unlink()


def copied_by_hand(file: Path, made: Job) -> None:
    checksum_path(file).unlink()
    shutil.copy(made.path, file)


def another_checksum(file: Path, made: Job) -> None:  # noqa: ARG001 - like the others
    checksum_path(file).write_text('{"sha256": "birds"}')


def no_json(file: Path, made: Job) -> None:  # noqa: ARG001 - like the others
    checksum_path(file).write_text("birds")


def changed(file: Path, made: Job, **values: Any) -> None:  # noqa: ARG001 - like the others
    told = json.loads(checksum_path(file).read_text())
    checksum_path(file).write_text(json.dumps(told | values))


def of_another_program(file: Path, made: Job) -> None:
    changed(file, made, form="birds")


def of_another_version(file: Path, made: Job) -> None:
    changed(file, made, schema_version=newest_version() + 1)


def from_before_schema_1(file: Path, made: Job) -> None:
    changed(file, made, form="cardoffers backup 1", schema_version=34)


def cut_off(file: Path, made: Job) -> None:  # noqa: ARG001 - like the others
    file.write_bytes(file.read_bytes()[:-4096])


def one_bit(file: Path, made: Job) -> None:  # noqa: ARG001 - like the others
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def with_a_log(file: Path, made: Job) -> None:  # noqa: ARG001 - like the others
    Path(f"{file}.wal").touch()


@slow
@pytest.mark.parametrize(
    ("harm", "refusal"),
    [
        (nothing_there, "FileUnusable backup_missing"),
        (no_checksum, "FileUnusable backup_unchecked"),
        (copied_by_hand, "FileUnusable backup_unchecked"),
        (no_json, "FileUnusable backup_foreign"),
        (another_checksum, "FileUnusable backup_foreign"),
        (of_another_program, "FileUnusable backup_foreign"),
        (of_another_version, "StoreVersion backup_version"),
        (from_before_schema_1, "StoreVersion store_too_old"),
        (cut_off, "FileUnusable backup_damaged"),
        (one_bit, "FileUnusable backup_damaged"),
        (with_a_log, "FileUnusable backup_damaged"),
    ],
)
@one_in(2)
def test_what_is_no_whole_backup_is_refused(
    made: Job, kept_in: Path, harm: Callable[[Path, Job], None], refusal: str
) -> None:
    before = kept(made)
    backup(made, kept_in / "b")
    harm(kept_in / "b", made)
    assert refusal == refused(lambda: restore(made, kept_in / "b", accept_loss=True))
    assert before == kept(made)
    assert doctor(made)["ok"]


@slow
def test_a_store_is_not_restored_from_itself(made: Job) -> None:
    backup(made, made.path.with_name("b"))
    checksum_path(made.path.with_name("b")).rename(checksum_path(made.path))
    changed(made.path, made, size_bytes=made.path.stat().st_size)
    assert "Refused is_store" == refused(lambda: restore(made, made.path))


# Compact


@slow
def test_a_compacted_store_is_smaller_and_the_same(made: Job) -> None:
    buy(made, "many", rows=MERCHANTS)
    with made.store() as store:
        store.connection.execute(
            "create table big as select md5(i::varchar) from range(300_000) r(i)"
        )
    with made.store() as store:
        store.connection.execute("drop table big")
    before = kept(made)
    report = compact(made)
    assert report["size_bytes"] < report["size_bytes_before"]
    assert before == kept(made)
    assert doctor(made, strict=True)["ok"]
    buy(made, "later")


WORK = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from cardoffers_cli.archive.export import compact
from cardoffers_cli.storage.restore import restore
from work import job
made = job(Path(sys.argv[1]))
print(flush=True)
restore(made, Path(sys.argv[2]), accept_loss=True) if sys.argv[2] else compact(made)
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Return a store of some size, with an older backup `b` beside it."""
    made = new_store(tmp_path_factory.mktemp("large"))
    buy(made, "first", rows=MERCHANTS)
    backup(made, made.path.with_name("b"))
    buy(made, "second", rows=MERCHANTS)
    return made


def killed_after(seconds: float | None, made: Job, file: Path | str) -> float:
    """Do the work in a process and kill it; return how long it took."""
    words = [sys.executable, "-c", WORK, made.path, file, KIT]
    with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE) as working:
        assert working.stdout
        working.stdout.readline()
        began = time.monotonic()
        if seconds is not None:
            time.sleep(seconds)
            working.send_signal(signal.SIGKILL)
        working.wait()
    return time.monotonic() - began


@pytest.mark.parametrize("work", ["compact", "restore"])
@at_the_gate
def test_killed_at_any_moment_the_store_is_the_one_before_or_the_one_after(
    large: Job, tmp_path: Path, work: str
) -> None:
    def fresh(name: str) -> tuple[Job, Path | str]:
        folder = tmp_path / name
        shutil.copytree(large.path.parent, folder)
        return job(folder / large.path.name), folder / "b" if work == "restore" else ""

    made, file = fresh("whole")
    before = kept(made)
    seconds = killed_after(None, made, file)
    after = kept(made)
    assert (work == "compact") == (before == after)
    for moment in range(MOMENTS):
        made, file = fresh(f"moment-{moment}")
        killed_after(seconds * (moment + 0.5) / MOMENTS, made, file)
        assert kept(made) in (before, after)
        killed_after(None, made, file)
        assert after == kept(made)
        assert doctor(made, strict=True)["ok"]
        assert journal_path(made.path).exists()


@slow
def test_a_copy_reads_as_the_store(made: Job, kept_in: Path) -> None:
    backup(made, kept_in / "b")
    with job(kept_in / "b").store(read_only=True) as store:
        assert kept(made) == snapshot(store)


def test_a_log_that_nothing_is_read_of_keeps_no_store_from_being_compacted(made: Job) -> None:
    before = kept(made)
    log_path(made.path).write_bytes(bytes(4096))
    compact(made)
    assert before == kept(made)
    assert [4096] == [path.stat().st_size for path in made.path.parent.glob("*.wal.*.kept")]
