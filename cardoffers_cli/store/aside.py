"""Files that are kept under another name, where others would be overwritten or deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.store.journal_file import sync_folder
from cardoffers_cli.store.layout import kept_name

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
