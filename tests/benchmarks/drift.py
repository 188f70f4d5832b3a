"""How often the watch is wrong about files, and what it costs.

    python tests/benchmarks/drift.py [--seeds 7 11] [--nights 60] [--rows 300]
        [--large 200000] [--before 4] [--repeat 3] [--real] [--work …]

Of each seed there is a sample of so many clean nightly files: each that is found unusual is a false
alarm. On the night behind them each fault of `drifting.FAULTS` is planted in its file. With
`--real` the real monthly files beside the repository follow. What the watch costs is told of a
large file, behind a few like it, beside its import: keeping what it looked like, and the look of
the nightly run; the median of the turns, in CPU seconds of all threads and in seconds.
"""
# ruff: noqa: T201  a table is what this prints

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1] / "kit"))

from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.river.decide import decide
from cardoffers_cli.watch import scan as unusual
from cardoffers_cli.watch.scan import look
from drifting import FAULTS, REAL, SLUG, days_of, real_months
from work import settings, taken

if TYPE_CHECKING:
    from collections.abc import Iterator

GOAL = 3.0  # percent of the import
IMPORT, KEEP, COMPARE = "import, all in all", "keep what it looked like", "compare it"
MATCH, LOOK = "match", "look behind the match"
Times = dict[str, list[tuple[float, float]]]


@contextmanager
def taking(times: Times, what: str) -> Iterator[None]:
    """Note the CPU seconds and the seconds that a block takes."""
    cpu, began = process_time(), perf_counter()
    yield
    times[what].append((process_time() - cpu, perf_counter() - began))


@contextmanager
def inside(times: Times, what: str, name: str) -> Iterator[None]:
    """Note what a function takes that the import calls behind its file."""
    called = getattr(unusual, name)

    def timed(*given: object) -> object:
        with taking(times, what):
            return called(*given)

    setattr(unusual, name, timed)
    yield
    setattr(unusual, name, called)


def judged(folder: Path, seed: int, nights: int, rows: int) -> tuple[int, list[str]]:
    """Return how many clean nights raised an alarm, and which planted faults were not found."""
    sample = days_of(folder / "clean", days=nights + 1, rows=rows, seed=seed)
    alarms = sum(bool(sample.night(day)) for day in range(nights))
    missed = [name for name in FAULTS if not sample.found_of(nights, name, folder / name)]
    return alarms, missed


def costs(folder: Path, rows: int, before: int, repeat: int) -> Times:
    """Take in large files behind some like them, and note what each part of that takes."""
    times: Times = defaultdict(list)
    sample = days_of(folder, days=before + repeat, rows=rows)
    sample.made = replace(sample.made, settings=settings(threads=0, memory_limit="1GiB"))
    for day in range(before):
        sample.night(day)
    for day in range(before, before + repeat):
        job, path = sample.file(day)
        parts = inside(times, KEEP, "keep_shapes"), inside(times, COMPARE, "compare")
        with taking(times, IMPORT), parts[0], parts[1]:
            taken(job, path, SLUG)
        with job.store() as store, store.transaction():
            with taking(times, MATCH):
                decide(store, job)
            with taking(times, LOOK):
                look(store, job, find_institution(store, SLUG).id)
    return times


def show_costs(times: Times, rows: int) -> None:
    """Print what each part takes, and its part of the import."""
    print(f"\nA file of some {rows:,} rows, of an institution that is watched\n")
    print(f"{'':26}{'CPU s':>8}{'seconds':>9}{'% of the import':>17}")
    middle = {
        what: [statistics.median(each) for each in zip(*taken, strict=True)]
        for what, taken in times.items()
    }
    for what, (cpu, seconds) in middle.items():
        print(f"{what:26}{cpu:8.2f}{seconds:9.2f}{100 * cpu / middle[IMPORT][0]:17.1f}")
    print(f"\ngoal of what is kept: less than {GOAL} % of the import")


def main() -> None:
    """Try the faults and measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="*", default=[7, 11])
    parser.add_argument("--nights", type=int, default=60)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--large", type=int, default=200_000)
    parser.add_argument("--before", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--work", type=Path)
    asked = parser.parse_args()
    print(f"{asked.nights} clean nights of some {asked.rows:,} rows\n")
    print(f"{'seed':>4}{'false alarms':>14}{'faults found':>14}  not found")
    for seed in asked.seeds:
        with tempfile.TemporaryDirectory(dir=asked.work) as folder:
            (Path(folder) / "clean").mkdir()
            alarms, missed = judged(Path(folder), seed, asked.nights, asked.rows)
        many = f"{len(FAULTS) - len(missed)} of {len(FAULTS)}"
        print(f"{seed:4}{alarms:14}{many:>14}  {', '.join(missed)}", flush=True)
    if asked.real and REAL.is_dir():
        with tempfile.TemporaryDirectory(dir=asked.work) as folder:
            print("\nOf 95 real files:", *(" ".join(each) for each in real_months(Path(folder))))
    with tempfile.TemporaryDirectory(dir=asked.work) as folder:
        times = costs(Path(folder), asked.large, asked.before, asked.repeat)
    show_costs(times, asked.large)


if __name__ == "__main__":
    main()
