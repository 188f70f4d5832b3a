"""`cardoffers audit` as whoever has to trust the log meets it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.jobs.keys import revoke_key
from cardoffers_cli.store.call_book import CallBook
from tables import NOON, uid
from work import new_store, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cardoffers_cli.jobs.job import Job


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A store whose log has an entry of alder's key and one of brook's; a third waits."""
    job = new_store(tmp_path)
    tell(job, institutions="institution\nalder\nbrook", keys="key institution\na alder\nb brook")
    for key in ("a", "b"):
        revoke_key(str(uid(key)), job)
    with CallBook(job.path) as book:
        book.note_failure(uid("use"), "unauthenticated", NOON, "request-1")
    return job


@pytest.fixture
def audit(cardoffers: Any, job: Job) -> Callable[..., Any]:
    """Run `cardoffers audit`."""

    def run(*words: object, form: str = "json") -> Any:
        return cardoffers("audit", *words, "--store", job.path, "--format", form)

    return run


def test_entries_are_listed_the_newest_first_with_those_that_waited(audit: Any) -> None:
    entries = audit("list").document
    assert [
        (3, None, "key_refused", "api caller"),
        (2, "brook", "key_revoked", "tester"),
        (1, "alder", "key_revoked", "tester"),
    ] == [
        tuple(entry[name] for name in ("entry_no", "institution", "event", "actor"))
        for entry in entries
    ]
    assert {"code": "unauthenticated", "request_id": "request-1", "times": 1} == entries[0][
        "details"
    ]


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ([1], ["-i", "alder"]),
        ([3], ["--event", "key_refused"]),
        ([3], ["--limit", "1"]),
        ([], ["--from", "2026-06-02"]),
        ([3, 2, 1], ["--to", "2026-06-02"]),
    ],
)
def test_entries_are_filtered(audit: Any, expected: list[int], words: list[str]) -> None:
    assert expected == [entry["entry_no"] for entry in audit("list", *words).document]


def test_a_log_that_is_whole_prints_its_head(audit: Any) -> None:
    verified = audit("verify")
    assert (0, True, 3, []) == (
        verified.exit_code,
        *(verified.document[name] for name in ("ok", "entries", "faults")),
    )
    head = verified.document["head"]
    assert f"true\t3\t{head}\n" in audit("verify", form="tsv").stdout
    assert 0 == audit("verify", "--head", head).exit_code


def test_a_log_that_is_not_whole_is_a_finding_that_names_the_entry(audit: Any, job: Job) -> None:
    with job.store() as store:
        store.connection.execute("update security_log set actor = 'nobody' where entry_no = 2")
    verified = audit("verify")
    fault = {
        "entry_no": 2,
        "fault": "entry_changed",
        "message": "Entry 2 is not what it was when it was written.",
    }
    assert (3, False, [fault]) == (
        verified.exit_code,
        verified.document["ok"],
        verified.document["faults"],
    )
    assert f"{fault['message']}\n" == verified.stderr
    assert "entry_changed" in audit("verify", form="md").stdout


def test_a_head_that_does_not_fit_is_a_finding(audit: Any, job: Job) -> None:
    head = audit("verify").document["head"]
    with job.store() as store:
        store.connection.execute("delete from security_log where entry_no = 3")
    assert 0 == audit("verify").exit_code
    cut = audit("verify", "--head", head)
    assert (3, [(3, "log_cut_off")]) == (
        cut.exit_code,
        [(fault["entry_no"], fault["fault"]) for fault in cut.document["faults"]],
    )
    assert (2, "head_invalid") == (
        audit("verify", "--head", "x").exit_code,
        audit("verify", "--head", "x").error["code"],
    )
