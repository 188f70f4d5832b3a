"""Jobs of tests: a clock that stands still, and settings that keep to one core."""

from __future__ import annotations

import atexit
import csv
import shutil
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardoffers_cli.jobs.imports import ImportOptions, import_file
from cardoffers_cli.jobs.intake import Outputs
from cardoffers_cli.jobs.job import Job
from cardoffers_cli.jobs.stores import init
from cardoffers_cli.settings import Settings
from cardoffers_cli.store.lock import StoreLock
from tables import NOON, Row, given, read, select, snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    import pytest


def settings(**changes: Any) -> Settings:
    return Settings(**{"threads": 1, "memory_limit": "256MiB", "lock_wait_s": 5, **changes})


def job(path: Path | str = ":memory:", now: datetime = NOON, **changes: Any) -> Job:
    """Return a job on the store at `path`, run by `tester` at `now`."""
    return Job(
        path=Path(path), settings=settings(**changes), now=now, actor="tester", command="test"
    )


def new_store(folder: Path, name: str = "store.duckdb") -> Job:
    """Make a store in a folder and return a job on it."""
    made = job(folder / name)
    shutil.copyfile(_empty_store(), made.path)
    made.path.chmod(0o600)
    return made


@cache
def _empty_store() -> Path:
    """Return a store as `init` makes it: once, because its migrations take a third of a second."""
    folder = Path(tempfile.mkdtemp(prefix="empty-store"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = job(folder / "store.duckdb")
    init(made)
    return made.path


def tell(made: Job, **tables: str) -> None:
    """Write text tables into the store of a job."""
    with made.store() as store:
        for word, text in tables.items():
            given(store, word, text)


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


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the store at `path` as `import` does, which nobody else opens meanwhile."""
    with StoreLock(path, command="import", since=NOON, wait_s=5):
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
    made: Job, path: Path, institution: str = "alder", *, dry_run: bool = False, **outputs: Path
) -> dict[str, Any]:
    """Import a file and return the document."""
    options = ImportOptions(dry_run=dry_run)
    done = import_file(str(path), institution, made, options, outputs=Outputs(**outputs))
    return done.document()


def kept(made: Job, *but: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of the store of a job, except of the tables named."""
    with made.store(read_only=True) as store:
        return snapshot(store, *but)


def found(made: Job, sql: str) -> list[tuple[Any, ...]]:
    """Return what a query of the test finds in the store of a job."""
    with made.store(read_only=True) as store:
        return select(store, sql)


def short_nights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a night be what it does with files, without what becomes of them: a third of its time."""
    from cardoffers_cli.jobs.night import run  # noqa: PLC0415  heavy

    kept = [step for step in run.STEPS if step.name in {"import", "second_look"}]
    monkeypatch.setattr(run, "STEPS", kept)
    monkeypatch.setattr(run, "write_night_page", lambda *_: None)
    monkeypatch.setattr(run, "write_runs_page", lambda *_: None)


RECORDS = ("runs", "imports", "duplicates", "rejects")
"""The tables that say what runs did; only they grow when a file comes again."""
