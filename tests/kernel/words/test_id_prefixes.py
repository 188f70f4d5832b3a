from __future__ import annotations

from uuid import UUID

import pytest

from cardoffers_cli.kernel.words.ids import ids_beginning, is_whole

ID = "6b0e4c1d-7f3a-8b2c-9d4e-5f6071829304"


@pytest.mark.parametrize(
    "text", [ID[:4], ID[:8], ID[:9], ID[:13], ID, ID[:6].upper(), ID.replace("-", "")[:20]]
)
def test_a_beginning_is_that_of_the_ids_between_two(text: str) -> None:
    bounds = ids_beginning(text)
    assert bounds
    assert bounds[0] <= UUID(ID) <= bounds[1]
    assert bounds[0].hex[:4] == bounds[1].hex[:4] == "6b0e"


@pytest.mark.parametrize("text", ["", "6b0", "6b0g", "tx-1234", "6b-0e4c1d", ID + "0", "latest"])
def test_what_no_id_begins_with(text: str) -> None:
    assert ids_beginning(text) is None


@pytest.mark.parametrize(
    ("expected", "text"), [(True, ID), (True, ID.replace("-", "")), (False, ID[:-1]), (False, "x")]
)
def test_a_whole_id_is_told(expected: bool, text: str) -> None:
    assert expected == is_whole(text)
