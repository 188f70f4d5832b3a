"""A store that stays open from one use to the next, until somebody else wants it.

To open and close a store costs as much as ten statements, so a server keeps it open. That is safe
because all that an opening looks at was looked at, and nobody else can have changed anything since:
the lock is held. What can change is what lies at the path, so that is looked at before each use:
the file, and the lock beside it. Where either is another one than was opened the store is let go,
and opened anew, which says what is wrong.

Whoever wants the store takes the turn (`lock.py`). The holder looks at that between two uses, and a
hundred times a second while there is none; it closes the store, which writes its log into the file,
frees the lock, and may want the store again at once: then it waits like everybody, behind those who
came before it. A store that nobody used for a second is closed too: an idle server has nothing
open.

A process that is killed leaves the log behind, as one that was killed at work does; the next
opening reads it (`opening.look_first`).
"""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.identity import inode
from cardoffers_cli.kernel.store.opening import lock_for, must_exist, opened
from cardoffers_cli.kernel.words.errors import CardoffersError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.kernel.store.lock import Lock
    from cardoffers_cli.kernel.store.opening import Opening
    from cardoffers_cli.kernel.store.store import Store

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
            with suppress(CardoffersError):  # the first error is the one to tell
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
