"""`cardoffers arrivals`, and the setting of which files are expected, as an operator types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commands import in_a_pipe
from work import with_catalogue

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commands import Ended

EXPECTED = "*.csv by 01:00 Europe/London on weekdays except holidays"


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Ended]:
    store = with_catalogue(tmp_path).path
    return lambda *words, as_of="2026-11-27T12:00Z": in_a_pipe(
        [*words, "--store", store, "--as-of", as_of]
    )


def test_what_is_expected_is_listed_in_the_shape_of_the_contract(run: Any, tmp_path: Path) -> None:
    """watch.md#files-that-are-expected"""
    nothing = run("arrivals", "--format", "json")
    assert (0, []) == (nothing.exit_code, nothing.document)
    assert "cardoffers institution set INST --expects" in nothing.stderr
    (tmp_path / "holidays.txt").write_text("2026-11-30 Saint Andrew's Day\n")
    given = ("--expects", EXPECTED, "--holidays", tmp_path / "holidays.txt")
    assert 0 == run("institution", "set", "alder", *given).exit_code
    rows = run("arrivals", "--format", "json", as_of="2026-12-01T02:00Z").document
    assert [("not_expected", "Saint Andrew's Day"), ("missed", None), ("pending", None)] == [
        (row["state"], row["why"]) for row in rows
    ]
    assert {"institution_id", "expected", "due_at", "state", "file"} <= rows[0].keys()
    assert (EXPECTED, "2026-12-01T01:00:00.000Z") == (rows[1]["expected"], rows[1]["due_at"])


@pytest.mark.parametrize(
    ("exit_code", "words", "told"),
    [
        (2, ["--expects", "*.csv by 01:00 Europe/Londn"], "Did you mean Europe/London"),
        (2, ["--expects", "none", "--expects", EXPECTED], "--expects none takes all away"),
        (5, ["--holidays", "missing.txt"], "The holidays missing.txt cannot be read"),
    ],
)
def test_a_wrong_setting_says_what_to_write(
    run: Any, exit_code: int, words: list[str], told: str
) -> None:
    ended = run("institution", "set", "alder", *words)
    assert exit_code == ended.exit_code
    assert told in ended.stderr
