from __future__ import annotations

import gzip
import hashlib
import os
import threading
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.files.sources import BLOCK_BYTES, ahead, open_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTENT = b"a,b\n" * (BLOCK_BYTES // 3)


@pytest.mark.parametrize(
    "stored", [CONTENT, gzip.compress(CONTENT, 1, mtime=0)], ids=["plain", "gzip"]
)
def test_a_source_can_be_read_twice(tmp_path: Path, stored: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(stored)
    with open_source(str(path)) as source:
        assert source.head() == CONTENT[: len(source.head())]
        assert [CONTENT, CONTENT] == [b"".join(source.blocks()) for _ in range(2)]
        assert hashlib.sha256(CONTENT).hexdigest() == source.sha256
        assert len(CONTENT) == source.size_bytes
        assert len(stored) == source.size_hint == source.bytes_read


def test_the_byte_order_mark_counts_in_the_hash_only(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbfa,b")
    with open_source(str(path)) as source:
        assert b"a,b" == source.head() == b"".join(source.blocks())
        assert (6, hashlib.sha256(b"\xef\xbb\xbfa,b").hexdigest()) == (
            source.size_bytes,
            source.sha256,
        )


def test_a_pipe_can_be_read_twice(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"a,b\n",))
    writer.start()
    with open_source(str(path)) as source:
        assert [b"a,b\n", b"a,b\n"] == [b"".join(source.blocks()) for _ in range(2)]
    writer.join()


def test_reading_ahead_keeps_order_and_passes_errors_on() -> None:
    def items() -> Iterator[int]:
        yield from (1, 2, 3)
        raise ValueError("damaged")

    seen = []
    with pytest.raises(ValueError, match="damaged"):
        seen.extend(ahead(items()))
    assert [1, 2, 3] == list(ahead(iter((1, 2, 3))))
    assert [] == list(ahead(iter(())))


def test_what_is_left_unread_is_not_waited_for() -> None:
    go_on = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        go_on.wait(60)
        yield 2

    reading = ahead(items())
    assert 1 == next(reading)
    leaving = threading.Thread(target=reading.close, daemon=True)
    leaving.start()
    leaving.join(10)
    assert not leaving.is_alive()
    go_on.set()
