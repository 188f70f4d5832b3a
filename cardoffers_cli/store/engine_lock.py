"""One writer at a time in the folder of an archive: who matches on an engine, or exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import StoreBusy
from cardoffers_cli.store.alone import alone
from cardoffers_cli.store.layout import engine_path

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path


def engine_lock(store: Path) -> AbstractContextManager[None]:
    """Be the only writer for the length of the block; raise `StoreBusy` if there is one."""
    return alone(engine_path(store), _busy)


def _busy(holder: str) -> StoreBusy:
    return StoreBusy(
        f"Process {holder} is writing to the history of this store.",
        code="history_busy",
        hint="Try again when it has ended.",
    )
