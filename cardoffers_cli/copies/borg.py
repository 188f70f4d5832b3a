"""A repository of BorgBackup: points that share what they have alike, encrypted and checked.

`borg` is a process without a shell, with a folder of its own beside the store. It cuts files into
the header and the blocks of the engine's file, so a point adds the blocks that changed. What failed
is known by the `msgid` of its log, which is the same in 1.2 and 1.4.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from cardoffers_cli.copies.plain import away, damaged
from cardoffers_cli.copies.points import StorePoint
from cardoffers_cli.kernel.disk.folders import digest_of
from cardoffers_cli.kernel.disk.outputs import read_private_file
from cardoffers_cli.kernel.store.layout import borg_path, make_folder
from cardoffers_cli.kernel.words import errors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cardoffers_cli.kernel.store.settings import Settings

_STORE, _FILES = "store", "files"
_NO_ROOM = re.compile(r"No space left|InsufficientFreeSpace|StorageQuotaExceeded|Errno 28")
_OLDEST = (1, 2)


class BorgRepository:
    """The repository at a path, or at `ssh://user@host/path` with borg at the other end."""

    def __init__(self, place: str, store: Path, settings: Settings) -> None:
        self._place = place if "://" in place else str(Path(place).absolute())
        self._store, self._settings = store, settings

    def put(self, point: StorePoint, packed: bytes, copy: Path | None = None) -> int:
        """Put a point here, where it is the first into a new repository; return what it added."""
        facts = " ".join(f"{name}={quote(str(value))}" for name, value in point.facts())
        how = ("--chunker-params", "fixed,262144,12288", "--compression", "zstd,3")
        with self._folder() as made:
            folder = Path(made)
            (folder / _FILES).write_bytes(packed)
            if copy:
                os.link(copy, folder / _STORE)
            name = f"{self._place}::{point.point}"
            words = ("create", "--json", *how, "--comment", facts, name, ".")
            try:
                told = self._run(*words, at=folder)
            except errors.NotFound:
                self._run("init", "--encryption", "repokey", self._place)
                told = self._run(*words, at=folder)
        return int(json.loads(told)["archive"]["stats"]["deduplicated_size"])

    def points(self) -> list[StorePoint]:
        """Return what is here, of our own; raise `NotFound` where there is no repository."""
        told, points = self._run("list", "--json", "--format", "{comment}", self._place), []
        for archive in json.loads(told)["archives"]:
            pairs = (text.partition("=") for text in archive["comment"].split())
            with suppress(ValueError):
                points.append(StorePoint.read({name: unquote(value) for name, _, value in pairs}))
        return points

    def get(self, point: StorePoint, copy: Path | None = None) -> bytes:
        """Return the small files of a point, and fill the copy of its store if one is wanted."""
        but = () if copy else ("--exclude", _STORE)
        with self._folder() as made:
            folder = Path(made)
            self._run("extract", *but, f"{self._place}::{point.point}", at=folder)
            if copy:
                shutil.move(folder / _STORE, copy)
                if digest_of(copy) != point.sha256:
                    raise damaged(point.point)
            return (folder / _FILES).read_bytes()

    def faults(self, points: Iterable[StorePoint]) -> list[str]:
        """Read every byte of the repository; return the names of points that are not whole."""
        try:
            self._run("check", "--verify-data", self._place, worst=0)
        except errors.FileUnusable:
            return [point.point for point in points if not self._is_whole(point)] or [self._place]
        return []

    def _is_whole(self, point: StorePoint) -> bool:
        with suppress(errors.FileUnusable):
            self._run("extract", "--dry-run", f"{self._place}::{point.point}", worst=0)
            return True
        return False

    def prune(self, points: Iterable[StorePoint]) -> None:
        """Remove these points, and give their room back."""
        self._run("delete", self._place, *(point.point for point in points))
        self._run("compact", self._place)

    def _folder(self) -> TemporaryDirectory[str]:
        return TemporaryDirectory(f".{os.getpid()}.part", ".borg.", make_folder(self._store))

    def _run(self, *words: str, at: Path | None = None, worst: int = 1) -> bytes:
        file = self._settings.copies_passphrase_file
        passphrase = self._settings.copies_passphrase or (read_private_file(file) if file else "")
        own = {
            "BORG_BASE_DIR": str(borg_path(self._store).absolute()),
            "BORG_PASSPHRASE": passphrase.strip(),
        }
        line = ["borg", "--log-json", "--show-version", "--lock-wait", "60", *words]
        try:
            done = subprocess.run(  # noqa: S603 - our own words, and no shell
                line, cwd=at, env=os.environ | own, capture_output=True, check=False
            )
        except FileNotFoundError:
            raise _unusable("There is no program `borg`, which keeps copies.") from None
        text = done.stderr.decode("utf-8", "replace")
        version = re.search(r"borgbackup version (\d+)\.(\d+)", text)
        if version and tuple(map(int, version.groups())) < _OLDEST:
            raise _unusable(f"{version[0]} is too old to keep copies.")
        if done.returncode > worst:
            raise _failure(self._place, text)
        return done.stdout


def _unusable(message: str) -> errors.ConfigurationError:
    hint = "Install BorgBackup 1.2 or newer, such as `apt install borgbackup`."
    return errors.ConfigurationError(message, code="borg_missing", hint=hint)


def _failure(place: str, text: str) -> errors.CardoffersError:
    """Return what the log of a process that failed says: its last error."""
    log = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    faults = [line for line in log if line.get("levelname") == "ERROR"]
    fault = faults[-1] if faults else {}
    code, words = str(fault.get("msgid")), str(fault.get("message") or text).strip()
    message = f"The repository {place}: {words}"
    if code in {"Repository.DoesNotExist", "Repository.InvalidRepository"}:
        return away(place)
    if _NO_ROOM.search(text):
        return errors.NoSpace(message, hint="Free some space there.")
    if code.startswith("LockTimeout"):
        return errors.StoreBusy(message, hint="Run it again when the other is done.")
    if code.startswith("Connection"):
        return errors.NetworkFailure(message, hint="Try again later.")
    return errors.FileUnusable(message, code="copies_failed", hint="Look at it with `borg`.")
