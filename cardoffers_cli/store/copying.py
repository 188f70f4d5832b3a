"""Copies of a store through the engine, which are whole; and the step that puts one in its place.

A file copied while a store is in use may be torn or stale. A copy is made under the store's lock,
with the store closed in this process, and is the file of its owner only.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import NoSpace, StoreDamaged
from cardoffers_cli.store.journal import sync_folder
from cardoffers_cli.store.layout import log_paths
from cardoffers_cli.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.settings import Settings

Contents = dict[str, tuple[int, int]]


def size_with_log(store: Path) -> int:
    """Return the bytes of a store and its logs: no copy of it is larger."""
    return sum(file.stat().st_size for file in (store, *log_paths(store)) if file.exists())


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
        between.execute("store/copying:attach_source", path=str(source))
        between.execute("store/copying:attach_draft", path=str(draft))
        between.execute("store/copying:copy")
        between.execute("store/copying:checkpoint_draft")
        between.execute("store/copying:detach_draft")
    finally:
        between.close()
    check_whole(draft)


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
    tables = [row["table_name"] for row in store.rows("store/copying:tables")]
    return {table: _content(store, table) for table in tables}


def _content(store: Store, table: str) -> tuple[int, int]:
    found = store.rows("store/copying:content", table_name=table)[0]
    return int(found["row_count"]), int(found["content"])


def check_copy(original: Contents, copy: Contents) -> None:
    """Raise `StoreDamaged` where a copy is not what was copied."""
    differ = sorted(name for name in {*original, *copy} if original.get(name) != copy.get(name))
    if differ:
        raise StoreDamaged(
            f"The copy differs from the store in {', '.join(differ)}.",
            code="copy_differs",
            hint="Nothing was changed. Look at the disk, then try again.",
        )


def put_in_place(draft: Path, path: Path) -> None:
    """Put a checked copy in the place of the closed store at `path`, in one step.

    The log of the store before must be gone: it would be read into the copy.
    """
    if log := next((log for log in log_paths(path) if log.exists()), None):
        raise StoreDamaged(
            f"{log} holds commits that {path} has not.",
            code="store_has_log",
            hint="Open the store once, with `cardoffers status`, and try again.",
        )
    draft.replace(path)
    sync_folder(path.parent)


def keep_aside(path: Path, aside: Path) -> None:
    """Give the closed store at `path`, with its log if it has one, a second name."""
    os.link(path, aside)
    for log, kept in zip(log_paths(path), log_paths(aside), strict=True):
        with suppress(FileNotFoundError):
            log.rename(kept)
    sync_folder(path.parent)


def discard(draft: Path) -> None:
    """Remove a draft."""
    for file in (draft, *log_paths(draft)):
        file.unlink(missing_ok=True)
