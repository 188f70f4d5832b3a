from __future__ import annotations

import pytest

from cardoffers_cli.kernel.cli.colour import folded


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("one two", "one two"),
        ("one two three four\nfive six seven", "one two three four five six seven"),
        ("one\n`a command to copy`", "one `a command to copy`"),
        ("one\n`a command that is longer`\nand more", "one `a command that is longer` and more"),
        ("  one two three four\n  five", "  one two three four five"),
        ("x" * 30, "x" * 30),
        ("one\ntwo", "one\ntwo"),
    ],
)
def test_lines_are_broken_between_words(
    monkeypatch: pytest.MonkeyPatch, expected: str, text: str
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert expected == folded(text)
