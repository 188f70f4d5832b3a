"""Refuse to write onto what must not be lost: the store and what is beside it, input, output.

A file is known by what it is: its resolved path, and the disk and inode behind a second name of it.
Beside a store everything is the store's that is called after it (`<store>.wal`, the folder
`<store>.d/` with all in it, drafts such as `.<store>.new`), and so are the records of its runs.
Pipes and devices may be written to more than once.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RUNS = "runs"

_Identity = tuple[int, int]


def refuse_taken(
    outputs: Mapping[str, Path | None], *, store: Path, inputs: Iterable[Path | str] = ()
) -> None:
    """Raise `Refused` for the first output that is the store's, an input, or another output.

    `outputs` names each by the option that names it.
    """
    written: dict[str, Path] = {}
    read = [Path(each) for each in inputs if str(each) != "-"]
    for option, output in outputs.items():
        if output is None or _is_special(output):
            continue
        if _is_of(store, output):
            raise _taken(f"{option} would write onto the store, or onto what belongs to it", output)
        if any(_is_same(output, each) for each in read):
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
    return _identity(output) in {_identity(each) for each in _belongings(real)} - {None}


def _is_called_after(output: Path, store: Path) -> bool:
    try:
        first = output.relative_to(store.parent).parts[0]
    except (ValueError, IndexError):
        return False
    return first in {store.name, RUNS} or first.startswith((f"{store.name}.", f".{store.name}."))


def _belongings(store: Path) -> list[Path]:
    try:
        ours = [each for each in store.parent.iterdir() if _is_called_after(each, store)]
        return [*ours, *(file for each in ours if each.name != RUNS for file in each.glob("*"))]
    except OSError:
        return []


def _place(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _is_same(one: Path, other: Path) -> bool:
    identity = _identity(one)
    return _place(one) == _place(other) or (identity is not None and identity == _identity(other))


def _identity(path: Path) -> _Identity | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino)


def _is_special(path: Path) -> bool:
    """Whether a path is a pipe or a device."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
