"""The journal beside the store: which runs were committed, on the disk and outside of the engine.

A store whose log was cut, zeroed or deleted opens as if the lost commits had never been, and so
does an old copy put back in its place. So every run has a line in `<store>.journal` (JSON Lines,
fsynced), written as soon as it is committed, and every opening compares the last line with the
store. A crash between a commit and its line leaves the store ahead, and the next opening that
writes appends the line: nobody had been told of that commit yet. A line torn by a crash is no line.

The journal is kept short: of a long one the newer half stays, which is some 60,000 runs.

Whoever puts another file in the place of a store keeps the one before under another name, with a
journal of its own that ends in a line `replaced_by`. It is no store then until somebody says so
(`reset`): two that go on from one past would settle the same entries.

A line that `resets` says that the store was put back to that run on purpose: lines before it with
higher numbers do not count any more. Runs are told apart by number and id together.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO
from uuid import UUID

from cardoffers_cli.domain.errors import NoSpace, Refused, StoreDamaged
from cardoffers_cli.domain.moments import format_moment, parse_moment
from cardoffers_cli.store.layout import draft_path, journal_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from cardoffers_cli.store.store import Store

NIGHTLY = "nightly"
"""The kind of the run that a night is; its steps carry the same `as_of`."""

LOST = "store_lost_commits"
"""The code of a store that has less than its journal."""

REPLACED = "store_replaced"
"""The code of a file in the place of which another one is the store, and the kind of its line."""

_AT_ONCE = 10_000
_BLOCK = 32_768
"""Bytes that hold any line."""
_FEW = 20
_MOST_BYTES = 16 << 20
_OWNER_ONLY = 0o600


@dataclass(frozen=True, kw_only=True)
class Line:
    """One run that was committed; number 0 without an id is a store before its first run."""

    run_no: int
    run_id: UUID | None
    kind: str
    as_of: datetime
    resets: bool = False
    replaced_by: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the line as it is written and shown."""
        shown: dict[str, Any] = {
            "run_no": self.run_no,
            "run_id": str(self.run_id) if self.run_id else None,
            "kind": self.kind,
            "as_of": format_moment(self.as_of),
        }
        if self.resets:
            shown["resets"] = True
        if self.replaced_by:
            shown["replaced_by"] = self.replaced_by
        return shown


def check(store: Store, path: Path) -> None:
    """Raise `StoreDamaged` if the journal of the store at `path` knows of a run that it has not.

    Raises `Refused` for a file in the place of which another one is the store.
    """
    last = _last_of_a_store(path)
    if last is not None and not _has(store, last):
        raise lost_commits(path, lost(store, path), newest(store))


def keep_up(store: Store, path: Path) -> None:
    """Append every committed run that the journal has no line of yet; the store is locked.

    Raises as `check` does.
    """
    last = _last_of_a_store(path)
    while more := _not_yet_told(store, path, last):
        _append(path, more)
        last = more[-1]


def _not_yet_told(store: Store, path: Path, last: Line | None) -> list[Line]:
    """Return runs after the last line; one look at the store checks that line too."""
    run_no = last.run_no if last else 0
    rows = store.rows("store/journal:runs_from", run_no=run_no, most=_AT_ONCE)
    found = [Line(**row) for row in rows]
    if last is None or last.run_id is None:
        return found
    if not (found and _is_one(found[0], last)):
        raise lost_commits(path, lost(store, path), newest(store))
    return found[1:]


def reset(path: Path, newest_run: Line | None, *, kind: str, now: datetime) -> Line:
    """Write down that the store is, or is about to be, at this run on purpose; say why by `kind`.

    Written before a store is put back, it does no harm if that does not come to pass: the store is
    then ahead.
    """
    line = Line(
        run_no=newest_run.run_no if newest_run else 0,
        run_id=newest_run.run_id if newest_run else None,
        kind=kind,
        as_of=now,
        resets=True,
    )
    _append(path, [line])
    return line


def mark_replaced(kept: Path, by: Path, *, now: datetime) -> None:
    """Write a journal for a store that is kept aside: the one it had, and by which it is replaced.

    `by` is the path of the store, whose journal is copied.
    """
    found = [*_all_lines(by)]
    last = found[-1] if found else None
    mark = Line(
        run_no=last.run_no if last else 0,
        run_id=last.run_id if last else None,
        kind=REPLACED,
        as_of=now,
        resets=True,
        replaced_by=str(by.absolute()),
    )
    _append(kept, [*found, mark])


def replaced_by(path: Path) -> str | None:
    """Return the path of the store that the file at `path` was replaced by, or None."""
    last = last_line(path)
    return last.replaced_by if last else None


def newest(store: Store) -> Line | None:
    """Return the newest run of a store, or None before its first."""
    row = store.row("store/journal:newest")
    return Line(**row) if row else None


def lost(store: Store, path: Path) -> list[Line]:
    """Return the runs that the journal knows and the store has not, the oldest first."""
    there = {row["run_no"]: row["run_id"] for row in store.rows("store/journal:all_runs")}
    return [line for line in lines(path) if line.run_no and there.get(line.run_no) != line.run_id]


def changed(store: Store, path: Path) -> list[Line]:
    """Return the lines that tell of a run of the store what it does not: nobody wrote them so."""
    there = {row["run_id"]: Line(**row) for row in store.rows("store/journal:all_runs")}
    return [
        line
        for line in lines(path)
        if not line.resets
        and line.run_id in there
        and there[line.run_id].document() != line.document()
    ]


def lines(path: Path) -> list[Line]:
    """Return the lines that count, in the order of runs; raise `StoreDamaged` for what is none."""
    counted: list[Line] = []
    for line in _all_lines(path):
        while counted and counted[-1].run_no > line.run_no:
            counted.pop()
        if not (counted and _is_one(counted[-1], line)):
            counted = [line] if line.resets else [*counted, line]
    return counted


def all_ids(path: Path) -> set[UUID | None]:
    """Return the ids of every run that was ever committed, whether its line still counts or not."""
    return {line.run_id for line in _all_lines(path)}


def put_back_at(path: Path) -> datetime | None:
    """Return when the store was last put back on purpose, or None where it never was."""
    return max((line.as_of for line in _all_lines(path) if line.resets), default=None)


def nights(path: Path, runs: Iterable[Line]) -> list[str]:
    """Return the dates of the nights that these runs belong to."""
    as_of = {line.as_of for line in lines(path) if line.kind == NIGHTLY}
    return sorted({f"{run.as_of:%Y-%m-%d}" for run in runs if run.as_of in as_of})


def last_line(store: Path) -> Line | None:
    """Return the last whole line of the journal of a store, or None where there is none."""
    path = journal_path(store)
    try:
        with path.open("rb", buffering=0) as file:
            end = _end_of_lines(file)
            file.seek(max(0, end - _BLOCK))
            tail = file.read(min(end, _BLOCK))
    except FileNotFoundError:
        return None
    return _line(path, tail.splitlines()[-1]) if tail else None


def lost_commits(path: Path, gone: Sequence[Line], found: Line | None) -> StoreDamaged:
    """Build the error of a store that has lost these runs, and has `found` as its newest."""
    dates = nights(path, gone)
    named = ", ".join(_named(line) for line in gone[:_FEW])
    more = f" and {len(gone) - _FEW} more" if len(gone) > _FEW else ""
    newest_no = found.run_no if found else 0
    again = "".join(f"\n  cardoffers nightly DROP_DIR --as-of {date}" for date in dates)
    return StoreDamaged(
        f"{path} has lost commits that were made: its newest run is {newest_no}, and its journal "
        f"also knows {named}{more}.",
        code=LOST,
        hint="Restore a backup that has them with `cardoffers store restore FILE`; or go on without"
        " them with `cardoffers store accept-loss --yes`, and run again what was lost"
        + (f", its files put back from `done/`:{again}" if again else "."),
        newest_run_no=newest_no,
        lost_run_count=len(gone),
        lost_runs=[line.document() for line in gone[:_FEW]],
        nights=dates,
        next="cardoffers store accept-loss --yes",
    )


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_not_replaced(path: Path) -> None:
    """Raise `Refused` for a file in the place of which another one is the store."""
    _last_of_a_store(path)


def _last_of_a_store(path: Path) -> Line | None:
    """Return the last line of the journal of a store, unless it says that it is one no more."""
    last = last_line(path)
    if last is None or last.replaced_by is None:
        return last
    accept = f"cardoffers store accept-loss --store {shlex.quote(str(path))} --yes"
    raise Refused(
        f"{path} is a store no more: another file took its place, and {last.replaced_by} is the "
        f"store since {format_moment(last.as_of)}.",
        code=REPLACED,
        hint=f"Use that one. `{accept}` goes on with this one as a store of its own; then what is "
        "due is due in both.",
        replaced_by=last.replaced_by,
        next=accept,
    )


def _is_one(line: Line, other: Line) -> bool:
    return (line.run_no, line.run_id) == (other.run_no, other.run_id)


def _named(line: Line) -> str:
    return f"{line.run_no} ({line.kind} of {line.as_of:%Y-%m-%d})"


def _has(store: Store, line: Line) -> bool:
    if line.run_id is None:
        return True
    found: UUID | None = store.value("store/journal:run_id", run_no=line.run_no)
    return found == line.run_id


def _text_or_none(value: Any) -> str | None:
    return None if value is None else str(value)


def _append(store: Path, more: Iterable[Line]) -> None:
    path = journal_path(store)
    text = "".join(json.dumps(line.document()) + "\n" for line in more).encode()
    is_new = not path.exists()
    try:
        size = _append_text(path, text)
        if size > _MOST_BYTES:
            _shorten(path, size, draft_path(store, "journal"))
        elif is_new:
            sync_folder(path.parent)
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise NoSpace(
            f"The disk that holds {path} is full.",
            hint="Free some space and run it again: what was committed is in the store, and its "
            "line is written then.",
        ) from None


def _append_text(path: Path, text: bytes) -> int:
    """Write whole lines, onto the disk, in the place of what was torn; return the new size."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _OWNER_ONLY)
    with os.fdopen(descriptor, "r+b") as file:
        file.truncate(file.seek(_end_of_lines(file)))
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


def _shorten(path: Path, size: int, draft: Path) -> None:
    """Leave the newer half of the lines, in one step."""
    with path.open("rb") as file:
        file.seek(size - _MOST_BYTES // 2)
        file.readline()  # the rest of a line
        newer = file.read()
    draft.unlink(missing_ok=True)
    _append_text(draft, newer)
    draft.replace(path)
    sync_folder(path.parent)


def _end_of_lines(file: BinaryIO | Any) -> int:
    """Return where the last whole line ends; what follows was torn."""
    end: int = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - _BLOCK)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return int(start + found + 1)
        end = start
    return 0


def _all_lines(store: Path) -> Iterable[Line]:
    path = journal_path(store)
    if not path.exists():
        return
    with path.open("rb") as file:
        for text in file:
            if text.endswith(b"\n"):
                yield _line(path, text)


def _line(path: Path, text: bytes) -> Line:
    try:
        told = json.loads(text)
        return Line(
            run_no=int(told["run_no"]),
            run_id=UUID(told["run_id"]) if told["run_id"] else None,
            kind=str(told["kind"]),
            as_of=parse_moment(told["as_of"]),
            resets=bool(told.get("resets")),
            replaced_by=_text_or_none(told.get("replaced_by")),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        raise StoreDamaged(
            f"The journal {path} holds a line that is none of ours.",
            code="journal_damaged",
            hint="Move it away: a new one is made. Then see that every night is in "
            "`cardoffers run list`.",
        ) from None
