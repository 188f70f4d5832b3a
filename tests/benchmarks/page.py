"""What checking a file costs in the page: rows a second in a browser, beside the command's.

    python tests/benchmarks/page.py [--rows 500000] [--repeat 3] [--work FOLDER]

It needs the runtime (CARDOFFERS_PYODIDE) and a browser. How it is measured:

- The file is of the sample, with the findings that it has; the same bytes for both.
- The page's time is from the choice of the file to the verdict, and to the files to take away; the
  start of Python, which the page does once when it is opened, is told apart.
- The command's is the whole command, as a shell sees it, its report and its rejected rows written.
"""
# ruff: noqa: T201  a table is what this prints

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[1] / "kit"))

from browser import browser, shown
from commands import command
from packs import NO_NAMES, Opened, built, settled

GOAL = 100_000
"""Rows a second that the page is to check."""
MOST_MS = 600_000


def main() -> None:
    """Measure, and print the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--rows", type=int, default=500_000)
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--work", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=given.work) as folder:
        place = Path(folder)
        words = ["sample", place / "made", "--rows", given.rows, "--seed", 1, "--institutions", 1]
        subprocess.run([*command(*words, "-q")], check=True, capture_output=True)
        (path,) = (place / "made" / "transactions").glob("*.csv")
        rows = path.read_bytes().count(b"\n") - 1
        by_command = median(of_command(path) for _ in range(given.repeat))
        start, verdict, whole = in_page(built(place), path, given.repeat)
    print(f"{rows:,} rows, {given.repeat} times, medians")
    print(f"{'':24}{'seconds':>10}{'rows/s':>12}")
    print(f"{'start of the page':24}{start:>10.2f}")
    for name, seconds in [("verdict", verdict), ("with files", whole), ("command", by_command)]:
        print(f"{name:24}{seconds:>10.2f}{rows / seconds:>12,.0f}")
    print(f"goal: {GOAL:,} rows/s to the verdict")


def of_command(path: Path) -> float:
    """Return the seconds that the command takes."""
    outputs = ["--errors", path.with_suffix(".errors"), "--rejected", path.with_suffix(".rejected")]
    begun = perf_counter()
    subprocess.run(command("validate", path, *outputs, "-q"), check=False, capture_output=True)
    return perf_counter() - begun


def in_page(page: Path, path: Path, repeat: int) -> tuple[float, float, float]:
    """Return the seconds until the page is ready, until a verdict, and until all of its files."""
    with browser(NO_NAMES) as opened:
        begun = perf_counter()
        with shown(opened, page) as seen:
            used = settled(seen)
            start = perf_counter() - begun
            times = [of_page(used, path) for _ in range(repeat)]
    return start, median(first for first, _ in times), median(last for _, last in times)


def of_page(used: Opened, path: Path) -> tuple[float, float]:
    """Return the seconds until the verdict, and until its files, of one check."""
    begun = perf_counter()
    used.give(path)
    used.page.locator("#verdict:not([hidden])").wait_for(timeout=MOST_MS)
    verdict = perf_counter() - begun
    used.page.locator("#files[aria-busy=false]").wait_for(timeout=MOST_MS)
    return verdict, perf_counter() - begun


if __name__ == "__main__":
    main()
