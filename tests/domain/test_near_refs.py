from __future__ import annotations

import pytest

from cardoffers_cli.domain.near_refs import are_near


@pytest.mark.parametrize(
    ("expected", "one", "other"),
    [
        (True, "TX-0010", "TX-OO1O"),
        (True, "TX-0010", "tx-0010"),
        (True, "TX-0010", "TX-10"),
        (True, "TX-0010", "TX0010"),
        (True, "0010", "10"),
        (True, "A1L", "aIl"),
        (True, "7", "007"),
        (False, "TX-10", "TX-100"),
        (False, "TX-10", "TX-01O0"),
        (False, "TX-101", "TX-11"),
        (False, "TX-10", "TY-10"),
        (False, "0", "00000001"),
    ],
)
def test_refs_are_near_when_only_what_is_misread_differs(
    expected: bool, one: str, other: str
) -> None:
    assert expected == are_near(one, other)
    assert expected == are_near(other, one)
