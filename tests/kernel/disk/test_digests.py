from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.disk.folders import copy_with_digest, digest_of

if TYPE_CHECKING:
    from pathlib import Path

PIECE = 1 << 20


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
def test_a_copy_is_what_its_digest_says(tmp_path: Path, size: int) -> None:
    content = bytes(number % 251 for number in range(size))
    (tmp_path / "a").write_bytes(content)
    expected = hashlib.sha256(content).hexdigest()
    assert expected == digest_of(tmp_path / "a")
    assert expected == copy_with_digest(tmp_path / "a", tmp_path / "b")
    assert content == (tmp_path / "b").read_bytes()


def test_a_copy_is_its_owners(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    before = os.umask(0)
    try:
        copy_with_digest(tmp_path / "a", tmp_path / "b")
    finally:
        os.umask(before)
    assert 0o600 == (tmp_path / "b").stat().st_mode & 0o777
