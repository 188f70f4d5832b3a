"""A store by two names is one store: whatever leads to its file, its lock and its journal are one.

`layout.py` is the only module that knows names beside a store, which `tests/test_house.py` holds.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.archive.export import compact
from cardoffers_cli.copies.work import backup, publish
from cardoffers_cli.kernel.store import layout
from cardoffers_cli.kernel.store.layout import kept_files, kept_name, resolved
from cardoffers_cli.kernel.store.runs import start_run
from cardoffers_cli.kernel.words.errors import StoreBusy
from cardoffers_cli.storage.doctor import doctor
from cardoffers_cli.storage.restore import restore
from cardoffers_cli.storage.stores import init, migrate
from sizes import one_in, slow
from tables import NOON
from work import held, job, kept, new_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardoffers_cli.kernel.store.job import Job

NAME = "store.duckdb"


def file_link(home: Path) -> Path:
    link = home.parent / "current.duckdb"
    link.symlink_to(home / NAME)
    return link


def relative_link(home: Path) -> Path:
    link = home.parent / "current.duckdb"
    link.symlink_to(f"{home.name}/{NAME}")
    return link


def link_to_a_link(home: Path) -> Path:
    link = home.parent / "latest.duckdb"
    link.symlink_to(file_link(home))
    return link


def folder_link(home: Path) -> Path:
    link = home.parent / "data"
    link.symlink_to(home, target_is_directory=True)
    return link / NAME


def link_in_its_own_folder(home: Path) -> Path:
    link = home / "other.duckdb"
    link.symlink_to(NAME)
    return link


def the_long_way_round(home: Path) -> Path:
    return home.parent / "." / home.name / ".." / home.name / NAME


WAYS = [
    file_link,
    relative_link,
    link_to_a_link,
    folder_link,
    link_in_its_own_folder,
    the_long_way_round,
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def buy(made: Job) -> None:
    with made.store() as store, store.transaction():
        start_run(store, kind="import", now=NOON, actor="tester")


def put_back(made: Job) -> None:
    backup(made, made.path.parent / "b")
    restore(made, made.path.parent / "b")


@slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("replace", [compact, publish, put_back, migrate, buy])
@one_in(4, gate=3)
def test_whatever_replaces_a_store_does_so_where_the_file_is(
    home: Path, way: Callable[[Path], Path], replace: Callable[[Job], object]
) -> None:
    made = new_store(home)
    buy(made)
    named = way(home)
    links = [each for each in (named, *named.parents) if each.is_symlink()]
    replace(job(named))
    buy(job(named))
    buy(made)
    assert kept(made) == kept(job(named))
    assert all(link.is_symlink() for link in links)
    assert (home / NAME).samefile(named)
    assert not (home / NAME).is_symlink()
    assert doctor(made, strict=True)["ok"]


@pytest.mark.parametrize("way", WAYS)
@one_in(3)
def test_everything_of_a_store_is_in_the_folder_of_its_file(
    home: Path, way: Callable[[Path], Path]
) -> None:
    named = way(home)
    before = {path.name for path in home.parent.iterdir()}
    made = job(named)
    init(made)
    buy(made)
    publish(made)
    assert before == {path.name for path in home.parent.iterdir()}
    folder = layout.folder_of(home / NAME)
    assert {NAME, folder.name} == {path.name for path in home.iterdir() if not path.is_symlink()}
    assert {"lock", "turn", "journal", "snapshot"} == {path.name for path in folder.iterdir()}
    assert 0o700 == folder.stat().st_mode & 0o777


def test_one_lock_is_held_by_all_names(home: Path) -> None:
    made = new_store(home)
    hurried = job(file_link(home), lock_wait_s=0)
    with held(made.path), pytest.raises(StoreBusy), hurried.store():
        pass


def test_a_path_without_links_stays_as_it_was_written(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    assert Path(NAME) == resolved(Path(NAME))
    assert home / NAME == resolved(home / NAME)
    assert home / NAME == resolved(file_link(home))


def test_a_link_that_leads_to_itself_leads_nowhere(home: Path) -> None:
    link = home / NAME
    link.symlink_to(NAME)
    assert link == resolved(link)


def test_what_is_kept_is_found_and_nothing_else(home: Path) -> None:
    store = home / NAME
    expected = []
    for _ in range(3):
        expected.append(kept_name(store, NOON))
        expected[-1].touch()
    others = (
        "store.duckdb.journal.20260601T120000Z.kept",
        "store.duckdb.20260601T120000Z.kept.wal",
    )
    for name in (*others, "store.duckdb.kept", "store.duckdb2.20260601T120000Z.kept"):
        (home / name).touch()
    assert sorted(expected) == kept_files(store)


def test_no_two_files_of_a_store_have_one_name(home: Path) -> None:
    store = home / NAME
    paths = [
        getattr(layout, name)(store)
        for name in dir(layout)
        if name.endswith("_path") and name != "draft_path"
    ]
    paths += [layout.draft_path(store, what) for what in layout.DRAFTS]
    paths += [path for draft in paths for path in layout.log_paths(draft)[1:]]
    assert len(paths) == len({os.fspath(path) for path in paths})
    folder = layout.folder_of(store)
    assert {folder} == {path.parent for path in paths if not path.name.startswith(NAME)}
