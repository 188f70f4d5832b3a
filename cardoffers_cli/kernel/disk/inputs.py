"""Open what a command is given to read: a file, or a copy of what comes through a pipe."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from cardoffers_cli.kernel.words.findings import unusable

if TYPE_CHECKING:
    from io import BufferedReader

    from cardoffers_cli.kernel.words.errors import FileUnusable

_BLOCK_BYTES = 8 << 20
WRITER_S = 5.0
"""How long a named pipe may be without anybody who writes into it."""


def open_input(path: str | Path) -> BufferedReader:
    """Open a file, or a copy of all that comes through a pipe, for reading from its beginning.

    Raises `FileUnusable` for a device or a socket, and for a named pipe into which nobody writes.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise _no_file(path, "a socket or a device") from None
        raise
    mode = os.fstat(descriptor).st_mode
    os.set_blocking(descriptor, not stat.S_ISFIFO(mode))
    file = os.fdopen(descriptor, "rb")
    if stat.S_ISREG(mode):
        return file
    with file:
        if not stat.S_ISFIFO(mode):
            raise _no_file(path, "a device")
        has_name = Path(os.path.realpath(path)).exists()  # one of `<(command)` has none
        first = _first_of(descriptor, path) if has_name else b""
        os.set_blocking(descriptor, True)
        copy = copy_of(file, first)
        os.fchmod(copy.fileno(), stat.S_IMODE(mode))  # by which it may be private
        return copy


def _first_of(descriptor: int, path: str | Path) -> bytes:
    """Return what comes first through a named pipe, nothing while whoever has it open is silent."""
    deadline = time.monotonic() + WRITER_S
    while time.monotonic() < deadline:
        with suppress(BlockingIOError):
            if first := os.read(descriptor, _BLOCK_BYTES):
                return first
            time.sleep(0.02)
            continue
        return b""
    raise _no_file(path, "a pipe into which nobody writes")


def _no_file(path: str | Path, what: str) -> FileUnusable:
    hint = "Name a file, or a pipe into which somebody writes; - is standard input."
    return unusable("file_unreadable", f"{path} is {what}.", hint=hint)


def copy_of(stream: BinaryIO, first: bytes = b"") -> BufferedReader:
    """Copy what is left of a stream, behind what came `first`, into an unnamed temporary file."""
    spool = cast("BufferedReader", tempfile.TemporaryFile())  # noqa: SIM115 - the caller closes it
    spool.write(first)
    shutil.copyfileobj(stream, spool, _BLOCK_BYTES)
    spool.seek(0)
    return spool
