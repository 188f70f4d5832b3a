from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from contextlib import chdir, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from cardoffers_cli.kernel.store.layout import draft_path, journal_path, lock_path, make_folder
from cardoffers_cli.kernel.store.migrations import applied, newest_version
from cardoffers_cli.kernel.store.store import guarded
from cardoffers_cli.kernel.words.errors import CardoffersError, NoStore, Refused, StoreVersion
from cardoffers_cli.storage.stores import accept_loss, init, lost_commits, migrate
from commands import in_a_pipe
from sizes import one_in
from tables import select
from work import job, new_store

if TYPE_CHECKING:
    from collections.abc import Callable


def open_it(path: Path) -> str:
    """Open a store for writing and for reading; return the code of the refusal, or `opened`."""
    codes = {_opened(path, read_only=read_only) for read_only in (True, False)}
    assert 1 == len(codes)
    return codes.pop()


def _opened(path: Path, *, read_only: bool) -> str:
    try:
        with job(path).store(read_only=read_only):
            return "opened"
    except CardoffersError as error:
        return error.code if error.hint else f"{error.code} without a hint"


def nothing(path: Path) -> None:
    assert not path.exists()


def ours(path: Path) -> None:
    init(job(path))


def of_version(version: int) -> Callable[[Path], None]:
    return after("update schema_versions set version = $1", version)


def after(change: str, *parameters: object) -> Callable[[Path], None]:
    """Return what makes a store and changes it."""

    def make(path: Path) -> None:
        init(job(path))
        with duckdb.connect(str(path)) as connection:
            connection.execute(change, parameters)

    return make


def from_before_schema_1(path: Path) -> None:
    """Make what is read of such a store: the records of its migrations."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "create table migrations as select 34 as version, 'merchant_answers' as name,"
            " 'd34' as digest, '2.0.0' as engine_version, now()::timestamp as applied_at"
        )


def of_somebody_else(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table birds (name varchar)")


def of_somebody_else_with_migrations(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table migrations (id integer, applied boolean)")


def empty_database(path: Path) -> None:
    duckdb.connect(str(path)).close()


def text(path: Path) -> None:
    path.write_text("no database\n" * 1000)


def cut_off(path: Path) -> None:
    init(job(path))
    path.write_bytes(path.read_bytes()[:20_000])


def of_another_engine(path: Path) -> None:
    """Write another storage version into the file's header, and make its checksum fit."""
    init(job(path))
    content = bytearray(path.read_bytes())
    before = _checksum_part(content)
    content[12:20] = (9999).to_bytes(8, "little")
    checksum = int.from_bytes(content[:8], "little") ^ before ^ _checksum_part(content)
    content[:8] = checksum.to_bytes(8, "little")
    path.write_bytes(content)


def _checksum_part(content: bytes | bytearray) -> int:
    """Return what the two words that hold the storage version add to DuckDB's block checksum."""
    words = (int.from_bytes(content[at : at + 8], "little") for at in (8, 16))
    first, second = (word * 0xBF58476D1CE4E5B9 % 2**64 for word in words)
    return first ^ second


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (ours, "opened"),
        (nothing, "store_missing"),
        (of_version(newest_version() + 1), "store_version"),
        (of_version(newest_version() - 1), "store_version"),
        (from_before_schema_1, "store_too_old"),
        (after("update schema_versions set digest = 'other tables'"), "store_too_old"),
        (of_somebody_else, "store_foreign"),
        (of_somebody_else_with_migrations, "store_foreign"),
        (empty_database, "store_foreign"),
        (text, "store_damaged"),
        (cut_off, "store_damaged"),
        (of_another_engine, "store_version"),
    ],
)
@one_in(4)
def test_only_a_store_of_this_version_opens(
    tmp_path: Path, make: Callable[[Path], None], code: str
) -> None:
    path = tmp_path / "store.duckdb"
    make(path)
    assert code == open_it(path)


@pytest.mark.parametrize(
    "words",
    [
        *("status", "doctor", "doctor --strict", "store info", "store migrate"),
        *("store migrate --dry-run", "store compact", "store backup copy.duckdb", "match"),
        *("store recover --yes", "store accept-loss --yes", "offer list -i alder"),
    ],
)
@one_in(4)
def test_every_command_refuses_a_store_from_before_schema_1_and_leaves_it(
    tmp_path: Path, words: str
) -> None:
    path = tmp_path / "store.duckdb"
    from_before_schema_1(path)
    before = path.read_bytes()
    with chdir(tmp_path):
        refused = in_a_pipe(["--store", str(path), *words.split(), "--format", "json"])
    assert (12, "store_too_old") == (refused.exit_code, refused.error["code"])
    said = "by a version that was never released: make a new store and import the files again."
    assert said in refused.error["message"]
    assert before == path.read_bytes()


@pytest.mark.parametrize(
    ("version", "advice"),
    [(newest_version() - 1, "store migrate"), (newest_version() + 1, "newer cardoffers")],
)
def test_a_store_of_another_version_is_told_with_the_way_out(
    tmp_path: Path, version: int, advice: str
) -> None:
    path = tmp_path / "store.duckdb"
    of_version(version)(path)
    with pytest.raises(CardoffersError) as caught, job(path).store():
        pass
    assert advice in str(caught.value.hint)
    assert {"found": version, "expected": newest_version()} == caught.value.details


def test_a_loss_is_accepted_of_a_known_version_only(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    of_version(newest_version() + 1)(path)
    for ask in (lost_commits, accept_loss):
        with pytest.raises(StoreVersion, match="at most"):
            ask(job(path))


def test_what_is_no_store_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    text(path)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    for attempt in (open_it, lambda path: migrate(job(path)), lambda path: init(job(path))):
        with suppress(CardoffersError):
            attempt(path)
    assert before == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_missing_store_leaves_no_trace_of_the_search(tmp_path: Path) -> None:
    with pytest.raises(NoStore), job(tmp_path / "store.duckdb").store():
        pass
    assert [] == list(tmp_path.iterdir())


def test_a_store_that_is_gone_from_its_journal_is_told_apart(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    make_folder(made.path)
    journal_path(made.path).touch()
    made.path.unlink()
    with pytest.raises(NoStore) as caught, made.store():
        pass
    assert "store restore" in str(caught.value.hint)


def test_a_store_is_made_once(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    with pytest.raises(Refused) as caught:
        init(made)
    assert "store_exists" == caught.value.code


def test_a_store_is_made_in_a_folder_that_exists(tmp_path: Path) -> None:
    with pytest.raises(NoStore) as caught:
        init(job(tmp_path / "nowhere" / "store.duckdb"))
    assert "folder_missing" == caught.value.code


def test_store_and_lock_and_log_are_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = new_store(tmp_path)
        with made.store() as store:
            with store.transaction():
                store.connection.execute("create table big as from range(300_000)")
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    finally:
        os.umask(before)
    files = ("store.duckdb", "store.duckdb.wal", "lock", "turn")
    assert dict.fromkeys(files, 0o600) | {"store.duckdb.d": 0o700} == modes


def test_temporary_files_go_where_they_are_sent_and_are_private(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    spill = tmp_path / "spill"
    small = job(made.path, memory_limit="20MiB", temp_directory=spill)
    before = os.umask(0)
    try:
        with small.store() as store, store.transaction(keep=False):
            with guarded():
                store.connection.execute(
                    "create temp table big as select md5(i::varchar) as a, md5((-i)::varchar) as b"
                    " from range(900_000) r(i)"
                )
            spilled = [path for path in spill.rglob("*") if path.is_file()]
            modes = {path.stat().st_mode & 0o777 for path in spilled}
    finally:
        os.umask(before)
    assert {0o600} == modes


def test_limits_are_those_of_the_settings(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    changed = job(
        made.path,
        memory_limit="300MiB",
        threads=2,
        temp_directory=tmp_path / "t",
        temp_limit="3GiB",
    )
    with changed.store() as store:
        assert [("300.0 MiB", 2, str(tmp_path / "t"), "3.0 GiB")] == select(
            store,
            "select current_setting('memory_limit'), current_setting('threads'),"
            " current_setting('temp_directory'), current_setting('max_temp_directory_size')",
        )


def test_no_extension_is_ever_fetched(tmp_path: Path) -> None:
    with new_store(tmp_path).store() as store:
        assert [(False, False)] == select(
            store,
            "select current_setting('autoinstall_known_extensions'),"
            " current_setting('autoload_known_extensions')",
        )


def test_the_lock_is_in_the_folder_of_the_store(tmp_path: Path) -> None:
    made = job(tmp_path / "store.duckdb")
    init(made)
    assert tmp_path / "store.duckdb.d" / "lock" == lock_path(made.path)
    assert lock_path(made.path).exists()


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from work import job
insert = "insert into merchants by name select uuid() as merchant_id, 1 as merchant_no, 'm' as name"
with job(sys.argv[1]).store() as store:
    for _ in range(3):
        with store.transaction():
            store.connection.execute(insert)
    with store.transaction():
        store.connection.execute(insert)
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_writer_leaves_what_it_committed_for_readers_and_writers(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    tests = Path(__file__).parents[2] / "kit"
    ended = subprocess.run([sys.executable, "-c", KILLED, made.path, tests], check=False)
    assert -signal.SIGKILL == ended.returncode
    assert Path(f"{made.path}.wal").exists()
    for read_only in (True, False, True):
        with made.store(read_only=read_only) as store:
            assert [(3,)] == select(store, "select count(*) from merchants")


def test_what_a_killed_init_left_is_in_nobodys_way(tmp_path: Path) -> None:
    draft = draft_path(tmp_path / "store.duckdb")
    make_folder(tmp_path / "store.duckdb")
    draft.write_bytes(b"half of a store")
    made = job(tmp_path / "store.duckdb")
    init(made)
    assert not draft.exists()
    with made.store() as store:
        assert newest_version() == applied(store)[-1]["version"]
