"""Where everything of a store is: the one module that knows the names of its files.

`resolved` follows links once, so two names of one file are one store. The folder is `<store>.d/`:
who does what alone (`lock`, `turn`, `night`, `sender`, `engine`), the `journal`, the `usage`
journal, `secrets`, `mask-key`, `erasures` with the mark `erased-since`, the `snapshot`, what was
`copied` last, the folder of `borg`, the `archive`, drafts (`.new`), and what is kept under a dated
name (`.kept`). Beside the store are what the engine puts there (`.wal`, `.wal.checkpoint`,
`.wal.recovery`, `.tmp`), a store that was replaced (`.kept`), `runs/` and `reports/`.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import stat
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.errors import NoSpace, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


STAMP = "%Y%m%dT%H%M%SZ"
"""How a moment stands in the name of a file."""

DRAFTS = (*("store", "journal", "secrets", "snapshot", "compact", "restore", "recover", "erased"),)
"""What is made as a draft; the first is a new store."""

LOCKS = ("lock", "turn", "night", "sender", "engine")
"""What is there for nothing but to be locked."""
_KEPT = ".kept"
_RUNS, _REPORTS = "runs", "reports"


def resolved(path: Path) -> Path:
    """Return the path of the file that a path leads to, all links followed.

    A path without links stays as it was written, so that messages show what somebody typed.
    """
    real = Path(os.path.realpath(path))  # which leaves a link that leads to itself as it is
    return path if path.absolute() == real else real


def folder_of(store: Path) -> Path:
    """Return the folder of a store."""
    return _beside(store, ".d")


def _path_of(name: str) -> Callable[[Path], Path]:
    """Return what gives the path of a file in the folder of a store."""
    return lambda store: folder_of(store) / name


lock_path = _path_of("lock")
turn_path = _path_of("turn")
"""The turn of a store, which the one who is next holds."""
night_path = _path_of("night")
"""The lock of the night."""
sender_path = _path_of("sender")
"""The lock of who sends webhooks."""
engine_path = _path_of("engine")
"""The lock of who writes to the archive."""
journal_path = _path_of("journal")
secrets_path = _path_of("secrets")
"""The signing secrets of a store."""
mask_key_path = _path_of("mask-key")
"""The key by which card numbers of a store were masked."""
usage_path = _path_of("usage")
"""The usage journal of a store."""
snapshot_path = _path_of("snapshot")
copied_path = _path_of("copied")
"""What the newest point is that was put into a repository from here."""
borg_path = _path_of("borg")
"""What `borg` keeps of its own."""
erasures_path = _path_of("erasures")
"""The list of cardholders who were erased, with the key by which it names them."""
unwritten_path = _path_of("erased-since")
"""The mark that somebody was erased since the store's file was last written anew."""


def usage_logs(usage: Path) -> tuple[Path, Path]:
    """Return the paths of the files that SQLite has beside its own: its log, its index."""
    return _beside(usage, "-wal"), _beside(usage, "-shm")


def spill_path(store: Path | None) -> Path:
    """Return the path of the folder for what does not fit in memory, where no other is set.

    A store in memory has it in the folder of the process.
    """
    return _beside(store, ".tmp") if store else Path(".tmp")


def log_path(store: Path) -> Path:
    """Return the path of the engine's log of a store, which is there while it has not all."""
    return _beside(store, ".wal")


def log_paths(store: Path) -> tuple[Path, ...]:
    """Return the paths of all logs that the engine may have beside a store.

    The others than the first are there for moments of a checkpoint, and after a crash in one.
    """
    log = log_path(store)
    return log, _beside(log, ".checkpoint"), _beside(log, ".recovery")


def with_logs(store: Path) -> tuple[Path, ...]:
    """Return the paths of a store, or a draft of one, and of all logs that it may have."""
    return store, *log_paths(store)


def draft_path(store: Path, what: str = DRAFTS[0]) -> Path:
    """Return the path of a draft of a store, one of `DRAFTS`: each is written by one at a time.

    They are written under the lock of the store, so whoever holds it may remove what is left.
    """
    return folder_of(store) / f"{what}.new"


def own_draft(store: Path, what: str) -> Path:
    """Return the path of a draft that this process writes, and reads without the store's lock."""
    return folder_of(store) / f".{what}.{os.getpid()}.part"


def history_root(store: Path) -> str:
    """Return where an archive begins, if nobody says otherwise."""
    return str(folder_of(store) / "archive")


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
    return next(candidate for candidate in names if not candidate.exists())


def kept_files(path: Path) -> list[Path]:
    """Return what was put aside under names of a file, the files beside these left out."""
    paths = path.parent.glob(f"{_literal(path.name)}.*{_KEPT}*")
    return sorted(candidate for candidate in paths if _is_kept_name(path, candidate))


def put_aside_before(store: Path) -> list[tuple[Path, datetime]]:
    """Return what was put aside of a store, its logs, folders and what is in its own, and when."""
    folder, name = folder_of(store), _literal(store.name)
    paths = [*store.parent.glob(f"{name}.*{_KEPT}*"), *folder.glob(f"*{_KEPT}*")]
    stamps = ((path, path.name.partition(_KEPT)[0].rpartition(".")[2]) for path in sorted(paths))
    return [(path, at) for path, stamp in stamps if (at := _moment_of(stamp)) and path != folder]


def _moment_of(stamp: str) -> datetime | None:
    """Return the moment that a name tells (naive UTC), or None where it tells none."""
    with suppress(ValueError):
        return datetime.strptime(stamp, STAMP)  # noqa: DTZ007 - naive UTC inside the product
    return None


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _is_kept_name(path: Path, candidate: Path) -> bool:
    stamp, _, number = candidate.name.removeprefix(f"{path.name}.").rpartition(_KEPT)
    return stamp.endswith("Z") and "." not in stamp and (not number or number.isdecimal())


def _literal(name: str) -> str:
    """Return a pattern of glob that means one name."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


# The folder of a store, for its owner only: everything of the store but its file is in it.
#
# It is a folder of its own, on the disk that the store is on: a link would let two stores share one
# lock and one journal, and from another disk no draft could take the place of the store in one
# step.


_FOR_ITS_OWNER = 0o700


def make_folder(store: Path) -> Path:
    """Make the folder of a store, if it is not there; raise `Refused` for what is none of its own.

    Whoever is to write into it calls this first.
    """
    folder = folder_of(store)
    try:
        with needing_room(folder):
            folder.mkdir(_FOR_ITS_OWNER)
            sync_folder(folder.parent)
    except FileExistsError:
        info = folder.lstat()
        if not stat.S_ISDIR(info.st_mode) or info.st_dev != folder.parent.stat().st_dev:
            raise _not_its_own(store) from None
    return folder


@contextmanager
def needing_room(path: Path, hint: str = "Free some space and run it again.") -> Iterator[None]:
    """Raise `NoSpace` where there is no room for what is written to a path meanwhile."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise NoSpace(f"The disk that holds {path} is full.", hint=hint) from None


def replace_whole(path: Path, content: bytes, draft: Path) -> None:
    """Put a new file of its owner's only in the place of a path, in one step and onto the disk."""
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk; raise where that cannot be done."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _not_its_own(store: Path) -> Refused:
    folder = folder_of(store)
    return Refused(
        f"{folder} is a link, a file or another disk: it is to be a folder of the store's own, on "
        "the same disk, with its lock and its journal.",
        code="folder_foreign",
        hint=f"Look where it leads with `ls -ld {shlex.quote(str(folder))}`; put the folder that "
        "is this store's in its place, then run it again.",
        file=str(folder),
    )


# Files that are kept under another name, where others would be overwritten or deleted.


def put_aside(path: Path, since: datetime) -> Path | None:
    """Rename a file, if it is there; return where it is kept."""
    if not path.exists():
        return None
    target = path.rename(kept_name(path, since))
    sync_folder(path.parent)
    return target


def put_logs_aside(store: Path, since: datetime) -> None:
    """Rename the logs that the engine has beside a closed store, which is to be another file.

    They are of a store that is gone, or what the engine left after a checkpoint, having found
    nothing in it.
    """
    for log in log_paths(store):
        put_aside(log, since)


# Files that a killed process left of a store: drafts that were never put in place.
#
# Whoever looks holds the store's lock, so no draft of the store is being written meanwhile. The
# draft of any other file, and of a point, names its process, and is left alone while that lives.


_DRAFT = re.compile(r"\..+\.(\d+)\.part")


def leftovers(store: Path) -> list[Path]:
    """Return what nobody needs any more of the store of this path, in its runs and reports."""
    drafts = [draft_path(store, what) for what in DRAFTS]
    names = [path for draft in drafts for path in with_logs(draft)]
    spilled = [spill_path(path) for path in (store, *drafts)]
    own = (path for path in (*names, *spilled) if path.exists())
    inside = [path for name in (_RUNS, _REPORTS) for path in store.parent.glob(f"{name}/*/")]
    written_in = (store.parent, folder_of(store), *inside)
    parts = (path for folder in written_in for path in folder.glob(".*.part"))
    named = ((path, _DRAFT.fullmatch(path.name)) for path in parts)
    orphans = (path for path, match in named if match and not is_alive(int(match[1])))
    return sorted([*own, *orphans])


def sweep(store: Path) -> list[Path]:
    """Remove what was left behind; call it with the store's lock, before the store is opened."""
    paths = leftovers(store)
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return paths


def is_alive(pid: int) -> bool:
    """Whether a process of this machine lives."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
