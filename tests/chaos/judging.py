"""What a place holds, and what became of it when a command was struck and run again.

All tables and files are compared with what two undisturbed runs leave. What differs between those
two (random ids, real moments) tells nothing, and is left out.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.opening import open_copy
from cardoffers_cli.kernel.store.store import guarded
from cardoffers_cli.kernel.words.errors import StoreVersion
from chaos.places import job_of
from nights import lasting
from tables import TABLES, select

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store

Columns = dict[str, int]
Tables = dict[str, tuple[int, Columns]]

BESIDE = re.compile(
    r"\.(wal(\.\w+)?|new|tmp)$"
    r"|(^|/)(journal|lock|turn|night|sender|engine|usage|usage-wal|usage-shm|copied)$"
    r"|(^|/)point-[^/]+$"
)
"""Files of a store that say nothing of what is in it, and points, which have a run of their own."""
_KEPT = re.compile(r"\.kept[0-9]+")
"""What is kept beside another that was kept in the same second."""
_STORES = re.compile(r"(\.duckdb|^snapshot)(\.[0-9TZ]+\.kept[0-9]*)?$")
"""Stores, and what was put in their place is kept."""
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]{8}T[0-9]{6}Z")
"""What is random in the name of a file."""
_OF_TRIES = re.compile(
    r"(^|_)run_no$|^(duration_ms|started_at|signed_at_s|next_attempt_at|attempts)$"
)
"""Columns that tell how often something was tried, and when."""
_OF_STEPS = frozenset({"status", "counts", "findings"})
"""The same of the steps of a night: they say what was cut off and sent again."""
_LEFT_OUT = frozenset({"runs"})
"""Tables with a row for each try; `doctor` holds them against the journal."""
_READ: dict[bytes, Tables] = {}
"""What stores hold, by the digest of their files: most of them are read many times."""


KINDS = ("lost", "doubled", "silent", "other")


@dataclass(frozen=True, kw_only=True)
class Content:
    """What is in a place: of each table the rows and a sum of each column, of each file a digest.

    A table is named with the file of its store. Hidden files are drafts, and are left out.
    """

    tables: Tables
    files: dict[str, list[str]]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What is wrong with a place: one of `KINDS`, and where."""

    kind: str
    text: str


def content(folder: Path, only: str = "*") -> Content:
    """Return what is in a place, or in some files of it; the stores in it are read as they are."""
    tables: Tables = {}
    files: dict[str, list[str]] = {}
    for path in sorted(folder.rglob(only)):
        name = path.relative_to(folder)
        if not path.is_file() or name.name.startswith(".") or BESIDE.search(name.name):
            continue
        shown = _ID.sub("ID", _KEPT.sub(".kept", str(name)))
        if _STORES.search(name.name):
            tables = {**_tables(folder, path, shown), **tables}
        else:
            digest = hashlib.sha256(lasting(path)).hexdigest()
            files.setdefault(shown, []).append(digest)
    return Content(tables=tables, files={name: sorted(files[name]) for name in files})


def _tables(folder: Path, path: Path, shown: str) -> Tables:
    """Return the tables of a store, whatever its journal says; none of another version."""
    read = [path, *path.parent.glob(f"{path.name}.wal*"), *sorted(folder.rglob("*.parquet"))]
    digest = b"".join(hashlib.blake2b(file.read_bytes()).digest() for file in read)
    if digest not in _READ:
        try:
            with open_copy(path, job_of(folder).settings) as store, guarded():
                _READ[digest] = dict(_sums(store))
        except StoreVersion:
            _READ[digest] = {}
    return {f"{shown}:{table}": sums for table, sums in _READ[digest].items()}


def _sums(store: Store) -> Iterator[tuple[str, tuple[int, Columns]]]:
    for (table,) in select(store, TABLES):
        if table in _LEFT_OUT:
            continue
        described = store.connection.execute(f"select * from {table} limit 0").description  # noqa: S608 - a table's name
        names = [column[0] for column in described or ()]
        names = [name for name in names if not _OF_TRIES.search(name)]
        if table == "night_steps":
            names = [name for name in names if name not in _OF_STEPS]
        sums = ", ".join(f'sum(hash("{name}")::hugeint)' for name in names)
        count, *found = select(store, f"select count(*), {sums} from {table}")[0]  # noqa: S608 - of ours
        yield table, (count, {name: each or 0 for name, each in zip(names, found, strict=True)})


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What an undisturbed command leaves, and which of it no two leave alike."""

    content: Content
    other: Content

    def faults(self, found: Content, more_rows: set[str]) -> list[Fault]:
        """Say how what was found differs; some tables may have more rows."""
        return [*self._of_tables(found, more_rows), *self._of_files(found)]

    def _of_tables(self, found: Content, more_rows: set[str]) -> Iterator[Fault]:
        for name, (count, columns) in self.content.tables.items():
            if name not in found.tables:
                yield Fault(kind="lost", text=name)
                continue
            there, values = found.tables[name]
            others = self.other.tables[name][1]
            same = {column for column, value in columns.items() if others[column] == value}
            changed = sorted(column for column in same if values.get(column) != columns[column])
            text = f"{name}: {count:,} rows, {there:,} found; {' '.join(changed)}"
            if there < count:
                yield Fault(kind="lost", text=text)
            elif there > count and name.partition(":")[2] not in more_rows:
                yield Fault(kind="doubled", text=text)
            elif there == count and changed:
                yield Fault(kind="other", text=text)
        for store in {name.partition(":")[0] for name in found.tables.keys() - self.content.tables}:
            if not store.endswith(".kept"):
                yield Fault(kind="other", text=f"{store} has more tables, or is new")

    def _of_files(self, found: Content) -> Iterator[Fault]:
        for name, digests in self.content.files.items():
            there = found.files.get(name, [])
            if len(there) < len(digests):
                yield Fault(kind="lost", text=name)
            elif len(there) > len(digests) and ".kept" not in name:  # each try keeps what was there
                yield Fault(kind="doubled", text=name)
            elif digests == self.other.files.get(name) and Counter(digests) - Counter(there):
                yield Fault(kind="other", text=f"{name} has other bytes")
        for name in found.files.keys() - self.content.files.keys():
            yield Fault(kind="other", text=f"{name} is new")


def said(error: Any) -> str:
    """Return what a failure says, in one line."""
    return f"{error.code}: {error.message} {error.hint or ''}".replace("\n", " ")
