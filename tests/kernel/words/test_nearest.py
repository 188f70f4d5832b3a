from __future__ import annotations

import pytest

from cardoffers_cli.kernel.words.nearest import did_you_mean, nearest

OFFERS = ["of-00012", "of-00112", "of-00120", "bread-5"]


@pytest.mark.parametrize(
    ("expected", "word", "known"),
    [
        (["of-00012"], "OF-12", ["of-00012", "bread-5"]),
        (["of-00012", "of-00120", "of-00112"], "of-0012", OFFERS),
        (["of-00012", "of-00120", "of-00112"], "of-OOO12", OFFERS),
        (["Larkmere"], "larkmeer", ["Larkmere", "tarnhollow"]),
        (["amount_invalid"], "amount-invalid", ["amount_invalid", "encoding"]),
        ([], "kanarie", OFFERS),
        ([], "", OFFERS),
        ([], "of-1", []),
    ],
)
def test_what_is_misread_comes_before_what_is_similar(
    expected: list[str], word: str, known: list[str]
) -> None:
    assert expected == nearest(word, known)


@pytest.mark.parametrize(
    ("expected", "near"),
    [(None, []), ("Did you mean a?", ["a"]), ("Did you mean a or b?", ["a", "b"])],
)
def test_the_question_names_what_is_near(expected: str | None, near: list[str]) -> None:
    assert expected == did_you_mean(near)
