from __future__ import annotations

import pytest

from cardoffers_cli.kernel.words.ids import mask


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("ch_8f38ffe45062a4509e104fa7", "ch_8…4fa7"),
        ("123456789", "1234…6789"),
        ("12345678", "…"),
        ("1234", "…"),
        ("", "…"),
    ],
)
def test_a_token_shows_its_ends_where_it_has_a_middle_to_hide(token: str, shown: str) -> None:
    assert shown == mask(token)
