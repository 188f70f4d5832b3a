"""Copies of a store through the engine, which are whole; and the step that puts one in its place.

A file copied while a store is in use may be torn or stale. A copy is made under the store's lock,
with the store closed in this process, and is the file of its owner only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.layout import kept_name, log_paths, sync_folder, with_logs
from cardoffers_cli.kernel.store.store import Store
from cardoffers_cli.kernel.words.errors import CardoffersError, NoSpace, StoreDamaged

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from cardoffers_cli.kernel.store.settings import Settings

_OWNER_ONLY = 0o600
_PIECE = 1 << 20
_SHARING = ("--reflink=auto",) if sys.platform == "linux" else ()
"""What older versions of `cp` do not do by themselves."""

Contents = dict[str, tuple[int, int]]


def size_with_log(store: Path) -> int:
    """Return the bytes of a store and its logs: no copy of it is larger."""
    return sum(file.stat().st_size for file in with_logs(store) if file.exists())


def copy_store(source: Path, draft: Path, settings: Settings) -> None:
    """Copy the closed store at `source` into a new file at `draft`; a failure leaves none."""
    discard(draft)
    try:
        _copy(source, draft, settings)
    except BaseException:
        discard(draft)
        raise
    sync_folder(draft.parent)


def _copy(source: Path, draft: Path, settings: Settings) -> None:
    between = Store(":memory:", settings, about=str(source))
    try:
        between.execute("kernel/store/copying:attach_source", path=str(source))
        between.execute("kernel/store/copying:attach_draft", path=str(draft))
        between.execute("kernel/store/copying:copy")
        between.execute("kernel/store/copying:checkpoint_draft")
        between.execute("kernel/store/copying:detach_draft")
    finally:
        between.close()
    check_whole(draft)


def copy_file(source: Path, draft: Path) -> None:
    """Copy a file as it is, onto the disk, in a process of its own.

    To open a store's file in this process would free the engine's lock. The engine writes the file
    only where something is committed or checkpointed, and the caller, who alone may have it open,
    does neither meanwhile. A disk that can (XFS, Btrfs) lets the copy have the blocks of the file,
    until one of them is written; a second name of the file would not do, as the engine writes over
    the blocks that a checkpoint has freed.
    """
    draft.unlink(missing_ok=True)
    draft.touch(_OWNER_ONLY)
    copied = subprocess.run(  # noqa: S603 - our own paths, and no shell
        ["/bin/cp", *_SHARING, "--", str(source), str(draft)],
        check=False,
        stderr=subprocess.PIPE,
        env={"LC_ALL": "C"},  # its words are read below
    )
    if b"No space left" in copied.stderr:
        raise NoSpace(
            f"The disk has no room for a copy of the store, {draft}.",
            hint="Free space and run it again.",
        )
    if copied.returncode:
        raise CardoffersError(
            f"The store could not be copied to {draft}.",
            code="copy_failed",
            hint="Look for room on that disk, and whether it can be read, then run it again.",
        )
    with draft.open("rb") as file:
        os.fsync(file.fileno())


def check_whole(draft: Path) -> None:
    """Raise `NoSpace` where a new file that the engine has closed is not all of it.

    It closes a file without an error when there was no room to write all into it, and leaves the
    rest in a log beside it, which does not go where the file does.
    """
    if any(log.exists() for log in log_paths(draft)):
        raise NoSpace(
            f"The disk has no room for all of {draft}.",
            hint="Free space and run it again: nothing was changed.",
        )


def contents(store: Store) -> Contents:
    """Return the number of rows of every table, and a hash of them in any order."""
    tables = [row["table_name"] for row in store.rows("kernel/store/copying:tables")]
    return {table: _content(store, table) for table in tables}


def _content(store: Store, table: str) -> tuple[int, int]:
    row = store.rows("kernel/store/copying:content", table_name=table)[0]
    return int(row["row_count"]), int(row["content"])


def check_copy(original: Contents, copy: Contents) -> None:
    """Raise `StoreDamaged` where a copy is not what was copied."""
    differ = sorted(name for name in {*original, *copy} if original.get(name) != copy.get(name))
    if differ:
        raise StoreDamaged.from_table("kernel/store", "copy_differs", differ=", ".join(differ))


def put_in_place(draft: Path, path: Path) -> None:
    """Put a checked copy in the place of the closed store at `path`, in one step.

    The log of the store before must be gone: it would be read into the copy.
    """
    if log := next((log for log in log_paths(path) if log.exists()), None):
        raise StoreDamaged.from_table("kernel/store", "store_has_log", log=log, path=path)
    draft.replace(path)
    sync_folder(path.parent)


def keep_aside(path: Path, other: Path) -> None:
    """Give the closed store at `path`, with its log if it has one, a second name."""
    os.link(path, other)
    for log, other_log in zip(log_paths(path), log_paths(other), strict=True):
        with suppress(FileNotFoundError):
            log.rename(other_log)
    sync_folder(path.parent)


def copy_beginning(log: Path, draft: Path, length: int) -> None:
    """Copy the first bytes of an engine's log, onto the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    descriptor = os.open(draft, flags, _OWNER_ONLY)
    with log.open("rb") as source, os.fdopen(descriptor, "wb") as out:
        while length > 0 and (piece := source.read(min(length, _PIECE))):
            out.write(piece)
            length -= len(piece)
        out.flush()
        os.fsync(out.fileno())


def replace_logs(path: Path, beginning: Path, since: datetime) -> list[Path]:
    """Keep the logs of a closed store under dated names; a draft, if it is there, is its log then.

    Returns where they are kept. Killed between, a log has two names, which harms nobody.
    """
    old_logs = []
    for log in log_paths(path):
        if log.exists():
            old_logs.append(kept_name(log, since))
            os.link(log, old_logs[-1])
    sync_folder(path.parent)
    log, *others = log_paths(path)
    for other in others:
        other.unlink(missing_ok=True)
    if beginning.exists():
        beginning.replace(log)
    else:
        log.unlink(missing_ok=True)
    sync_folder(path.parent)
    return old_logs


def discard(draft: Path) -> None:
    """Remove a draft."""
    for file in with_logs(draft):
        file.unlink(missing_ok=True)
