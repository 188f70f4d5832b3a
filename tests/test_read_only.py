"""A store that may not be written is said to be one: by every command, with what to type.

What only reads works as it is. Files are taken from their writer by their mode (which root heeds
too once it has lost the right to pass it by), by the mode of their folder, and by a mount.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sampled import sampled
from sizes import one_in, slow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

READ = """
status
store info
store accept-loss --dry-run
institution list
offer list -i larkmere
find -i larkmere --ref LAR1-9*
report redemptions
report funnel -i larkmere
webhook list
run list
doctor
doctor --strict
store backup ../b.duckdb
"""
"""Commands that read, and read on."""

WRITE = """
match
settle
import ../transactions/larkmere.csv -i larkmere
catalog import ../catalog
institution set larkmere --plan starter
institution set larkmere --plan starter --dry-run
key create -i larkmere --name app --scopes offers
key notices
webhook send
webhook set -i larkmere --url https://hooks.larkmere.example/
key list
audit list
audit verify
inbox read -i larkmere --all
nightly ../drop
nightly ../drop --dry-run
store migrate
store publish
store compact
store restore ../good.duckdb
store recover
store export
"""
"""Commands that write, with those that bring over first what the usage journal has."""

RUN = """
import sys
sys.path.insert(0, sys.argv[1])
import json, shlex
from commands import in_a_pipe
for line in sys.stdin.read().splitlines():
    ended = in_a_pipe([*shlex.split(line), "--as-of", "2026-10-10", "--format", "json"])
    print(json.dumps([line, ended.exit_code, ended.stderr]), flush=True)
"""
DAC_OVERRIDE, DAC_READ_SEARCH = 1, 2
"""Capabilities by which root passes the modes of files by (capabilities(7))."""
PR_CAPBSET_DROP = 24


def heed_modes() -> None:
    libc = ctypes.CDLL(None)
    for capability in (DAC_OVERRIDE, DAC_READ_SEARCH):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


@contextmanager
def file_mode(folder: Path) -> Iterator[None]:
    """Take the right to write from the store."""
    store = folder / "cardoffers.duckdb"
    store.chmod(0o400)
    yield
    store.chmod(0o600)


@contextmanager
def folder_mode(folder: Path) -> Iterator[None]:
    """Take it from the folder: nothing can be made beside the store."""
    folder.chmod(0o500)
    yield
    folder.chmod(0o700)


@contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """Mount the folder for reading only."""
    mount, unmount = "/bin/mount", "/bin/umount"
    bind = [mount, "--bind", str(folder), str(folder)]
    if os.geteuid() or subprocess.run(bind, check=False, capture_output=True).returncode:
        pytest.skip("mounting takes root")
    try:
        subprocess.run([mount, "-o", "remount,ro,bind", str(folder)], check=True)
        yield
    finally:
        subprocess.run([unmount, "--lazy", str(folder)], check=True)


@contextmanager
def mounted_without_locks(folder: Path) -> Iterator[None]:
    for name in ("lock", "turn"):
        (folder / "cardoffers.duckdb.d" / name).unlink()
    with mounted(folder):
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a store in a folder of its own."""
    top = tmp_path_factory.mktemp("read-only") / "top"
    sampled(top, "store backup ../good.duckdb")
    (top / "drop").mkdir()
    return top


TAKEN: list[Callable[[Path], AbstractContextManager[None]]] = [
    file_mode,
    folder_mode,
    mounted,
    mounted_without_locks,
]


@slow
@pytest.mark.parametrize("taken", TAKEN)
@one_in(2)
def test_a_store_that_may_not_be_written_is_said_to_be_one(
    place: Path, tmp_path: Path, taken: Callable[[Path], AbstractContextManager[None]]
) -> None:
    """Takes as long as some 35 commands do."""
    top = Path(shutil.copytree(place, tmp_path / "top"))
    home = top / "home"
    before = content(home)
    with taken(home):
        ended = run_as_others_do(home, [*lines(READ), *lines(WRITE)])
    told = {line: judged(*how) for line, how in ended.items()}
    assert dict.fromkeys(lines(WRITE), "read_only") == {line: told[line] for line in lines(WRITE)}
    assert dict.fromkeys(lines(READ), "done") == {line: told[line] for line in lines(READ)}
    assert before == content(home)


def judged(exit_code: int, stderr: str) -> str:
    """Return `done`, or what a command was refused with, if that says what to do."""
    if exit_code == 0:
        return "done"
    error = json.loads(stderr.splitlines()[-1])["error"]
    if exit_code == 4 and error["hint"]:
        return str(error["code"])
    return f"{exit_code} {error}"


def run_as_others_do(home: Path, words: list[str]) -> dict[str, tuple[int, str]]:
    """Run commands in a process that heeds the modes of files; return how each ended."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(Path(__file__).parent / "kit")],
        cwd=home,
        input="\n".join(words),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        preexec_fn=heed_modes,
    )
    found: list[Any] = [json.loads(line) for line in done.stdout.splitlines()]
    return {line: (exit_code, stderr) for line, exit_code, stderr in found}


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


def content(folder: Path) -> dict[str, bytes]:
    """Return every file but those of locks."""
    others = {"lock", "turn", "night", "sender"}
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in others
    }


@slow
@pytest.mark.parametrize("taken", [folder_mode, mounted])
def test_no_store_is_made_where_nothing_may_be_written(
    tmp_path: Path, taken: Callable[[Path], AbstractContextManager[None]]
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with taken(home):
        ended = run_as_others_do(home, ["init", "status"])
    assert "read_only" == judged(*ended["init"])
    assert 10 == ended["status"][0]
    assert [] == list(home.iterdir())
