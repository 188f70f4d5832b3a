"""What an everyday run tries: of a table the first row, and some far apart, and nothing slow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sizes import is_tried, slow


@pytest.mark.parametrize(
    ("tried", "of", "one_in", "most"),
    [
        ([0], 1, 1, 3),
        ([0, 1, 2], 3, 1, 3),
        ([0, 2, 3], 4, 1, 3),
        ([0, 4, 7], 10, 1, 3),
        ([0, 34, 67], 100, 1, 3),
        ([0, 3, 6, 9], 10, 3, None),
        ([0, 6, 9], 10, 3, 3),
        ([*range(10)], 10, 1, None),
    ],
)
def test_of_each_table_some_rows_are_tried(
    tried: list[int], of: int, one_in: int, most: int | None
) -> None:
    assert tried == [row for row in range(of) if is_tried(row, of, one_in=one_in, most=most)]


@slow
@pytest.mark.parametrize(
    ("is_tried", "named", "level"),
    [
        (False, "tests/wire", ""),
        (True, "tests/wire/test_strangers.py", ""),
        (True, "tests/wire", "gate"),
    ],
)
def test_what_is_slow_is_tried_at_the_gate_and_by_name(
    is_tried: bool, named: str, level: str
) -> None:
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", named],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "CARDOFFERS_TESTS": level},
        capture_output=True,
        text=True,
        check=True,
    )
    assert is_tried == ("::test_a_stranger_costs_little" in collected.stdout)
