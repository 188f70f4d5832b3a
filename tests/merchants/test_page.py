from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.merchants.page import MOST_ENTRIES, read_list

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("expected", "content"),
    [
        (["a", "b"], b"a\nb\n"),
        (["a", "b"], b"\xef\xbb\xbfa\r\n\r\n  b  "),
        (["a b", "a b"], b"a b\ra b"),
    ],
)
def test_a_list_is_its_lines(tmp_path: Path, expected: list[str], content: bytes) -> None:
    path = tmp_path / "refs.txt"
    path.write_bytes(content)
    assert expected == read_list(str(path))


@pytest.mark.parametrize(
    ("code", "content"),
    [
        ("list_empty", b""),
        ("list_empty", b" \n\t\n"),
        ("file_encoding", b"a\xff\n"),
        ("file_encoding", "a\n".encode("utf-16")),
        ("list_too_long", b"a\n" * (MOST_ENTRIES + 1)),
        ("list_too_long", b"a" * (9 << 20)),
    ],
)
def test_what_is_no_list_is_refused(tmp_path: Path, code: str, content: bytes) -> None:
    path = tmp_path / "refs.txt"
    path.write_bytes(content)
    with pytest.raises(FileUnusable) as caught:
        read_list(str(path))
    assert code == caught.value.code


def test_a_missing_list_is_told(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(FileUnusable) as caught:
            read_list(str(path))
        assert "file_missing" == caught.value.code
