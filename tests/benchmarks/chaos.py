"""Disturb every command that writes, and count: a table for each kind of disturbance.

    python tests/benchmarks/chaos.py [--kills 1000] [--cuts 200] [--disks 300] [--flips 100]
                                     [--seed 1] [--rows 1200] [--only WORDS] [--work FOLDER]

The numbers are those of all commands together, of flips for each kind of file. Power cuts need gcc,
full disks root. What was found is printed below its table; the exit code is 1 if anything was lost,
doubled, silent or otherwise not as it was to be, and is not known.
"""
# ruff: noqa: T201  tables are what this prints

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "kit"))

from chaos.children import recorder
from chaos.flips import asked, files, flipped, kind_of, stage_of
from chaos.places import Places
from chaos.scenarios import scenarios
from chaos.serving import killed_server
from chaos.strikes import cut_off, killed, starved, undisturbed
from chaos.tally import Tally
from disks import disk_if_any

if TYPE_CHECKING:
    from collections.abc import Callable

    from chaos.scenarios import Scenario
    from chaos.strikes import Struck, Undisturbed

    Strike = Callable[[Places, Undisturbed, random.Random], Struck]


def main() -> None:
    """Print the tables."""
    given = arguments()
    chosen = [each for each in scenarios() if given.only in each.words]
    tallies = []
    with (
        tempfile.TemporaryDirectory(prefix="chaos", dir=given.work) as folder,
        disk_if_any(Path(folder) / "disk", "4g") as is_disk,
        Places(Path(folder) / "disk" / "places", rows=given.rows) as places,
    ):
        kills = struck(places, "killed", killed, chosen, number=given.kills, seed=given.seed)
        if not given.only:
            serve(places, kills, given.kills // (len(chosen) + 1), given.seed)
        tallies.append(show(kills))
        for is_here, kind, strike, number in (
            (recorder() is not None, "power cut", cut_off, given.cuts),
            (is_disk, "disk full", starved, given.disks),
        ):
            if is_here:
                tally = struck(places, kind, strike, chosen, number=number, seed=given.seed)
                tallies.append(show(tally))
        tallies.append(show(flip(places, given.flips, given.seed, given.only)))
    sys.exit(1 if any(tally.faults() for tally in tallies) else 0)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser()
    for name, number in {"kills": 1000, "cuts": 200, "disks": 300, "flips": 100}.items():
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=int, default=1200)
    parser.add_argument("--only", default="")
    parser.add_argument("--work", type=Path)
    return parser.parse_args()


def struck(
    places: Places, kind: str, strike: Strike, chosen: list[Scenario], *, number: int, seed: int
) -> Tally:
    """Strike commands, each as often as the next."""
    tally = Tally(kind)
    for scenario, times in zip(chosen, shares(number, len(chosen)), strict=True):
        if times:
            began = time.monotonic()
            quiet = undisturbed(places, scenario)
            chance = random.Random(f"{seed} {kind} {scenario.stage} {scenario.words}")  # noqa: S311
            for _ in range(times):
                tally.add(scenario.command, strike(places, quiet, chance))
            told(f"{kind}: {scenario.words}: {times}, {time.monotonic() - began:.0f} s")
    return tally


def shares(number: int, parts: int) -> list[int]:
    """Divide a number into parts that differ by one at most."""
    return [number // parts + (place < number % parts) for place in range(parts)]


def serve(places: Places, tally: Tally, number: int, seed: int) -> None:
    """Kill servers."""
    chance = random.Random(f"{seed} serve")  # noqa: S311
    for _ in range(number):
        tally.add("serve", killed_server(places, chance))


def flip(places: Places, number: int, seed: int, only: str) -> Tally:
    """Damage each kind of file."""
    tally = Tally("damaged in one bit or byte")
    for name in files(places) if number else ():
        if only in name:
            places.put(stage_of(name))
            before = asked(places, name)
            chance = random.Random(f"{seed} {kind_of(name)}")  # noqa: S311
            for _ in range(number):
                tally.add(kind_of(name), flipped(places, name, before, chance))
            told(f"flips: {name}")
    return tally


def told(text: str) -> None:
    """Say how far it is."""
    print(text, file=sys.stderr, flush=True)


def show(tally: Tally) -> Tally:
    """Print a table and what was found, each once."""
    print(*tally.lines(), sep="\n", end="\n\n")
    print(*dict.fromkeys(tally.notes), sep="\n", end="\n\n", flush=True)
    return tally


if __name__ == "__main__":
    main()
