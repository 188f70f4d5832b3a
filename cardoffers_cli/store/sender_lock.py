"""One sender of webhooks at a time, so that what another has claimed is surely left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import StoreBusy
from cardoffers_cli.store.alone import alone
from cardoffers_cli.store.layout import sender_path

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path


def sender_lock(store: Path) -> AbstractContextManager[None]:
    """Be the only sender of a store for the length of the block; raise `StoreBusy` if one is."""
    return alone(sender_path(store), _busy)


def _busy(holder: str) -> StoreBusy:
    return StoreBusy(
        f"Process {holder} is sending the webhooks of this store.",
        code="sender_busy",
        hint="It sends everything that is due; try again when it has ended.",
    )
