"""Files that are kept under another name, where others would be overwritten or deleted."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from cardoffers_cli.store.journal import sync_folder

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

STAMP = "%Y%m%dT%H%M%SZ"
"""How a moment stands in the name of a file."""


def kept_name(path: Path, since: datetime) -> Path:
    """Return a name that nothing has, for a file that is put aside at this moment."""
    name = f"{path.name}.{since:{STAMP}}.kept"
    names = (path.with_name(f"{name}{number or ''}") for number in count())
    return next(each for each in names if not each.exists())


def put_aside(path: Path, since: datetime) -> Path | None:
    """Rename a file, if it is there; return where it is kept."""
    if not path.exists():
        return None
    kept = path.rename(kept_name(path, since))
    sync_folder(path.parent)
    return kept
