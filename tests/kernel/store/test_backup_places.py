from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.store.backup_places import (
    draft_in,
    drafts_left,
    known,
    left_in_known,
    note,
)
from cardoffers_cli.kernel.store.layout import backups_path, log_path, make_folder

if TYPE_CHECKING:
    from pathlib import Path

DEAD = "4194301"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.duckdb"


def of_a_dead_process(folder: Path) -> Path:
    draft = draft_in(folder)
    return draft.with_name(draft.name.replace(f".{os.getpid()}.", f".{DEAD}."))


def test_folders_are_known_in_the_order_of_their_last_use(store: Path, tmp_path: Path) -> None:
    for name in ("a", "b", "a", "c"):
        note(store, tmp_path / name)
    assert [tmp_path / name for name in ("b", "a", "c")] == known(store)
    assert 0o600 == backups_path(store).stat().st_mode & 0o777


def test_the_latest_folders_are_known(store: Path, tmp_path: Path) -> None:
    for number in range(30):
        note(store, tmp_path / str(number))
    assert [tmp_path / str(number) for number in range(10, 30)] == known(store)


@pytest.mark.parametrize("content", [b"", b"birds\n", b'{}\n"/b"\n', b"\xff\xfe\n", b'"/b"'])
def test_a_list_that_is_damaged_is_no_reason_to_fail(store: Path, content: bytes) -> None:
    make_folder(store)
    backups_path(store).write_bytes(content)
    before = known(store)
    note(store, store.parent)
    assert [*before, store.parent] == known(store)


def test_a_list_that_cannot_be_written_is_no_reason_to_fail(store: Path) -> None:
    make_folder(store)
    backups_path(store).mkdir()
    note(store, store.parent)
    assert [] == known(store)


def test_the_drafts_of_dead_processes_of_this_machine_are_left(tmp_path: Path) -> None:
    left = of_a_dead_process(tmp_path)
    others = (
        draft_in(tmp_path),
        left.with_name(f".cardoffers-backup.another-machine.{DEAD}.part"),
        left.with_name(f".report.csv.{DEAD}.part"),
        left.with_name("backup.duckdb"),
    )
    for path in (left, *others):
        path.touch()
    assert [left] == drafts_left(tmp_path)
    assert [] == drafts_left(tmp_path / "nowhere")


def test_what_is_left_is_found_in_the_folders_that_are_known(store: Path, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("known", "unknown", "gone")]
    for folder in folders[:2]:
        folder.mkdir()
        of_a_dead_process(folder).touch()
        log_path(of_a_dead_process(folder)).touch()
    note(store, folders[0])
    note(store, folders[2])
    draft = of_a_dead_process(folders[0])
    assert [draft, log_path(draft)] == left_in_known(store)
