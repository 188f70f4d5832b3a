"""The processed folder: names that fit and never meet, and nobody else's hand in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardoffers_cli.drop.drop import MANIFEST, MARKER, REPORTS
from cardoffers_cli.drop.file_changes import DONE, FAILED, TAKEN, ProcessedFolder, free_name
from cardoffers_cli.kernel.words.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

BESIDE = (MARKER, MANIFEST, *REPORTS)
LONG = "x" * 251 + ".csv"


@pytest.mark.parametrize(
    ("name", "used", "expected"),
    [
        ("tx.csv", "", "tx.csv"),
        ("tx.csv", "tx.csv", "tx-2.csv"),
        ("tx.csv.gz", "tx.csv.gz tx-2.csv.gz", "tx-3.csv.gz"),
        ("tx.csv", "tx.csv.errors.csv", "tx-2.csv"),
        ("tx.csv", "tx.csv.rejected.json", "tx-2.csv"),
        ("tx.csv", "tx.csv.done", "tx-2.csv"),
        ("tx", "tx", "tx-2"),
        ("-rf.csv", "", "-rf.csv"),
        ("two\nlines\x1b[31m\u202e.csv", "", "two_lines_[31m_.csv"),
        ("done", "", "done"),
    ],
)
def test_a_name_is_free_with_all_that_will_lie_beside_it(
    name: str, used: str, expected: str
) -> None:
    assert expected == free_name(name, set(used.split()))


@given(
    name=st.text(
        st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1
    ).filter(lambda name: len(name.encode()) <= 255),
    before=st.integers(0, 3),
)
def test_every_name_fits_with_its_reports_and_their_drafts(name: str, before: int) -> None:
    used: set[str] = set()
    for _ in range(before + 1):
        found = free_name(name, used)
        assert found not in used
        assert found.isprintable()
        longest = max(f".{found}{end}.4194304.part" for end in BESIDE)
        assert len(longest.encode()) <= 255
        used.add(found)


def test_a_long_name_keeps_its_suffix_and_is_told_from_others() -> None:
    names = {free_name(f"{letter}{LONG[1:]}", set()) for letter in "ab"}
    same_start = {free_name(f"{LONG[:-5]}{letter}.csv", set()) for letter in "ab"}
    assert (2, 2) == (len(names), len(same_start))
    assert all(name.endswith(".csv") for name in names | same_start)


def test_folders_are_made_for_this_user_alone(tmp_path: Path) -> None:
    processed = ProcessedFolder(tmp_path / "processed")
    processed.prepare()
    for kind in (TAKEN, DONE, FAILED):
        with processed.folder("alder", kind) as folder:
            assert processed.path("alder", kind, "") == folder.path / ""
    folders = [path for path in tmp_path.rglob("*") if path.is_dir()]
    assert {0o700} == {path.stat().st_mode & 0o777 for path in folders}
    assert 5 == len(folders)


def link(path: Path) -> None:
    path.rmdir()
    (path.parent / "elsewhere").mkdir(mode=0o700)
    path.symlink_to("elsewhere")


def file(path: Path) -> None:
    path.rmdir()
    path.touch()


def fifo(path: Path) -> None:
    path.rmdir()
    os.mkfifo(path)


def writable(path: Path) -> None:
    path.chmod(0o777)


def of_a_group(path: Path) -> None:
    path.chmod(0o770)


def given_away(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives folders away")
    os.chown(path, 5001, 5001)


@pytest.mark.parametrize("where", ["", "alder", "alder/done"])
@pytest.mark.parametrize("spoil", [link, file, fifo, writable, of_a_group, given_away])
def test_a_folder_that_is_not_this_users_alone_is_refused(
    tmp_path: Path, where: str, spoil: object
) -> None:
    processed = ProcessedFolder(tmp_path / "processed")
    processed.prepare()
    if not where and spoil is link:
        return  # an operator may link the whole of it
    (processed.root / where).mkdir(parents=True, exist_ok=True, mode=0o700)
    if where == "alder/done":
        (processed.root / "alder").chmod(0o700)
    assert callable(spoil)
    spoil(processed.root / where)
    with pytest.raises(ConfigurationError) as refused:  # noqa: PT012
        processed.prepare()
        with processed.folder("alder", DONE):
            pass
    assert refused.value.code in {"processed_not_private", "processed_unusable"}
    assert str(processed.root / where) in refused.value.message
