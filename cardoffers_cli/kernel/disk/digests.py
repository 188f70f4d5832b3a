"""SHA-256 of a file, also while it is copied: what is judged is then what was copied."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PIECE = 1 << 20
_OWNER_ONLY = 0o600


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for piece in _pieces(file):
            digest.update(piece)
    return digest.hexdigest()


def copy_with_digest(source: Path, target: Path) -> str:
    """Copy a file, onto the disk and for its owner only; return the SHA-256 of what was copied."""
    digest = hashlib.sha256()
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _OWNER_ONLY)
    with source.open("rb") as file, os.fdopen(descriptor, "wb") as out:
        for piece in _pieces(file):
            digest.update(piece)
            out.write(piece)
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest()


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece
