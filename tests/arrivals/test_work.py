"""Expected files: what is kept of the setting, and how states are derived from what was taken."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.arrivals.work import arrivals
from cardoffers_cli.institutions.calendars import CalendarOptions
from cardoffers_cli.institutions.work import set_institution, show_institution
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.night.options import NightOptions
from cardoffers_cli.night.run import run_night
from cardoffers_cli.night.status import status
from cardoffers_cli.storage.doctor import offending
from sizes import slow
from tables import select
from work import COLUMNS, found, job, once, short_nights, taken, with_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

NIGHTLY = "*.csv by 01:00 Europe/London on weekdays except holidays"
HOLIDAY = "2026-11-30 Saint Andrew's Day"
HEADER = ",".join(COLUMNS) + "\n"


def at(text: str) -> datetime:
    """Return a moment of November, such as 24T02:00, a Tuesday."""
    return datetime.fromisoformat(f"2026-11-{text}")


def expecting(made: Job, *expects: str, holidays: str | None = None, now: str = "23T12:00") -> Any:
    given = CalendarOptions(expects=expects or None, holidays=holidays)
    return set_institution(job(made.path, now=at(now)), "alder", {}, calendar=given)


@once
def _expecting(folder: Path) -> Job:
    made = with_catalogue(folder)
    expecting(made, NIGHTLY, holidays=HOLIDAY)
    return made


@pytest.fixture
def made(tmp_path: Path) -> Job:
    (tmp_path / "drop" / "alder").mkdir(parents=True)
    return _expecting(tmp_path)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    short_nights(monkeypatch, "import", "second_look")


def row(number: int) -> str:
    return f"c0,card,M0,,1.00,ref-{number},2026-06-01T11:{number:02}:00Z,\n"


def dropped(made: Job, name: str, text: str, written: str | None = None) -> Path:
    """Put a file into the drop folder that was last written at a moment."""
    path = made.path.parent / "drop" / "alder" / name
    path.write_text(text)
    if written:
        seconds = at(written).replace(tzinfo=UTC).timestamp()
        os.utime(path, (seconds, seconds))
    return path


def night(made: Job, now: str) -> None:
    run_night(job(made.path, now=at(now), quiet_s=0), NightOptions(drop=made.path.parent / "drop"))


def states(made: Job, now: str, **asked: Any) -> list[tuple[Any, ...]]:
    """Return day and state of each deadline, and the file that came for it or was refused."""
    return [
        (each.due_on.day, each.state, *filter(None, (each.file, each.refused, each.why)))
        for each in arrivals(job(made.path, now=at(now)), **asked)
    ]


def test_what_is_expected_is_a_setting_in_one_form_that_is_audited(made: Job) -> None:
    """watch.md#files-that-are-expected"""
    shown = show_institution(made, "alder")
    assert (NIGHTLY, "1, 2026-11-30 to 2026-11-30") == (shown.expects, shown.holidays)
    assert [] == expecting(made, NIGHTLY.replace("on weekdays", "on mon,tue,wed,thu,fri")).changes
    changes = expecting(made, "none", holidays="none", now="24T12:00").changes
    assert [
        ("expects", NIGHTLY, None),
        ("holidays", "1, 2026-11-30 to 2026-11-30", None),
    ] == [(each.field, each.old_value, each.new_value) for each in changes]
    assert (
        4
        == found(made, "select count(*) from audit_log where field in ('expects', 'holidays')")[0][
            0
        ]
    )
    assert {"expects", "holidays"}.isdisjoint(show_institution(made, "alder"))


@pytest.mark.parametrize(
    ("code", "expects", "holidays"),
    [
        ("expectation_invalid", ["*.csv by 01:00 Europe/Londn"], None),
        ("usage", ["none", NIGHTLY], None),
        ("holidays_invalid", [], "25.12.2026 Christmas"),
    ],
)
def test_a_setting_that_is_wrong_changes_nothing(
    made: Job, code: str, expects: list[str], holidays: str | None
) -> None:
    with pytest.raises(UsageError) as raised:
        expecting(made, *expects, holidays=holidays)
    assert code == raised.value.code
    assert [(1,)] == found(made, "select count(*) from expectations")


def test_a_dry_run_keeps_nothing(made: Job) -> None:
    given = CalendarOptions(expects=["x by 02:00 UTC"])
    assert set_institution(made, "alder", {}, calendar=given, dry_run=True).changes
    assert [(1,)] == found(made, "select count(*) from expectations")


@slow
def test_a_file_of_the_drop_folder_came_when_it_was_written(made: Job) -> None:
    assert [(24, "pending")] == states(made, "24T00:30")
    dropped(made, "a.csv", HEADER + row(1), "24T00:50")
    night(made, "24T02:00")
    assert [(24, "on_time", "a.csv"), (25, "pending")] == states(made, "24T02:00")
    dropped(made, "b.csv", HEADER + row(2), "25T01:10")
    night(made, "25T02:00")
    assert [(25, "late", "b.csv")] == states(made, "25T02:00")[1:2]


@slow
def test_a_file_that_was_written_before_the_run_before_came_after_that(made: Job) -> None:
    """Whoever copies a file may keep the time at which it was written."""
    night(made, "24T02:00")
    dropped(made, "a.csv", HEADER + row(1), "01T00:00")
    night(made, "25T02:00")
    assert [(24, "late", "a.csv"), (25, "missed")] == states(made, "25T02:00")[:2]


@slow
def test_a_file_that_came_again_or_holds_nothing_new_does_not_count(made: Job) -> None:
    dropped(made, "a.csv", HEADER + row(1), "24T00:50")
    night(made, "24T02:00")
    dropped(made, "a.csv", HEADER + row(1), "25T00:50")
    night(made, "25T02:00")
    dropped(made, "c.csv", HEADER + row(1) + "\n", "26T00:50")
    night(made, "26T02:00")
    assert [
        (24, "on_time", "a.csv"),
        (25, "missed", "a.csv", "file_known"),
        (26, "missed", "c.csv", "file_known"),
        (27, "pending"),
    ] == states(made, "26T02:00")


@slow
def test_half_a_file_is_told_and_does_not_count(made: Job) -> None:
    whole = HEADER + row(1) + row(2)
    dropped(made, "a.csv.manifest.json", '{"rows": 2}')
    dropped(made, "a.csv", whole[: len(whole) // 2], "24T00:50")
    night(made, "24T02:00")
    assert [(24, "missed", "a.csv", "manifest_mismatch")] == states(made, "24T02:00")[:1]
    dropped(made, "a.csv", whole, "24T08:00")
    night(made, "24T09:00")
    assert [(24, "late", "a.csv")] == states(made, "24T09:00")[:1]


def test_a_file_of_which_every_row_is_rejected_does_not_count(made: Job) -> None:
    dropped(made, "a.csv", HEADER + row(1).replace("1.00", "one"), "24T00:50")
    night(made, "24T02:00")
    assert [(24, "missed", "a.csv", "rows_rejected")] == states(made, "24T02:00")[:1]


@slow
def test_a_file_without_rows_counts_each_time(made: Job) -> None:
    for day in ("24", "25"):
        dropped(made, "a.csv", HEADER, f"{day}T00:50")
        night(made, f"{day}T02:00")
    assert ["on_time", "on_time", "pending"] == [each[1] for each in states(made, "25T02:00")]


@slow
def test_a_marker_or_a_manifest_alone_is_no_file(made: Job) -> None:
    dropped(made, "a.csv.done", "", "24T00:50")
    dropped(made, "a.csv.manifest.json", "{}", "24T00:50")
    night(made, "24T02:00")
    assert [(24, "missed")] == states(made, "24T02:00")[:1]


def test_a_file_that_is_imported_counts_when_it_was_taken(made: Job, tmp_path: Path) -> None:
    (tmp_path / "by-hand.csv").write_text(HEADER + row(1))
    taken(job(made.path, now=at("24T03:00")), tmp_path / "by-hand.csv")
    assert [(24, "late", "by-hand.csv"), (25, "pending")] == states(made, "24T03:00")


@slow
def test_a_holiday_expects_nothing_and_the_day_after_does(made: Job) -> None:
    dropped(made, "a.csv", HEADER + row(1), "27T00:50")
    night(made, "30T02:00")
    assert [(27, "on_time", "a.csv"), (30, "not_expected", "Saint Andrew's Day")] == states(
        made, "30T02:00"
    )[3:5]
    assert ["2026-12-01T01:00:00"] == [
        each.due_at.isoformat()
        for each in arrivals(job(made.path, now=at("30T02:00")))
        if each.state == "pending"
    ]


def test_a_list_is_of_an_institution_and_a_time(made: Job) -> None:
    assert [] == states(made, "24T00:30", to_at=at("20T00:00"))
    assert [25, 26] == [
        each[0] for each in states(made, "24T00:30", from_at=at("25T00:00"), to_at=at("27T00:00"))
    ]
    assert states(made, "27T02:00") == states(made, "27T02:00", institution="alder")
    with pytest.raises(NotFound):
        states(made, "27T02:00", institution="aldr")
    with pytest.raises(UsageError):
        states(made, "27T02:00", to_at=datetime.fromisoformat("9999-12-31"))


def test_the_status_tells_of_expected_files_where_there_are_any(made: Job, tmp_path: Path) -> None:
    told = status(job(made.path, now=at("24T02:00")))[0].arrivals
    assert {"on_time": 0, "late": 0, "missed": 1, "next_due_at": at("25T01:00")} == told
    (tmp_path / "other").mkdir()
    assert "arrivals" not in status(with_catalogue(tmp_path / "other"))[0]


@pytest.mark.parametrize(
    "breach", ["institution_id = uuid()", "run_no = 99", "set_at = '2026-11-23 12:00:01'"]
)
def test_the_audit_finds_what_no_run_set(made: Job, breach: str) -> None:
    with made.store() as store:
        assert 0 == offending(store, "expectations_are_set_by_a_run")[0]
        select(store, f"update expectations set {breach}")  # noqa: S608
        assert 1 == offending(store, "expectations_are_set_by_a_run")[0]
