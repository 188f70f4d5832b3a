from __future__ import annotations

import gzip
import hashlib
import os
import threading
import time
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.intake.sources import (
    BLOCK_BYTES,
    RATIO_FROM_BYTES,
    Limits,
    Source,
    ahead,
    open_source,
)
from cardoffers_cli.kernel.disk import inputs
from cardoffers_cli.kernel.disk.inputs import open_input
from cardoffers_cli.kernel.words.errors import FileUnusable

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


@pytest.mark.parametrize("line", [b"abc\n", b"abcdefg\r\n", b"x" * (BLOCK_BYTES * 3 // 2) + b"\n"])
def test_blocks_hold_whole_lines_where_lines_are_short(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "file"
    content = line * (BLOCK_BYTES * 2 // len(line) + 1) + b"end"
    path.write_bytes(content)
    with open_source(str(path)) as source:
        blocks = list(source.blocks())
    assert content == b"".join(blocks)
    are_whole = [block.endswith(b"\n") for block in blocks[:-1]]
    assert (len(line) < BLOCK_BYTES) == all(are_whole)


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


MIB = 1 << 20
MANY = 1 << 30


@pytest.mark.parametrize(
    ("content", "given", "code"),
    [
        (bytes(9 * MIB), {"unpacked_bytes": 9 * MIB}, None),
        (bytes(9 * MIB), {"unpacked_bytes": 8 * MIB}, "file_unpacks_too_large"),
        (bytes(RATIO_FROM_BYTES), {"ratio": 2}, None),
        (bytes(RATIO_FROM_BYTES + 1), {"ratio": 2}, "file_unpacks_too_large"),
        (bytes(RATIO_FROM_BYTES + 1), {"ratio": 5000}, None),
    ],
)
def test_a_compressed_file_unpacks_within_its_limits(
    tmp_path: Path, content: bytes, given: dict[str, int], code: str | None
) -> None:
    limits = Limits(
        **{"stored_bytes": MANY, "unpacked_bytes": MANY, "ratio": 5000, **given},
        check_time=lambda: None,
    )
    (tmp_path / "file").write_bytes(gzip.compress(content, 1))
    with Source("file", (tmp_path / "file").open("rb"), limits) as source:
        if code is None:
            assert len(content) == sum(map(len, source.blocks()))
            return
        with pytest.raises(FileUnusable) as refused:
            list(source.blocks())
    assert code == refused.value.code


def test_time_is_looked_at_where_nothing_comes_out(tmp_path: Path) -> None:
    """Of a file of empty parts, one after the other, no block ever comes."""
    looks = 0

    def check_time() -> None:
        nonlocal looks
        looks += 1
        if looks > 5:
            raise FileUnusable(code="file_too_slow")

    limits = Limits(stored_bytes=MANY, unpacked_bytes=MANY, ratio=1, check_time=check_time)
    (tmp_path / "file").write_bytes(gzip.compress(b"") * 200_000)
    with (
        Source("file", (tmp_path / "file").open("rb"), limits) as source,
        pytest.raises(FileUnusable) as refused,
    ):
        list(source.blocks())
    assert "file_too_slow" == refused.value.code


def silent(path: Path) -> None:
    """Write into a pipe, but let it wait for what comes."""
    with path.open("wb", buffering=0) as pipe:
        time.sleep(0.3)
        pipe.write(b"a,b\n")


@pytest.mark.parametrize("wait_s", [0.1, 5])
def test_whoever_has_a_pipe_open_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait_s: float
) -> None:
    os.mkfifo(path := tmp_path / "pipe")
    writer = threading.Thread(target=silent, args=(path,))
    if wait_s > 1:  # the writer may come later too
        writer = threading.Timer(0.2, silent, (path,))
    monkeypatch.setattr(inputs, "WRITER_S", wait_s)
    writer.start()
    with open_input(path) as opened:
        assert b"a,b\n" == opened.read()
    writer.join()


@pytest.mark.parametrize("text", [b"a,b\n", b""])
def test_a_pipe_without_a_name_is_read_whoever_writes(text: bytes) -> None:
    read, write = os.pipe()
    os.write(write, text)
    os.close(write)
    with open_input(f"/dev/fd/{read}") as opened:
        assert text == opened.read()
    os.close(read)
