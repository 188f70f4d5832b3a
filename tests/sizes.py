"""How much a run of the tests tries: `CARDOFFERS_TESTS`.

Unset, what fits into six minutes on two cores: the first row of a table, and no test that is
`slow`; of a file that is named every row and the slow ones too. `gate`: what `.ci/run` sets, all of
these, every command struck and every page in a browser, at small sizes. `full`: the largest files,
the most kills, and chance; hours.
"""

from __future__ import annotations

import os

import pytest

LEVELS = ("", "gate", "full")
LEVEL = LEVELS.index(os.environ.get("CARDOFFERS_TESTS", ""))
GATE = LEVEL >= LEVELS.index("gate")
FULL = LEVEL >= LEVELS.index("full")

ROWS_EACH_TIME = 1
"""How many rows of a test's table are tried each time, where each takes a store or a server."""
QUICK_ROOMS = ("domain", "files", "validator")
"""Where rows take no time: all of them are tried each time."""


def is_tried(row: int, of: int, *, one_in: int, most: int | None) -> bool:
    """Say whether a row of a test's table is tried each time: the first, and some far apart.

    It is one in so many, and of those at most so many.
    """
    if row % one_in:
        return False
    rows, row = -(-of // one_in), row // one_in
    return most is None or row == 0 or row * most // rows != (row - 1) * most // rows


def one_in(number: int) -> pytest.MarkDecorator:
    """Mark a test of many parameters: one in so many is tried each time, all at the gate."""
    return pytest.mark.one_in(number)


def tries(each_time: int, gate: int) -> int:
    """Return how much is tried of something that is drawn: examples, kills, rows."""
    return gate if GATE else each_time


slow = pytest.mark.slow
"""Marks what takes most of a second: tried at the gate, and each time where its file is named."""

at_the_gate = pytest.mark.skipif(not GATE, reason="CARDOFFERS_TESTS is neither gate nor full")
"""Marks what is tried by `.ci/run` and not each time."""
