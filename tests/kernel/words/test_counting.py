from __future__ import annotations

import pytest

from cardoffers_cli.kernel.words.sentences import counted


@pytest.mark.parametrize(
    ("count", "many", "expected"),
    [
        (0, None, "0 rejected rows"),
        (1, None, "1 rejected row"),
        (2, None, "2 rejected rows"),
        (1200, None, "1,200 rejected rows"),
        (1, "rows rejected", "1 rejected row"),
        (2, "rows rejected", "2 rows rejected"),
    ],
)
def test_one_is_not_many(count: int, many: str | None, expected: str) -> None:
    assert expected == counted(count, "rejected row", many)
