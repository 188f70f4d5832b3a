"""Files that only their owner may read, for what is shown once."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import Refused, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def private_file(path: Path, text: str) -> Iterator[None]:
    """Write a new file of one line, for its owner only; it goes again if the block fails.

    So nothing is made whose secret could not be kept. Raises `Refused` where there is a file.
    """
    _write(path, text)
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _write(path: Path, text: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise Refused(
            f"There is a file {path} already.",
            code="file_exists",
            hint="Name a new one; a secret never takes the place of another.",
        ) from None
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}.",
            code="file_unwritable",
            hint="Name a file in a folder that is there and yours.",
        ) from None
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{text}\n")
        file.flush()
        os.fsync(file.fileno())
