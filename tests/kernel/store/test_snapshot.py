from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from cardoffers_cli.copies.work import publish
from cardoffers_cli.kernel.store.layout import draft_path, snapshot_path
from cardoffers_cli.kernel.store.lock import store_lock
from cardoffers_cli.kernel.store.snapshot import open_snapshot, taken_at, withdraw
from cardoffers_cli.kernel.words.errors import (
    CardoffersError,
    NoSpace,
    NoStore,
    StoreDamaged,
    StoreVersion,
)
from tables import NOON, select
from tables import snapshot as rows_of
from work import job, kept, new_store, settings, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture
def made(tmp_path: Path) -> Job:
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder")
    return made


def shown(made: Job) -> list[Any]:
    """Return the slugs that the snapshot of a job's store shows."""
    with open_snapshot(made.path, settings()) as store:
        return [slug for (slug,) in select(store, "select slug from institutions order by slug")]


def test_a_snapshot_is_the_whole_store(made: Job) -> None:
    publish(made)
    with open_snapshot(made.path, settings()) as store:
        assert kept(made) == rows_of(store)


def test_a_snapshot_shows_the_store_as_it_was_when_it_was_taken(made: Job) -> None:
    publish(made)
    tell(made, institutions="institution\nbirch")
    assert ["alder"] == shown(made)
    publish(made)
    assert ["alder", "birch"] == shown(made)


def test_a_snapshot_tells_when_it_was_taken(made: Job) -> None:
    for day in range(2):
        now = NOON + timedelta(days=day)
        assert now == publish(job(made.path, now=now))["taken_at"]
        with open_snapshot(made.path, settings()) as store:
            assert now == taken_at(store)


def test_a_snapshot_is_read_while_the_store_is_held(made: Job) -> None:
    publish(made)
    with made.store() as store, store.transaction():
        store.connection.execute("delete from institutions")
        assert ["alder"] == shown(made)


def test_a_snapshot_is_private_and_leaves_no_draft(made: Job) -> None:
    made.path.chmod(0o644)
    publish(made)
    names = {path.name for path in made.path.parent.rglob("*") if "snapshot" in path.name}
    assert {snapshot_path(made.path).name} == names
    assert 0o600 == snapshot_path(made.path).stat().st_mode & 0o777


def test_who_has_a_snapshot_open_keeps_it(made: Job) -> None:
    publish(made)
    code = (
        "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print(1, flush=True);"
        "sys.stdin.read(); print(c.execute('select count(*) from institutions').fetchone()[0])"
    )
    words = [sys.executable, "-c", code, str(snapshot_path(made.path))]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdout is not None
        assert "1\n" == reader.stdout.readline()
        tell(made, institutions="institution\nbirch")
        publish(made)
        withdraw(made.path)
        assert "1\n" == reader.communicate()[0]


def test_publishing_waits_for_its_turn_like_any_job(made: Job) -> None:
    hurried = job(made.path, lock_wait_s=0)
    with (
        store_lock(made.path, command="import", since=NOON, wait_s=0),
        pytest.raises(CardoffersError) as caught,
    ):
        publish(hurried)
    assert "store_busy" == caught.value.code


def test_a_withdrawn_snapshot_is_gone(made: Job) -> None:
    publish(made)
    assert [True, False] == [withdraw(made.path), withdraw(made.path)]
    with pytest.raises(NoStore) as caught, open_snapshot(made.path, settings()):
        pass
    assert "snapshot_missing" == caught.value.code


def of_a_newer_schema(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("update schema_versions set version = version + 1")


def with_other_views(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("update store_views set digest = 'of another version'")


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20_000])


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (of_a_newer_schema, StoreVersion),
        (with_other_views, StoreVersion),
        (cut_off, StoreDamaged),
    ],
)
def test_a_snapshot_that_cannot_be_used_is_refused(
    made: Job, spoil: Callable[[Path], None], kind: type[CardoffersError]
) -> None:
    publish(made)
    spoil(snapshot_path(made.path))
    with pytest.raises(kind), open_snapshot(made.path, settings()):
        pass
    publish(made)
    assert ["alder"] == shown(made)


def test_a_copy_without_room_is_told_as_such(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["/bin/mount", "-t", "tmpfs", "-o", "size=64m", "none", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no disk may be mounted here")
    try:
        made = new_store(disk)
        room = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        (disk / "filler").write_bytes(bytes(room - made.path.stat().st_size // 2))
        with pytest.raises(NoSpace):
            publish(made)
    finally:
        subprocess.run(["/bin/umount", "--lazy", str(disk)], check=True)


def test_a_copy_that_fails_leaves_the_snapshot_before(made: Job) -> None:
    publish(made)
    draft_path(made.path, "snapshot").mkdir()
    with pytest.raises(OSError, match="directory"):
        publish(made)
    assert ["alder"] == shown(made)
