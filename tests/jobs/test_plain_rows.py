"""Rows changed by chance are told alike by both readings: many of them in one file.

To begin with a file costs both readings more than its rows do, so what may be wrong with a row is
tried in files in which every row has something else wrong with it. Each is compared byte for byte,
as in `test_plain.py`, which has what may be wrong with a file as a whole. Rows of one file are also
told from each other: by their references, and by what most of them look like.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from mutated import MADE, OPTIONS, OPTIONS_OF_LAYOUTS, file_of_layout, file_of_rows, profile_for
from readings import check
from sizes import FULL, tries

if TYPE_CHECKING:
    from pathlib import Path

PARTS = 10
ROWS = (100_000 if FULL else tries(1_000, 10_000)) // PARTS
"""How many rows are changed, in our own layout and again in others."""

IN_A_FILE = [1, 30, 100, 100, 250, 250, *([2_500] if FULL else [])]
"""How many rows a file has: of more than 2,000 tables are made."""


@pytest.mark.parametrize("part", range(PARTS))
def test_rows_changed_by_chance(part: int, tmp_path: Path) -> None:
    chance = random.Random(f"rows {part}")  # noqa: S311
    left = ROWS
    while left > 0:
        count = min(left, chance.choice(IN_A_FILE))
        step = chance.choice([100, 1 << 20])
        check(file_of_rows(count, chance), tmp_path, step, **chance.choice(OPTIONS))
        left -= count


@pytest.mark.parametrize("part", range(PARTS))
def test_rows_of_other_layouts_changed_by_chance(part: int, tmp_path: Path) -> None:
    chance = random.Random(f"layouts {part}")  # noqa: S311
    left = ROWS
    while left > 0:
        count, layout = min(left, chance.choice(IN_A_FILE)), chance.choice(MADE)
        profile, step = profile_for(layout.profile), chance.choice([100, 1 << 20])
        options = chance.choice(OPTIONS_OF_LAYOUTS)
        check(file_of_layout(layout, count, chance), tmp_path, step, profile=profile, **options)
        left -= count
