"""The pen: frames of text onto the disk, a chunk at a time.

A gzip file holds no name and no time; its decompressed bytes are the same everywhere.
"""

from __future__ import annotations

import gzip
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

import polars as pl

from cardoffers_cli.kernel.disk.lasting import make_folder
from cardoffers_cli.kernel.sheets.exports import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

UNQUOTED = ("amount",)
"""The columns whose text is a JSON number."""


@dataclass(frozen=True)
class SampleFile:
    """A file that was made."""

    path: Path
    rows: int
    size_bytes: int


def write_table(path: Path, frames: Iterable[pl.DataFrame]) -> SampleFile:
    """Write frames as one CSV file with a header."""
    rows = 0
    with _opened(path, zipped=False) as file:
        for frame in frames:
            file.write(frame.write_csv(include_header=file.tell() == 0).encode())
            rows += frame.height
    return SampleFile(path, rows, path.stat().st_size)


def write_transactions(
    path: Path, kind: str, frames: Iterable[pl.DataFrame], *, zipped: bool
) -> SampleFile:
    """Write frames of text columns as a transaction file: `csv`, `jsonl`, or `json` (an array)."""
    rows, between = 0, b",\n" if kind == "json" else b""
    with _opened(path, zipped=zipped) as file:
        for frame in frames:
            header = ",".join(frame.columns).encode() + b"\n"
            opening = {"csv": header, "json": b"[\n"}.get(kind, b"")
            file.write(between if rows else opening)
            file.write(_lines(kind, frame))
            rows += frame.height
        file.write(b"\n]\n" if kind == "json" else b"")
    return SampleFile(path, rows, path.stat().st_size)


def write_bytes(path: Path, content: bytes, rows: int) -> SampleFile:
    """Write a file whose bytes are already there."""
    with _opened(path, zipped=False) as file:
        file.write(content)
    return SampleFile(path, rows, len(content))


def _lines(kind: str, frame: pl.DataFrame) -> bytes:
    if kind == "csv":
        return _text(frame, "\n")
    parts, before = [], "{"
    for column in frame.columns:
        quote = "" if column in UNQUOTED else '"'
        parts += [pl.lit(f'{before}"{column}":{quote}'), pl.col(column), pl.lit(quote)]
        before = ","
    lines = frame.select(pl.concat_str([*parts, pl.lit("}")]))
    return _text(lines, "\n") if kind == "jsonl" else _text(lines, ",\n")[:-2]


def _text(frame: pl.DataFrame, line_end: str) -> bytes:
    """Write plain columns, which never need a quote."""
    buffer = BytesIO()
    frame.write_csv(buffer, include_header=False, quote_style="never", line_terminator=line_end)
    return buffer.getvalue()


@contextmanager
def _opened(path: Path, *, zipped: bool) -> Iterator[BinaryIO]:
    make_folder(path.parent)
    with replacing(path, mode=None) as file:  # made up: anybody may read it
        if not zipped:
            yield file
            return
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc]
