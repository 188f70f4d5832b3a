"""How much a run of the tests tries: `CARDOFFERS_TESTS`.

Unset, what takes five to six minutes on two cores: the first row of a table, and no test that is
`slow`; of a file that is named every row and the slow ones too. `gate`: what `.ci/run` sets, all of
these, every command struck and every page in a browser, at small sizes. `full`: the largest files,
the most kills, and chance; hours.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

LEVELS = ("", "gate", "full")
LEVEL = LEVELS.index(os.environ.get("CARDOFFERS_TESTS", ""))
GATE = LEVEL >= LEVELS.index("gate")
FULL = LEVEL >= LEVELS.index("full")

ROWS_EACH_TIME = {
    "kernel/words": None,
    "intake/pack": None,
    **dict.fromkeys(("river", "refunds", "credits", "payouts", "http/contract"), 2),
    **dict.fromkeys(("intake", "drop", "kernel/sheets", "arrivals", "offers"), 2),
}
"""How many rows of a test's table are tried each time, by folder; None is all of them.

They are weighed by harm: a fault of the river, or of what is paid, pays somebody wrongly, one of
the contract turns an institution away, and one of reading a file is a finding, though its rows take
less time, as do those of other tables without a store.
"""
ELSE_EACH_TIME = 1
"""The same of all other folders: most of their rows take a store or a server."""


LONGEST = (
    *("test_chaos", "test_night", "river/test_files", "test_doors", "storage/test_doctor"),
    *("test_benchmarks", "test_recipes", "archive/test_engines", "kernel/cli/test_every_command"),
    *("archive/test_export", "refunds/test_apply", "payouts/test_payouts"),
)
"""The files that take longest at the gate, begun first so that none is left for the end alone."""


def is_tried(row: int, of: int, *, one_in: int, most: int | None) -> bool:
    """Say whether a row of a test's table is tried each time: the first, and some far apart.

    It is one in so many, and of those at most so many.
    """
    if row % one_in:
        return False
    rows, row = -(-of // one_in), row // one_in
    return most is None or row == 0 or row * most // rows != (row - 1) * most // rows


def one_in(number: int, *, gate: int = 1) -> pytest.MarkDecorator:
    """Mark a test of many parameters: one in so many is tried each time, and one at the gate.

    Where its file is named, and in full, all are.
    """
    return pytest.mark.one_in(gate if GATE else number)


def tries(each_time: int, gate: int) -> int:
    """Return how much is tried of something that is drawn: examples, kills, rows."""
    return gate if GATE else each_time


slow = pytest.mark.slow
"""Marks what takes some tenths of a second and more, where shorter tests say something of the same.

It is tried at the gate, and each time where its file is named.
"""

at_the_gate = pytest.mark.skipif(not GATE, reason="CARDOFFERS_TESTS is neither gate nor full")
"""Marks what is tried by `.ci/run` and not each time."""

INSTALLED = {
    "a browser": ("no browser is installed", "playwright is not installed"),
    "sshd": ("sshd or ssh is not installed",),
    "gpg": ("gpg is not installed",),
    "borg": ("borg is not installed",),
    "the runtime of the page that checks files": ("CARDOFFERS_PYODIDE does not name",),
}
"""What `.ci/run` installs where `CI` is set: its name, and why tests are skipped without it."""

OPTIONAL = {
    "Apache Spark on Java": ("CARDOFFERS_SPARK_TESTS is unset",),
    "data sets beside the checkout": ("not here", "beside the", "no shared data", "BANK_FILES"),
    "what only root may do": ("only root", "takes root", "no disk may be mounted"),
    "what root may not do": ("root may write anywhere",),
    "packages that [test] does not name": ("could not import",),
}
"""What a machine need not have."""

ELSEWHERE = (
    "a test of its own has it",
    "the command says application/json where nothing is said",
    "nothing is to be done",
    "tests/http/test_crash.py does the same",
)
"""Why a row of a table is skipped though nothing is missing."""


def not_tried(reasons: Iterable[str]) -> list[str]:
    """Return what was not tried, of the reasons why tests were skipped; an unknown one is itself.

    What `.ci/run` installs begins with `! `, and comes first.
    """
    known = {**{f"! {name}": begin for name, begin in INSTALLED.items()}, **OPTIONAL}
    found = set()
    for reason in reasons:
        if not any(text in reason for text in ELSEWHERE):
            fits = (name for name, texts in known.items() if any(each in reason for each in texts))
            found.add(next(fits, reason.removeprefix("Skipped: ")))
    return sorted(found)
