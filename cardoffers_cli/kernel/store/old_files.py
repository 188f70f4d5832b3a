"""Files that are kept under another name, where others would be overwritten or deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.folder import sync_folder
from cardoffers_cli.kernel.store.layout import kept_name, log_paths

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path


def put_aside(path: Path, since: datetime) -> Path | None:
    """Rename a file, if it is there; return where it is kept."""
    if not path.exists():
        return None
    kept = path.rename(kept_name(path, since))
    sync_folder(path.parent)
    return kept


def put_logs_aside(store: Path, since: datetime) -> None:
    """Rename the logs that the engine has beside a closed store, which is to be another file.

    They are of a store that is gone, or what the engine left after a checkpoint, having found
    nothing in it.
    """
    for log in log_paths(store):
        put_aside(log, since)
