from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.institutions import inbox
from cardoffers_cli.institutions.inbox import read_messages
from cardoffers_cli.kernel.store.reading import read_rows
from cardoffers_cli.kernel.words.errors import NotFound
from tables import NOON, uid
from work import kept, new_store, tell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

MINUTE = timedelta(minutes=1)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A store whose institution `alder` has two messages, and `brook` one."""
    job = new_store(tmp_path)
    tell(job, institutions="institution\nalder\nbrook\ncedar")
    with job.store() as store:
        for minute, (owner, text) in enumerate(
            [("alder", "older"), ("brook", "other"), ("alder", "newer")]
        ):
            subject = {"kind": "test", "subject": text, "text": text}
            inbox.post(store, uid(owner), **subject, now=NOON + minute * MINUTE)
    return job


def messages(job: Job, institution: str, *, unread_only: bool = False) -> list[inbox.Message]:
    asked = {"one_institution": institution, "unread_only": unread_only}
    return read_rows(job, inbox.Message, "institutions/inbox:messages", **asked)


def message(job: Job, text: str) -> str:
    """Return the id of a message."""
    both = [*messages(job, "alder"), *messages(job, "brook")]
    return next(str(each["id"]) for each in both if each["text"] == text)


def told(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [each["text"] for each in rows]


def test_messages_are_listed_the_newest_first_each_institution_its_own(job: Job) -> None:
    (newer, _) = messages(job, "alder")
    assert {
        "id": newer["id"],
        "kind": "test",
        "created_at": NOON + 2 * MINUTE,
        "text": "newer",
        "read_at": None,
    } == newer
    assert ["newer", "older"] == told(messages(job, "alder"))
    assert ["other"] == told(messages(job, "brook"))
    assert [] == messages(job, "cedar")


def test_the_same_thing_is_never_said_twice(job: Job) -> None:
    with job.store() as store:
        words = {"kind": "test", "text": "said in other words", "now": NOON}
        assert not inbox.post(store, uid("alder"), subject="older", **words)
        assert inbox.post(store, uid("brook"), subject="older", **words)
    assert ["newer", "older"] == told(messages(job, "alder"))


def test_a_message_is_read_once(job: Job) -> None:
    older = message(job, "older")
    (read,) = read_messages(job, "alder", older.upper())
    assert ("older", NOON) == (read["text"], read["read_at"])
    (again,) = read_messages(replace(job, now=NOON + MINUTE), "alder", older)
    assert read == again
    assert ["newer"] == told(messages(job, "alder", unread_only=True))
    assert ["other"] == told(messages(job, "brook", unread_only=True))


def test_all_that_are_unread_are_read(job: Job) -> None:
    read_messages(job, "alder", message(job, "older"))
    assert ["newer"] == told(read_messages(job, "alder", None))
    assert [] == read_messages(job, "alder", None)
    assert [] == messages(job, "alder", unread_only=True)
    assert ["other"] == told(messages(job, "brook", unread_only=True))


def test_a_message_of_another_institution_or_none_is_not_found(job: Job) -> None:
    before = kept(job)
    for message_id in (message(job, "other"), str(uid("nothing")), "no id", ""):
        with pytest.raises(NotFound) as caught:
            read_messages(job, "alder", message_id)
        assert "message_not_found" == caught.value.code
    assert before == kept(job)


@pytest.mark.parametrize("text", ["older", None])
def test_a_dry_run_marks_nothing(job: Job, text: str | None) -> None:
    before = kept(job)
    shown = read_messages(job, "alder", text and message(job, text), dry_run=True)
    assert all(each["read_at"] == NOON for each in shown)
    assert before == kept(job)
