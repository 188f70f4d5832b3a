"""`cardoffers audit` as whoever has to trust the log meets it."""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.catalogue.importing import import_catalogue
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.sheets.exports import copy_sample_data
from cardoffers_cli.kernel.store.usage_journal import UsageJournal
from cardoffers_cli.keys.work import revoke_key
from goldens import parquet_text, workbook_text
from sizes import one_in, slow
from tables import NOON, uid
from work import new_store, once, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return with_log(tmp_path)


@once
def with_log(folder: Path) -> Job:
    """Make a store whose log has an entry of alder's key and one of brook's; a third waits."""
    job = new_store(folder)
    tell(job, institutions="institution\nalder\nbrook", keys="key institution\na alder\nb brook")
    for key in ("a", "b"):
        revoke_key(str(uid(key)), job)
    with UsageJournal(job.path) as book:
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
@one_in(3)
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
        store.connection.execute("update acts set actor = 'nobody' where act_no = 2")
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
        store.connection.execute("delete from acts where act_no = 3")
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


# Changes of the catalogue and of settings


@pytest.fixture
def changed(tmp_path: Path) -> Job:
    return with_changes(tmp_path)


@once
def with_changes(folder: Path) -> Job:
    """Make a store in which a catalogue was imported, again with changes, and settings set."""
    made = new_store(folder)
    catalogue = folder / "catalog"
    copy_sample_data(folder)
    import_catalogue(made, catalogue)
    offers = catalogue / "offers.csv"
    with offers.open() as text:
        rows = list(csv.DictReader(text))
    rows[0] |= {"cashback_amount": "9.50", "title_en": "Another title", "budget_amount": ""}
    with offers.open("w", newline="") as out:
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    import_catalogue(replace(made, now=NOON + timedelta(days=1), actor="ann"), catalogue)
    later = replace(made, now=NOON + timedelta(days=2), actor="ben")
    set_institution(later, "larkmere", {"plan": "enterprise", "widget_limit": "7"})
    return made


@pytest.fixture
def changes(cardoffers: Any, changed: Job) -> Callable[..., list[tuple[Any, ...]]]:
    """Run `cardoffers audit changes`; return who changed what, from what, to what."""

    def run(*words: object) -> list[tuple[Any, ...]]:
        ended = cardoffers("audit", "changes", *words, "--store", changed.path, "--format", "json")
        names = ("actor", "subject_id", "field", "old_value", "new_value", "by_run")
        return [tuple(row[name] for name in names) for row in ended.document]

    return run


PLAN = ("ben", "larkmere", "plan", "growth", "enterprise", "institution_set")
WIDGET = ("ben", "larkmere", "widget_limit", "20", "7", "institution_set")
TITLE = (
    *("ann", "of-00000", "title_en", "£1.50 back at Ostrowick Grocers when you spend £16 or more"),
    *("Another title", "catalog_import"),
)
CASHBACK = ("ann", "of-00000", "cashback_amount", "1.50", "9.50", "catalog_import")
BUDGET = ("ann", "of-00000", "budget_amount", "134.55", None, "catalog_import")


@slow
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", [WIDGET, PLAN, TITLE, CASHBACK, BUDGET]),
        ("--limit 2", [WIDGET, PLAN]),
        ("--limit 1 --all", [WIDGET, PLAN, TITLE, CASHBACK, BUDGET]),
        ("--subject offer", [TITLE, CASHBACK, BUDGET]),
        ("--subject offer --id of-00000 --field cashback_amount", [CASHBACK]),
        ("--id of-00001", []),
        ("-i larkmere", [WIDGET, PLAN, TITLE, CASHBACK, BUDGET]),
        ("-i tarnhollow", [TITLE, CASHBACK, BUDGET]),
        ("--from 2026-06-03", [WIDGET, PLAN]),
        ("--to 2026-06-03", [TITLE, CASHBACK, BUDGET]),
    ],
)
@one_in(3)
def test_changes_are_listed_the_newest_first(
    changes: Any, words: str, expected: list[tuple[Any, ...]]
) -> None:
    assert expected == changes(*words.split())


@pytest.mark.parametrize("form", ["table", "tsv", "csv", "json", "jsonl", "md", "parquet", "xlsx"])
@one_in(3)
def test_changes_come_in_every_format(
    cardoffers: Any, changed: Job, tmp_path: Path, form: str
) -> None:
    file = tmp_path / f"changes.{form}"
    words = ("--field", "cashback_amount", "--store", changed.path)
    assert 0 == cardoffers("audit", "changes", *words, "--format", form, "-o", file).exit_code
    if form == "parquet":
        shown = parquet_text(file)
    elif form == "xlsx":
        shown = workbook_text(file)
    else:
        shown = file.read_text()
    moment = "46175" if form == "xlsx" else "2026-06-02"  # a number of days there
    for text in ("of-00000", "cashback_amount", "1.50", "9.50", "ann", moment):
        assert text in shown


def test_an_institution_that_nobody_knows_has_no_changes(cardoffers: Any, changed: Job) -> None:
    ended = cardoffers("audit", "changes", "-i", "nobody", "--store", changed.path)
    assert 5 == ended.exit_code


@pytest.mark.parametrize(("hours", "is_told"), [(-25, True), (-23, False), (23, False), (25, True)])
def test_what_was_recorded_at_another_time_is_told(
    cardoffers: Any, audit: Any, job: Job, hours: int, is_told: bool
) -> None:
    now = datetime.now(UTC)
    said = (now + timedelta(hours=hours)).isoformat()
    words = ("institution", "set", "alder", "--name", "Other", "--as-of", said)
    assert 0 == cardoffers(*words, "--store", job.path).exit_code
    listed = audit("list", "-i", "alder", "--event", "settings_changed")
    (entry,) = listed.document
    assert timedelta(minutes=1) > abs(datetime.fromisoformat(entry["recorded_at"]) - now)
    assert is_told == (f"said to have happened: {entry['entry_no']}." in listed.stderr)
