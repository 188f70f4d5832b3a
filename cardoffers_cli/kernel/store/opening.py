"""Making, opening and checking a store file; and one that stays open until somebody else wants it.

A store is opened for the length of one job, under its lock, and closed again. To open and close one
costs as much as ten statements, so a server keeps it open: the lock is held, so nobody else can
have changed anything. What can change is what lies at the path, which is looked at before each use.
The holder looks whether anybody has the turn (`lock.py`) between two uses, and a hundred times a
second while there is none; then it closes the store, and waits like everybody. A store that nobody
used for a second is closed too. A process that is killed leaves the log behind, which the next
opening reads (`look_first`).
"""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import duckdb

from cardoffers_cli.kernel.store import (
    copying,
    engine_errors,
    identity,
    journal,
    layout,
    migrations,
)
from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.store.engine_errors import SchemaUnknown
from cardoffers_cli.kernel.store.identity import inode
from cardoffers_cli.kernel.store.lock import store_lock
from cardoffers_cli.kernel.store.statements import VIEWS
from cardoffers_cli.kernel.store.store import Store
from cardoffers_cli.kernel.words import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from cardoffers_cli.kernel.store.lock import Lock
    from cardoffers_cli.kernel.store.migrations import Migration
    from cardoffers_cli.kernel.store.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Opening:
    """Who opens which store, and how long they are ready to wait for it.

    `now` is the job's clock, `since` the real moment, for whoever is kept waiting; `wait_s` is for
    the store's lock. Who `gives_way` lets go of it as soon as somebody else wants it.
    """

    path: Path
    settings: Settings
    command: str
    now: datetime
    since: datetime | None = None
    machine: Callable[[datetime], datetime] = real_now
    read_only: bool = False
    wait_s: float = 0
    gives_way: bool = False


@contextmanager
def open_store(opening: Opening) -> Iterator[Store]:
    """Open an existing, current store; raise what is wrong with it and what to do."""
    must_exist(opening.path)
    with lock_for(opening), opened(opening) as store:
        yield store


@contextmanager
def opened(opening: Opening) -> Iterator[Store]:
    """Open a store under a lock that is held already; what is committed is in the journal too."""
    if not opening.read_only:
        look_first(opening)
    with current(opening, whole=True) as store:
        if opening.read_only:
            journal.check(store, opening.path)
        else:
            journal.keep_up(store, opening.path)
            store.after_commit = partial(journal.tell_new, store, opening.path)
        yield store


def look_first(opening: Opening) -> None:
    """Read the log of a killed process before it is written into the store, and goes.

    If the log has less than was committed it stays as it is, for whoever is to look at it.
    """
    if not any(log.exists() for log in layout.log_paths(opening.path)):
        return
    with _readable(replace(opening, read_only=True)):
        pass


@contextmanager
def current(opening: Opening, *, whole: bool = False) -> Iterator[Store]:
    """Open a store of this version under a lock that is held, whatever its journal says.

    Where it is not to be `whole`, parts of its archive may be missing, and are left out.
    """
    with connected(opening.path, opening.settings, read_only=opening.read_only) as store:
        check_version(store, opening.path, read_only=opening.read_only)
        show_archive(store, whole=whole)
        store.machine = opening.machine
        yield store


def show_archive(store: Store, *, whole: bool = True) -> None:
    """Let the views of an open store show its archive too, if it has one, as `Archive.show`."""
    if store.value("archive/archive:root") is None:
        return
    from cardoffers_cli.archive.archive import archive_of  # noqa: PLC0415 - few stores have one

    if archive := archive_of(store):
        archive.show(whole=whole)


@contextmanager
def open_copy(path: Path, settings: Settings, *, read_only: bool = True) -> Iterator[Store]:
    """Open a copy of a store to look at it, with what is there of the archive that it lists."""
    with connected(path, settings, read_only=read_only) as store:
        check_version(store, path, read_only=read_only)
        show_archive(store, whole=False)
        yield store


@contextmanager
def scratch_store(settings: Settings, *tables: str) -> Iterator[Store]:
    """Open an empty store in memory; it spills to the temporary folder beyond its limit.

    It has every table and view, or only the `tables` that are named.
    """
    store = Store(":memory:", settings)
    try:
        for table in tables:
            store.execute(f"kernel/store/schema:{table}")
        if not tables:
            migrations.make_schema(store)
        yield store
    finally:
        store.close()


def check_creation(path: Path) -> None:
    """Refuse where no store can be made: a file is already, or there is no folder."""
    if path.exists():
        raise errors.Refused.from_table("kernel/store", "store_exists", path=path)
    if not path.parent.is_dir():
        raise errors.NoStore(
            f"There is no folder {path.parent}.",
            code="folder_missing",
            hint="Make it first, or choose another path with --store.",
        )


def create_store(opening: Opening, *, rehearsal: bool = False) -> None:
    """Make a new store, a rehearsal if wanted; raise as `check_creation` does."""
    check_creation(opening.path)
    with lock_for(opening) as lock:
        check_creation(opening.path)  # still: others make stores too
        draft = layout.draft_path(opening.path)
        try:
            _make(opening, draft, rehearsal=rehearsal)
            since = opening.since or opening.now
            for path in (layout.journal_path(opening.path), layout.secrets_path(opening.path)):
                layout.put_aside(path, since)  # a store that was here once had one of its own
            layout.put_logs_aside(opening.path, since)
            copying.put_in_place(draft, opening.path)
        except BaseException:
            copying.discard(draft)
            lock.remove()
            raise


def _make(opening: Opening, draft: Path, *, rehearsal: bool) -> None:
    """Make the file under another name first: a store that is there is whole."""
    copying.discard(draft)
    with connected(draft, opening.settings) as store:
        with store.transaction():
            migrations.make_store(store, opening.now)
            if rehearsal:
                store.execute("kernel/store/runs:rehearse")
        store.execute("kernel/store/copying:checkpoint")
    copying.check_whole(draft)


def lacking(opening: Opening) -> list[Migration]:
    """Return the migrations that `migrate_store` would apply."""
    must_exist(opening.path)
    with lock_for(opening), _readable(opening) as store:
        return migrations.missing(store)


def migrate_store(opening: Opening) -> list[Migration]:
    """Bring a store to this version in one transaction; return what was applied.

    What is archived is shown to migrations too.
    """
    must_exist(opening.path)
    with lock_for(opening):
        look_first(opening)
        with _readable(opening) as store:
            show_archive(store)
            with store.transaction():
                return migrations.migrate(store, opening.now)


@contextmanager
def _readable(opening: Opening) -> Iterator[Store]:
    """Open a store of any schema that this program knows, and that has lost nothing."""
    where = opening.path, opening.settings
    with connected(*where, read_only=opening.read_only) as store:
        check_known(store, opening.path)
        journal.check(store, opening.path)
        yield store


def must_exist(path: Path) -> None:
    """Raise `NoStore` where there is no file."""
    if path.exists():
        return
    if layout.journal_path(path).exists():
        raise errors.NoStore(
            f"There is no store at {path}, but its journal is there.",
            hint="Put the file back, or restore a backup with `cardoffers store restore FILE`; "
            "`cardoffers init` begins anew, and keeps the journal under another name.",
        )
    raise errors.NoStore(
        f"There is no store at {path}.",
        hint="Make one with `cardoffers init`, or name another with --store.",
    )


@contextmanager
def lock_for(opening: Opening) -> Iterator[Lock]:
    """Hold the lock of a store that is one file with one name; raise what it is else."""
    if not opening.read_only:
        identity.check_writable(opening.path)
    with store_lock(
        opening.path,
        command=opening.command,
        since=opening.since or opening.now,
        wait_s=opening.wait_s,
        shared=opening.read_only,
        gives_way=opening.gives_way,
    ) as lock:
        identity.check(opening.path)
        yield lock


@contextmanager
def connected(path: Path, settings: Settings, *, read_only: bool = False) -> Iterator[Store]:
    """Open a file without its lock; raise what is wrong with it."""
    before = identity.inode(path)
    try:
        store = Store(str(path), settings, read_only=read_only)
    except duckdb.Error as error:
        raise engine_errors.of_opening(error, path) from error
    try:
        if before is not None and identity.inode(path) != before:
            raise errors.StoreBusy(
                f"Another file was put at {path} while it was opened.", hint="Run it again."
            )
        yield store
    finally:
        store.close()


def check_ours(store: Store, path: Path) -> tuple[int, str]:
    """Return the schema of a store and its digest; raise `StoreVersion` where it is none of ours.

    The records are simply read: to ask the engine for its tables first takes ten times as long, and
    every opening of a store comes by here.
    """
    with suppress(SchemaUnknown):
        newest = migrations.applied(store)[-1]
        return newest["version"], newest["digest"]
    with suppress(SchemaUnknown):
        if store.rows("kernel/store/too_old:migrations"):
            raise too_old(path)
    raise errors.StoreVersion(
        f"{path} is a DuckDB file, but not a cardoffers store.",
        code="store_foreign",
        hint="Name the right file with --store, or make a store with `cardoffers init`.",
    )


def too_old(path: Path) -> errors.StoreVersion:
    """Return the error of a store, or a backup of one, from before schema 1."""
    return errors.StoreVersion(
        f"{path} was made by a version that was never released: make a new store and import the "
        "files again.",
        code="store_too_old",
        hint="`cardoffers init --store PATH` makes a new store; this file was not changed.",
    )


def check_known(store: Store, path: Path) -> int:
    """Return the schema of a store; raise `StoreVersion` where this program does not know it."""
    (version, digest), newest = check_ours(store, path), migrations.newest_version()
    if version > newest:
        raise errors.StoreVersion(
            f"{path} has schema {version}; this program knows {newest} at most.",
            hint="Install the newer cardoffers that wrote it.",
            found=version,
            expected=newest,
        )
    if newest == migrations.BASELINE.version and digest != migrations.digest_of(
        migrations.BASELINE.stem
    ):
        raise too_old(path)  # schema 1 changed, as it may until it is released
    return version


def check_version(store: Store, path: Path, *, read_only: bool = True) -> None:
    """Raise `StoreVersion` unless a store has the tables and views that this program works with.

    Where a store may be written, views and macros of another version are made anew.
    """
    version, newest = check_known(store, path), migrations.newest_version()
    if version < newest:
        raise errors.StoreVersion(
            f"{path} has schema {version}; this program needs {newest}.",
            hint="Copy the file while nothing uses it, then run `cardoffers store migrate`.",
            found=version,
            expected=newest,
        )
    if store.value("kernel/store/info:views_digest") == migrations.digest_of(*VIEWS):
        return
    if read_only:
        raise errors.StoreVersion(
            f"{path} has the views of another version of cardoffers.",
            hint="Run `cardoffers store migrate`, which changes nothing else here.",
        )
    with store.transaction():
        migrations.make_views(store)


_IDLE_S = 1.0


class Holding:
    """At most one open store, of one thread."""

    def __init__(self) -> None:
        self._held: _OpenStore | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is a store to let go."""
        return self._held is not None

    @contextmanager
    def use(self, opening: Opening) -> Iterator[Store]:
        """Give the store that is held, or open one as `opening.open_store` does, and hold it.

        A store that is held for writing will do for reading. What is raised in the block lets go of
        it: a store that failed is to be looked at anew.
        """
        if self._held and not self._held.will_do(opening):
            self.let_go()
        open_store = self._held = self._held or _OpenStore(opening)
        try:
            yield open_store.store
        except BaseException:
            with suppress(errors.CardoffersError):  # the first error is the one to tell
                self.let_go()
            raise
        open_store.used_at = time.monotonic()

    def yields(self) -> bool:
        """Let go of the store if somebody wants it, or nobody used it; return whether it did."""
        if self._held is None or not self._held.is_to_go():
            return False
        self.let_go()
        return True

    def let_go(self) -> None:
        """Close the store and free its lock, if one is held."""
        open_store, self._held = self._held, None
        if open_store:
            open_store.closing.close()


class _OpenStore:
    """A store that is open, with its lock."""

    def __init__(self, opening: Opening) -> None:
        must_exist(opening.path)
        self._path = opening.path
        self._is_read_only = opening.read_only
        with ExitStack() as stack:
            self._lock: Lock = stack.enter_context(lock_for(replace(opening, gives_way=True)))
            self._file = inode(opening.path)
            self.store: Store = stack.enter_context(opened(opening))
            self.closing = stack.pop_all()
        self.used_at = time.monotonic()

    def will_do(self, opening: Opening) -> bool:
        """Whether the store is still what its path names, and open for what it is opened for."""
        is_right = opening.path == self._path and (opening.read_only or not self._is_read_only)
        return is_right and self._is_in_place()

    def is_to_go(self) -> bool:
        """Whether somebody wants the store, or it is idle, or not the one any more."""
        is_idle = time.monotonic() - self.used_at >= _IDLE_S
        return is_idle or not self._is_in_place() or self._lock.is_wanted()

    def _is_in_place(self) -> bool:
        return inode(self._path) == self._file and self._lock.is_there()
