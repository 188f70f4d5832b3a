"""The journal of the store: which runs were committed, on the disk and outside of the engine.

A store whose log was cut opens as if the lost commits had never been, and so does an old copy put
back. So every run has a line (JSON Lines, fsynced), written as soon as it is committed, and every
opening compares the last line with the store. A crash between leaves the store ahead, and the next
opening that writes appends the line. Whoever puts another file in the place of a store keeps the
one before, with a journal that ends in a line `replaced_by`: it is no store until somebody says so.
A line that `resets` says that the store was put back to that run on purpose: lines before it with
higher numbers do not count any more. Runs are told apart by number and id together.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.journal_file import (
    JournalLine,
    all_lines,
    append,
    last_line,
    standing,
)
from cardoffers_cli.kernel.store.layout import folder_of, journal_path
from cardoffers_cli.kernel.words.errors import CardoffersError, Refused, StoreDamaged
from cardoffers_cli.kernel.words.moments import format_moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store

NIGHTLY = "nightly"
"""The kind of the run that a night is; its steps carry the same `as_of`."""

LOST = "store_lost_commits"
"""The code of a store that has less than its journal."""

REPLACED = "store_replaced"
"""The code of a file in the place of which another one is the store, and the kind of its line."""

_AT_ONCE = 10_000
_FEW = 20


def check(store: Store, path: Path) -> None:
    """Raise `StoreDamaged` if the journal of the store at `path` knows of a run that it has not.

    Raises `Refused` for a file in the place of which another one is the store, and where the
    journal is of another store.
    """
    last = _last_of_a_store(path)
    if last is None or last.run_id is None:
        return
    if store.value("kernel/store/journal:run_id", run_no=last.run_no) != last.run_id:
        raise _not_in_the_store(store, path)


def keep_up(store: Store, path: Path) -> None:
    """Append every committed run that the journal has no line of yet; the store is locked.

    Raises as `check` does.
    """
    last = _last_of_a_store(path)
    while more := _not_yet_told(store, path, last):
        append(path, more)
        if len(more) < _AT_ONCE - 1:
            return
        last = more[-1]


def tell_new(store: Store, path: Path) -> None:
    """Append the runs that were committed since the journal was last told of all.

    Whoever has the store has its journal too, so these follow on its last line; a journal that was
    taken away meanwhile begins anew.
    """
    if store.new_runs:
        if journal_path(path).exists():
            append(path, store.new_runs)
        else:
            keep_up(store, path)
        store.new_runs.clear()


def _not_yet_told(store: Store, path: Path, last: JournalLine | None) -> list[JournalLine]:
    """Return runs after the last line; one look at the store checks that line too."""
    run_no = last.run_no if last else 0
    rows = store.rows("kernel/store/journal:runs_from", run_no=run_no, most=_AT_ONCE)
    runs = [JournalLine(**row) for row in rows]
    if last is None or last.run_id is None:
        return runs
    if not (runs and _is_one(runs[0], last)):
        raise _not_in_the_store(store, path)
    return runs[1:]


def _not_in_the_store(store: Store, path: Path) -> CardoffersError:
    """Return what it means that a store has not the newest run of its journal."""
    runs = {run.run_no: run.run_id for run in _runs(store)}
    both = [line for line in lines(path) if line.run_no in runs]
    if both and all(runs[line.run_no] != line.run_id for line in both):
        folder = folder_of(path)
        new_folder = folder.with_name(f"{folder.name}.of-another-store")
        move = f"mv {shlex.quote(str(folder))} {shlex.quote(str(new_folder))}"
        return Refused(
            f"{folder} is of another store than {path}: its journal knows none of the runs of"
            " that.",
            code="folder_foreign",
            hint="If another file was put there, put the store back, or restore a backup with "
            "`cardoffers store restore FILE`. If the folder is wrong, put its own in its place, or"
            f" let it begin one: `{move}`. Signing secrets are beside backups.",
            file=str(path),
            folder=str(folder),
        )
    return lost_commits(path, lost(store, path), newest(store))


def check_not_scratch(path: Path) -> None:
    """Raise `Refused` for a store that was restored where it was not, and was not promoted."""
    if (line := standing(path)) and line.is_scratch:
        raise Refused(
            f"{path} was restored here to be read: what it was copied from may go on elsewhere.",
            code="store_scratch",
            hint="Once that has stopped, `cardoffers store restore --promote` makes it the store.",
        )


def reset(
    path: Path, newest_run: JournalLine | None, *, kind: str, now: datetime, **more: Any
) -> JournalLine:
    """Write down that the store is, or is about to be, at this run on purpose; say why by `kind`.

    `more` are its lineage, and whether it is scratch.

    Written before a store is put back, it does no harm if that does not come to pass: the store is
    then ahead.
    """
    line = JournalLine(
        run_no=newest_run.run_no if newest_run else 0,
        run_id=newest_run.run_id if newest_run else None,
        kind=kind,
        as_of=now,
        resets=True,
        **more,
    )
    append(path, [line])
    return line


def mark_replaced(path: Path, by: Path, *, now: datetime) -> None:
    """Write a journal for a store that is kept aside: the one it had, and by which it is replaced.

    `by` is the path of the store, whose journal is copied.
    """
    old_lines = [*all_lines(by)]
    last = old_lines[-1] if old_lines else None
    mark = JournalLine(
        run_no=last.run_no if last else 0,
        run_id=last.run_id if last else None,
        kind=REPLACED,
        as_of=now,
        resets=True,
        replaced_by=str(by.absolute()),
    )
    append(path, [*old_lines, mark])


def replaced_by(path: Path) -> str | None:
    """Return the path of the store that the file at `path` was replaced by, or None."""
    last = last_line(path)
    return last.replaced_by if last else None


def newest(store: Store) -> JournalLine | None:
    """Return the newest run of a store, or None before its first."""
    row = store.row("kernel/store/journal:newest")
    return JournalLine(**row) if row else None


def lost(store: Store, path: Path) -> list[JournalLine]:
    """Return the runs that the journal knows and the store has not, the oldest first."""
    return _lost(_runs(store), lines(path))


def wrong(store: Store, path: Path) -> list[JournalLine]:
    """Return the runs that are lost, and the lines that tell of a run what the store does not.

    Nobody wrote the latter so.
    """
    runs, journal = _runs(store), lines(path)
    return [*_lost(runs, journal), *_changed(runs, journal)]


def _runs(store: Store) -> list[JournalLine]:
    return [JournalLine(**row) for row in store.rows("kernel/store/journal:all_runs")]


def _lost(runs: Iterable[JournalLine], journal: Iterable[JournalLine]) -> list[JournalLine]:
    there = {run.run_no: run.run_id for run in runs}
    return [line for line in journal if line.run_no and there.get(line.run_no) != line.run_id]


def _changed(runs: Iterable[JournalLine], journal: Iterable[JournalLine]) -> list[JournalLine]:
    there = {run.run_id: run for run in runs}
    return [
        line
        for line in journal
        if not line.resets
        and line.run_id in there
        and there[line.run_id].document() != line.document()
    ]


def lines(path: Path) -> list[JournalLine]:
    """Return the lines that count, in the order of runs; raise `StoreDamaged` for what is none."""
    counted: list[JournalLine] = []
    for line in all_lines(path):
        while counted and counted[-1].run_no > line.run_no:
            counted.pop()
        if not (counted and _is_one(counted[-1], line)):
            counted = [line] if line.resets else [*counted, line]
    return counted


def all_ids(path: Path) -> set[UUID | None]:
    """Return the ids of every run that was ever committed, whether its line still counts or not."""
    return {line.run_id for line in all_lines(path)}


def put_back_at(path: Path) -> datetime | None:
    """Return when the store was last put back on purpose, or None where it never was."""
    return max((line.as_of for line in all_lines(path) if line.resets), default=None)


def nights(path: Path, runs: Iterable[JournalLine]) -> list[str]:
    """Return the dates of the nights that these runs belong to."""
    as_of = {line.as_of for line in lines(path) if line.kind == NIGHTLY}
    return sorted({f"{run.as_of:%Y-%m-%d}" for run in runs if run.as_of in as_of})


def loss(path: Path, lost_lines: Sequence[JournalLine]) -> dict[str, Any]:
    """Return what a report says of lost runs: their nights, and how to run those again.

    The journal at `path` is still to know them.
    """
    dates = nights(path, lost_lines)
    return {
        "lost_runs": [line.document() for line in lost_lines],
        "nights": dates,
        "next": [f"cardoffers nightly DROP_DIR --as-of {date}" for date in dates],
    }


def lost_commits(
    path: Path, lost_lines: Sequence[JournalLine], newest_line: JournalLine | None
) -> StoreDamaged:
    """Build the error of a store that has lost these runs, and has `newest_line` as its newest."""
    dates = nights(path, lost_lines)
    texts = (f"{line.run_no} ({line.kind} of {line.as_of:%Y-%m-%d})" for line in lost_lines[:_FEW])
    named = ", ".join(texts)
    more = f" and {len(lost_lines) - _FEW} more" if len(lost_lines) > _FEW else ""
    newest_no = newest_line.run_no if newest_line else 0
    again = "".join(f"\n  cardoffers nightly DROP_DIR --as-of {date}" for date in dates)
    return StoreDamaged(
        f"{path} has lost commits that were made: its newest run is {newest_no}, and its journal "
        f"also knows {named}{more}.",
        code=LOST,
        hint="Restore a backup that has them with `cardoffers store restore FILE`; or go on without"
        " them with `cardoffers store accept-loss --yes`, and run again what was lost"
        + (f", its files put back from `done/`:{again}" if again else "."),
        newest_run_no=newest_no,
        lost_run_count=len(lost_lines),
        lost_runs=[line.document() for line in lost_lines[:_FEW]],
        nights=dates,
        next="cardoffers store accept-loss --yes",
    )


def check_not_replaced(path: Path) -> None:
    """Raise `Refused` for a file in the place of which another one is the store."""
    _last_of_a_store(path)


def _last_of_a_store(path: Path) -> JournalLine | None:
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


def _is_one(line: JournalLine, other: JournalLine) -> bool:
    return (line.run_no, line.run_id) == (other.run_no, other.run_id)
