"""The drop folder (rules.md#drop-folder): which files of `DROP_DIR/<institution>/` are ready.

A file is ready when a marker lies beside it (`NAME.done`, or a manifest `NAME.manifest.json`), or
when its size, time and inode have stood still for a while and nobody has it open for writing, as
far as that can be seen. NAME is the name of the file, with or without its suffix. Not input are
hidden files, folders, markers, reports of a night, and names that programs give to half a file.

DROP_DIR is the operator's; what is in the folder of an institution is whatever that institution
likes. So nothing there is opened but plain files under one name, relative to the folder they are
in, and everything else is a stray: it is named and left alone.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.disk.folders import OpenFolder, is_plain, stamp_of, what_is
from cardoffers_cli.kernel.sheets.exports import held_open_below, is_held_open

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

MARKER, MANIFEST = ".done", ".manifest.json"
REPORTS = (".errors.csv", ".rejected.csv", ".rejected.json", ".rejected.jsonl")

HALVES = (".part", ".partial", ".tmp", ".temp", ".filepart", ".crdownload", ".swp", "~")
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, kw_only=True)
class DropFile:
    """A file in the drop folder. `stamp` tells it from another one of the same name."""

    institution: str
    name: str
    size_bytes: int
    stamp: str
    identity: tuple[int, int]
    written_s: float
    is_marked: bool
    is_compressed: bool


@dataclass(frozen=True, kw_only=True)
class UnknownFile:
    """What is not taken whenever the night comes: where it lies, what it is, and a code for it."""

    name: str
    what: str
    code: str = "stray_file"


@dataclass(frozen=True, kw_only=True)
class DropScan:
    """What lies in the drop folder: input, and what nobody knows what to do with."""

    files: tuple[DropFile, ...]
    strays: tuple[UnknownFile, ...]


@dataclass(frozen=True, kw_only=True)
class WaitingFile:
    """A file that is not ready: it is too `young`, `open` for writing, or lacks a `marker`."""

    file: DropFile
    why: str


def look(drop: Path) -> DropScan:
    """List the drop folder by institution and name; raises `OSError` where it cannot be read."""
    files: list[DropFile] = []
    strays: list[UnknownFile] = []
    with OpenFolder.open(drop) as root:
        entries = [entry for entry in root.entries() if not entry.name.startswith(".")]
        owners = {name: uid for entry in entries for name, uid in _owner(entry)}
        for entry in entries:
            if entry.name not in owners:
                strays.append(
                    UnknownFile(name=_shown(entry.name), what="not in an institution's folder")
                )
                continue
            others = {uid for name, uid in owners.items() if name != entry.name}
            strangers = others - {owners[entry.name], os.geteuid(), 0}
            try:
                with root.folder(entry.name) as folder:
                    files.extend(_in_folder(folder, entry.name, strangers, strays))
            except OSError:
                strays.append(UnknownFile(name=entry.name, what="a folder that cannot be read"))
    return DropScan(files=tuple(files), strays=tuple(strays))


def ready(
    first: DropScan,
    second: DropScan,
    *,
    now_s: float,
    quiet_s: float,
    by_marker: Collection[str] = (),
) -> tuple[list[DropFile], list[WaitingFile]]:
    """Divide the files of two looks, some time apart, into those that are ready and the others.

    `now_s` is the real clock, in seconds since 1970; a time in the future tells nothing, and the
    two looks decide. Of the institutions `by_marker` only files with a marker are ready.
    """
    before = {(file.institution, file.name): file.stamp for file in first.files}
    files: list[DropFile] = []
    waiting: list[WaitingFile] = []
    for file in second.files:
        is_still = before.get((file.institution, file.name)) == file.stamp
        if file.is_marked:
            files.append(file)
        elif not is_still or 0 <= now_s - file.written_s < quiet_s:
            waiting.append(WaitingFile(file=file, why="young"))
        elif file.institution in by_marker:
            waiting.append(WaitingFile(file=file, why="marker"))
        else:
            files.append(file)
    return files, waiting


def held_open(drop: Path, files: Sequence[DropFile]) -> set[DropFile]:
    """Return the files that somebody has open for writing, as far as that can be seen."""
    open_files, unknown = set(), []
    with OpenFolder.open(drop) as root:
        for file in files:
            with suppress(OSError):
                is_open = _asked(root, file)
                if is_open is None:
                    unknown.append(file)
                elif is_open:
                    open_files.add(file)
    if unknown:
        written = held_open_below(drop)
        open_files.update(file for file in unknown if file.identity in written)
    return open_files


def _asked(root: OpenFolder, file: DropFile) -> bool | None:
    try:
        with root.folder(file.institution) as folder, folder.plain_file(file.name) as opened:
            return is_held_open(opened)
    except BlockingIOError:  # its writer wants to be asked before anybody reads it
        return True


def marker_names(name: str) -> Iterator[str]:
    """Yield the names that markers of a file have, those with its whole name first."""
    for stem in dict.fromkeys((name, os.path.splitext(name)[0])):  # noqa: PTH122  a name, no path
        yield stem + MARKER
        yield stem + MANIFEST


def clear_drafts(folder: Path) -> None:
    """Remove what a process that was killed left half written in a folder of ours."""
    with suppress(FileNotFoundError):
        for entry in sorted(folder.iterdir()):
            if entry.name.startswith(".") and entry.name.endswith(".part"):
                entry.unlink(missing_ok=True)


def _owner(entry: os.DirEntry[str]) -> Iterator[tuple[str, int]]:
    """Yield the name and owner of a folder of an institution; nothing of anything else."""
    if entry.is_dir(follow_symlinks=False) and _is_text(entry.name):
        with suppress(FileNotFoundError):
            yield entry.name, entry.stat(follow_symlinks=False).st_uid


def _in_folder(
    folder: OpenFolder, institution: str, strangers: set[int], strays: list[UnknownFile]
) -> Iterator[DropFile]:
    """Yield the input in the folder of an institution; owners among `strangers` are not of it."""
    entries = list(_looked_at(folder))
    markers = {entry.name for entry, file_stat in entries if is_plain(file_stat, folder.owner)}
    for entry, file_stat in entries:
        name = f"{institution}/{_shown(entry.name)}"
        if stat.S_ISDIR(file_stat.st_mode):
            if "." in entry.name:  # others are archives of theirs, or of earlier versions
                strays.append(UnknownFile(name=name, what=what_is(file_stat)))
        elif not stat.S_ISREG(file_stat.st_mode):
            strays.append(UnknownFile(name=name, what=what_is(file_stat)))
        elif entry.name.endswith((MARKER, MANIFEST, *REPORTS, *HALVES)):
            continue
        elif not is_plain(file_stat, folder.owner):
            strays.append(UnknownFile(name=name, what=what_is(file_stat), code="file_linked"))
        elif not _is_text(entry.name):
            strays.append(UnknownFile(name=name, what="a file whose name is not UTF-8"))
        elif file_stat.st_uid in strangers:
            what = "a file that belongs to the user of another institution"
            strays.append(UnknownFile(name=name, what=what, code="file_of_another"))
        else:
            yield DropFile(
                institution=institution,
                name=entry.name,
                size_bytes=file_stat.st_size,
                stamp=stamp_of(file_stat),
                identity=(file_stat.st_dev, file_stat.st_ino),
                written_s=file_stat.st_mtime,
                is_marked=not markers.isdisjoint(marker_names(entry.name)),
                is_compressed=_is_compressed(folder, entry.name),
            )


def _looked_at(folder: OpenFolder) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    for entry in folder.entries():
        if not entry.name.startswith("."):
            with suppress(FileNotFoundError):
                yield entry, entry.stat(follow_symlinks=False)


def _is_compressed(folder: OpenFolder, name: str) -> bool:
    try:
        with folder.plain_file(name) as opened:
            return os.pread(opened, 2, 0) == _GZIP
    except OSError:
        return False


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()
