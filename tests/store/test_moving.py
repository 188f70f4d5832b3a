"""What a version before had beside a store goes into its folder, all of it, and once.

`older/make_beside VERSION`, run with that version's `cardoffers` on the PATH, made the store that
is tried here with everything that was beside it: `older/beside_VERSION.tar.xz`.
"""

from __future__ import annotations

import os
import shutil
import tarfile
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.domain.errors import CardoffersError, Refused, StoreBusy, StoreDamaged
from cardoffers_cli.jobs.context.reading import open_published
from cardoffers_cli.jobs.context.runs import start_run
from cardoffers_cli.jobs.storage.doctor import doctor
from cardoffers_cli.jobs.storage.publish import publish
from cardoffers_cli.jobs.storage.stores import accept_loss, info, init, lost_commits, migrate
from cardoffers_cli.store import layout
from cardoffers_cli.store.backup_places import known
from cardoffers_cli.store.journal_file import all_lines, append
from cardoffers_cli.store.lock import engine_lock, night_lock, sender_lock, store_lock
from cardoffers_cli.store.signing_secrets import add_secrets, read_secrets
from cardoffers_cli.store.usage_journal import UsageJournal
from killing import killed_everywhere
from sizes import at_the_gate, slow
from tables import NOON, uid
from work import job, kept

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from cardoffers_cli.jobs.context.job import Job

OLDER = Path(__file__).parent / "older"
NAME = "cardoffers.duckdb"
REPLACED = f"{NAME}.20261122T195809Z.kept"
LATER = NOON + timedelta(days=200)
IN_THE_FOLDER = {
    *("journal", "secrets", "mask-key", "usage", "backups", "snapshot"),
    *("lock", "turn", "night", "sender", "engine"),
    "snapshot.20261122T195809Z.kept",
}


@pytest.fixture(scope="module", params=[path.name for path in OLDER.glob("beside_*.tar.xz")])
def template(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("beside") / "home"
    with tarfile.open(OLDER / request.param) as packed:
        packed.extractall(home, filter="data")
    return home


@pytest.fixture(scope="module")
def today(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a store, and of one that it replaced, as they are in this version.

    They have this schema, and still have beside them the files that they had.
    """
    home = Path(shutil.copytree(template, tmp_path_factory.mktemp("today") / "home"))
    for name in (REPLACED, NAME):
        made = job(home / name, now=LATER)
        beside, told = layout.loose_files(made.path), layout.journal_path(made.path).read_bytes()
        if name == REPLACED:
            accept_loss(made)
        assert migrate(made).applied
        if name == NAME:
            publish(made)
        for loose, file in beside.items():
            file.rename(loose)
        shutil.rmtree(layout.folder_of(made.path))
        if name == REPLACED:
            layout.journal_path(made.path).write_bytes(told)
    return home


@pytest.fixture
def made(today: Path, tmp_path: Path) -> Job:
    """Return a job on a store that has its files beside it."""
    return job(Path(shutil.copytree(today, tmp_path / "home")) / NAME, now=LATER)


@pytest.fixture
def older(template: Path, tmp_path: Path) -> Job:
    """Return a job on a store that is of an older schema, and has its files beside it."""
    return job(Path(shutil.copytree(template, tmp_path / "older")) / NAME, now=LATER)


def buy(made: Job) -> None:
    with made.store() as store, store.transaction():
        start_run(store, kind="import", now=LATER, actor="tester")


def state(made: Job) -> dict[str, Any]:
    """Return what a store is and what its files say, wherever they are."""
    with open_published(made) as (_, taken_at):
        pass
    return {
        **in_files(made),
        "store": kept(made),
        "snapshot": taken_at,
        "doctor": failed_audits(made),
    }


def failed_audits(made: Job) -> list[Any]:
    return [each for each in doctor(made, strict=True)["audits"] if not each["ok"]]


def in_files(made: Job) -> dict[str, Any]:
    """Return what the files of a store say that are not of a schema."""
    return {
        "journal": layout.journal_path(made.path).read_bytes(),
        "secrets": read_secrets(made.path),
        "mask-key": layout.mask_key_path(made.path).read_bytes(),
        "backups": known(made.path),
        "replaced": read_secrets(made.path.with_name(REPLACED)),
    }


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def is_moved(made: Job) -> bool:
    home, folder = made.path.parent, layout.folder_of(made.path)
    return (
        names(home) == {NAME, folder.name, REPLACED, f"{REPLACED}.d"}
        and names(folder) == IN_THE_FOLDER
        and names(home / f"{REPLACED}.d") == {"lock", "journal", "secrets"}
        and folder.stat().st_mode & 0o777 == 0o700
    )


@slow
def test_nothing_stops_for_an_upgrade_and_nothing_is_begun_anew(made: Job) -> None:
    before, beside = state(made), names(made.path.parent)
    buy(made)
    publish(made)
    with UsageJournal(made.path) as book, night_lock(made.path, since=NOON, wait_s=0):
        book.note_use(uid("key"), LATER)
    after = state(made)
    assert after["journal"].startswith(before["journal"])
    assert before["journal"].count(b"\n") + 2 == after["journal"].count(b"\n")
    assert before["secrets"] == after["secrets"]
    assert beside | {f"{NAME}.d"} == names(made.path.parent)
    assert set() == names(layout.folder_of(made.path))


@slow
def test_all_of_it_is_moved_and_says_what_it_said(made: Job) -> None:
    before = state(made)
    would = migrate(made, dry_run=True)
    assert before == state(made)
    told = migrate(made)
    assert is_moved(made)
    assert before == state(made)
    assert {**would, "dry_run": False, "moved": None} == {**told, "moved": None}
    assert IN_THE_FOLDER - {"engine"} <= {Path(file).name for file in told["moved"]}
    assert set(would["moved"]) == set(told["moved"])
    buy(made)
    publish(made)
    assert ([], []) == (migrate(made)["moved"], migrate(made)["left"])
    assert is_moved(made)


@slow
def test_a_store_of_an_older_schema_is_migrated_and_moved_at_once(older: Job) -> None:
    before = in_files(older)
    would = migrate(older, dry_run=True)
    assert before == in_files(older)
    done = migrate(older)
    assert done.applied
    assert (would.applied, {*would.moved}) == (done.applied, {*done.moved})
    assert before == in_files(older)
    assert [] == failed_audits(older)
    publish(older)  # the snapshot of the older schema is gone
    assert is_moved(older)
    buy(older)


def test_what_keys_were_used_for_is_moved_while_a_server_has_it_open(made: Job) -> None:
    with UsageJournal(made.path) as server:
        server.note_use(uid("key"), LATER)
        migrate(made)
        server.note_use(uid("other"), LATER)
        with UsageJournal(made.path) as book:
            assert {uid("key"), uid("other")} == {use.key_id for use in book.entries().uses}
    with UsageJournal(made.path) as book:
        assert 2 == len(book.entries().uses)


def test_a_store_that_was_replaced_is_one_again_with_what_it_had(made: Job) -> None:
    migrate(made)
    aside = job(made.path.with_name(REPLACED), now=LATER)
    accept_loss(aside)
    buy(aside)
    assert read_secrets(aside.path)


def test_a_store_of_an_older_schema_that_was_replaced_is_one_again(older: Job) -> None:
    migrate(older)
    aside = job(older.path.with_name(REPLACED), now=LATER)
    with pytest.raises(Refused, match="store no more") as caught:
        migrate(aside)
    assert "store accept-loss" in str(caught.value.hint)
    assert lost_commits(aside).replaced_by
    accept_loss(aside)
    assert migrate(aside).applied
    buy(aside)


def test_a_store_of_an_older_schema_goes_on_without_what_it_lost(older: Job) -> None:
    """Whoever migrates is sent to accept the loss first, which asks for no migration."""
    *_, newest = all_lines(older.path)
    gone = replace(newest, run_no=newest.run_no + 1, run_id=uid("gone"), resets=False)
    append(older.path, [gone])
    with pytest.raises(StoreDamaged) as caught:
        migrate(older)
    assert ("store_lost_commits", True) == (
        caught.value.code,
        "store accept-loss" in str(caught.value.hint),
    )
    assert 1 == lost_commits(older).lost
    accept_loss(older)
    assert migrate(older).applied
    buy(older)


MOVE = f"""
from work import job
from cardoffers_cli.jobs.storage.stores import migrate
def work(folder):
    migrate(job(folder / "{NAME}"))
"""
STEPS = r"^(journal|secrets|lock|cardoffers\.duckdb(\..*)?\.(journal|lock|calls|d))$"


@at_the_gate
def test_killed_at_any_step_it_is_moved_when_it_is_run_again(made: Job, tmp_path: Path) -> None:
    """A store is opened five times for each of some 20 moments: 20 s."""
    before = state(made)
    left = killed_everywhere(made.path.parent, tmp_path / "killed", MOVE, STEPS)
    assert len(left) > 10
    for number, folder in enumerate(left):
        again = job(folder / NAME, now=LATER)
        if number % 2:
            assert before["journal"] == layout.journal_path(again.path).read_bytes()
            buy(again)
            add_secrets(again.path, ["whsec_" + "4fj2" * 10])
        assert len(read_secrets(again.path)) == len(before["secrets"]) + number % 2
        told = migrate(again)
        again_beside = [file for file in told["left"] if ".kept" not in file]
        assert [] == again_beside
        assert len(read_secrets(again.path)) == len(before["secrets"]) + number % 2
        assert layout.journal_path(again.path).read_bytes().startswith(before["journal"])
        assert {NAME, f"{NAME}.d", REPLACED, f"{REPLACED}.d"} == names(folder)
        buy(again)


LOCKS: list[Callable[[Path], AbstractContextManager[Any]]] = [
    sender_lock,
    engine_lock,
    partial(night_lock, since=NOON, wait_s=0),
    partial(store_lock, command="import", since=NOON, wait_s=0),
]


@slow
@pytest.mark.parametrize("lock", LOCKS)
def test_nothing_is_moved_while_the_store_is_used(
    made: Job, lock: Callable[[Path], AbstractContextManager[Any]]
) -> None:
    before = state(made)
    hurried = job(made.path, now=LATER, lock_wait_s=0)
    with lock(made.path), pytest.raises(StoreBusy):
        migrate(hurried)
    assert before == state(made)
    migrate(hurried)
    assert is_moved(made)


def test_who_holds_a_lock_while_it_moves_is_found_where_it_went(made: Job) -> None:
    """Held by who moves: nobody else gets it under the new name meanwhile."""
    with ExitStack() as held:
        held.enter_context(store_lock(made.path, command="move", since=NOON, wait_s=0))
        layout.lock_path(made.path).rename(layout.own_lock(made.path))
        late = store_lock(made.path, command="late", since=NOON, wait_s=0)
        with pytest.raises(StoreBusy) as caught:
            late.__enter__()
    assert "move" == caught.value.details["holder"]["command"]
    with late:
        pass


def test_what_a_version_before_writes_afterwards_is_put_aside_and_told(made: Job) -> None:
    migrate(made)
    stray = made.path.with_name(f"{NAME}.journal")
    stray.write_text("what an older program wrote")
    told = migrate(made)
    (aside,) = map(Path, told["left"])
    assert layout.folder_of(made.path) == aside.parent
    assert aside in layout.kept_files(layout.journal_path(made.path))
    assert "what an older program wrote" == aside.read_text()
    assert not stray.exists()
    buy(made)


def test_an_archive_stays_where_the_store_says_it_is(made: Job) -> None:
    archive = made.path.with_name(f"{NAME}.history")
    archive.mkdir()
    assert [str(archive)] == migrate(made)["left"]
    assert archive.is_dir()
    assert f"{NAME}.d" == Path(layout.history_root(made.path)).parent.name


# A store is what it is, and its folder is its own


def moved(made: Job, name: str) -> Job:
    """Move a store with its folder."""
    other = made.path.with_name(name)
    layout.folder_of(made.path).rename(layout.folder_of(other))
    made.path.rename(other)
    return job(other, now=LATER)


@slow
def test_a_store_moves_with_its_folder(made: Job) -> None:
    migrate(made)
    before = state(made)
    made.path.with_name(REPLACED).rename(made.path.with_name(f"x.{REPLACED}"))
    other = moved(made, "other.duckdb")
    after = state(other)
    assert {**before, "replaced": {}} == {**after, "replaced": {}}
    buy(other)


def another(made: Job) -> Job:
    """Return another store in the same folder, with runs of its own."""
    other = job(made.path.with_name("other.duckdb"), now=LATER)
    init(other)
    for _ in range(20):
        buy(other)
    return other


def code_of(made: Job) -> str:
    with pytest.raises(CardoffersError) as caught:
        buy(made)
    assert caught.value.hint
    with pytest.raises(CardoffersError) as read:
        info(made)
    assert caught.value.code == read.value.code
    return caught.value.code


@slow
def test_a_store_that_is_copied_to_the_folder_of_another_is_refused(made: Job) -> None:
    migrate(made)
    other = another(made)
    told = layout.journal_path(other.path).read_bytes()
    shutil.copy(made.path, other.path)
    assert "folder_foreign" == code_of(other)
    assert not doctor(other)["ok"]
    assert told == layout.journal_path(other.path).read_bytes()
    folder = layout.folder_of(other.path)
    folder.rename(folder.with_name("apart"))  # as the hint says
    buy(other)


def test_a_copy_of_the_store_itself_is_told_what_it_lost(made: Job) -> None:
    migrate(made)
    shutil.copy(made.path, made.path.with_name("copy"))
    buy(made)
    shutil.copy(made.path.with_name("copy"), made.path)
    assert "store_lost_commits" == code_of(made)


def linked_folder(store: Path) -> None:
    folder = layout.folder_of(store)
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to("elsewhere")


def a_file(store: Path) -> None:
    shutil.rmtree(layout.folder_of(store))
    layout.folder_of(store).touch()


@pytest.mark.parametrize("instead", [linked_folder, a_file])
def test_a_folder_that_is_none_of_its_own_is_refused(
    made: Job, instead: Callable[[Path], None]
) -> None:
    migrate(made)
    instead(made.path)
    assert "folder_foreign" == code_of(made)


def test_a_hard_link_is_refused_whatever_is_beside_it(made: Job) -> None:
    migrate(made)
    second = job(made.path.with_name("second.duckdb"), now=LATER)
    os.link(made.path, second.path)
    assert ("store_linked", "store_linked") == (code_of(made), code_of(second))
    second.path.unlink()
    buy(made)
