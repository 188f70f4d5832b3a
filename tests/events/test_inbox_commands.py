"""`cardoffers inbox` as an institution's team meets it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.institutions import inbox
from tables import NOON, uid
from work import new_store, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def run(cardoffers: Any, tmp_path: Path) -> Callable[..., Any]:
    """Run `cardoffers inbox` on a store with one message to `alder`."""
    job = new_store(tmp_path)
    tell(job, institutions="institution\nalder\nbrook")
    with job.store() as store:
        inbox.post(store, uid("alder"), kind="test", subject="it", text="Look at it.", now=NOON)
    usual = ("--store", job.path, "--as-of", "2026-06-02", "--format", "json")
    return lambda *words: cardoffers("inbox", *words, *usual)


def test_messages_are_listed_in_the_shape_of_the_contract(run: Any) -> None:
    (message,) = run("list", "-i", "alder").document
    assert {
        "id": message["id"],
        "kind": "test",
        "created_at": "2026-06-01T12:00:00.000Z",
        "text": "Look at it.",
        "read_at": None,
    } == message
    assert [] == run("list", "-i", "brook").document


@pytest.mark.parametrize("one", [True, False])
def test_a_message_is_read(run: Any, one: bool) -> None:
    (message,) = run("list", "-i", "alder", "--unread").document
    which = message["id"] if one else "--all"
    read = {**message, "read_at": "2026-06-02T00:00:00.000Z"}
    dry = run("read", "-i", "alder", which, "--dry-run").document
    assert [{**read, "dry_run": True}] == dry
    assert [message] == run("list", "-i", "alder", "--unread").document
    assert [read] == run("read", "-i", "alder", which).document
    assert [] == run("list", "-i", "alder", "--unread").document
    assert [read] == run("list", "-i", "alder").document


@pytest.mark.parametrize(
    ("exit_code", "code", "words"),
    [
        (2, "usage", ["alder"]),
        (2, "usage", ["alder", "no-id", "--all"]),
        (5, "institution_not_found", ["nobody", "no-id"]),
        (5, "message_not_found", ["alder", "no-id"]),
    ],
)
def test_what_cannot_be_read_is_refused(
    run: Any, exit_code: int, code: str, words: list[str]
) -> None:
    ended = run("read", "-i", *words)
    assert (exit_code, code) == (ended.exit_code, ended.error["code"])
