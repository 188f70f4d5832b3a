"""Where everything of a store is: the one module that knows the names beside a store.

A store is its file, whichever name somebody used for it: `resolved` follows links once, where a
store is named (`jobs/job.py`), and everything here stands beside the file itself. Two names that
lead to one file are one store, with one lock and one journal.

Beside `<store>` stand `.wal` (the engine's log, with `.wal.checkpoint` and `.wal.recovery` for
moments of a checkpoint), `.tmp` (what the engine spills), `.lock` and `.turn`, `.night`, `.sender`
and `.engine` (who does what alone), `.journal`, `.secrets` (of webhooks), `.mask-key` (of card
numbers), `.calls` (the call book, with the files of SQLite), `.snapshot`, `.backups` (where backups
were put), `.history`; `runs/` and `reports/` of the nights; what is kept under a dated name
(`.kept`), and drafts, whose names begin with a dot. To move them, change this module alone.
"""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

STAMP = "%Y%m%dT%H%M%SZ"
"""How a moment stands in the name of a file."""

DRAFTS = (
    *("", "journal", "secrets", "snapshot", "compact", "restore", "recover", "backups"),
    *("migrated", "clean"),
)
"""What is made as a draft beside a store; the first is a new store."""

_KEPT = ".kept"
_RUNS, _REPORTS = "runs", "reports"


def resolved(path: Path) -> Path:
    """Return the path of the file that a path leads to, all links followed.

    A path without links stays as it was written, so that messages show what somebody typed.
    """
    real = Path(os.path.realpath(path))  # which leaves a link that leads to itself as it is
    return path if path.absolute() == real else real


def lock_path(store: Path) -> Path:
    """Return the path of the lock of a store."""
    return _beside(store, ".lock")


def turn_path(store: Path) -> Path:
    """Return the path of the turn of a store, which the one who is next holds."""
    return _beside(store, ".turn")


def night_path(store: Path) -> Path:
    """Return the path of the lock of the night."""
    return _beside(store, ".night")


def sender_path(store: Path) -> Path:
    """Return the path of the lock of who sends webhooks."""
    return _beside(store, ".sender")


def engine_path(store: Path) -> Path:
    """Return the path of the lock of who writes to the history."""
    return _beside(store, ".engine")


def journal_path(store: Path) -> Path:
    """Return the path of the journal of a store."""
    return _beside(store, ".journal")


def secrets_path(store: Path) -> Path:
    """Return the path of the signing secrets of a store, or of a backup."""
    return _beside(store, ".secrets")


def mask_key_path(store: Path) -> Path:
    """Return the path of the key by which card numbers of a store were masked."""
    return _beside(store, ".mask-key")


def book_path(store: Path) -> Path:
    """Return the path of the call book of a store."""
    return _beside(store, ".calls")


def book_logs(book: Path) -> tuple[Path, Path]:
    """Return the paths of the files that SQLite has beside a call book: its log, its index."""
    return _beside(book, "-wal"), _beside(book, "-shm")


def snapshot_path(store: Path) -> Path:
    """Return the path of the snapshot of a store."""
    return _beside(store, ".snapshot")


def backups_path(store: Path) -> Path:
    """Return the path of the list of folders that backups were put in."""
    return _beside(store, ".backups")


def log_path(store: Path) -> Path:
    """Return the path of the engine's log of a store, which is there while it has not all."""
    return _beside(store, ".wal")


def log_paths(store: Path) -> tuple[Path, ...]:
    """Return the paths of all logs that the engine may have beside a store.

    The others than the first are there for moments of a checkpoint, and after a crash in one.
    """
    log = log_path(store)
    return log, _beside(log, ".checkpoint"), _beside(log, ".recovery")


def draft_path(store: Path, what: str = "") -> Path:
    """Return the path of a draft beside a store, one of `DRAFTS`: each is written by one at a time.

    They are written under the lock of the store, so whoever holds it may remove what is left.
    """
    between = f".{what}." if what else "."
    return store.with_name(f".{store.name}{between}new")


def history_root(store: Path) -> str:
    """Return where a history begins, if nobody says otherwise."""
    return str(_beside(store, ".history"))


def runs_folder(store: Path) -> Path:
    """Return the folder of what the nights of a store kept, a folder for each."""
    return store.resolve().parent / _RUNS


def reports_folder(store: Path) -> Path:
    """Return the folder of the reports of the nights, a folder for each."""
    return store.resolve().parent / _REPORTS


def backup_name(store: Path, now: datetime) -> str:
    """Return the name of a backup in a folder."""
    return f"{store.stem}-{now:{STAMP}}.duckdb"


def kept_name(path: Path, since: datetime) -> Path:
    """Return a name that nothing has, for a file that is put aside at this moment."""
    name = f"{path.name}.{since:{STAMP}}{_KEPT}"
    names = (path.with_name(f"{name}{number or ''}") for number in count())
    return next(each for each in names if not each.exists())


def kept_files(path: Path) -> list[Path]:
    """Return what was put aside under names of a file, the files beside these left out."""
    found = path.parent.glob(f"{_literal(path.name)}.*{_KEPT}*")
    return sorted(each for each in found if _is_kept_name(path, each))


def left_over(store: Path) -> list[Path]:
    """Return what there is beside a store that only a killed process leaves there.

    That is drafts with their logs, and what the engine spilled.
    """
    drafts = [draft_path(store, what) for what in DRAFTS]
    names = [each for draft in drafts for each in (draft, *log_paths(draft))]
    return [each for each in (*names, _beside(store, ".tmp")) if each.exists()]


def written_in(store: Path) -> list[Path]:
    """Return the folders in which files of a store are written whole, under names of drafts."""
    inside = [each for name in (_RUNS, _REPORTS) for each in store.parent.glob(f"{name}/*/")]
    return [store.parent, *inside]


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _is_kept_name(path: Path, kept: Path) -> bool:
    stamp, _, number = kept.name.removeprefix(f"{path.name}.").rpartition(_KEPT)
    return stamp.endswith("Z") and "." not in stamp and (not number or number.isdecimal())


def _literal(name: str) -> str:
    """Return a pattern of glob that means one name."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
