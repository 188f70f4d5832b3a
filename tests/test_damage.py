"""Damage is said as damage: whatever is cut, zeroed or flipped of a store and of what is beside it.

Each case harms one file in one place and runs commands. What they answer is what the whole store
answers, or they end with 14 (3 of an audit) and say what to type; none ends with 1, and none asks
to report what is no fault of the program. `doctor --strict` sees every flip of a block in use.
"""

from __future__ import annotations

import json
import random
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.store import layout
from cardoffers_cli.kernel.store.blocks import damaged_blocks
from commands import Ended, in_a_pipe
from sampled import sampled
from sizes import FULL, one_in, slow
from work import held

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = 51 if FULL else 4
FLIPS = 100 if FULL else 2
AT_ONCE = 8 if FULL else 3
"""Commands that are run on each case, of those that there are."""

STORE = Path("cardoffers.duckdb")
AS_OF = "2026-10-10"

READ = """
status
store info
institution list
offer list -i larkmere
offer show of-00000
offer feed -i larkmere --cardholder {cardholder}
find -i larkmere --ref LAR1-9*
why {ref} -i larkmere
timeline {ref} -i larkmere
report redemptions
report settlements
report unresolved
report funnel -i larkmere
webhook list
run list --all
key list
audit list
audit verify
catalog export exported
"""
"""Commands that only read, so that they answer the same again."""

WRITE = """
match
settle
import {top}/transactions/larkmere-dirty.csv -i larkmere
catalog import {top}/catalog
institution set larkmere --plan starter
key notices
store migrate
store publish
store backup b
store compact
nightly {top}/drop
"""

LOOK = """
doctor
doctor --strict
store recover --dry-run
"""


@dataclass(frozen=True)
class Place:
    """A folder with a store in which everything has happened, and what each command answers."""

    folder: Path
    ids: dict[str, str]
    answers: dict[str, Any]

    def copy(self, folder: Path) -> Path:
        return Path(shutil.copytree(self.folder, folder))

    def run(self, line: str, *more: str) -> Ended:
        """Run a command in the working directory."""
        return run(line.format(**self.ids), *more)

    def in_a_copy(self, line: str, folder: Path | None = None) -> Ended:
        """Run a command in a copy of this folder, or of another."""
        source = folder or self.folder
        copy = Path(shutil.copytree(source, source.with_name("copy")))
        try:
            with chdir(copy):
                return self.run(line)
        finally:
            shutil.rmtree(copy)


def run(line: str, *more: str) -> Ended:
    return in_a_pipe([*shlex.split(line), *more, "--as-of", AS_OF, "--format", "json"])


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    top = tmp_path_factory.mktemp("damage") / "top"
    folder = sampled(
        top,
        "settle",
        "key create -i larkmere --name app --scopes reporting --key-file app.key",
        *lines(READ)[:2],
        "store compact",
        "store publish",
        as_of=AS_OF,
    )
    (top / "drop" / "larkmere").mkdir(parents=True)
    with chdir(folder):
        (redemption,) = run("report redemptions -i larkmere --limit 1").document["data"]
        ids = {
            "ref": redemption["transaction_ref"],
            "cardholder": CARDHOLDER,
            "top": str(top),
        }
        call("app.key")  # which the usage journal has, and nobody else yet
    place = Place(folder, ids, {})
    return replace(place, answers={line: answer(place.in_a_copy(line)) for line in lines(READ)})


CARDHOLDER = "742488db0fad2435a10c303876b855811170142399e76f757ac36b15c690058d"


def call(key: str) -> Ended:
    return in_a_pipe(
        ["api", "GET", "/api/v1/reporting/redemptions", "--key-file", key, "--as-of", AS_OF]
    )


def answer(ended: Ended) -> tuple[int, Any]:
    """Return how a command ended, and what it answered, which is JSON."""
    shown = json.loads(ended.stdout) if ended.stdout else None
    if isinstance(shown, dict):
        shown.pop("snapshot_at", None)
        shown.pop("calls_put_aside", None)
        shown.pop("size_bytes", None)
    return ended.exit_code, shown


def check(place: Place, line: str, ended: Ended) -> str:
    """Hold how a command ended against what it may; return what that was."""
    what = f"{line}: {ended.exit_code} {ended.stderr[-600:]}"
    if ended.exit_code == 14:
        hint = str(ended.error["hint"])
        assert ended.error["code"] != "store_error", what
        assert "cardoffers " in hint or "Move it away" in hint, what
        assert "report what" not in hint, what
        return "told"
    if line.startswith("doctor"):
        assert ended.exit_code in {0, 3}, what
        return "told" if ended.exit_code == 3 else "nothing"
    if line in place.answers:
        assert place.answers[line] == answer(ended), what
    else:
        assert ended.exit_code in {0, 3, 4}, what
    return "nothing"


def some(chance: random.Random) -> list[str]:
    every = [*lines(READ), *lines(WRITE)]
    return [*chance.sample(every, min(AT_ONCE, len(every))), *lines(LOOK)]


def tried(place: Place, folder: Path, chance: random.Random) -> dict[str, str]:
    """Run commands on a damaged place, each on a fresh copy; return what each came to."""
    return {line: check(place, line, place.in_a_copy(line, folder)) for line in some(chance)}


# What is cut or zeroed of a store


def cut(content: bytes, chance: random.Random) -> bytes:
    return content[: at_random(content, chance)]


def zeroed(content: bytes, chance: random.Random) -> bytes:
    at = at_random(content, chance)
    length = chance.choice([1, 512, 4096, 262_144, 1 << 20])
    return content[:at] + bytes(len(content[at : at + length])) + content[at + length :]


def zeroed_to_its_end(content: bytes, chance: random.Random) -> bytes:
    at = at_random(content, chance)
    return content[:at] + bytes(len(content) - at)


def another_disk_s(content: bytes, chance: random.Random) -> bytes:
    at = at_random(content, chance)
    length = len(content[at : at + chance.choice([512, 4096, 262_144])])
    return content[:at] + chance.randbytes(length) + content[at + length :]


def flipped(content: bytes, chance: random.Random) -> bytes:
    harmed = bytearray(content)
    harmed[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(harmed)


def at_random(content: bytes, chance: random.Random) -> int:
    """Return a place anywhere, or among the headers."""
    return chance.randrange(len(content) if chance.random() < 0.8 else 12_288)


HARM = [cut, zeroed, zeroed_to_its_end, another_disk_s]


@slow
@pytest.mark.parametrize("seed", range(CASES))
@one_in(2)
def test_a_store_that_is_cut_or_zeroed_is_called_damaged(
    place: Place, tmp_path: Path, seed: int
) -> None:
    """Takes as long as some eight commands do."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    folder = place.copy(tmp_path / "place")
    content = (folder / STORE).read_bytes()
    (folder / STORE).write_bytes(harmed := HARM[seed % len(HARM)](content, chance))
    found = tried(place, folder, chance)
    if "told" in found.values() or is_in_use(folder / STORE, content, harmed):
        assert "told" == found["doctor --strict"]


def is_in_use(path: Path, content: bytes, harmed: bytes) -> bool:
    """Return whether a change is in a header, or in a block that holds something."""
    if content == harmed or content[:12_288] != harmed[:12_288]:
        return content != harmed
    return bool(damaged_blocks(path))


@slow
@pytest.mark.parametrize("seed", range(FLIPS))
def test_one_flip_anywhere_in_a_store_is_seen_or_changes_nothing(
    place: Place, tmp_path: Path, seed: int
) -> None:
    """Takes as long as all reading commands do: they have to answer the same."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    folder = place.copy(tmp_path / "place")
    content = (folder / STORE).read_bytes()
    (folder / STORE).write_bytes(flipped(content, chance))
    with chdir(folder):
        seen = check(place, "doctor --strict", place.run("doctor --strict"))
        if seen == "nothing":
            for line in lines(READ):
                assert "nothing" == check(place, line, place.run(line))


# What is flipped beside it


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from work import job
from cardoffers_cli.kernel.store.runs import finish_run, start_run
made = job(Path("cardoffers.duckdb"))
with made.store() as store:
    for _ in range(3):
        with store.transaction():
            finish_run(store, start_run(store, kind="key_notices", now=made.now, actor="x"), {})
    os.kill(os.getpid(), signal.SIGKILL)
"""


def with_a_log(folder: Path) -> Path:
    words = [sys.executable, "-c", KILLED, str(Path(__file__).parent / "kit")]
    assert -signal.SIGKILL == subprocess.run(words, cwd=folder, check=False).returncode
    return folder / f"{STORE}.wal"


def with_a_holder(folder: Path) -> Path:
    lock = layout.lock_path(folder / STORE)
    lock.write_text('{"pid": 1, "host": "h", "command": "c", "since": "2026-06-01T00:00:00Z"}')
    return lock


def inside(path_of: Callable[[Path], Path]) -> Callable[[Path], Path]:
    return lambda folder: path_of(folder / STORE)


BESIDE = {
    "journal": inside(layout.journal_path),
    "calls": inside(layout.usage_path),
    "snapshot": inside(layout.snapshot_path),
    "lock": with_a_holder,
    "wal": with_a_log,
}


@slow
@pytest.mark.parametrize("seed", range(FLIPS))
@pytest.mark.parametrize("name", BESIDE)
@one_in(2)
def test_one_flip_in_a_file_beside_a_store_is_told_or_changes_nothing(
    place: Place, tmp_path: Path, name: str, seed: int
) -> None:
    """Takes as long as some eight commands do."""
    chance = random.Random(f"{name} {seed}")  # noqa: S311 - no secret
    folder = place.copy(tmp_path / "place")
    file = BESIDE[name](folder)
    place = replace(place, answers=but(place.answers, *TOLD_ELSEWHERE.get(name, ())))
    if content := file.read_bytes():
        file.write_bytes(flipped(content, chance))
    with chdir(folder):
        if name == "snapshot":
            with held(STORE):
                for line in ("report redemptions", "report settlements"):
                    ended = place.run(line, "--lock-wait", "0")
                    assert 11 == ended.exit_code or check(place, line, ended)
        if name == "calls":
            assert "data" in json.loads(call("app.key").stdout)
    found = tried(place, folder, chance)
    if name in {"journal", "wal"} and "told" in found.values():
        assert "told" == found["doctor --strict"]


TOLD_ELSEWHERE = {
    "wal": ("status", "run list"),
    "calls": ("audit", "key list", "status", "store info"),
}
"""Commands whose answer depends on what was written beside the store."""


def but(answers: dict[str, Any], *names: str) -> dict[str, Any]:
    return {line: told for line, told in answers.items() if not line.startswith(names or "-")}
