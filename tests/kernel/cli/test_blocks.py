"""Counts as people look at them."""

from __future__ import annotations

import pytest

from cardoffers_cli.kernel.cli.blocks import bar, sparkline


@pytest.mark.parametrize(
    ("expected", "count", "most"),
    [
        ("", 0, 0),
        ("", 0, 9),
        ("████", 9, 9),
        ("██", 5, 10),
        ("█▌", 3, 8),
        ("▏", 1, 32),
        ("▏", 1, 1_000_000),  # what is not nothing is seen
    ],
)
def test_a_bar_is_as_long_as_its_count(expected: str, count: int, most: int) -> None:
    assert expected == bar(count, most, 4)


@pytest.mark.parametrize(
    ("expected", "counts"),
    [
        ("", []),
        ("▁▁▁", [0, 0, 0]),
        ("▁█", [0, 1]),
        ("▁▂▃▄▅▆▇█", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("█▂▁", [1_000_000, 1, 0]),  # what is not nothing stands higher
    ],
)
def test_a_line_is_as_high_as_its_counts(expected: str, counts: list[int]) -> None:
    assert expected == sparkline(counts)
