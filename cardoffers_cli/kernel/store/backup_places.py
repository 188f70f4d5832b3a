"""Where backups are put: the drafts in those folders, and a list of the folders for who asks later.

A backup is written under the name of a draft in its own folder, which says the machine and the
process that write it: several machines may share such a folder, and only the machine that a process
is of knows whether it lives. The list, `backups` in the store's folder, is for finding what a
killed backup left; nothing depends on it.
"""

from __future__ import annotations

import json
import os
import re
import socket
from contextlib import suppress
from pathlib import Path

from cardoffers_cli.kernel.store.layout import (
    backups_path,
    draft_path,
    is_alive,
    make_folder,
    replace_whole,
    with_logs,
)

_MOST = 20
"""Folders that are kept on the list, the latest."""
_DRAFT = re.compile(r"\.cardoffers-backup\.(?P<host>.+)\.(?P<pid>\d+)\.part", re.ASCII)


def draft_in(folder: Path) -> Path:
    """Return the path of the draft that this process writes in a folder."""
    return folder / f".cardoffers-backup.{_host()}.{os.getpid()}.part"


def drafts_left(folder: Path) -> list[Path]:
    """Return the drafts in a folder whose processes, of this machine, are dead."""
    drafts = []
    with suppress(OSError):
        for path in folder.iterdir():
            named = _DRAFT.fullmatch(path.name)
            if named and named["host"] == _host() and not is_alive(int(named["pid"])):
                drafts.append(path)
    return sorted(drafts)


def note(store: Path, folder: Path) -> None:
    """Remember a folder that a backup of a store is put in, as far as that can be."""
    before = known(store)
    after = [*(path for path in before if path != folder), folder][-_MOST:]
    if after == before:
        return
    draft = draft_path(store, "backups")
    text = "".join(json.dumps(str(path)) + "\n" for path in after)
    with suppress(OSError):
        make_folder(store)
        replace_whole(backups_path(store), text.encode(), draft)


def known(store: Path) -> list[Path]:
    """Return the folders that backups of a store were put in, the latest last."""
    folders = []
    with suppress(OSError):
        for line in backups_path(store).read_bytes().splitlines():
            with suppress(ValueError, TypeError):
                folders.append(Path(json.loads(line)))
    return folders


def left_in_known(store: Path) -> list[Path]:
    """Return what killed backups of a store left in the folders that are known."""
    return [
        file
        for folder in known(store)
        for draft in drafts_left(folder)
        for file in with_logs(draft)
        if file.exists()
    ]


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())[:60] or "-"
