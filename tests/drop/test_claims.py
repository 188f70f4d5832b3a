"""A file is claimed as it was found, or not at all, whatever is done to its name at any moment.

The swaps of the table below are made once before each single call to the system that a claim makes,
one after the other, so that no moment is left out and nothing hangs on time.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.drop.claims import FileClaim, put_away
from cardoffers_cli.drop.drop import look
from cardoffers_cli.drop.fetched_files import FileChangedError, private_copy, read_manifest
from cardoffers_cli.drop.file_changes import DONE, TAKEN, ProcessedFolder
from cardoffers_cli.drop.manifests import Manifest
from cardoffers_cli.intake.sources import Limits
from cardoffers_cli.kernel.disk.folders import OpenFolder
from cardoffers_cli.kernel.words.errors import FileUnusable
from disks import small_disk
from sizes import one_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OWN, SECRET = b"own,1\n", b"secret\n"
REWRITTEN = b"OWN,2\n"
MANIFEST = b'{"rows": 1}'
TIME = (2_000_000_000, 2_000_000_000)
LIMITS = Limits(stored_bytes=1000, unpacked_bytes=1000, ratio=10, check_time=lambda: None)


@pytest.fixture
def drop(tmp_path: Path) -> Path:
    """Return a drop folder with a file and its manifest, and beside it what is nobody's business.

    All of them have the same size and time.
    """
    drop = tmp_path / "drop"
    for path, content in (
        (drop / "alder" / "tx.csv", OWN),
        (drop / "alder" / ".next", b"next,\n"),
        (drop / "birch" / "tx.csv", SECRET[: len(OWN)]),
        (tmp_path / "secret", SECRET[: len(OWN)]),
        (drop / "alder" / "tx.csv.manifest.json", MANIFEST),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, TIME)
    return drop


def found(drop: Path) -> FileClaim:
    (file,) = [file for file in look(drop).files if file.institution == "alder"]
    return FileClaim(
        drop=drop, institution="alder", name=file.name, stamp=file.stamp, as_name="night-1"
    )


def taken_by(claim: FileClaim, processed: ProcessedFolder) -> tuple[bytes, Manifest | None]:
    """Claim a file, read it and put it away, as a night does; give it back where it changed."""
    with processed.folder("alder", TAKEN) as taken:
        try:
            claim.take(taken, LIMITS)
            copy = private_copy(
                taken, claim.as_name, claim.stamp_in(taken), LIMITS, beside=taken.path
            )
        except FileChangedError:
            if taken.look(claim.as_name) is not None:
                claim.give_back(taken)
            raise
        with copy.file:
            content = copy.file.read()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (
            copy.size_bytes,
            copy.sha256,
        )
        manifest = read_manifest(taken, [f"{claim.as_name}.manifest.json"], "tx.csv")
        with processed.folder("alder", DONE) as done:
            put_away(taken, claim.as_name, done, "tx.csv")
        claim.release()
    return content, manifest


@pytest.fixture
def processed(tmp_path: Path) -> ProcessedFolder:
    made = ProcessedFolder(tmp_path / "processed")
    made.prepare()
    return made


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_claimed_with_its_markers(drop: Path, processed: ProcessedFolder) -> None:
    (drop / "alder" / "tx.done").touch()
    assert (OWN, Manifest(rows=1)) == taken_by(found(drop), processed)
    assert [".next"] == names(drop / "alder")
    assert ["tx.csv", "tx.csv.done", "tx.csv.manifest.json"] == names(
        processed.root / "alder" / "done"
    )
    assert [] == names(processed.root / "alder" / "taken")


def test_a_claim_that_was_broken_off_is_finished(drop: Path, processed: ProcessedFolder) -> None:
    claim = found(drop)
    with processed.folder("alder", TAKEN) as taken:
        claim.take(taken, LIMITS)
    (drop / "alder" / "tx.csv").write_bytes(b"a later one\n")
    assert OWN == taken_by(claim, processed)[0]
    assert [".next", "tx.csv"] == names(drop / "alder")


@pytest.mark.parametrize(
    ("limits", "code"), [({"stored_bytes": 5}, "file_too_large"), ({}, "file_too_slow")]
)
def test_the_copy_keeps_to_its_limits(
    drop: Path, processed: ProcessedFolder, limits: dict[str, Any], code: str
) -> None:
    def over() -> None:
        raise FileUnusable(code="file_too_slow")

    found_limits = Limits(
        **{"stored_bytes": 9, "unpacked_bytes": 9, "ratio": 1, "check_time": over, **limits}
    )
    with processed.folder("alder", TAKEN) as taken:
        claim = found(drop)
        claim.take(taken, LIMITS)
        with pytest.raises(FileUnusable) as refused:
            private_copy(taken, "night-1", claim.stamp_in(taken), found_limits, beside=taken.path)
    assert code == refused.value.code


# Swaps


def replaced(by: Callable[[Path], None]) -> Callable[[Path], None]:
    """Return a swap that has another thing ready, and puts it over the file at once."""

    def swap(drop: Path) -> None:
        ready = drop / "alder" / ".ready"
        by(ready)
        if ready.is_dir() and not ready.is_symlink():
            with suppress(FileNotFoundError):
                (drop / "alder" / "tx.csv").rename(drop / "alder" / ".old")
        ready.rename(drop / "alder" / "tx.csv")

    return swap


def as_link(ready: Path) -> None:
    ready.symlink_to(ready.parents[2] / "secret")
    os.utime(ready, TIME, follow_symlinks=False)


def as_relative_link(ready: Path) -> None:
    ready.symlink_to("../birch/tx.csv")


def as_second_name(ready: Path) -> None:
    ready.hardlink_to(ready.parents[2] / "secret")


def as_another(ready: Path) -> None:
    ready.with_name(".next").rename(ready)


def as_socket(ready: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(ready))


def as_device(ready: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root makes devices")
    os.mknod(ready, 0o20666, os.makedev(1, 5))


def marker_swapped(drop: Path) -> None:
    marker = drop / "alder" / "tx.csv.manifest.json"
    marker.unlink(missing_ok=True)
    marker.symlink_to(drop.parent / "secret")


def marker_blocked(drop: Path) -> None:
    marker = drop / "alder" / "tx.csv.manifest.json"
    marker.unlink(missing_ok=True)
    os.mkfifo(marker)


def gone(drop: Path) -> None:
    (drop / "alder" / "tx.csv").unlink(missing_ok=True)


def folder_swapped(drop: Path) -> None:
    (drop / "alder").rename(drop / ".alder")
    (drop / "alder").symlink_to("birch")


def folder_gone(drop: Path) -> None:
    shutil.rmtree(drop / "alder")


class Writer:
    """Has the file open since before, and writes to it, wherever it may have been moved."""

    def __init__(self, write: Callable[[int], None]) -> None:
        self._write = write
        self._opened = -1

    def begin(self, drop: Path) -> None:
        self._opened = os.open(drop / "alder" / "tx.csv", os.O_RDWR)

    def __call__(self, _drop: Path) -> None:
        self._write(self._opened)


def rewrite(opened: int) -> None:
    os.pwrite(opened, REWRITTEN, 0)
    os.utime(opened, TIME)


def append(opened: int) -> None:
    os.pwrite(opened, b"more\n", len(OWN))


def cut(opened: int) -> None:
    os.ftruncate(opened, 2)


SWAPS: dict[str, Callable[[Path], None]] = {
    "a link": replaced(as_link),
    "a relative link": replaced(as_relative_link),
    "a second name of another file": replaced(as_second_name),
    "another file of the same size and time": replaced(as_another),
    "a FIFO": replaced(os.mkfifo),
    "a folder": replaced(os.mkdir),
    "a socket": replaced(as_socket),
    "a device": replaced(as_device),
    "nothing": gone,
    "a link for the manifest": marker_swapped,
    "a FIFO for the manifest": marker_blocked,
    "a link for the folder": folder_swapped,
    "no folder": folder_gone,
    "rewritten, and its time set back": Writer(rewrite),
    "appended to": Writer(append),
    "cut": Writer(cut),
}
FSYNC = os.fsync
"""Waits for a disk, which changes nothing here."""
CALLS = ("open", "stat", "fstat", "rename", "pread", "scandir", "fsync", "unlink")


class Intruder:
    """Makes a swap before the call of a number, of all that ask the system for anything."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, act: Callable[[], None], at: int) -> None:
        self.calls = 0
        self._act = act
        self._at = at
        self._is_acting = False
        for name in CALLS:
            monkeypatch.setattr(os, name, self._watched(getattr(os, name)))

    def _watched(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*given: Any, **more: Any) -> Any:
            if not self._is_acting:
                self.calls += 1
                if self.calls == self._at:
                    self._is_acting = True
                    self._act()
                    self._is_acting = False
            return None if call is FSYNC else call(*given, **more)

        return watched


def outside(drop: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes() for path in (drop.parent / "secret", drop / "birch/tx.csv")
    }


@pytest.mark.parametrize("swap", SWAPS.values(), ids=SWAPS.keys())
@one_in(4)
def test_no_swap_at_any_moment_makes_a_claim_read_or_write_elsewhere(
    drop: Path, tmp_path: Path, swap: Callable[[Path], None]
) -> None:
    """Whole and its own, or not at all; and what is not its own stays as it is.

    Each takes its time, because there are some forty moments.
    """
    ends, moment = set[str](), 0
    while "never" not in ends:
        moment += 1
        here = tmp_path / str(moment)
        shutil.copytree(drop.parent, here / "was", ignore=shutil.ignore_patterns("[0-9]*"))
        ends.add(swapped(here / "was" / "drop", here, swap, moment))
        shutil.rmtree(here)
    assert moment > 20
    assert "taken" in ends


def swapped(drop: Path, here: Path, swap: Callable[[Path], None], moment: int) -> str:
    """Claim a file while a swap is made at a moment; return how it ended."""
    processed, claim, before = ProcessedFolder(here / "processed"), found(drop), outside(drop)
    processed.prepare()
    if isinstance(swap, Writer):
        swap.begin(drop)
    with pytest.MonkeyPatch.context() as patch:
        intruder = Intruder(patch, lambda: swap(drop), moment)
        try:
            content, manifest = taken_by(claim, processed)
            end = "taken"
        except (FileChangedError, FileUnusable) as error:
            content, manifest, end = b"", None, error.code
    assert content in ({OWN, REWRITTEN} if isinstance(swap, Writer) else {OWN}) | {b""}
    assert manifest in (Manifest(rows=1), None)
    assert before == outside(drop)
    assert (drop.parent / "secret").stat().st_nlink <= 2
    kept = processed.root / "alder" / "taken"
    left = names(kept) if kept.exists() else []
    assert [] == [name for name in left if name.endswith(".part")]
    return end if intruder.calls >= moment else "never"


def test_what_was_put_in_its_place_is_given_back(drop: Path, processed: ProcessedFolder) -> None:
    """The rename takes what has the name by then; that goes back where it was."""
    claim = found(drop)
    with pytest.MonkeyPatch.context() as patch:
        rename = os.rename

        def late(*given: Any, **more: Any) -> None:
            if given[0] == "tx.csv":
                patch.setattr(os, "rename", rename)
                SWAPS["another file of the same size and time"](drop)
            rename(*given, **more)

        patch.setattr(os, "rename", late)
        with pytest.raises(FileChangedError) as elusive:
            taken_by(claim, processed)
    assert "changed" == elusive.value.code
    assert b"next,\n" == (drop / "alder" / "tx.csv").read_bytes()
    assert MANIFEST == (drop / "alder" / "tx.csv.manifest.json").read_bytes()
    assert [] == names(processed.root / "alder" / "taken")


# Another disk


@pytest.fixture
def far(tmp_path: Path, drop: Path) -> Any:
    """Return a drop folder on another disk than the processed folder."""
    with small_disk(tmp_path / "disk", "1m") as disk:
        shutil.copytree(drop, disk / "drop")
        for path in (disk / "drop").rglob("*.csv"):
            os.utime(path, TIME)
        yield disk / "drop"


def test_from_another_disk_a_checked_copy_is_made(far: Path, processed: ProcessedFolder) -> None:
    assert (OWN, Manifest(rows=1)) == taken_by(found(far), processed)
    assert [".next"] == names(far / "alder")
    kept = processed.root / "alder" / "done" / "tx.csv"
    assert (OWN, TIME[1]) == (kept.read_bytes(), int(kept.stat().st_mtime))


def test_a_marker_given_back_to_another_disk_is_no_program(
    far: Path, processed: ProcessedFolder
) -> None:
    claim = found(far)
    with processed.folder("alder", TAKEN) as taken:
        claim.take(taken, LIMITS)
        claim.give_back(taken)
    marker = far / "alder" / "tx.csv.manifest.json"
    assert (MANIFEST, 0) == (marker.read_bytes(), marker.stat().st_mode & 0o111)


def test_what_changes_there_before_it_is_removed_is_found_again(
    far: Path, processed: ProcessedFolder
) -> None:
    claim = found(far)
    with (far / "alder" / "tx.csv").open("ab") as writer:
        with processed.folder("alder", TAKEN) as taken:
            claim.take(taken, LIMITS)
        writer.write(b"more\n")
    assert OWN == taken_by(claim, processed)[0]
    assert OWN + b"more\n" == (far / "alder" / "tx.csv").read_bytes()


@pytest.mark.parametrize("at", range(1, 9))
def test_a_copy_that_was_broken_off_is_made_again(
    far: Path, processed: ProcessedFolder, at: int
) -> None:
    class Killed(BaseException):
        pass

    def kill() -> None:
        raise Killed

    claim = found(far)
    with pytest.MonkeyPatch.context() as patch:
        Intruder(patch, kill, 12 + 2 * at)
        with suppress(Killed):
            taken_by(claim, processed)
    kept = processed.root / "alder" / "done" / "tx.csv"
    assert OWN == (kept.read_bytes() if kept.exists() else taken_by(claim, processed)[0])


def test_a_file_that_cannot_be_moved_is_said_to_be_so(
    drop: Path, processed: ProcessedFolder
) -> None:
    def refused(*_given: Any, **_more: Any) -> None:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    claim = found(drop)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OpenFolder, "move", refused)
        with pytest.raises(FileUnusable) as caught:
            taken_by(claim, processed)
    assert "file_unmovable" == caught.value.code
    assert [".next", "tx.csv", "tx.csv.manifest.json"] == names(drop / "alder")
