"""How fast the main job runs, beside what else could be used: one command, one table, one run.

    python tests/benchmarks/speed.py [--rows 5000000] [--links 6000000] [--work FOLDER]

How it is measured, for those who doubt it:

- Every side is a process of its own. The sides take turns, and the median of the turns counts.
- Of the product the whole process counts, from its start to its end, start of Python and imports
  included. Of the others only the work itself counts, without start and imports.
- The baseline, 1, is DuckDB's bare `create table … as from read_csv(path, all_varchar = true)` of
  the same single file, which checks nothing: once in memory and once into a database file. It
  may use all cores, as the product does, and all the memory there is, as the product may not.
- `import` starts with a store that holds the catalogue, `match` with one that also holds the
  purchases, `settle` with one that has been matched. Each turn works on a fresh copy.
- Memory is the most the process ever held (`ru_maxrss` of `wait4`).
"""
# ruff: noqa: T201  a table is what this prints

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from others import CANNOT

if TYPE_CHECKING:
    from collections.abc import Collection

OTHERS = str(Path(__file__).with_name("others.py"))
AS_OF = "2026-11-01T00:00:00Z"
GOALS = {"validate": 1.5, "import": 3.0, "refund import": 3.6, "match": 1.0}  # times the baseline
MEMORY_GOAL_MIB = 2048
HELP_GOAL = 1.5  # times `import typer`
HELP_TURNS = 10


@dataclass(frozen=True)
class Turn:
    """What one process took: its rows, seconds and peak memory, and the rows of its file."""

    rows: int
    file_rows: int
    seconds: float
    peak_mib: int


@dataclass(frozen=True)
class Ended:
    """What one process took from its start to its end, and the JSON that it printed, if any."""

    seconds: float
    cpu_s: float
    peak_mib: int
    document: Any


FINE = frozenset({0, 3})
"""Exit codes of work that was done; 3: with findings, such as the repeated rows."""


def run(
    command: list[str], *, folder: Path | None = None, endings: Collection[int] = FINE
) -> Ended:
    """Run a command to its end, which is one of these exit codes."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=err, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text, complaint = out.read(), err.read().decode()
    if process.returncode not in endings:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{complaint}")
    unit = 1 if platform.system() == "Darwin" else 1024
    return Ended(
        seconds=seconds,
        cpu_s=usage.ru_utime + usage.ru_stime,
        peak_mib=usage.ru_maxrss * unit // 2**20,
        document=json.loads(text) if text.startswith((b"[", b"{")) else None,
    )


def product(*arguments: str, folder: Path | None = None, endings: Collection[int] = FINE) -> Ended:
    """Run one command of the product."""
    command = [sys.executable, "-m", "cardoffers_cli", *arguments, "--format", "json", "-q"]
    return run(command, folder=folder, endings=endings)


class Bench:
    """The data, the stores to start from, and the turns taken so far."""

    def __init__(self, work: Path, rows: int, links: int) -> None:
        self.work = work
        self.rows = rows
        self.links = links
        self.sample = work / f"sample-{rows}-{links}"
        self.turns: dict[str, list[Turn]] = defaultdict(list)

    @property
    def file(self) -> Path:
        """The transaction file of the one institution."""
        return self.sample / "transactions" / "larkmere.csv"

    def make_sample(self) -> None:
        """Make the data, unless an earlier run left it in the work folder."""
        if self.file.exists():
            return
        options = f"--rows {self.rows} --links {self.links} --refunds {self.rows} --seed 7"
        options += " --institutions 1"
        self.take("sample", self.rows, product("sample", str(self.sample), *options.split()))
        (self.sample / "catalog" / "engagement.csv").unlink()  # twice as many rows as links

    def take(self, side: str, rows: int, ended: Ended, file_rows: int = 0) -> Any:
        """Note a turn, and return the JSON of its process; `file_rows` if it had another file."""
        self.turns[side].append(Turn(rows, file_rows or self.rows, ended.seconds, ended.peak_mib))
        print(f"  {side}: {ended.seconds:.2f} s", file=sys.stderr)
        return ended.document

    def take_other(self, side: str, rows: int, *arguments: str) -> None:
        """Note a turn of another tool, by its own clock: the work without start and imports."""
        ended = run([sys.executable, OTHERS, *arguments])
        if ended.document["rows"] != rows:
            raise SystemExit(f"{side} read {ended.document['rows']} rows of {rows}")
        self.take(side, rows, replace(ended, seconds=ended.document["seconds"]), file_rows=rows)

    def store(self, state: str, *, after: str | None = None) -> Path:
        """Return a folder for a store, fresh or a copy of the one left in another state."""
        folder = self.work / f"store-{state}"
        shutil.rmtree(folder, ignore_errors=True)
        if after is None:
            folder.mkdir(parents=True)
        else:
            shutil.copytree(self.work / f"store-{after}", folder)
        return folder

    def turn(self) -> None:
        """Let each side have its turn."""
        database = self.work / "baseline.duckdb"
        database.unlink(missing_ok=True)
        self.take_other("DuckDB, in memory", self.rows, "duckdb", str(self.file))
        self.take_other("DuckDB, to a file", self.rows, "duckdb", str(self.file), str(database))
        self.take("validate", self.rows, product("validate", str(self.file)))
        self.main_job()

    def main_job(self) -> None:
        """Take the catalogue, import, match and settle, each step from a copy of the last."""
        folder = self.store("catalogue")
        product("init", folder=folder)
        catalog = str(self.sample / "catalog")
        self.take(
            "catalog import", self.links, product("catalog", "import", catalog, folder=folder)
        )
        folder = self.store("imported", after="catalogue")
        options = ["import", str(self.file), "-i", "larkmere"]
        imported = self.take("import", self.rows, product(*options, folder=folder))
        accepted = (imported[0] if isinstance(imported, list) else imported)["accepted"]
        refunds = str(self.sample / "refunds" / "larkmere.csv")
        folder = self.store("refunded", after="catalogue")
        options = ["refund", "import", refunds, "-i", "larkmere"]
        self.take("refund import", self.rows, product(*options, folder=folder))
        folder = self.store("matched", after="imported")
        matched = self.take("match", accepted, product("match", "--as-of", AS_OF, folder=folder))
        redeemed = matched["redeemed"]
        folder = self.store("settled", after="matched")
        self.take("settle", redeemed, product("settle", "--as-of", AS_OF, folder=folder))

    def turn_of_others(self, rows: int) -> None:
        """Let the other validators check a smaller file, and the product the same one."""
        small = Bench(self.work, rows, 0)
        small.make_sample()
        for tool in CANNOT:
            if installed(tool):
                self.take_other(tool, rows, tool, str(small.file))
        self.take(f"validate, {rows:,} rows", rows, product("validate", str(small.file)), rows)

    def turn_of_help(self) -> None:
        """Let `--help` and the bare import of its framework take turns."""
        for _ in range(HELP_TURNS):
            self.take("import typer", 0, run([sys.executable, "-c", "import typer"]))
            command = str(Path(sys.executable).with_name("cardoffers"))
            self.take("--help", 0, run([command, "--help"]))

    def median(self, side: str) -> float:
        """Return the seconds of the middle turn."""
        return statistics.median(turn.seconds for turn in self.turns[side])


def installed(package: str) -> str | None:
    """Return a package's version, or None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def table(bench: Bench) -> str:
    """Write the outcome: per side its rows, seconds, rate, ratios to the baseline and memory."""
    memory, disk = (bench.median(f"DuckDB, {where}") for where in ("in memory", "to a file"))
    heads = ("side", "rows", "seconds", "turns", "rows/s", "x memory", "x file", "goal", "MiB")
    lines = [heads]
    for side, turns in bench.turns.items():
        seconds, rows = bench.median(side), turns[0].rows
        scale = bench.rows / turns[0].file_rows
        ratios = [f"{seconds / base * scale:.2f}" for base in (memory, disk) if rows]
        goal = f"{GOALS[side]}" if side in GOALS else ""
        spread = f"{min(t.seconds for t in turns):.2f}-{max(t.seconds for t in turns):.2f}"
        rate = f"{rows / seconds:,.0f}" if rows else ""
        peak = f"{max(turn.peak_mib for turn in turns):,}"
        lines.append(
            (side, f"{rows:,}", f"{seconds:.2f}", spread, rate, *(ratios or ("", "")), goal, peak)
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def notes(bench: Bench) -> list[str]:
    """Say what the figures stand on, and what the other tools left out."""
    packages = ("cardoffers-cli", "duckdb", "polars", *CANNOT)
    versions = ", ".join(f"{name} {installed(name) or 'not installed'}" for name in packages)
    ratio = bench.median("--help") / bench.median("import typer")
    return [
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        versions,
        f"file: {bench.file.stat().st_size:,} bytes; ratios of smaller files are per row",
        f"memory of each step of the main job: goal {MEMORY_GOAL_MIB:,} MiB",
        f"cardoffers --help is {ratio:.2f} x import typer (goal {HELP_GOAL})",
        *(f"{tool} cannot state: {rules}" for tool, rules in CANNOT.items() if installed(tool)),
    ]


def main() -> None:
    """Read the options, take the turns and print the table."""
    parser = argparse.ArgumentParser(description="Measure the main job beside other tools.")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--links", type=int, default=6_000_000)
    parser.add_argument("--other-rows", type=int, default=200_000, help="for the slower tools")
    parser.add_argument("--repeat", type=int, default=3, help="turns of each side")
    parser.add_argument("--work", type=Path, help="keep data and stores in this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench((options.work or Path(scratch)).resolve(), options.rows, options.links)
        bench.make_sample()
        for _ in range(options.repeat):
            bench.turn()
            bench.turn_of_others(options.other_rows)
        bench.turn_of_help()
        print(table(bench), *notes(bench), sep="\n")


if __name__ == "__main__":
    main()
