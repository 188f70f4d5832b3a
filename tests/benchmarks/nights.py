"""Disturb nights, and count: one command, one table, for `docs/operations.md`.

    CARDOFFERS_TESTS=full python tests/benchmarks/nights.py [--rows 200000] [--strikes 50]

Every strike is at a random moment of a night; the night is run again until it ends. What it leaves
is compared with an undisturbed one: reports and files byte for byte, the store by its content, and
`doctor --strict` has to be silent. A difference ends the program.
"""
# ruff: noqa: T201  a table is what this prints

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "kit"))

from disks import small_disk
from nights import Driver, World, read_now_and_then, world


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--strikes", type=int, default=50)
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        world(Path(folder) / "made", rows=given.rows, links=given.rows // 20) as made,
    ):
        print(f"| nights of {given.rows:,} rows | struck | nights | different at the end |")
        print("|---|---:|---:|---:|")
        killed(made, Path(folder), given.strikes, reads=False)
        killed(made, Path(folder), given.strikes, reads=True)
        if os.geteuid() == 0:
            starved(made, Path(folder), given.strikes)


def killed(made: World, folder: Path, strikes: int, *, reads: bool) -> None:
    """Kill nights, with or without a reader between two of them."""
    driver = Driver(made, random.Random(1 + reads))  # noqa: S311
    while driver.kills < strikes:
        copy = made.copy(folder / "night")
        driver.kill_until_ended(copy, read_now_and_then if reads else lambda _: None)
        shutil.rmtree(copy)
    print(line("killed, and read between" if reads else "killed", driver))


def starved(made: World, folder: Path, strikes: int) -> None:
    """Fill the disk of nights."""
    driver = Driver(made, random.Random(3))  # noqa: S311
    with small_disk(folder / "disk", "1g") as disk:
        while driver.kills < strikes:
            copy = made.copy(disk / "night")
            driver.starve_until_ended(copy)
            shutil.rmtree(copy)
    print(line("disk full", driver))


def line(name: str, driver: Driver) -> str:
    """Return a line of the table; whoever gets here has found no difference."""
    return f"| {name} | {driver.kills:,} | {driver.nights:,} | 0 |"


if __name__ == "__main__":
    main()
