"""Every benchmark runs to its end and prints its table, at sizes that measure nothing.

What fills their stores by hand has to follow the schema. `chaos.py` and `nights.py` have small
editions of their own (`test_chaos.py`, `test_night.py`); how well merchants are found needs a list
of acquirer numbers that is not ours to hand on, so that only how fast is tried.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from browser import browser
from packs import package
from sizes import at_the_gate

BENCHMARKS = Path(__file__).parent / "benchmarks"
SMALL = {
    "drift.py": ("--seeds 7 --nights 4 --large 600 --before 1 --repeat 1", "less than 3.0 %"),
    "feed.py": ("--scale 0.05 --repeat 3", "ratio"),
    "find.py": ("--scale 0.05 --repeat 1", "why, unknown ref"),
    "growth.py": ("--sizes 0 1000 --links 2000 --new 200 --repeat 1", "timeline, unknown"),
    "history.py": ("--rows 2000 --links 2000 --repeat 1 --parts 3", "merged in"),
    "merchants.py": ("--scale 0.002", "goal at --scale 1"),
    "page.py": ("--rows 2000 --repeat 1", "goal: 100,000 rows/s"),
    "reads.py": ("--repeat 1", "merchant list"),
    "reconcile.py": ("--rows 1000 --repeat 1", "goal of the first run"),
    "serve.py": ("--seconds 1 --rows 500 --clients 2", "lost: 0"),
    "speed.py": ("--rows 2000 --links 2000 --other-rows 500 --repeat 1", "settle"),
    "webhooks.py": ("--events 400 --repeat 1", "`webhook send`"),
}
"""Benchmark -> options of a small run, and what its table has."""
OF_OTHERS = {"chaos.py", "nights.py", "others.py"}


@at_the_gate
@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_prints_its_table(name: str, tmp_path: Path) -> None:
    if name == "page.py":  # skipped where what it needs is not there
        package()
        with browser():
            pass
    options, expected = SMALL[name]
    work = [] if name == "serve.py" else ["--work", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / name), *options.split(), *work],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, True) == (done.returncode, expected in done.stdout), done.stderr[-2000:]


def test_every_benchmark_is_tried() -> None:
    assert {*SMALL, *OF_OTHERS} == {file.name for file in BENCHMARKS.glob("*.py")}
