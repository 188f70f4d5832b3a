"""Files that a killed process left of a store: drafts that were never put in place.

Whoever looks holds the store's lock, so no draft of the store is being written meanwhile. The draft
of any other file names its process, and is left alone while that lives. Drafts of backups, which
may be of another machine, are left to the next backup (`backup_places.py`).
"""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.layout import left_over, written_in

if TYPE_CHECKING:
    from pathlib import Path

_DRAFT = re.compile(r"\.(?!cardoffers-backup\.).+\.(\d+)\.part")


def leftovers(store: Path) -> list[Path]:
    """Return what nobody needs any more of the store of this path, in its runs and reports."""
    drafts = (path for folder in written_in(store) for path in folder.glob(".*.part"))
    named = ((path, _DRAFT.fullmatch(path.name)) for path in drafts)
    orphans = (path for path, found in named if found and not is_alive(int(found[1])))
    return sorted([*left_over(store), *orphans])


def sweep(store: Path) -> list[Path]:
    """Remove what was left behind; call it with the store's lock, before the store is opened."""
    found = leftovers(store)
    for path in found:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return found


def is_alive(pid: int) -> bool:
    """Whether a process of this machine lives."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
