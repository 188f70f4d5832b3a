"""What every job is given: where the store is, the settings, the clock and who runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.store.layout import resolved
from cardoffers_cli.kernel.store.opening import Opening, open_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from datetime import datetime
    from pathlib import Path

    from cardoffers_cli.kernel.store.settings import Settings
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.errors import StoreBusy


@dataclass(frozen=True)
class Reading:
    """What is read: the store or, since `busy` says that it is held, the snapshot of a moment."""

    store: Store
    snapshot_at: datetime | None = None
    busy: StoreBusy | None = None


def _nobody(_reading: Reading) -> None:
    """Tell nobody."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One run of one command. `now` is the only clock its work ever sees (naive UTC).

    `path` is the store's own, with the links followed of the one that was named.
    `on_reading` is told what a person is answered from: the store, or its snapshot.
    `machine` gives the machine's clock.
    """

    path: Path
    settings: Settings
    now: datetime
    actor: str
    command: str
    on_reading: Callable[[Reading], None] = _nobody
    machine: Callable[[datetime], datetime] = real_now

    def __post_init__(self) -> None:
        """Follow links, here and nowhere else: two names of one file are one store."""
        object.__setattr__(self, "path", resolved(self.path))

    def opening(self, *, read_only: bool = False, wait_s: float | None = None) -> Opening:
        """Say how this job opens its store, and how long it waits if not as the settings say."""
        return Opening(
            path=self.path,
            settings=self.settings,
            command=self.command,
            now=self.now,
            since=real_now(),
            machine=self.machine,
            read_only=read_only,
            wait_s=self.settings.lock_wait_s if wait_s is None else wait_s,
        )

    def store(
        self, *, read_only: bool = False, wait_s: float | None = None
    ) -> AbstractContextManager[Store]:
        """Open the store for the length of a `with` block, under its lock."""
        return open_store(self.opening(read_only=read_only, wait_s=wait_s))
