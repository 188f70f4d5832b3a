"""What one machine carries, and what the history costs those who read it: one command, one table.

    python tests/benchmarks/history.py [--rows 5000000] [--links 6000000] [--work FOLDER]
                                       [--parts 1100]

An empty store takes a catalogue, imports a file, matches it, exports its history and is compacted.
Each step is a process of its own, its start included; memory is the most it ever held. Then single
purchases are asked for in the store as it was before the export, and as it is after it; medians
count. With `--parts` the history is cut into as many folders of each table, as nights would have
left it, and the same is asked before compacting merges them, and after.
"""
# ruff: noqa: T201  a table is what this prints

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import tempfile
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from speed import AS_OF, product

if TYPE_CHECKING:
    from collections.abc import Callable

    from speed import Ended

GIB = 2**30


class Bench:
    """One store, from the catalogue to a history, in a folder."""

    def __init__(self, work: Path, rows: int, links: int) -> None:
        self.work = work
        self.rows = rows
        self.links = links
        self.took: dict[str, Ended] = {}
        self.sizes: dict[str, int] = {}

    @property
    def store(self) -> Path:
        """The store that is exported."""
        return self.work / "store.duckdb"

    @property
    def before(self) -> Path:
        """A copy of it as it was before the last change."""
        return self.work / "before.duckdb"

    def step(self, name: str, *words: object) -> Any:
        """Take one step and note what it took."""
        line = (*map(str, words), "--as-of", AS_OF, "--store", str(self.store))
        self.took[name] = product(*line)
        return self.took[name].document

    def run(self) -> None:
        """Take every step, and note how large the store and the history are."""
        sample = self.work / "sample"
        options = f"--rows {self.rows} --links {self.links} --seed 7 --institutions 1"
        product("sample", str(sample), *options.split())
        self.step("init", "init")
        self.step("catalog import", "catalog", "import", sample / "catalog")
        self.sizes["store with the catalogue"] = self.store.stat().st_size
        self.step("import", "import", sample / "transactions" / "larkmere.csv", "-i", "larkmere")
        self.step("match", "match")
        self.sizes["store with everything"] = self.store.stat().st_size
        shutil.copy(self.store, self.before)
        self.step("store export", "store", "export", "--to", self.work / "history")
        self.step("store compact", "store", "compact")
        self.sizes["store after the export"] = self.store.stat().st_size
        files = (self.work / "history").rglob("*.parquet")
        self.sizes["history"] = sum(file.stat().st_size for file in files)

    def cut(self, parts: int) -> Ended:
        """Cut the history into parts, keep a copy of the store as it is then, and merge them."""
        cutting = get_context("spawn").Process(  # its memory would be counted as its children's
            target=_cut, args=(self.store, self.work / "history", self.work / "nights", parts)
        )
        cutting.start()
        cutting.join()
        shutil.copy(self.store, self.before)
        self.step("merge", "store", "compact")
        return self.took["merge"]

    def refs(self, count: int) -> list[str]:
        """Return purchases to ask for, from the store before its export."""
        query = "select transaction_ref from purchases order by hash(purchase_no) limit $1"
        with duckdb.connect(str(self.before), read_only=True) as connection:
            return [ref for (ref,) in connection.execute(query, [count]).fetchall()]

    def ask(self, refs: list[str]) -> dict[str, tuple[float, float]]:
        """Return the median seconds of each question, before the last change and after it."""
        ways: dict[str, Callable[[str], list[str]]] = {
            "why REF": lambda ref: ["why", ref, "-i", "larkmere"],
            "find --ref REF": lambda ref: ["find", "--ref", ref, "-i", "larkmere"],
            "status": lambda _: ["status"],
        }
        return {
            name: (self._median(self.before, lines), self._median(self.store, lines))
            for name, line in ways.items()
            for lines in [[line(ref) for ref in refs]]
        }

    def _median(self, store: Path, lines: list[list[str]]) -> float:
        return statistics.median(product(*line, "--store", str(store)).seconds for line in lines)


CUT = """
copy (
    select found.* exclude (nth), runs.run
    from (select *, purchase_no * $parts // (max(purchase_no) over () + 1) as nth from {there})
    as found
    join (select range as nth, uuid() as run from range($parts)) as runs on found.nth = runs.nth
    order by found.nth
) to '{to}' (format parquet, compression zstd, partition_by (run))
"""
LIST = """
insert into history_parts
select '{table}', 1, cast(run as uuid), count(*), sum(purchase_no), {amount}
from read_parquet('{to}/*/*.parquet', hive_partitioning = true)
group by run
"""


def _cut(store: Path, whole: Path, root: Path, parts: int) -> None:
    """Write the whole history of a store anew at a root, in parts of like size, and list them."""
    with duckdb.connect(str(store)) as connection:
        connection.execute("delete from history_parts")
        connection.execute("update history set root = $1", [str(root)])
        for table in sorted(each.name for each in whole.iterdir()):
            there = f"read_parquet('{whole}/{table}/*/*.parquet', hive_partitioning = false)"
            amount = "sum(cast(amount as decimal(38, 4)))" if table == "purchases" else "null"
            to = root / table
            to.mkdir(parents=True)
            connection.execute(CUT.format(there=there, to=to), {"parts": parts})
            connection.execute(LIST.format(table=table, to=to, amount=amount))


def table(bench: Bench, asked: dict[str, tuple[float, float]]) -> str:
    """Write what was measured."""
    lines = [f"{'step':28} {'seconds':>9} {'rows/s':>12} {'MiB':>7}"]
    for name, took in bench.took.items():
        counted = {"import": bench.rows, "match": bench.rows, "store export": bench.rows}
        rows = counted.get(name, bench.links if name == "catalog import" else 0)
        rate = f"{rows / took.seconds:,.0f}" if rows else ""
        lines.append(f"{name:28} {took.seconds:9.1f} {rate:>12} {took.peak_mib:7,}")
    lines += [f"{name:28} {size / GIB:9.3f} GiB" for name, size in bench.sizes.items()]
    grown = bench.sizes["store with everything"] - bench.sizes["store with the catalogue"]
    lines.append(f"purchases in a GiB of store   {bench.rows * GIB / grown:,.0f}")
    lines.append(f"purchases in a GiB of history {bench.rows * GIB / bench.sizes['history']:,.0f}")
    return "\n".join([*lines, *answers(asked, "inside", "outside")])


def answers(asked: dict[str, tuple[float, float]], first: str, second: str) -> list[str]:
    """Write how long each question took, the first way and the second."""
    return [
        f"{name:28} {one * 1e3:6.0f} ms {first}, {other * 1e3:6.0f} ms {second}"
        for name, (one, other) in asked.items()
    ]


def main() -> None:
    """Read the options, take the steps and print the table."""
    parser = argparse.ArgumentParser(description="Measure what one machine carries.")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--links", type=int, default=6_000_000)
    parser.add_argument("--repeat", type=int, default=5, help="purchases that are asked for")
    parser.add_argument("--parts", type=int, help="folders of each table to cut the history into")
    parser.add_argument("--work", type=Path, help="an empty folder to keep everything in")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = (options.work or Path(scratch)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        bench = Bench(work, options.rows, options.links)
        bench.run()
        refs = bench.refs(options.repeat)
        print(table(bench, bench.ask(refs)))
        if options.parts:
            merged = bench.cut(options.parts)
            asked = bench.ask(refs)
            print(f"merged in {merged.seconds:.1f} s, {merged.peak_mib:,} MiB")
            print(*answers(asked, "in parts", "merged"), sep="\n")
    print(f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}")


if __name__ == "__main__":
    main()
