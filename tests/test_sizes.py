"""What an everyday run tries of each test: the first row of its table, and some far apart."""

from __future__ import annotations

import pytest

from sizes import is_tried


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
