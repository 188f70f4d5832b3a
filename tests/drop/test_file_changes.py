"""What was read of a file, and what it is now."""

from __future__ import annotations

import gzip
import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.drop.file_changes import content_sha256, later_stamp, look_later
from cardoffers_cli.intake.sources import ahead

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

READ = b"a\nb\n"


@pytest.mark.parametrize(
    ("read", "now", "expected"),
    [
        (b"a\nb\n", b"a\nb\n", ("same", 3, 2, False)),
        (b"a\nb\n", b"a\nb\nc\n", ("grew", 3, 3, False)),
        (b"a\nb\n", b"a\nb\nc\nd", ("grew", 3, 4, False)),
        (b"a\nb", b"a\nbb\nc\n", ("grew", 2, 3, True)),
        (b"a\r\nb\r", b"a\r\nb\r\nc\r\n", ("grew", 3, 3, False)),
        (b"", b"a\n", ("grew", 1, 1, False)),
        (b"a\nb\n", b"a\nB\n", ("changed", None, None, False)),
        (b"a\nb\n", b"A\nb\nc\n", ("changed", None, None, False)),
        (b"a\nb\n", b"a\n", ("changed", None, None, False)),
        (b"a\nb\n", b"", ("changed", None, None, False)),
    ],
)
def test_what_came_behind_what_was_read_is_told_by_its_lines(
    tmp_path: Path, read: bytes, now: bytes, expected: tuple[str, int, int, bool]
) -> None:
    path = tmp_path / "tx.csv"
    path.write_bytes(now)
    later = look_later(path, len(read), hashlib.sha256(read).hexdigest())
    assert later
    if expected[0] == "same":
        assert "same" == later.what
    elif expected[0] == "grew":
        assert expected == (later.what, later.first_line, later.last_line, later.is_cut)
    else:
        assert expected == (later.what, later.first_line, later.last_line, later.is_cut)
        assert later.stamp == later.mark


def test_a_file_that_is_gone_is_no_matter(tmp_path: Path) -> None:
    assert look_later(tmp_path / "tx.csv", 0, "") is None
    assert later_stamp(tmp_path / "tx.csv") is None


@pytest.mark.parametrize("how", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("other")])
def test_what_is_no_plain_file_has_changed(tmp_path: Path, how: object) -> None:
    assert callable(how)
    (tmp_path / "other").write_bytes(READ)
    how(tmp_path / "tx.csv")
    later = look_later(tmp_path / "tx.csv", len(READ), hashlib.sha256(READ).hexdigest())
    assert later
    assert "changed" == later.what


def test_a_file_that_grows_without_end_is_not_read_to_it(tmp_path: Path) -> None:
    path = tmp_path / "tx.csv"
    path.write_bytes(READ)
    os.truncate(path, 1 << 40)
    later = look_later(path, len(READ), hashlib.sha256(READ).hexdigest())
    assert later
    assert ("grew", None, None) == (later.what, later.sha256, later.last_line)


def test_a_state_shows_though_size_and_time_are_set_back(tmp_path: Path) -> None:
    path = tmp_path / "tx.csv"
    path.write_bytes(READ)
    os.utime(path, (1, 1))
    before = later_stamp(path)
    path.write_bytes(READ.upper())
    os.utime(path, (1, 1))
    assert before != later_stamp(path)


@pytest.mark.parametrize("stored", [READ, gzip.compress(READ, mtime=0)], ids=["plain", "gzip"])
def test_an_import_is_known_by_what_a_file_unpacks_to(tmp_path: Path, stored: bytes) -> None:
    (tmp_path / "tx").write_bytes(stored)
    assert hashlib.sha256(READ).hexdigest() == content_sha256(tmp_path / "tx", len(stored))
    (tmp_path / "tx").write_bytes(gzip.compress(READ)[:-1])
    assert content_sha256(tmp_path / "tx", len(stored)) is None


ENDLESS = 1 << 40


@pytest.mark.parametrize("stored", [READ, gzip.compress(READ)], ids=["plain", "gzip"])
@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_of_a_file_that_grows_without_end_no_import_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: bytes, when: str
) -> None:
    path = tmp_path / "tx"
    path.write_bytes(stored)

    def grow_and_read(items: Iterator[bytes]) -> Iterator[bytes]:
        os.truncate(path, ENDLESS)
        return ahead(items)

    if when == "before":
        os.truncate(path, ENDLESS)
    else:  # by when it is open and was looked at
        monkeypatch.setattr("cardoffers_cli.intake.sources.ahead", grow_and_read)
    assert content_sha256(path, len(stored)) is None
    assert ENDLESS == path.stat().st_size


def test_the_bound_is_of_what_came_behind_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cardoffers_cli.drop.file_changes._MOST_MORE", 2)
    path = tmp_path / "tx"
    path.write_bytes(READ + b"c\n")
    assert hashlib.sha256(READ + b"c\n").hexdigest() == content_sha256(path, len(READ))
    path.write_bytes(READ + b"cc\n")
    assert content_sha256(path, len(READ)) is None
