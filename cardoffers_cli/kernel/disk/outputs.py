"""Refuse to write onto what must not be lost: the store and what is beside it, input, output.

A file is known by what it is: its resolved path, and the disk and inode behind a second name of it.
Beside a store everything is the store's that is called after it (`<store>.wal`, the folder
`<store>.d/` with all in it, drafts such as `.<store>.new`), and so are the records of its runs.
Pipes and devices may be written to more than once.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.disk.folders import sync_folder_if_possible
from cardoffers_cli.kernel.disk.inputs import open_input
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


RUNS = "runs"

_Identity = tuple[int, int]


def refuse_taken(
    outputs: Mapping[str, Path | None], *, store: Path, inputs: Iterable[Path | str] = ()
) -> None:
    """Raise `Refused` for the first output that is the store's, an input, or another output.

    `outputs` names each by the option that names it.
    """
    written: dict[str, Path] = {}
    read = [Path(path) for path in inputs if str(path) != "-"]
    for option, output in outputs.items():
        if output is None or _is_special(output):
            continue
        if _is_of(store, output):
            raise _taken(f"{option} would write onto the store, or onto what belongs to it", output)
        if any(_is_same(output, path) for path in read):
            raise _taken(f"{option} would write onto what is read", output)
        for other, earlier in written.items():
            if _is_same(output, earlier):
                raise _taken(f"{option} and {other} would write the same file", output)
        written[option] = output


def _taken(message: str, output: Path) -> Refused:
    return Refused(f"{message}: {output}.", code="output_taken", hint="Name another file.")


def _is_of(store: Path, output: Path) -> bool:
    """Whether a file is the store, or beside it and called after it, by whatever name."""
    real = _place(store)
    by_name = _place(output.parent) / output.name  # where a link at its end is not followed
    if _is_called_after(_place(output), real) or _is_called_after(by_name, real):
        return True
    try:
        ours = [entry for entry in real.parent.iterdir() if _is_called_after(entry, real)]
        ours += [file for entry in ours if entry.name != RUNS for file in entry.glob("*")]
    except OSError:
        return False
    return _identity(output) in {_identity(path) for path in ours} - {None}


def _is_called_after(output: Path, store: Path) -> bool:
    try:
        first = output.relative_to(store.parent).parts[0]
    except (ValueError, IndexError):
        return False
    return first in {store.name, RUNS} or first.startswith((f"{store.name}.", f".{store.name}."))


def _place(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _is_same(one: Path, other: Path) -> bool:
    identity = _identity(one)
    return _place(one) == _place(other) or (identity is not None and identity == _identity(other))


def _identity(path: Path) -> _Identity | None:
    try:
        file_stat = path.stat()
    except (OSError, ValueError):
        return None
    return (file_stat.st_dev, file_stat.st_ino)


def _is_special(path: Path) -> bool:
    """Whether a path is a pipe or a device."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


# Files for secrets, which are for their owner only.
#
# A new one is gone again if what it belongs to fails; one that others may read is not read.


_OWNER_ONLY = 0o600
_OTHERS = 0o077
_LONGEST = 4096  # bytes; no secret is as long


@contextmanager
def new_private_file(path: Path, text: str) -> Iterator[None]:
    """Write a new file, on the disk before the block begins; remove it if the block fails.

    Raises `Refused` where something is already, a link too.
    """
    descriptor = _created(path)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        sync_folder_if_possible(path.parent)
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _created(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY)
    except FileExistsError:
        raise Refused.from_table("kernel/disk", "file_exists", path=path) from None
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError.from_table("kernel/disk", "folder_missing", path=path) from None
    except PermissionError:
        raise Refused.from_table("kernel/disk", "permission", path=path) from None


def read_private_file(path: Path) -> str:
    """Return the text of a file that only its owner may read.

    Raises `NotFound` where there is none, and `Refused` where others may read it too.
    """
    try:
        with open_input(path) as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & _OTHERS:
                raise Refused.from_table("kernel/disk", "file_open", path=path)
            return file.read(_LONGEST).decode("utf-8", "replace")
    except (FileNotFoundError, IsADirectoryError):
        raise NotFound.from_table("kernel/disk", "file_missing", path=path) from None
