"""What commands that only read cost beside a bare process that opens their store: one run.

    python tests/benchmarks/reads.py [--repeat 15] [--work FOLDER]

The store is that of `cardoffers demo FOLDER`. The bare process imports duckdb, opens the file for
reading and selects 1; it and the commands take turns. What is measured is the CPU time of whole
processes, user and system, and the least of each is compared: what a busy machine adds is no part
of it.
"""
# ruff: noqa: T201  a table is what this prints

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

GOAL = 2.0
"""How many times the CPU time of the bare process a command may take."""
INSTITUTION = "larkmere"
BARE = "import duckdb; duckdb.connect({!r}, read_only=True).execute('select 1').fetchall()"
COMMANDS = (
    "why {ref}",
    "find --ref {ref}",
    "status",
    "report redemptions",
    "report settlements",
    "report refunds",
    "report offers",
    "report funnel",
    "merchant list",
    "webhook list",
    "run list",
)


def run(*words: str) -> bytes:
    """Run Python with these words, and return what it printed."""
    return subprocess.run([sys.executable, *words], check=True, capture_output=True).stdout


def cpu_s(*words: str) -> float:
    """Return the CPU seconds of a process of Python."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(*words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Read the options, make the store, take the turns and print the table."""
    parser = argparse.ArgumentParser(description="Measure what reading commands cost.")
    parser.add_argument("--repeat", type=int, default=15, help="turns of each command")
    parser.add_argument("--work", type=Path, help="keep the store in this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        store = str((options.work or Path(scratch)).resolve() / "demo" / "cardoffers.duckdb")
        if not Path(store).exists():
            run("-m", "cardoffers_cli", "demo", str(Path(store).parent), "--quiet")
        usual = ("--as-of", "2026-11-01", "--store", store, "-i", INSTITUTION)
        asked = ("report", "redemptions", "--limit", "1", "--format", "json", *usual)
        (redemption,) = json.loads(run("-m", "cardoffers_cli", *asked))["data"]
        ref = redemption["transaction_ref"]
        lines = {"bare": ("-c", BARE.format(store))}
        for command in COMMANDS:
            words = command.format(ref=ref).split()
            of_all = words[0] in {"status", "merchant", "run"}
            lines[command] = ("-m", "cardoffers_cli", *words, *(usual[:-2] if of_all else usual))
        taken = {name: cpu_s(*line) for name, line in lines.items()}
        for _ in range(options.repeat - 1):
            taken = {name: min(taken[name], cpu_s(*line)) for name, line in lines.items()}
    print(f"{'command':20}{'CPU ms':>8}{'ratio':>7}   goal: ratio {GOAL:g}")
    for name, seconds in taken.items():
        print(f"{name:20}{seconds * 1e3:8.0f}{seconds / taken['bare']:7.2f}")
    print(f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}")


if __name__ == "__main__":
    main()
