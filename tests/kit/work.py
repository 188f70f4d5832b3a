"""Jobs of tests: a clock that stands still, and settings that keep to one core."""

from __future__ import annotations

import atexit
import csv
import os
import shutil
import tempfile
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.kernel.store.job import Job
from cardoffers_cli.kernel.store.lock import store_lock
from cardoffers_cli.kernel.store.reading import read_rows
from cardoffers_cli.kernel.store.runs import write_run
from cardoffers_cli.kernel.store.settings import Settings
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.stored_imports import ListedFile
from cardoffers_cli.storage.stores import init
from cardoffers_cli.watch.scan import look_at_imports
from tables import NOON, Row, given, read, select, snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from datetime import datetime

    import pytest

    from cardoffers_cli.kernel.store.store import Store


def settings(**changes: Any) -> Settings:
    return Settings(**{"threads": 1, "memory_limit": "256MiB", "lock_wait_s": 5, **changes})


def job(path: Path | str = ":memory:", now: datetime = NOON, **changes: Any) -> Job:
    """Return a job on the store at `path`, run by `tester` at `now`, by the machine's clock too."""
    return Job(
        path=Path(path),
        settings=settings(**changes),
        now=now,
        actor="tester",
        command="test",
        machine=lambda as_of: as_of,
    )


def new_store(folder: Path, name: str = "store.duckdb") -> Job:
    """Make a store in a folder and return a job on it."""
    made = job(folder / name)
    shutil.copyfile(_empty_store(), made.path)
    made.path.chmod(0o600)
    _TOLD[made.path] = _Told((), _stamp(made.path))
    return made


class OpenJob(Job):
    """A job whose store is open already, and stays so."""

    def store(self, **_how: Any) -> AbstractContextManager[Store]:
        """Return the store that is open."""
        return nullcontext(_OPEN[self.path])


_OPEN: dict[Path, Store] = {}


@contextmanager
def kept_open(made: Job) -> Iterator[OpenJob]:
    """Open the store of a job once for all that is done in a `with` block."""
    with made.store() as store:
        _OPEN[made.path] = store
        try:
            yield OpenJob(**{name: getattr(made, name) for name in made.__dataclass_fields__})
        finally:
            del _OPEN[made.path]


@contextmanager
def fresh_store(folder: Path) -> Iterator[Store]:
    """Make a store in a folder and open it; a scratch store is made anew each time."""
    with new_store(folder).store() as store:
        yield store


def next_run(store: Store, now: datetime = NOON) -> int:
    """Write a run, and return its number: what it is to have done bears no other."""
    return write_run(store, kind="test", now=now, actor="tester", counts={})


@cache
def _empty_store() -> Path:
    """Return a store as `init` makes it: once, because its tables and views take a while."""
    made = job(templates() / "empty.duckdb")
    init(made)
    return made.path


@cache
def templates() -> Path:
    """Return a folder of this process, for stores that tests copy."""
    folder = Path(tempfile.mkdtemp(prefix="stores-of-tests"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


Texts = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Told:
    """What a store was told since it was empty, and its file as it was then."""

    texts: Texts
    stamp: tuple[int, ...]


_TOLD: dict[Path, _Told] = {}
_KEPT: dict[Texts, Path] = {}
_MOST_KEPT = 40
"""Copies of stores by what they were told; the oldest makes room."""


def _stamp(path: Path) -> tuple[int, ...]:
    state = path.stat()
    return state.st_ino, state.st_size, state.st_mtime_ns


def tell(made: Job, **tables: str) -> None:
    """Write text tables into the store of a job.

    What one test after the other is told from an empty store on is written once, and copied.
    """
    path = made.path
    before = _TOLD.get(path)
    if before is None or before.stamp != _stamp(path):
        _write(made, tables)
        return
    texts = (*before.texts, *tables.items())
    if texts in _KEPT:
        shutil.copyfile(_KEPT[texts], path)
    else:
        _write(made, tables)
        if _has_more_files(path):
            return
        _keep(texts, path)
    _TOLD[path] = _Told(texts, _stamp(path))


def _write(made: Job, tables: dict[str, str]) -> None:
    with made.store() as store:
        for word, text in tables.items():
            given(store, word, text)


def _has_more_files(path: Path) -> bool:
    """Say whether anything is written down beside a store."""
    beside = path.parent.glob(f"{path.name}?*")
    files = (file for each in beside for file in (each.rglob("*") if each.is_dir() else (each,)))
    return any(file.is_file() and file.stat().st_size for file in files)


def _keep(texts: Texts, path: Path) -> None:
    while len(_KEPT) >= _MOST_KEPT:
        _KEPT.pop(next(iter(_KEPT))).unlink()
    handle, name = tempfile.mkstemp(dir=templates())
    os.close(handle)
    shutil.copyfile(path, name)
    _KEPT[texts] = Path(name)


def with_catalogue(folder: Path) -> Job:
    """Make a store of one institution and two offers, one of them with a budget."""
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery\nbutcher",
        identifiers="identifier merchant\nM0 bakery\nM1 butcher",
        offers="offer merchant budget\nof-1 bakery 20.00\nof-2 butcher -",
        programs="offer\nof-1\nof-2",
        links="cardholder offer\nc0 of-1\nc1 of-1\nc2 of-2",
    )
    return made


def once(build: Callable[[Path], Job]) -> Callable[[Path], Job]:
    """Let what a function builds in a folder be built once in a process, and be copied then."""

    @cache
    def built() -> Job:
        return build(Path(tempfile.mkdtemp(dir=templates())))

    @wraps(build)
    def copied(folder: Path) -> Job:
        made = built()
        shutil.copytree(made.path.parent, folder, dirs_exist_ok=True)
        return replace(made, path=folder / made.path.name)

    return copied


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the store at `path` as `import` does, which nobody else opens meanwhile."""
    with store_lock(path, command="import", since=NOON, wait_s=5):
        yield


COLUMNS = {
    "cardholder_token": ("cardholder", "ann"),
    "card_token": ("card", "card"),
    "card_acceptor_id": ("identifier", None),
    "merchant_id": ("merchant", None),
    "amount": ("amount", "20.00"),
    "transaction_ref": ("ref", None),
    "transacted_at": ("at", "2026-06-01T12:00:00Z"),
    "mcc": ("mcc", None),
}
"""The columns of a transaction file, the word for each in a text table, and what it is else."""


def file_of(path: Path, text: str | list[Row]) -> Path:
    """Write a text table of purchases as a CSV file."""
    rows = read(text) if isinstance(text, str) else text
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            cells = [row.get(word, default) for word, default in COLUMNS.values()]
            writer.writerow("" if cell is None else cell for cell in cells)
    return path


def taken(
    made: Job,
    path: Path,
    institution: str = "alder",
    *,
    dry_run: bool = False,
    is_own: bool = False,
    is_whole: bool = False,
    **outputs: Path,
) -> dict[str, Any]:
    """Import a file and return the document."""
    options = ImportOptions(dry_run=dry_run, is_own=is_own, is_whole=is_whole)
    done = import_file(
        str(path), institution, made, options, outputs=Outputs(**outputs), look=look_at_imports
    )
    return done.document()


def kept(made: Job, *but: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of the store of a job, except of the tables named."""
    with made.store(read_only=True) as store:
        return snapshot(store, *but)


def file_rows(
    made: Job, institution: str | None = None, period: str | None = None
) -> list[ListedFile]:
    """Return the files that `file list` shows."""
    asked = {"institution": institution, "period": period, "limit": 9}
    return read_rows(made, ListedFile, "river/withdrawals:listed", **asked)


def found(made: Job, sql: str) -> list[tuple[Any, ...]]:
    """Return what a query of the test finds in the store of a job."""
    with made.store(read_only=True) as store:
        return select(store, sql)


def short_nights(
    monkeypatch: pytest.MonkeyPatch,
    *steps: Literal[
        "import",
        "match",
        "refund",
        "settle",
        "second_look",
        "reconcile",
        "watch",
        "reports",
        "audits",
    ],
) -> None:
    """Let a night be some of its steps, without pages: a third of its time.

    It looks at them twice without the second between.
    """
    from cardoffers_cli.night import checks, run  # noqa: PLC0415  heavy

    kept = [step for step in run.STEPS if step.name in steps]
    assert len(steps) == len(kept)
    monkeypatch.setattr(run, "STEPS", kept)
    monkeypatch.setattr(checks, "LOOK_S", 0.01)
    monkeypatch.setattr(run, "write_night_page", lambda *_: None)
    monkeypatch.setattr(run, "write_runs_page", lambda *_: None)


RECORDS = ("runs", "imports", "duplicates", "rejects", "acts")
"""The tables that say what runs did; only they grow when a file comes again."""
