"""Nights that are disturbed: killed, starved of disk, started eight at a time; and how they end.

A night is a process of its own, forked from a server that has the program loaded already, so that
a killing hits the work and not the start of Python. Whoever drives it keeps killing it and running
it again until it ends, and then compares with a night that nobody disturbed.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import re
import shutil
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from cardoffers_cli.catalogue.importing import import_catalogue
from cardoffers_cli.events.receiver import Receiver
from cardoffers_cli.events.sending import send
from cardoffers_cli.events.subscriptions import set_webhook
from cardoffers_cli.keys.work import KeyRequest, create_key
from cardoffers_cli.sample.plan import Plan
from cardoffers_cli.sample.work import sample
from cardoffers_cli.storage.doctor import doctor
from disks import fill
from tables import select
from work import job, new_store

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator
    from multiprocessing.context import ForkServerContext
    from multiprocessing.process import BaseProcess
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

NIGHT = datetime(2026, 10, 25, 0, 30)  # noqa: DTZ001 - moments are naive UTC
"""The clock of the nights: the hour that Europe has twice."""

BEFORE = NIGHT - timedelta(hours=12)
FINISHED = {0, 3}
NO_SPACE = 16
_REACH = 0.6
"""The part of a night in which it is struck: the page at its end, drawn anew, is a third of it."""
STORE, DROP, PROCESSED, OUTPUT = "store.duckdb", "drop", "processed", "output.txt"
_PRELOADED = [
    "cardoffers_cli.kernel.cli.main",
    "cardoffers_cli.night.commands",
    "cardoffers_cli.night.screen",
    "cardoffers_cli.night.screen",
    "cardoffers_cli.kernel.cli.layout",
    "cardoffers_cli.night.run",
    "cardoffers_cli.kernel.store.settings",
    "pyarrow",
]
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(_PRELOADED)


def fork_server() -> ForkServerContext:
    """Return what forks processes that have the program loaded."""
    return _SERVER


@dataclass(frozen=True)
class World:
    """A store with its catalogue, a drop folder, and what an undisturbed night makes of them."""

    folder: Path
    seconds: float = 0
    exports: dict[str, str] = field(default_factory=dict)
    content: list[Any] = field(default_factory=list)

    def copy(self, to: Path) -> Path:
        """Return a folder where nothing has happened yet."""
        shutil.copytree(self.folder, to, dirs_exist_ok=True)
        return to


def at(folder: Path, now: datetime = NIGHT) -> Job:
    """Return a job on the store of a folder, by the clock of the nights or another."""
    return job(folder / STORE, now, allow_insecure_webhooks=True, lock_wait_s=60)


@contextmanager
def world(folder: Path, *, rows: int, links: int, institutions: int = 3) -> Iterator[World]:
    """Make a world whose institutions are told of redemptions, and run it once undisturbed."""
    base = folder / "base"
    base.mkdir(parents=True)
    with Receiver(clock=real_now) as receiver:
        plan = Plan(rows=rows, links=links, seed=7, institutions=institutions, dirty=True, files=2)
        furnish(base, plan, receiver.url)
        undisturbed = World(base).copy(folder / "undisturbed")
        began = time.monotonic()
        ended = started(undisturbed)
        ended.join()
        seconds = time.monotonic() - began
        assert ended.exitcode in FINISHED, said(undisturbed)
        yield World(base, seconds, exports(undisturbed), content(undisturbed))


def furnish(base: Path, plan: Plan, url: str) -> None:
    """Make a store and a drop folder; every institution has a webhook, and a key that ends soon."""
    made = new_store(base, STORE)
    made = at(base, BEFORE)
    list(sample(base / "sample", plan))
    import_catalogue(made, base / "sample" / "catalog")
    for file in sorted((base / "sample" / "transactions").iterdir()):
        folder = base / DROP / file.name.partition(".")[0].partition("-")[0]
        folder.mkdir(parents=True, exist_ok=True)
        file.rename(folder / file.name)
        (folder / f"{file.name}.done").touch()
    for slug in sorted(path.name for path in (base / DROP).iterdir()):
        set_webhook(made, slug, url)
        wanted = KeyRequest(
            institution=slug, name="app", scopes=("offers",), expires=NIGHT + timedelta(days=10)
        )
        create_key(wanted, at(base, BEFORE - timedelta(days=30)))
    shutil.rmtree(base / "sample")


def words(*more: object) -> list[str]:
    """Return the command line of a night in the folder it is run in."""
    clock = NIGHT.isoformat() + "Z"
    return [str(word) for word in ("nightly", DROP, "--store", STORE, "--as-of", clock, *more)]


def started(folder: Path, *more: object, line: list[str] | None = None) -> BaseProcess:
    """Start a night in a folder; its output is kept there."""
    process = _SERVER.Process(target=_command, args=(str(folder), line or words(*more)))
    process.start()
    return process


def _command(folder: str, line: list[str]) -> None:
    """Be the command line, in the process that was forked for it."""
    os.chdir(folder)
    os.environ |= {
        "CARDOFFERS_THREADS": "1",
        "CARDOFFERS_MEMORY_LIMIT": "512MiB",
        "CARDOFFERS_ALLOW_INSECURE_WEBHOOKS": "1",
    }
    output = os.open(OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.argv = ["cardoffers", *line]
    from cardoffers_cli.kernel.cli.main import main  # noqa: PLC0415

    main()


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for something that is about to happen."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def said(folder: Path) -> str:
    """Return the last of what the nights of a folder said."""
    output = folder / OUTPUT
    return output.read_text("utf-8")[-3000:] if output.exists() else ""


def exports(folder: Path) -> dict[str, str]:
    """Return what is outside of the store when a night has ended: names, and bytes as digests."""
    places = (folder / "reports", folder / DROP, folder / PROCESSED)
    return {
        str(path.relative_to(folder)): hashlib.sha256(lasting(path)).hexdigest()
        for place in places
        for path in sorted(place.rglob("*"))
        if path.is_file()
    }


def lasting(path: Path) -> bytes:
    """Return the bytes of a file, of a page without what it tells of attempts: they take time.

    The page of all nights tells the seconds of each, so only that it is there counts.
    """
    if path.name != "index.html":
        return path.read_bytes()
    if path.parent.name == "reports":
        return b""
    sections = re.split(rb"(?=<section )", path.read_bytes())
    of_attempts = re.compile(rb">(Webhooks that wait|What needs attention)</h2>")
    kept = b"".join(each for each in sections if not of_attempts.search(each))
    return re.sub(rb'<p class="headline">[^<]*</p>', b"", kept)


CONTENT = (
    "select count(*), sum(amount), bit_xor(hash(purchases)) from purchases",
    "select bit_xor(hash(rejects)), count(*) from rejects",
    "select bit_xor(hash(duplicates)), count(*) from duplicates",
    "select columns(* exclude (import_id, run_no)) from imports order by all",
    "select columns(* exclude run_no) from redemptions order by all",
    "select bit_xor(hash(ledger_entries)), count(*) from ledger_entries",
    "select columns(* exclude run_no) from settlements order by all",
    "select columns(* exclude run_no) from ledger_moves order by all",
    "select subject_id, body from outbox order by all",
    "select count(*), count(distinct text) from inbox_messages",
    "select number, as_of from nights order by all",
    "select position, name from night_steps order by all",
    "select institution, file_name, taken_as, state, is_moved from night_files order by all",
)
"""What a night leaves in the store, but for random ids, run numbers and moments outside."""


def content(folder: Path) -> list[Any]:
    """Return what a night left in the store, once its webhooks are all sent."""
    send(at(folder, NIGHT + timedelta(hours=1)))
    with at(folder).store(read_only=True) as store:
        undelivered = "select count(*) from outbox where state <> 'delivered'"
        assert [(0,)] == select(store, undelivered)
        return [select(store, sql) for sql in CONTENT]


@dataclass
class Driver:
    """Disturbs nights by a seed, and counts how often."""

    world: World
    chance: random.Random
    kills: int = 0
    nights: int = 0

    def moment(self) -> float:
        """Return when to strike: early enough, mostly, that what is left of a night is struck."""
        return self.chance.random() * self.world.seconds * _REACH

    def kill_until_ended(
        self, folder: Path, between: Callable[[Path], None] = lambda _: None
    ) -> None:
        """Kill a night at random moments, and run it again, until it ends."""
        while True:
            night = started(folder)
            night.join(self.moment())
            if night.exitcode is not None:
                break
            night.kill()
            night.join()
            self.kills += 1
            between(folder)
        self._ended(folder, night)

    def starve_until_ended(self, disk: Path) -> None:
        """Fill the disk at random moments of a night, free it and run it again until it ends."""
        while True:
            night = started(disk)
            night.join(self.moment())
            fill(disk / "filler")
            night.join()
            (disk / "filler").unlink()
            if night.exitcode in FINISHED:
                break
            assert night.exitcode == NO_SPACE, said(disk)
            self.kills += 1
        self._ended(disk, night)

    def run_to_the_end(self, folder: Path) -> None:
        """Run a night and leave it alone."""
        night = started(folder)
        night.join()
        self._ended(folder, night)

    def _ended(self, folder: Path, night: BaseProcess) -> None:
        assert night.exitcode in FINISHED, said(folder)
        self.nights += 1
        assert self.world.exports == exports(folder)
        found = doctor(at(folder), strict=True)
        assert found["ok"], [audit for audit in found["audits"] if not audit["ok"]]
        assert self.world.content == content(folder)


def read_now_and_then(folder: Path) -> None:
    """Open and close the store as support does between two nights."""
    with at(folder).store(read_only=True) as store:
        select(store, "select count(*) from purchases")


def real_now() -> datetime:
    """Return the moment outside; naive UTC."""
    return datetime.now(UTC).replace(tzinfo=None)
