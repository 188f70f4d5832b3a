"""How much a run of the tests tries: `CARDOFFERS_TESTS`.

Unset, what fits into a few minutes on two cores: an example of everything. `gate`: what `.ci/run`
sets, every command struck and every page in a browser, at small sizes. `full`: the largest files,
the most kills, and chance; hours.
"""

from __future__ import annotations

import os

import pytest

LEVELS = ("", "gate", "full")
LEVEL = LEVELS.index(os.environ.get("CARDOFFERS_TESTS", ""))
GATE = LEVEL >= LEVELS.index("gate")
FULL = LEVEL >= LEVELS.index("full")


def one_in(number: int) -> pytest.MarkDecorator:
    """Mark a test of many parameters: one in so many is tried each time, all at the gate."""
    return pytest.mark.one_in(number)


def tries(each_time: int, gate: int) -> int:
    """Return how much is tried of something that is drawn: examples, kills, rows."""
    return gate if GATE else each_time


at_the_gate = pytest.mark.skipif(not GATE, reason="CARDOFFERS_TESTS is neither gate nor full")
"""Marks what is tried by `.ci/run` and not each time."""
