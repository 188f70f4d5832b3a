"""Files beside the store that hold a token, or may: what an erasure leaves to people.

Files that institutions sent are theirs, with the rows of others in them, and copies of the store
are whole or nothing. So none is changed: each is named, with what is to be done.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.domain.records import Record
from cardoffers_cli.files.processed import DONE, FAILED, TAKEN
from cardoffers_cli.files.traces import holds_any
from cardoffers_cli.services.taken_files import kept_folders
from cardoffers_cli.store import backup_places
from cardoffers_cli.store.layout import (
    LOCKS,
    folder_of,
    history_root,
    kept_files,
    log_path,
    reports_folder,
    runs_folder,
    snapshot_path,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cardoffers_cli.jobs.context.job import Job
    from cardoffers_cli.store.store import Store

_BACKUP = ".checksum"


class Trace(Record):
    """A file, and why it is named: `holds_token`, or `copy_of_before`, of the store as it was."""

    file: str
    why: str


def traces(
    store: Store,
    job: Job,
    institution: str,
    tokens: Sequence[str],
    *,
    before_run_no: int | None,
) -> list[Trace]:
    """Return the files that hold any of the tokens, and copies of the store of before.

    That is before the run of the erasure, if it was an earlier one; a store that was put aside does
    not say, and is always named.
    Looked at are the folder of the store, its runs and reports, and the folders in which files of
    the institution are kept. The store's own file is not: compacting it is what cleans it.
    """
    found = sorted({path for path in _looked_at(store, job, institution) if path.is_file()})
    holding = [
        Trace(file=str(path), why="holds_token") for path in found if holds_any(path, tokens)
    ]
    before = _copies(job.path, before_run_no)
    return [*holding, *(Trace(file=str(path), why="copy_of_before") for path in before)]


def _copies(store: Path, before_run_no: int | None) -> list[Path]:
    """Return the copies of a store that are kept: aside, and in folders of backups."""
    backups = (
        path.with_suffix("")
        for folder in backup_places.known(store)
        for path in folder.glob(f"*{_BACKUP}")
        if _is_backup(path, before_run_no)
    )
    aside = [*kept_files(store), *kept_files(snapshot_path(store)), *kept_files(log_path(store))]
    return sorted({path for path in (*aside, *backups) if path.exists()})


def _is_backup(checksum: Path, before_run_no: int | None) -> bool:
    """Return whether this is the checksum of a backup of ours, made before a run."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        told = json.loads(checksum.read_bytes())
        is_before = before_run_no is None or int(told["run_no"]) < before_run_no
        return is_before and str(told["form"]).startswith("cardoffers backup")
    return False


def _looked_at(store: Store, job: Job, institution: str) -> Iterator[Path]:
    yield from _own(job.path)
    for folder in (runs_folder(job.path), reports_folder(job.path)):
        yield from folder.rglob("*")
    for kept in kept_folders(store):
        for kind in ("", TAKEN, DONE, FAILED):
            yield from (Path(kept) / institution / kind).glob("*")


def _own(path: Path) -> Iterable[Path]:
    """Return the files in the folder of a store, but locks, the snapshot and the archive."""
    folder = folder_of(path)
    left_out = {folder / name for name in LOCKS} | {snapshot_path(path)}
    archive = Path(history_root(path))
    return (
        each for each in folder.rglob("*") if each not in left_out and archive not in each.parents
    )
