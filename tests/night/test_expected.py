"""What a nightly run says of expected files: at the deadline, once, and when the file comes."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.institutions.calendars import CalendarOptions
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.night import watching
from cardoffers_cli.night.options import NightOptions, needs_attention
from cardoffers_cli.night.run import rehearse, run_night
from cardoffers_cli.watch.observations import FILE_LATE, FILE_MISSED
from cardoffers_cli.watch.questions import accept_watch, watch_rows
from sizes import slow
from work import COLUMNS, found, job, once, short_nights, taken, with_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.night.options import NightResult

NIGHTLY = "*.csv by 01:00 Europe/London on weekdays except holidays"
FILE = ",".join(COLUMNS) + "\nc0,card,M0,,1.00,ref-{},2026-06-01T11:00:00Z,\n"


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-{text}")


@once
def _expecting(folder: Path) -> Job:
    """Return a store that expects a file of alder since a Friday; Monday is a holiday."""
    made = with_catalogue(folder)
    given = CalendarOptions(expects=[NIGHTLY], holidays="2026-11-30 Saint Andrew's Day")
    set_institution(job(made.path, now=at("11-27T12:00")), "alder", {}, calendar=given)
    return made


@pytest.fixture
def made(tmp_path: Path) -> Job:
    (tmp_path / "drop" / "alder").mkdir(parents=True)
    return replace(_expecting(tmp_path), settings=job(quiet_s=0).settings)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    short_nights(monkeypatch, "import", "watch")


def night(made: Job, now: str, *, dry_run: bool = False) -> NightResult:
    run = rehearse if dry_run else run_night
    return run(replace(made, now=at(now)), NightOptions(drop=made.path.parent / "drop"))


def told(result: NightResult) -> list[tuple[Any, ...]]:
    return [
        (each.code, each.level, each.message, each.next)
        for each in result.findings
        if each.code in {FILE_MISSED, FILE_LATE, "arrivals_unknown"}
    ]


def findings(made: Job) -> list[tuple[Any, ...]]:
    return [
        (each.code, each.about_on.isoformat(), each.state) for each in watch_rows(made, limit=9)[0]
    ]


MISSED = (
    FILE_MISSED,
    "warning",
    "alder: the file *.csv did not come by 2026-12-01 01:00 UTC.",
    "cardoffers arrivals -i alder",
)


@slow
def test_a_missing_file_is_told_once_with_what_to_type(made: Job) -> None:
    """watch.md#files-that-are-expected"""
    holiday = night(made, "11-30T02:00")
    assert ([], False) == (told(holiday), needs_attention(holiday))
    assert [MISSED] == told(night(made, "12-01T02:00", dry_run=True))
    tuesday = night(made, "12-01T02:00")
    assert ([MISSED], True) == (told(tuesday), needs_attention(tuesday))
    (counts,) = [step.counts for step in tuesday.steps if step.name == "watch"]
    assert {"files_on_time": 0, "files_late": 0, "files_missed": 1, "files_pending": 1} == {
        name: counts[name] for name in counts if name.startswith("files_")
    }
    assert "nothing_new" == night(made, "12-01T03:00").status
    assert [(FILE_MISSED, "2026-12-01", "open")] == findings(made)


@slow
def test_a_run_that_has_ended_for_the_day_tells_of_a_later_deadline(made: Job) -> None:
    assert [] == told(night(made, "12-01T00:30"))
    again = night(made, "12-01T01:30")
    assert ("finished", [MISSED]) == (again.status, told(again))


@slow
def test_a_file_that_comes_resolves_what_was_told(made: Job) -> None:
    night(made, "12-01T02:00")
    (made.path.parent / "tx.csv").write_text(FILE.format(1))
    taken(replace(made, now=at("12-01T08:00")), made.path.parent / "tx.csv")
    result = night(made, "12-01T09:00")
    message = (
        "alder: tx.csv came at 2026-12-01 08:00 UTC: nothing is missing any more of 2026-12-01"
    )
    assert [(FILE_LATE, "note", f"{message} 01:00 UTC.", None)] == told(result)
    assert not needs_attention(result)
    assert [(FILE_MISSED, "2026-12-01", "resolved")] == findings(made)
    reason = "tx.csv came at 2026-12-01 08:00 UTC"
    assert [(reason,)] == found(made, "select reason from watch_findings")
    assert "nothing_new" == night(made, "12-01T10:00").status


def test_a_file_that_is_late_before_anybody_was_told_is_a_note(made: Job) -> None:
    (made.path.parent / "tx.csv").write_text(FILE.format(1))
    taken(replace(made, now=at("12-01T01:20")), made.path.parent / "tx.csv")
    result = night(made, "12-01T02:00")
    message = "alder: tx.csv came at 2026-12-01 01:20 UTC, it was due by 2026-12-01 01:00 UTC."
    assert ([(FILE_LATE, "note", message, None)], False) == (told(result), needs_attention(result))
    assert [(FILE_LATE, "2026-12-01", "resolved")] == findings(made)


@slow
def test_yesterdays_file_again_is_told_beside_what_is_missing(made: Job) -> None:
    for now in ("12-01T00:30", "12-02T00:30"):
        file = made.path.parent / "drop" / "alder" / "tx.csv"
        file.write_text(FILE.format(1))
        seconds = at(now).replace(tzinfo=UTC).timestamp()
        os.utime(file, (seconds, seconds))
        result = night(made, now)
    assert [] == told(result)
    ((_, _, message, _),) = told(night(made, "12-02T02:00"))
    known = " tx.csv came, and does not count: nothing in it is new."
    assert f"alder: the file *.csv did not come by 2026-12-02 01:00 UTC.{known}" == message


@slow
def test_many_that_are_missing_are_one_line(made: Job) -> None:
    ((_, _, message, _),) = told(night(made, "12-04T02:00"))
    assert message.endswith("by 2026-12-04 01:00 UTC. Nor did those of 3 deadlines before.")
    assert 4 == len(findings(made))


@slow
def test_what_was_accepted_is_not_told_again(made: Job) -> None:
    night(made, "12-01T02:00")
    accept_watch(replace(made, now=at("12-01T08:00")), "latest", "a strike")
    assert [] == told(night(made, "12-01T09:00"))
    (made.path.parent / "tx.csv").write_text(FILE.format(1))
    taken(replace(made, now=at("12-01T10:00")), made.path.parent / "tx.csv")
    assert [] == told(night(made, "12-01T11:00"))
    assert [(FILE_MISSED, "2026-12-01", "accepted")] == findings(made)


@slow
def test_what_cannot_be_reckoned_is_told_and_stops_nothing(
    made: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise ValueError

    monkeypatch.setattr(watching, "judge_arrivals", fail)
    result = night(made, "12-01T02:00")
    then = "cardoffers arrivals"
    message = "Whether every expected file came is not known: ValueError"
    assert [("arrivals_unknown", "warning", message, then)] == told(result)
    assert "finished" == result.status
    monkeypatch.undo()
    short_nights(monkeypatch, "import", "watch")
    assert [MISSED] == told(night(made, "12-01T03:00"))


@slow
def test_who_expects_nothing_is_told_nothing(tmp_path: Path) -> None:
    made = with_catalogue(tmp_path)
    (tmp_path / "drop" / "alder").mkdir(parents=True)
    result = night(made, "12-01T02:00")
    assert ([], [{}]) == (
        told(result),
        [step.counts for step in result.steps if step.name == "watch"],
    )
