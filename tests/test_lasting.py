from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.archive.connecting import Folder
from cardoffers_cli.copies.work import publish
from cardoffers_cli.drop.file_changes import ProcessedFolder
from cardoffers_cli.kernel.disk.folders import make_folder, sync_folder_if_possible
from cardoffers_cli.kernel.disk.outputs import new_private_file
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.store import layout as stores
from cardoffers_cli.kernel.store.layout import put_aside, secrets_path, snapshot_path
from cardoffers_cli.kernel.store.signing_secrets import add_secrets
from cardoffers_cli.kernel.store.snapshot import withdraw
from tables import NOON
from work import new_store

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What was synced, in order."""
    found: list[Path] = []
    fsync = os.fsync

    def noting(descriptor: int) -> None:
        found.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    return found


def replace(folder: Path) -> Path:
    with replacing(folder / "out.csv") as out:
        out.write(b"x")
    return folder


def write_a_secret(folder: Path) -> Path:
    with new_private_file(folder / "key", "x"):
        pass
    return folder


def put_a_file_aside(folder: Path) -> Path:
    (folder / "journal").touch()
    put_aside(folder / "journal", NOON)
    return folder


def publish_a_snapshot(folder: Path) -> Path:
    made = new_store(folder)
    publish(made)
    return snapshot_path(made.path).parent


def withdraw_a_snapshot(folder: Path) -> Path:
    store = folder / "store.duckdb"
    stores.make_folder(store)
    snapshot_path(store).touch()
    withdraw(store)
    return snapshot_path(store).parent


def keep_a_secret(folder: Path) -> Path:
    store = folder / "store.duckdb"
    add_secrets(store, ["whsec_x"])
    return secrets_path(store).parent


@pytest.mark.parametrize(
    "work",
    [
        *(replace, write_a_secret, put_a_file_aside),
        *(publish_a_snapshot, withdraw_a_snapshot, keep_a_secret),
    ],
    ids=lambda f: f.__name__,
)
def test_a_name_is_on_the_disk_when_its_file_is(
    tmp_path: Path, synced: list[Path], work: Callable[[Path], Path]
) -> None:
    changed = work(tmp_path)
    assert changed == next(path for path in reversed(synced) if path.is_dir())


@pytest.mark.parametrize("make", [make_folder, lambda path: Folder(path).make()])
def test_the_names_of_new_folders_are_on_the_disk(
    tmp_path: Path, synced: list[Path], make: Callable[[Path], None]
) -> None:
    make(tmp_path / "a" / "b" / "c")
    assert {tmp_path, tmp_path / "a", tmp_path / "a" / "b"} == set(synced)
    synced.clear()
    make(tmp_path / "a" / "b" / "c")
    assert [] == synced


def test_the_names_of_processed_folders_are_on_the_disk(tmp_path: Path, synced: list[Path]) -> None:
    processed = ProcessedFolder(tmp_path / "processed")
    processed.prepare()
    with processed.folder("alder", "done"):
        assert [tmp_path, tmp_path / "processed", tmp_path / "processed" / "alder"] == synced


def test_a_folder_that_cannot_be_synced_is_no_failure() -> None:
    sync_folder_if_possible(Path("/proc"))


def test_a_folder_that_is_gone_is_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sync_folder_if_possible(tmp_path / "gone")
