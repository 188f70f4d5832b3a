"""The processed folder: where files are kept that were taken, `<processed>/<institution>/…`.

`taken/` holds a file while a night works on it, `done/` what was imported, `failed/` what could not
be, and `held/` what seems to be half a file, each with its markers and the reports on it. All of it
is this service's own: nobody else may write there, which is looked at whenever a folder is opened.
So names in it mean what they say. Nothing in it is ever overwritten: a name that is in use gets a
number.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from cardoffers_cli.drop.drop import MANIFEST, MARKER, REPORTS
from cardoffers_cli.kernel.disk.folders import NAME_BYTES, OpenFolder, numbered
from cardoffers_cli.kernel.disk.lasting import sync_folder_if_possible
from cardoffers_cli.kernel.words.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TAKEN, DONE, FAILED, HELD = "taken", "done", "failed", "held"
KEPT_IN = {"imported": DONE, "failed": FAILED, "held": HELD}
"""Where a file is kept, by its state."""

_OTHERS = (MARKER, MANIFEST, *REPORTS)
"""What lies beside a file, its name and one of these."""
_NAME_BYTES = NAME_BYTES - 55
"""What a name may have, so that a number, one of those, and a draft's own marks still fit."""
_SUFFIX_BYTES = 30


class ProcessedFolder:
    """The processed folder of a store at `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def prepare(self) -> None:
        """Make it where it is missing; raise `ConfigurationError` where others may write in it."""
        with suppress(OSError):  # which the look at it tells
            self.root.mkdir(mode=0o700)
            sync_folder_if_possible(self.root.parent)
        self.check()

    def check(self) -> None:
        """Raise `ConfigurationError` where it is no folder, or others may write in it."""
        try:
            with OpenFolder.open(self.root) as folder:
                folder.must_be_private()
        except OSError as error:
            raise ConfigurationError(
                f"{self.root}, where files are kept that were taken, cannot be used: "
                f"{error.strerror}.",
                code="processed_unusable",
                hint="Make the folder, let it belong to this user, or set processed_dir.",
            ) from None

    @contextmanager
    def folder(self, institution: str, kind: str) -> Iterator[OpenFolder]:
        """Open one of the folders of an institution, and make it where it is missing."""
        with (
            OpenFolder.open(self.root) as root,
            root.private(institution) as own,
            own.private(kind) as folder,
        ):
            root.must_be_private()
            yield folder

    def path(self, institution: str, kind: str, name: str) -> Path:
        """Return the path of a name in one of the folders of an institution."""
        return self.root / institution / kind / name

    def used_names(self, institution: str) -> set[str]:
        """Return the names that are in use in `done/`, `failed/` and `held/` of an institution."""
        folders = [self.root / institution / kind for kind in KEPT_IN.values()]
        return {entry.name for folder in folders if folder.is_dir() for entry in folder.iterdir()}


def free_name(name: str, used: set[str]) -> str:
    """Return the name, or one like it, that neither a file nor anything beside one has.

    It fits beside its reports, and shows no control characters; a number goes before its suffixes.
    """
    name = _fitting("".join(letter if letter.isprintable() else "_" for letter in name))
    return next(
        each
        for each in numbered(name)
        if used.isdisjoint({each, *(each + other for other in _OTHERS)})
    )


def _fitting(name: str) -> str:
    """Cut a name that is too long in the middle, where a digest tells it from others like it."""
    encoded = name.encode()
    if len(encoded) <= _NAME_BYTES:
        return name
    _, dot, suffix = name.rpartition(".")
    end = f"{dot}{suffix}" if len(suffix.encode()) < _SUFFIX_BYTES else ""
    mark = f"-{hashlib.sha256(encoded).hexdigest()[:8]}{end}"
    return encoded[: _NAME_BYTES - len(mark.encode())].decode("utf-8", "ignore") + mark
