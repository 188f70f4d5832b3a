"""Read a file that others may write to: from a copy that nobody else can open, or not at all.

Whoever has the file open can write to it while it is read, and set its size and its time back. So
its bytes are copied first, into a file without a name, and a file that the kernel says was touched
meanwhile is not the one that was found.
"""

from __future__ import annotations

import errno
import hashlib
import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO, cast

from cardoffers_cli.drop.drop import MANIFEST
from cardoffers_cli.drop.manifests import MANIFEST_BYTES, Manifest, parse_manifest
from cardoffers_cli.intake.sources import Limits, unusable
from cardoffers_cli.kernel.disk.folders import NotPlain, OpenFolder, stamp_of
from cardoffers_cli.kernel.words.errors import CardoffersError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_BLOCK = 1 << 20
_OF_THE_SYSTEM = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
)


class FileChangedError(CardoffersError):
    """The file is not what was found before: it is `gone`, or has `changed`."""


def changed() -> FileChangedError:
    """Make the error of a file that is another one by now, or was written to."""
    return FileChangedError(code="changed")


def refused(error: OSError, code: str, what: str) -> CardoffersError:
    """Make the error of a file with which something cannot be done; raise what is no file's doing.

    That is a full disk, and what else would hit any other file too.
    """
    if error.errno in _OF_THE_SYSTEM:
        raise error
    return unusable(code, f"The file cannot be {what}: {error.strerror}.")


@dataclass(frozen=True, kw_only=True)
class Copy:
    """The bytes of a file as they were read, in an unnamed file; whoever has it closes it."""

    file: BinaryIO
    sha256: str
    size_bytes: int


def private_copy(
    folder: OpenFolder, name: str, stamp: str, limits: Limits, *, beside: Path
) -> Copy:
    """Copy a file that has this stamp, on the disk of a folder `beside`.

    Raises `FileChangedError` if it has not, or changes meanwhile, and `FileUnusable` if it is too
    large or cannot be read.
    """
    spool = cast("BinaryIO", TemporaryFile(dir=beside))  # noqa: SIM115  its owner closes it
    try:
        return _copied(folder, name, stamp, limits, spool)
    except BaseException:
        spool.close()
        raise


def _copied(folder: OpenFolder, name: str, stamp: str, limits: Limits, spool: BinaryIO) -> Copy:
    digest, size = hashlib.sha256(), 0
    with _opened(folder, name) as opened:
        before = os.fstat(opened)
        limits.check_stored(before.st_size)
        for block in blocks(opened, before.st_size):
            limits.check_time()
            digest.update(block)
            spool.write(block)
            size += len(block)
        after = os.fstat(opened)
    # A writer can set the time of the file back, but not the time of that.
    is_same = before.st_ctime_ns == after.st_ctime_ns and size == after.st_size
    if not is_same or stamp_of(before) != stamp:
        raise changed()
    spool.seek(0)
    return Copy(file=spool, sha256=digest.hexdigest(), size_bytes=size)


def read_manifest(folder: OpenFolder, names: Iterable[str], shown: str) -> Manifest | None:
    """Return the first manifest of these names; raise `FileUnusable` for one that is wrong."""
    for name in names:
        try:
            with folder.plain_file(name) as opened:
                text = b"".join(blocks(opened, MANIFEST_BYTES))
        except (FileNotFoundError, NotPlain):
            continue
        except OSError as error:
            raise refused(error, "file_unreadable", "read") from None
        return parse_manifest(text, f"{shown}{MANIFEST}")
    return None


@contextmanager
def _opened(folder: OpenFolder, name: str) -> Iterator[int]:
    with ExitStack() as stack:
        try:
            descriptor = stack.enter_context(folder.plain_file(name))
        except FileNotFoundError:
            raise FileChangedError(code="gone") from None
        except (NotPlain, BlockingIOError):
            raise changed() from None
        except OSError as error:
            raise refused(error, "file_unreadable", "read") from None
        yield descriptor


def blocks(descriptor: int, size: int) -> Iterator[bytes]:
    """Read a file up to the size it had, and one byte more if there is one."""
    at = 0
    while at <= size:
        try:
            block = os.pread(descriptor, min(_BLOCK, size + 1 - at), at)
        except OSError as error:
            raise refused(error, "file_unreadable", "read") from None
        if not block:
            return
        at += len(block)
        yield block
