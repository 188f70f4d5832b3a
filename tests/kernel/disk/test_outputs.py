from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.disk.outputs import new_private_file, read_private_file
from cardoffers_cli.kernel.words.errors import CardoffersError, NotFound, Refused, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_private_file_is_there_before_the_work_and_is_its_owners_only(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    with new_private_file(path, "the secret\n"):
        assert "the secret\n" == path.read_text()
        assert 0o600 == path.stat().st_mode & 0o777
    assert "the secret\n" == path.read_text()


def test_it_is_gone_if_the_work_fails(tmp_path: Path) -> None:
    def fail() -> None:
        with new_private_file(tmp_path / "secret", "the secret"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("kind", "code", "name"),
    [
        (Refused, "file_exists", "there"),
        (Refused, "file_exists", "link"),
        (Refused, "file_exists", "folder"),
        (UsageError, "folder_missing", "nowhere/secret"),
        (UsageError, "folder_missing", "there/secret"),
    ],
)
def test_a_file_that_cannot_be_made_is_refused(
    tmp_path: Path, kind: type[CardoffersError], code: str, name: str
) -> None:
    (tmp_path / "there").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "folder").mkdir()
    with pytest.raises(kind) as caught, new_private_file(tmp_path / name, "the secret"):
        pass
    assert code == caught.value.code
    assert "old" == (tmp_path / "there").read_text()
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_of_others_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(Refused) as caught, new_private_file(tmp_path / "secret", "the secret"):
        pass
    assert "permission" == caught.value.code


def test_a_private_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "token.txt"
    path.write_bytes(b"ab\xe2\x80\xa6cd\r\nmore\n")
    path.chmod(0o600)
    assert "ab…cd\r\nmore\n" == read_private_file(path)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o602])
def test_a_file_that_others_may_use_is_not_read(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token.txt"
    path.write_text("secret")
    path.chmod(mode)
    with pytest.raises(Refused) as caught:
        read_private_file(path)
    assert "file_open" == caught.value.code
    assert "secret" not in repr(caught.value)


def test_a_missing_private_file_is_told(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(NotFound) as caught:
            read_private_file(path)
        assert "file_missing" == caught.value.code
