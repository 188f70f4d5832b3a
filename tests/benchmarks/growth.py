"""What the history costs each question: one table, every size in one run.

    python tests/benchmarks/growth.py [--sizes 0 500000 5000000 50000000] [--links 600000]
                                      [--new 100000] [--repeat 3] [--work FOLDER]
                                      [--file-rows 5000000]

One store takes its catalogue and then its history: purchases of random references in files of at
most five million (`--file-rows`), matched. A night without files reports that history and looks at
all of it, once. Then, on copies, new files are imported and matched, another night runs, and every
page is asked for, also for what is not there.

Each figure is a whole process: the CPU seconds of all its threads, and beside them the seconds that
passed. Reads are medians. What changes the store is held against the smallest size; what reads it
against the largest of the other sizes that is at most a hundredth, where there is one, because an
empty page says little. Memory is the most that any process held (`ru_maxrss` of `wait4`).
"""
# ruff: noqa: T201  a table is what this prints

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from collections import defaultdict
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from speed import product

if TYPE_CHECKING:
    from collections.abc import Iterator

    from speed import Ended

CATALOGUE_AT, BOUGHT_BY, AS_OF = "2026-07-01", "2026-10-01", "2026-10-02"
DRAWN_ROWS = 200_000
"""Rows of the sample that cardholders and merchants are drawn from."""
CHANGES = {"import": 2.0, "import, ten times": 1.3, "match": 1.5, "nightly": 1.5}
"""What changes the store -> at most how many times its cost in the smallest one."""
READ_GOAL, READ_GOAL_S, MEMORY_GOAL_MIB = 1.5, 1.0, 2048
PAGES = ("redemptions", "settlements", "unresolved", "offers", "merchants", "funnel")
IMPORT, IMPORT_MANY, MATCH, NIGHTLY = CHANGES

ROWS = """
copy (
    select
        known.cardholder_token, known.card_token, known.card_acceptor_id,
        printf('%d.%02d', 1 + hash(i, $seed, 1) % 120, hash(i, $seed, 2) % 100) as amount,
        printf('%016x%04x', hash(i, $seed, 3), hash(i, $seed, 4) % 65536) as transaction_ref,
        strftime(
            timestamp '2026-07-03' + to_seconds(cast(hash(i, $seed, 5) % 7689600 as bigint)),
            '%Y-%m-%dT%H:%M:%SZ'
        ) as transacted_at
    from range($count) as numbers(i)
    inner join known on known.n = hash(i, $seed, 6) % $drawn
) to '{to}' (header)
"""


def write_rows(sample: Path, to: Path, count: int, seed: int) -> None:
    """Write so many purchases of cardholders and merchants of the sample."""
    with duckdb.connect() as engine:
        engine.execute(
            "set memory_limit = '2GB'; set preserve_insertion_order = false; "
            "set enable_progress_bar = false"
        )
        engine.execute(
            "create table known as select row_number() over () - 1 as n, * exclude (amount, "
            "transaction_ref, transacted_at) from read_csv($1, all_varchar = true)",
            [str(sample)],
        )
        engine.execute(ROWS.format(to=to), {"count": count, "seed": seed, "drawn": DRAWN_ROWS})


class Growing:
    """The store that grows, and what each question cost at each size."""

    def __init__(self, work: Path, options: argparse.Namespace) -> None:
        self.work = work
        self.links: int = options.links
        self.new: int = options.new
        self.repeat: int = options.repeat
        self.file_rows: int = options.file_rows
        self.rows = 0
        self.files = 0
        self.costs: dict[str, dict[int, list[Ended]]] = defaultdict(lambda: defaultdict(list))

    @property
    def store(self) -> Path:
        """The store whose history grows."""
        return self.work / "grown" / "store.duckdb"

    def begin(self) -> None:
        """Make the store and what its rows are drawn from."""
        sample = self.work / "sample"
        options = f"--rows {DRAWN_ROWS} --links {self.links} --seed 7 --institutions 1"
        product("sample", str(sample), *options.split())
        (sample / "catalog" / "engagement.csv").unlink()
        self.store.parent.mkdir()
        self._run(self.store, "init", as_of=CATALOGUE_AT)
        self._run(self.store, "catalog", "import", sample / "catalog", as_of=CATALOGUE_AT)

    def grow(self, size: int) -> None:
        """Import and match until the history has this many purchases."""
        while self.rows < size:
            count = min(self.file_rows, size - self.rows)
            file = self.file(self.work, count)
            self._cost(
                "history: import", self.store, "import", file, "-i", "larkmere", as_of=BOUGHT_BY
            )
            file.unlink()
            self.rows += count
        self._cost("history: match", self.store, "match", as_of=BOUGHT_BY)
        drop = self.work / "nothing"
        drop.mkdir(exist_ok=True)
        self._cost("history: first night", self.store, "nightly", drop, as_of=BOUGHT_BY)

    def file(self, folder: Path, count: int) -> Path:
        """Write a file of so many purchases that no other file has."""
        self.files += 1
        to = folder / f"larkmere-{self.files}.csv"
        sample = self.work / "sample" / "transactions" / "larkmere.csv"
        writing = get_context("spawn").Process(  # its memory would be counted as its children's
            target=write_rows, args=(sample, to, count, self.files)
        )
        writing.start()
        writing.join()
        return to

    def measure(self) -> None:
        """Ask everything at the size that the history has now."""
        with self._copy() as copy:
            self._change(IMPORT, copy, "import", self.file(copy.parent, self.new))
            self._change(MATCH, copy, "match")
            self._read_all(copy)
        with self._copy() as copy:
            self._change(IMPORT_MANY, copy, "import", self.file(copy.parent, 10 * self.new))
        with self._copy() as copy:
            drop = copy.parent / "drop"
            (drop / "larkmere").mkdir(parents=True)
            self.file(drop / "larkmere", self.new)
            self._change(NIGHTLY, copy, "nightly", drop)
            for _ in range(self.repeat):
                self._cost("run show", copy, "run", "show", "latest")

    def _read_all(self, store: Path) -> None:
        lines: dict[str, tuple[str, ...]] = {"status": ("status",), "doctor": ("doctor",)}
        lines |= {f"report {page}": ("report", page, "-i", "larkmere") for page in PAGES}
        with duckdb.connect(str(store), read_only=True) as engine:
            found = engine.execute(
                "select transaction_ref from purchases order by purchase_no desc limit 1"
            ).fetchone()
        ref = found[0] if found else "none"
        for name, each in (("", ref), (", unknown", "no-such-reference")):
            lines |= {
                f"find --ref{name}": ("find", "--ref", each, "-i", "larkmere"),
                f"why{name}": ("why", each, "-i", "larkmere"),
                f"timeline{name}": ("timeline", each, "-i", "larkmere"),
            }
        for name, line in lines.items():
            for _ in range(self.repeat):
                self._cost(name, store, *line)

    def _change(self, name: str, store: Path, *line: object) -> None:
        words = (*line, "-i", "larkmere") if line[0] == "import" else line
        self._cost(name, store, *words)

    def _cost(self, name: str, store: Path, *line: object, as_of: str = AS_OF) -> None:
        self.costs[name][self.rows].append(self._run(store, *line, as_of=as_of))

    def _run(self, store: Path, *line: object, as_of: str) -> Ended:
        return product(
            *(*map(str, line), "--store", str(store), "--as-of", as_of), endings={0, 3, 5}
        )  # 5: there is no such thing

    @contextmanager
    def _copy(self) -> Iterator[Path]:
        """Give a copy of the store, in a folder that goes with it."""
        folder = self.work / "copy"
        shutil.copytree(self.store.parent, folder)
        try:
            yield folder / self.store.name
        finally:
            shutil.rmtree(folder)


def table(growing: Growing, sizes: list[int]) -> str:
    """Write the outcome: per question its cost at each size, how it grew, and the goal."""
    heads = ["CPU s (passed s) at purchases of", *(f"{size:,}" for size in sizes)]
    lines = [[*heads, "ratio", "goal", "MiB"]]
    for name, costs in growing.costs.items():
        cells = [told(costs[size]) if size in costs else "" for size in sizes]
        peak = max(cost.peak_mib for taken in costs.values() for cost in taken)
        ratio, goal = "", ""
        if not name.startswith("history"):
            last, goal_is = sizes[-1], CHANGES.get(name, READ_GOAL)
            base = sizes[0] if name in CHANGES else hundredth(sizes)
            ratio = f"{median(costs[last], 'cpu_s') / median(costs[base], 'cpu_s'):.2f}"
            goal = f"{goal_is}" if name in CHANGES else f"{goal_is}, {READ_GOAL_S:.0f} s"
        lines.append([name, *cells, ratio, goal, f"{peak:,}"])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def told(costs: list[Ended]) -> str:
    """Return the median cost of one question at one size."""
    return f"{median(costs, 'cpu_s'):.2f} ({median(costs, 'seconds'):.2f})"


def median(costs: list[Ended], of: str) -> float:
    """Return the median of one figure of these processes."""
    figures: list[float] = [getattr(cost, of) for cost in costs]
    return statistics.median(figures)


def hundredth(sizes: list[int]) -> int:
    """Return the size that reads of the last one are held against."""
    small = [size for size in sizes if size * 100 <= sizes[-1]]
    return max(small, default=sizes[0])


def main() -> None:
    """Read the options, let the history grow and print the table."""
    parser = argparse.ArgumentParser(description="Measure what the history costs each question.")
    sizes = [0, 500_000, 5_000_000, 50_000_000]
    parser.add_argument("--sizes", type=int, nargs="+", default=sizes, help="rising")
    parser.add_argument("--links", type=int, default=600_000)
    parser.add_argument("--new", type=int, default=100_000, help="rows of a new file")
    parser.add_argument("--repeat", type=int, default=3, help="turns of each read")
    parser.add_argument("--file-rows", type=int, default=5_000_000, help="the most of one file")
    parser.add_argument("--work", type=Path, help="keep data and stores in this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.work) as scratch:
        growing = Growing(Path(scratch).resolve(), options)
        growing.begin()
        for size in options.sizes:
            growing.grow(size)
            growing.measure()
        print(table(growing, options.sizes), f"memory: goal {MEMORY_GOAL_MIB:,} MiB", sep="\n")


if __name__ == "__main__":
    main()
