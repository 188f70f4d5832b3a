"""Strikes a command, looks at what is left, runs it again, and looks again."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.layout import sweep
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.storage.doctor import doctor
from chaos.children import HANGS, KILLED, recorder
from chaos.judging import BESIDE, Content, Expected, Fault, content, said
from chaos.places import STORE, job_of
from chaos.scenarios import ANEW, Scenario
from chaos.states import MODELS, Change, Disk, numbers, read_log
from disks import fill

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from chaos.children import Ended
    from chaos.places import Places

ATTENTION, REFUSED, NO_STORE, OLDER, DAMAGED, NO_SPACE = 3, 4, 10, 12, 14, 16
_MOST_HINTS = 4
_SOME_ROOM = 4 << 20
"""The bytes that a command may need where nobody can tell."""


@dataclass(frozen=True, kw_only=True)
class Undisturbed:
    """A command that nobody disturbs: what it leaves, how long it takes, what it does to its disk.

    `numbers` are those that its files had before, `growth` the room that it needs. Where nobody can
    note them there are no changes.
    """

    scenario: Scenario
    expected: Expected
    seconds: float
    changes: list[Change]
    numbers: dict[str, int]
    growth: int

    def disk(self, places: Places) -> Disk:
        """Return the disk as it was before."""
        return Disk(places.place, places.kept(self.scenario.stage), self.numbers)


@dataclass(frozen=True, kw_only=True)
class Struck:
    """One strike: what was done, whether the command ended all the same, and what was wrong.

    `told` is what was said to be damaged, with what to do, and was then done.
    """

    how: str
    ended: bool
    told: list[str]
    faults: list[Fault] = field(default_factory=list)


def undisturbed(places: Places, scenario: Scenario) -> Undisturbed:
    """Run a command twice, each time in a place of its own."""
    scenario.line(places.ids)  # which are looked up in a place of their own, once
    found, seconds, log = [], [], places.root / "log"
    for _ in range(2):
        log.unlink(missing_ok=True)
        known = numbers(places.put(scenario.stage))
        ended = run(places, scenario, log=str(log) if recorder() else None)
        assert ended.exit_code == scenario.ends, (scenario.words, ended)
        found.append(content(places.place))
        seconds.append(ended.seconds)
    changes = list(read_log(log)) if recorder() else []
    disk = Disk(places.place, places.kept(scenario.stage), known)
    return Undisturbed(
        scenario=scenario,
        expected=Expected(content=found[0], other=found[1]),
        seconds=min(seconds),
        changes=changes,
        numbers=known,
        growth=disk.growth(changes) if changes else _SOME_ROOM,
    )


def run(places: Places, scenario: Scenario, **strike: Any) -> Ended:
    """Run the command of a scenario in the place as it is."""
    return places.run(scenario.line(places.ids), stdin=scenario.stdin, **strike)


def killed(places: Places, quiet: Undisturbed, chance: random.Random) -> Struck:
    """Kill a command at a moment, or in the place of a change on its disk, and judge."""
    strike: dict[str, Any]
    if quiet.changes and chance.random() < 1 / 2:
        number = chance.randint(1, len(quiet.changes))
        how, strike = f"at change {number}", {"kill_at": number}
    else:
        seconds = chance.random() * quiet.seconds
        how, strike = f"after {seconds:.3f} s", {"kill_after_s": seconds}
    places.put(quiet.scenario.stage)
    ended = run(places, quiet.scenario, **strike)
    is_over = ended.exit_code != KILLED
    faults = [] if ended.exit_code in {KILLED, quiet.scenario.ends} else [_ended_as(ended)]
    return judged(places, quiet, how=how, is_over=is_over, faults=faults)


def starved(places: Places, quiet: Undisturbed, chance: random.Random) -> Struck:
    """Run a command on a disk that has little room, then with room, and judge."""
    room = int(chance.random() * quiet.growth * 1.1)
    places.put(quiet.scenario.stage)
    fill(places.work / "filler", leave=room)
    ended = run(places, quiet.scenario)
    (places.work / "filler").unlink()
    is_over = ended.exit_code == quiet.scenario.ends
    faults = [] if is_over or _says_full(ended) else [_ended_as(ended)]
    return judged(places, quiet, how=f"with {room:,} bytes", is_over=is_over, faults=faults)


def cut_off(places: Places, quiet: Undisturbed, chance: random.Random) -> Struck:
    """Let the power go at a moment of a command or when it has ended, and judge what is left."""
    model, length = chance.choice(MODELS), len(quiet.changes)
    is_over = chance.random() < 1 / 4
    seldom = [number for number, change in enumerate(quiet.changes) if change.kind != "write"]
    at = chance.choice([chance.randrange(length), chance.choice(seldom)])
    at = length if is_over else at
    disk = quiet.disk(places)
    disk.do(quiet.changes[:at], model)
    disk.cut(chance, model, places.place)
    how = f"{model}, after change {at} of {length}"
    return judged(places, quiet, how=how, is_over=is_over, faults=[])


def _says_full(ended: Ended) -> bool:
    """Say whether a command told that there is no room, for all it does or for one file of some."""
    return ended.exit_code in {NO_SPACE, ATTENTION} and "free " in ended.stderr.lower()


def acknowledged(places: Places, quiet: Undisturbed) -> Struck:
    """Look for what a loss of power may take when a command has ended, though it was done.

    The locks beside a store may go, and hidden files, which are drafts.
    """
    disk = quiet.disk(places)
    disk.do(quiet.changes, "harsh")
    faults = [
        Fault(kind="lost", text=f"{name} is not surely on the disk")
        for name in sorted(disk.unsure())
        if not BESIDE.search(name) and not any(part.startswith(".") for part in name.split("/"))
    ]
    return Struck(how="at its end", ended=True, told=[], faults=faults)


def judged(
    places: Places, quiet: Undisturbed, *, how: str, is_over: bool, faults: list[Fault]
) -> Struck:
    """Look at a place after a strike, run its command again, and look at what that leaves.

    What cannot be read says what to type, which is done first.
    """
    told: list[str] = []
    try:
        while (found := _content(places, told)) is None:
            _heed(places, told[-1])
        if is_over:
            faults += _missing(quiet.expected.faults(found, set()), told)
        if quiet.scenario.again is not None or quiet.expected.faults(found, set()):
            faults += _again(places, quiet)
        faults += faults_of_doctor(places.place)
    except CardoffersError as error:
        faults.append(Fault(kind="other", text=said(error)))
    return Struck(how=how, ended=is_over, told=told, faults=faults)


def _missing(faults: list[Fault], told: list[str]) -> list[Fault]:
    """Add that nobody was told of what is missing, though it was acknowledged, if nobody was."""
    if not faults or told:
        return faults
    return [*faults, Fault(kind="silent", text="acknowledged, and not there")]


def _content(places: Places, told: list[str]) -> Content | None:
    """Return what is in the place; where that is told to be damaged, keep what is said."""
    ended = places.run(["status"])
    if ended.exit_code == DAMAGED and len(told) < _MOST_HINTS:
        told.append(ended.stderr)
        return None
    if ended.exit_code not in {0, NO_STORE, OLDER, DAMAGED}:
        raise CardoffersError(f"status ended with {ended.exit_code}", hint=ended.stderr)
    return content(places.place)


def _heed(places: Places, told: str) -> None:
    """Do what a message about a damaged store says."""
    named = re.search(r"`cardoffers (store (?:recover|accept-loss))", told)
    if named is None:
        raise CardoffersError("A damaged store does not say what to type.", hint=told)
    places.run([*named[1].split(), "--yes"])


def _again(places: Places, quiet: Undisturbed) -> list[Fault]:
    """Run a command again until it is done, and say how what it leaves differs."""
    scenario = quiet.scenario
    ended = run(places, scenario)
    found = content(places.place)
    if ended.exit_code == REFUSED and quiet.expected.faults(found, scenario.more_rows):
        for name in ANEW.get(scenario.command, ()):
            remove(places.place / name)
        ended = run(places, scenario)
        found = content(places.place)
    faults = quiet.expected.faults(found, scenario.more_rows)
    if ended.exit_code not in {scenario.ends, scenario.again}:
        faults.append(_ended_as(ended))
    return faults


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def faults_of_doctor(folder: Path) -> list[Fault]:
    if not (folder / STORE).exists():
        return []
    sweep(folder / STORE)  # as each night begins
    audits = doctor(job_of(folder), strict=True)["audits"]
    return [
        Fault(kind="other", text=f"doctor: {audit['name']} {audit['example']}")
        for audit in audits
        if not audit["ok"]
    ]


def _ended_as(ended: Ended) -> Fault:
    if ended.exit_code == HANGS:
        return Fault(kind="other", text="it hangs")
    return Fault(kind="other", text=f"exit {ended.exit_code}: {ended.stderr.strip()[-400:]}")
