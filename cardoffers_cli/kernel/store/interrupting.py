"""Breaking off the statements of a connection from another thread.

The engine can be interrupted, but forgets it where a statement is only about to begin, and the next
one runs on. So an interrupt is remembered here, and repeated until the statement has ended.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock, Thread
from time import sleep
from typing import TYPE_CHECKING

import duckdb

from cardoffers_cli.kernel.words.errors import Interrupted

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        self._begin()
        try:
            yield
        except duckdb.InterruptException:
            if self._is_interrupted:
                raise Interrupted from None
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

    def _begin(self) -> None:
        with self._lock:
            if self._is_interrupted:
                raise Interrupted
            self._runs = True

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
