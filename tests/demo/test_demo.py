"""The demo: what it shows is what its commands do, and it leaves nothing behind unasked."""

from __future__ import annotations

import shlex
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.sheets.exports import copy_sample_data, sample_data
from commands import in_a_pipe
from sizes import at_the_gate, slow

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commands import Ended

pytestmark = slow

MADE_ANEW = {"run_id", "import_id", "already_imported"}
TOLD_BY_A_COMMAND = {"snapshot_at"}  # the demo has its store to itself


def told(result: dict[str, Any]) -> dict[str, Any]:
    """Leave out the ids that no two runs share, and what a command says of its reading."""
    left_out = MADE_ANEW | TOLD_BY_A_COMMAND
    return {name: value for name, value in result.items() if name not in left_out}


@pytest.fixture(scope="module")
def demo() -> Callable[..., Ended]:
    """Run the demo as it is, once for all who ask for it in one form."""
    return cache(lambda *words: in_a_pipe(("demo", *words)))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_every_command_it_shows_does_what_it_shows(
    cardoffers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = cardoffers("demo", tmp_path / "demo", "--format", "json").document["steps"]
    copy_sample_data(tmp_path)
    monkeypatch.chdir(tmp_path)
    for step in steps:
        if step["name"].startswith(("webhook", "reconcile")):
            continue  # the receiver is gone, and with it what was delivered
        line, _, source = step["command"].partition(" < ")
        stdin = (tmp_path / "demo" / source).read_text() if source else None
        program, *words = shlex.split(line)
        assert "cardoffers" == program
        typed = cardoffers(*words, "--format", "json", stdin=stdin).document
        assert told(step["result"]) == told(typed), step["command"]


def test_it_tells_where_the_money_came_from_and_went(demo: Callable[..., Ended]) -> None:
    story = demo("--format", "table").stdout
    assert "GBP: 209.66 from merchants = 196.50 to institutions + 13.16 commission." in story


@at_the_gate
def test_the_receiver_of_the_demo_verifies_every_event(demo: Callable[..., Ended]) -> None:
    steps = demo("--format", "json").document["steps"]
    (sent,) = [step["result"] for step in steps if step["name"] == "webhook_send"]
    assert (49, 49, 49) == (sent["attempted"], sent["delivered"], sent["verified"])
    assert [{"institution": "tarnhollow", "reason": "no_url", "events": 33}] == sent["held"]


def test_no_token_is_shown_in_full(demo: Callable[..., Ended], tmp_path: Path) -> None:
    shown = [demo("--format", form).stdout for form in ("table", "json")]
    in_a_pipe(("demo", tmp_path / "demo"))
    tokens = (tmp_path / "demo" / "cardholder.txt").read_text().split()
    assert 2 == len(tokens)
    assert [] == [token for token in tokens for text in shown if token in text]


def test_what_was_just_seen_and_added_is_in_the_funnel(demo: Callable[..., Ended]) -> None:
    steps = demo("--format", "json").document["steps"]
    feed, add, funnel = (
        next(step["result"] for step in steps if step["name"] == name)
        for name in ("feed", "add", "funnel")
    )
    assert "added" == add["status"]
    events = (copied_events("larkmere", "widget_view"), copied_events("larkmere", "offer_imp"))
    assert (events[0] + 1, events[1] + len(feed["offers"])) == (
        funnel["data"]["widget_views"],
        funnel["data"]["offer_impressions"],
    )


def copied_events(institution: str, event: str) -> int:
    lines = (sample_data() / "catalog" / "engagement.csv").read_text().splitlines()
    return sum(line.startswith(institution) and f",{event}" in line for line in lines)


def test_in_a_pipe_it_lists_its_commands(cardoffers: Any) -> None:
    header, *rows = cardoffers("demo").stdout.splitlines()
    assert "step\tcommand" == header
    assert "1\tcardoffers init --rehearsal" == rows[0]
    assert 23 == len(rows)


@at_the_gate
def test_another_moment_is_heeded(cardoffers: Any) -> None:
    document = cardoffers("demo", "--as-of", "2026-07-01", "--format", "json").document
    assert "2026-07-01T00:00:00.000Z" == document["as_of"]
    match = next(step for step in document["steps"] if step["name"] == "match")
    assert 0 == match["result"]["considered"]


@at_the_gate
def test_without_a_folder_nothing_stays(cardoffers: Any, temporary: Path) -> None:
    assert 0 == cardoffers("demo").exit_code
    assert [] == list(temporary.iterdir())


@at_the_gate
def test_a_folder_stays_and_is_not_run_over(cardoffers: Any, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "demo"
    assert f"$ cd {folder}" in cardoffers("demo", folder, "--format", "table").stdout
    assert {"catalog", "transactions", "cardoffers.duckdb"} <= {p.name for p in folder.iterdir()}
    again = cardoffers("demo", folder, "--format", "json")
    assert (4, "store_exists") == (again.exit_code, again.error["code"])


def test_a_folder_with_other_things_is_left_alone(cardoffers: Any, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").touch()
    for place in (tmp_path, tmp_path / "letter.txt"):
        refused = cardoffers("demo", place, "--format", "json")
        assert (4, "folder_not_empty") == (refused.exit_code, refused.error["code"])


def test_it_makes_a_store_of_its_own(cardoffers: Any, tmp_path: Path) -> None:
    assert 2 == cardoffers("demo", "--store", tmp_path / "s.duckdb").exit_code
