"""What DuckDB raises, as one of our errors; its texts may quote data, so they are not passed on.

Damage is said as damage, with what to type, wherever it is met: opening, reading, committing. The
engine checks every block that it reads, and says what it finds in a dozen ways; they are told apart
by their class and by the words of the engine itself.
"""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, Thread
from time import sleep
from typing import TYPE_CHECKING

import duckdb

from cardoffers_cli.kernel.store.layout import log_paths
from cardoffers_cli.kernel.words import errors

if TYPE_CHECKING:
    from collections.abc import Iterator


READ_ONLY = "read_only"
"""The code of a store that somebody wants to write to and may not."""

IN_MEMORY = ":memory:"

_DAMAGED = (duckdb.FatalException, duckdb.InternalException, duckdb.SerializationException)
"""What the engine raises where its own data contradict each other, or after it has failed."""
_WORDS_OF_DAMAGE = re.compile(
    r"corrupt|could not (?:read|write|sync|fsync|truncate|remove|rename)|input/output error"
    r"|not a valid DuckDB database|replaying WAL|WAL (?:file|was created|checkpoint)",
    re.IGNORECASE,
)
_NOT_PERMITTED = re.compile(r"Permission denied|Read-only file system|Operation not permitted")
_NO_ROOM = re.compile(r"No space left|Disk quota exceeded|failed to offload", re.IGNORECASE)
_FILE = re.compile(r'file "([^"]+)"')
_PID = re.compile(r"PID (\d+)")
_TRACEBACK = re.compile(r"Traceback \(most recent call last\):\n(?:[ ].*\n)*([\w.]+)")
"""What is told of an exception in a package of fsspec, by which the history is read."""


class SchemaUnknown(errors.CardoffersError, code="store_error"):
    """The store lacks a table or a column that a statement names."""


def of_statement(error: duckdb.Error, path: str = "") -> errors.CardoffersError:
    """Return what an error of a statement means, on the store at `path` if that is known."""
    text = str(error)
    if failure := _of_the_machine(error, path, text):
        return failure
    if isinstance(error, duckdb.IOException | duckdb.InvalidInputException) and ".parquet" in text:
        return errors.StoreDamaged.from_table("kernel/store", "history_damaged")
    if isinstance(error, duckdb.InterruptException):
        raise KeyboardInterrupt from error
    if "cannot encode str" in text:
        return errors.UsageError(errors.NO_TEXT)
    if type(error) is duckdb.Error:  # of none of its kinds: what it read made no sense to it
        raised = _TRACEBACK.match(text)
        return errors.history_failure(raised[1].rpartition(".")[2]) if raised else unreadable()
    if path != IN_MEMORY and _is_damage(error, text):
        return _damaged(path, error)
    ours = (
        SchemaUnknown
        if isinstance(error, duckdb.CatalogException | duckdb.BinderException)
        else errors.CardoffersError
    )
    return ours(
        f"The store refused a statement ({type(error).__name__}).",
        code="store_error",
        hint="Run it again with --debug and report what it prints.",
    )


def unreadable() -> errors.StoreDamaged:
    """Return the error of what was read and cannot be what was written."""
    return errors.StoreDamaged(
        "A part of the store, or of its history, cannot be read.",
        hint="`cardoffers doctor --strict` says what is damaged.",
    )


def of_opening(error: duckdb.Error, path: Path) -> errors.CardoffersError:
    """Return what it means that a file was not opened."""
    text = str(error)
    if "Could not set lock" in text:
        pid = _PID.search(text)
        holder = f"process {pid[1]}" if pid else "another program"
        return errors.StoreBusy(
            f"The store is open in {holder}, which does not use this program's lock.",
            hint="Close it there and try again.",
            holder={"pid": int(pid[1])} if pid else {},
        )
    if failure := _of_the_machine(error, str(path), text):
        return failure
    if "version number" in text or "storage version" in text.lower():
        return errors.StoreVersion(
            f"The store at {path} was written by another DuckDB version.",
            hint=f"This program runs DuckDB {duckdb.__version__}: use the version that made it.",
        )
    return errors.StoreDamaged(
        f"{path} is not a store, or is damaged.", hint=_way_on(path), file=str(path)
    )


def _damaged(path: str, error: duckdb.Error) -> errors.StoreDamaged:
    """Return the error of a store a part of which cannot be read."""
    kind = type(error).__name__
    how = (
        f"may be damaged: the engine failed on it ({kind})"
        if isinstance(error, _DAMAGED)
        else f"is damaged: a part of it cannot be read or written ({kind})"
    )
    return errors.StoreDamaged(
        f"{path or 'The store'} {how}. Nothing of this step was kept.",
        hint="`cardoffers doctor --strict` reads all of it and says what is damaged; `cardoffers "
        "store restore FILE` puts a backup in its place.",
        file=path or None,
    )


def not_permitted(path: Path, *, is_mounted: bool) -> errors.Refused:
    """Return the refusal to write to a store, or beside it, where nothing may be written."""
    if is_mounted:
        return errors.Refused(
            f"{path} is on a disk that is mounted for reading only.",
            code=READ_ONLY,
            hint="Mount it for writing, or name another store with --store. What only reads, such "
            "as `cardoffers status`, works as it is.",
            file=str(path),
        )
    return errors.Refused(
        f"{path} may not be written by this user.",
        code=READ_ONLY,
        hint=f"Run it as the user who owns it, or give this one the right: `chmod u+w {path}`.",
        file=str(path),
    )


def _of_the_machine(error: duckdb.Error, path: str, text: str) -> errors.CardoffersError | None:
    """Return what an error means that says nothing of the store: room, memory, permission."""
    named = _FILE.search(text)
    file = Path(named[1]) if named else None
    if _NO_ROOM.search(text):
        return errors.NoSpace(
            f"The disk that holds {file or 'the store'} is full.",
            hint="Free space and run it again.",
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        return errors.CardoffersError(
            "The work does not fit in the memory it may use.",
            code="memory",
            hint="Raise memory_limit in the configuration, or give temp_directory more room.",
        )
    if file and (denied := _NOT_PERMITTED.search(text)):
        is_mounted = "file system" in denied[0]
        if path and str(file).startswith(path):  # the store itself, or its log
            return not_permitted(Path(path), is_mounted=is_mounted)
        return errors.Refused(
            f"The engine may not read or write {file}.",
            code=READ_ONLY if is_mounted else "permission",
            hint=f"Give this user the right to read and write in {file.parent}.",
        )
    return None


def _is_damage(error: duckdb.Error, text: str) -> bool:
    if isinstance(error, _DAMAGED):
        return True
    may_be = type(error) is duckdb.Error or isinstance(
        error, duckdb.IOException | duckdb.InvalidInputException | duckdb.TransactionException
    )
    return may_be and bool(_WORDS_OF_DAMAGE.search(text))


def _way_on(path: Path) -> str:
    """Return what to do with a file that does not open."""
    restore = "put a backup in its place with `cardoffers store restore FILE`"
    with suppress(OSError):
        if any(log.exists() for log in log_paths(path)):
            return (
                "It may be whole without the log of its last seconds: `cardoffers store recover "
                f"--dry-run` looks, and changes nothing. Else {restore}."
            )
    return f"Name the right file with --store; if it is the right one, {restore}."


# Breaking off the statements of a connection from another thread.
#
# The engine can be interrupted, but forgets it where a statement is only about to begin, and the
# next one runs on. So an interrupt is remembered here, and repeated until the statement has ended.


_AGAIN_S = 0.005


class Interruptible:
    """The statements of one connection, one after the other, until they are interrupted."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._lock = Lock()
        self._runs = False
        self._is_interrupted = False

    @contextmanager
    def statement(self) -> Iterator[None]:
        """Let a statement run in the block; raise `Interrupted` if it may not, or not on."""
        with self._lock:
            if self._is_interrupted:
                raise errors.Interrupted
            self._runs = True
        try:
            yield
        except duckdb.InterruptException:
            if self._is_interrupted:
                raise errors.Interrupted from None
            raise
        finally:
            with self._lock:
                self._runs = False

    def interrupt(self) -> None:
        """Break off the statement that runs, and let no other begin; return at once."""
        with self._lock:
            is_first, self._is_interrupted = not self._is_interrupted, True
            if is_first and self._runs:
                Thread(target=self._insist, name="interrupt").start()

    def _insist(self) -> None:
        while self._interrupted_again():
            sleep(_AGAIN_S)

    def _interrupted_again(self) -> bool:
        """Interrupt what runs, and return whether anything did.

        Under the lock, because the connection may be closed once it has ended.
        """
        with self._lock:
            if self._runs:
                self._connection.interrupt()
            return self._runs
