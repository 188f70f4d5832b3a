"""Which parts of an archive are merged: as digits are carried in counting."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardoffers_cli.archive.archive import Part, Sums
from cardoffers_cli.archive.export import LARGE_ROWS, MANY, due, small, total

DIGITS = len(str(LARGE_ROWS)) - 1


def part(row_count: int) -> Part:
    return Part(
        table_name="purchases",
        run_id=UUID(int=0),
        row_count=row_count,
        purchase_no_sum=2 * row_count,
        amount=Decimal("0.01"),
    )


@pytest.mark.parametrize(
    ("row_counts", "merged", "by_hand"),
    [
        ([], [], []),
        ([5], [], []),
        ([5, 70], [], [5, 70]),
        ([5] * 9, [], [5] * 9),
        ([5] * 10, [5] * 10, [5] * 10),
        ([5] * 9 + [10], [], [5] * 9 + [10]),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10], [1, 2, 3, 4, 5, 6, 7, 8, 9, 9], ...),
        ([1] * 10 + [10] * 11 + [100] * 3, [1] * 10 + [10] * 11, ...),
        ([5, LARGE_ROWS], [], []),
        ([5, LARGE_ROWS - 1, LARGE_ROWS], [], [5, LARGE_ROWS - 1]),
        ([LARGE_ROWS - 1] * 10 + [LARGE_ROWS] * 10, [LARGE_ROWS - 1] * 10, [LARGE_ROWS - 1] * 10),
    ],
)
def test_ten_of_a_size_are_merged_and_by_hand_all_that_are_small(
    row_counts: list[int], merged: list[int], by_hand: list[int]
) -> None:
    parts = [part(each) for each in row_counts]
    assert merged == rows_of(due(parts))
    assert (row_counts if by_hand is ... else by_hand) == rows_of(small(parts))


def rows_of(parts: list[Part]) -> list[int]:
    return [each.row_count for each in parts]


@given(st.lists(st.integers(1, 2 * LARGE_ROWS) | st.integers(1, 300), max_size=300))
def test_parts_stay_few_and_rows_are_seldom_written_anew(nights: list[int]) -> None:
    """Each part is one of its rows, and how often any of these were written anew."""
    listed: list[tuple[Part, int]] = []
    for row_count in nights:
        listed.append((part(row_count), 0))
        merged = due([each for each, _ in listed])
        if merged:
            taken = [(each, times) for each, times in listed if each in merged]
            listed = [pair for pair in listed if pair not in taken]
            sums = total(merged)
            listed.append((part(sums.row_count), 1 + max(times for _, times in taken)))
        sizes = Counter(len(str(each.row_count)) for each, _ in listed)
        assert all(sizes[digits] <= MANY for digits in range(1, DIGITS + 1))
    assert sum(nights) == sum(each.row_count for each, _ in listed)
    assert all(times <= DIGITS for _, times in listed)


def test_sums_add_up() -> None:
    assert Sums(row_count=12, purchase_no_sum=24, amount=Decimal("0.02")) == total(
        [part(5), part(7)]
    )
    without = Sums(row_count=1, purchase_no_sum=1, amount=None)
    assert Sums(row_count=2, purchase_no_sum=2, amount=None) == total([without, without])
