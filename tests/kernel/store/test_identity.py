"""A store is one plain file with one name: a second name is refused, and a half-done one undone."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.archive.export import compact
from cardoffers_cli.copies.work import backup, publish
from cardoffers_cli.kernel.store import copying, identity, journal, opening
from cardoffers_cli.kernel.store.journal_file import last_line
from cardoffers_cli.kernel.store.layout import (
    draft_path,
    folder_of,
    journal_path,
    kept_name,
    lock_path,
    log_path,
    make_folder,
)
from cardoffers_cli.kernel.store.lock import Lock, store_lock
from cardoffers_cli.kernel.store.runs import start_run
from cardoffers_cli.kernel.store.signing_secrets import write_secrets
from cardoffers_cli.kernel.store.store import Store
from cardoffers_cli.kernel.words.errors import CardoffersError, Refused, StoreBusy
from cardoffers_cli.night.status import status
from cardoffers_cli.river.settlements import settle_due
from cardoffers_cli.storage.doctor import doctor
from cardoffers_cli.storage.restore import restore
from cardoffers_cli.storage.stores import accept_loss, info, init, migrate
from sizes import one_in, slow
from tables import NOON
from work import job, kept, new_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

    Work = Callable[[Job], Any]


def put_backup(made: Job) -> dict[str, Any]:
    return restore(made, made.path.parent / "b")


WORK: list[Work] = [
    status,
    info,
    doctor,
    migrate,
    publish,
    compact,
    accept_loss,
    settle_due,
    lambda made: backup(made, made.path.parent / "other"),
    put_backup,
]


@pytest.fixture
def made(tmp_path: Path) -> Job:
    """Return a store with a run and a backup of it."""
    made = new_store(tmp_path)
    buy(made)
    backup(made, tmp_path / "b")
    return made


def buy(made: Job) -> None:
    with made.store() as store, store.transaction():
        start_run(store, kind="import", now=NOON, actor="tester")


def refusal(work: Work, made: Job) -> CardoffersError:
    with pytest.raises(CardoffersError) as caught:
        work(made)
    assert caught.value.hint
    return caught.value


# Second names


@slow
@pytest.mark.parametrize("work", WORK)
@one_in(4)
def test_nothing_works_on_a_store_of_two_names(made: Job, work: Work) -> None:
    before = kept(made)
    second = made.path.with_name("second.duckdb")
    os.link(made.path, second)
    for path in (made.path, second):
        error = refusal(work, job(path))
        assert ("Refused", "store_linked") == (type(error).__name__, error.code)
        assert "-samefile" in str(error.hint)
    second.unlink()
    assert before == kept(made)


@slow
def test_a_copy_in_the_place_of_a_second_name_is_let_in(made: Job) -> None:
    second = made.path.with_name("second.duckdb")
    os.link(made.path, second)
    shutil.copy(second, second.with_name("copy"))
    second.with_name("copy").replace(second)
    buy(made)


# A folder is of its own store


def moved(made: Job, name: str) -> Job:
    """Move a store with its folder."""
    other = job(made.path.with_name(name))
    folder_of(made.path).rename(folder_of(other.path))
    made.path.rename(other.path)
    return other


@slow
def test_a_store_moves_with_its_folder(made: Job) -> None:
    before = kept(made), journal_path(made.path).read_bytes()
    other = moved(made, "other.duckdb")
    assert before == (kept(other), journal_path(other.path).read_bytes())
    buy(other)


def test_a_store_that_is_copied_to_the_folder_of_another_is_refused(made: Job) -> None:
    other = job(made.path.with_name("other.duckdb"))
    init(other)
    for _ in range(20):
        buy(other)
    told = journal_path(other.path).read_bytes()
    shutil.copy(made.path, other.path)
    assert ["folder_foreign"] * 2 == [refusal(work, other).code for work in (buy, info)]
    assert not doctor(other)["ok"]
    assert told == journal_path(other.path).read_bytes()
    folder = folder_of(other.path)
    folder.rename(folder.with_name("apart"))  # as the hint says
    buy(other)


def linked_folder(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to("elsewhere")


def a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.touch()


@slow
@pytest.mark.parametrize("instead", [linked_folder, a_file])
def test_a_folder_that_is_none_of_its_own_is_refused(
    made: Job, instead: Callable[[Path], None]
) -> None:
    instead(folder_of(made.path))
    assert ["folder_foreign"] * 2 == [refusal(work, made).code for work in (buy, info)]


@contextmanager
def bound(source: Path, target: Path) -> Iterator[None]:
    """Mount a file or a folder at a second place, for the length of the block."""
    target.mkdir() if source.is_dir() else target.touch()
    words = ["/bin/mount", "--bind", str(source), str(target)]
    if os.geteuid() or subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("mounting takes root")
    try:
        yield
    finally:
        subprocess.run(["/bin/umount", "--lazy", str(target)], check=True)


@slow
@pytest.mark.parametrize("name", ["mounted.duckdb", "a name\twith blanks \\ .duckdb"])
def test_a_store_that_is_mounted_as_a_single_file_is_refused(made: Job, name: str) -> None:
    second = made.path.with_name(name)
    with bound(made.path, second):
        for work in WORK:
            assert "store_mounted" == refusal(work, job(second)).code
        buy(made)
    assert kept(made)["runs"]


@slow
def test_a_store_in_a_folder_that_is_mounted_twice_is_one(made: Job, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for path in list(tmp_path.iterdir()):
        if path != home:
            path.rename(home / path.name)
    first = job(home / made.path.name)
    with bound(home, tmp_path / "other"):
        second = job(tmp_path / "other" / made.path.name, lock_wait_s=0)
        with first.store(), pytest.raises(StoreBusy):
            buy(second)
        buy(second)
        compact(second)
        buy(first)
        assert kept(first) == kept(second)
        assert 3 == len(kept(first)["runs"])


@slow
def test_where_nobody_says_what_is_mounted_nothing_is(made: Job) -> None:
    identity.check(made.path, mounts=made.path.with_name("nowhere"))


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_plain_file_is_no_store(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "store.duckdb")
    error = refusal(status, job(tmp_path / "store.duckdb"))
    assert ("StoreDamaged", "store_damaged") == (type(error).__name__, error.code)


# What is kept aside by a restore


@slow
def test_a_store_that_was_replaced_is_one_no_more(made: Job) -> None:
    aside = job(restore(made, made.path.parent / "b")["kept_aside"])
    for work in WORK:
        if work not in {doctor, accept_loss, put_backup}:
            error = refusal(work, aside)
            assert ("Refused", journal.REPLACED) == (type(error).__name__, error.code)
            assert str(made.path) == error.details["replaced_by"]
            assert f"store accept-loss --store {aside.path}" in str(error.hint)
    (fault,) = [each for each in doctor(aside)["audits"] if not each["ok"]]
    assert ("journal_is_the_stores", str(made.path)) == (
        fault["name"],
        fault["example"]["replaced_by"],
    )


@slow
def test_a_store_that_was_replaced_is_one_again_when_somebody_says_so(made: Job) -> None:
    aside = job(restore(made, made.path.parent / "b")["kept_aside"])
    report = accept_loss(aside)
    assert (str(made.path), 0, True) == (
        report["replaced_by"],
        report["lost"],
        report["accepted"],
    )
    buy(aside)
    assert doctor(aside)["ok"]
    assert "nothing_lost" == refusal(accept_loss, aside).code


@slow
def test_a_store_that_was_replaced_can_be_put_back_by_hand(made: Job) -> None:
    before = kept(made)
    aside = job(restore(made, made.path.parent / "b")["kept_aside"])
    aside.path.replace(made.path)
    assert before == kept(made)
    buy(made)


# Killed between the second name and the new file


def linked(path: Path, aside: Path) -> None:
    os.link(path, aside)


def kept_aside(path: Path, aside: Path) -> None:
    copying.keep_aside(path, aside)


def drafted(path: Path, aside: Path) -> None:
    copying.keep_aside(path, aside)
    make_folder(aside)
    draft_path(aside, "secrets").touch()


def with_secrets(path: Path, aside: Path) -> None:
    copying.keep_aside(path, aside)
    write_secrets(aside, {})


def marked(path: Path, aside: Path) -> None:
    with_secrets(path, aside)
    journal.mark_replaced(aside, path, now=NOON)


def looked_at(path: Path, aside: Path) -> None:
    marked(path, aside)
    with pytest.raises(Refused):
        info(job(aside))  # which leaves the files of its lock


def put_back(path: Path, aside: Path) -> None:
    marked(path, aside)
    last = last_line(path)
    journal.reset(path, last, kind="store_restored", now=NOON)


@slow
@pytest.mark.parametrize(
    "killed_after", [linked, kept_aside, drafted, with_secrets, marked, looked_at, put_back]
)
@pytest.mark.parametrize("has_log", [False, True])
@pytest.mark.parametrize("read_only", [False, True])
@one_in(5, gate=3)
def test_a_restore_killed_at_any_step_leaves_the_store_as_it_was(
    made: Job, killed_after: Callable[[Path, Path], None], *, has_log: bool, read_only: bool
) -> None:
    before = kept(made)
    if has_log:
        log_path(made.path).touch()
    killed_after(made.path, kept_name(made.path, NOON))
    with made.store(read_only=read_only):
        assert (has_log and read_only) == log_path(made.path).exists()
    assert [] == list(made.path.parent.glob("*.kept*"))
    assert before == kept(made)
    buy(made)
    restore(made, made.path.parent / "b", accept_loss=True)
    assert before == kept(made)


# What is held is what is opened


def test_a_lock_whose_file_was_removed_is_taken_again(tmp_path: Path) -> None:
    store = tmp_path / "store.duckdb"
    with store_lock(store, command="first", since=NOON, wait_s=0) as first:
        late = store_lock(store, command="late", since=NOON, wait_s=5)
        held = os.open(lock_path(store), os.O_RDWR)  # as who came while the first had it
        first.remove()
    os.close(held)
    with late:
        assert lock_path(store).exists()
        with (
            pytest.raises(StoreBusy),
            store_lock(store, command="third", since=NOON, wait_s=0),
        ):
            pass


def test_who_waited_for_a_lock_that_was_removed_does_not_hold_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store.duckdb"
    waits = Lock._wait
    waited = []

    def removed_meanwhile(lock: Lock) -> None:
        waits(lock)
        if not waited:
            lock_path(store).unlink()
        waited.append(lock)

    monkeypatch.setattr(Lock, "_wait", removed_meanwhile)
    with store_lock(store, command="test", since=NOON, wait_s=0):
        assert 2 == len(waited)
        assert lock_path(store).exists()


@slow
def test_a_file_that_is_put_there_while_the_store_is_opened_is_not_the_store(
    made: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Late(Store):
        def __init__(self, path: str, *words: Any, **more: Any) -> None:
            super().__init__(path, *words, **more)
            shutil.copy(made.path.parent / "b", made.path.with_name("new"))
            made.path.with_name("new").replace(made.path)

    monkeypatch.setattr(opening, "Store", Late)
    with pytest.raises(StoreBusy):
        buy(made)


@slow
def test_the_journal_of_what_is_kept_is_that_of_the_store_and_a_mark(made: Job) -> None:
    told = journal_path(made.path).read_text().splitlines()
    aside = job(restore(made, made.path.parent / "b")["kept_aside"])
    *lines, mark = journal_path(aside.path).read_text().splitlines()
    assert told == lines
    assert '"kind": "store_replaced"' in mark
    with pytest.raises(Refused):
        buy(aside)
