"""What people do with findings of the watch, what a night and `status` tell, and the setting."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.institutions.work import set_institution, show_institution
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.night.options import NightOptions
from cardoffers_cli.night.run import run_night
from cardoffers_cli.night.status import status
from cardoffers_cli.watch.observations import Observation, measured
from cardoffers_cli.watch.questions import (
    accept_watch,
    record_findings,
    show_watch_finding,
    watch_rows,
)
from commands import in_a_pipe
from sizes import slow
from tables import NOON, uid
from work import found, next_run, once, short_nights, with_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

DAY = date(2026, 6, 1)


@once
def _watched(folder: Path) -> Job:
    made = with_catalogue(folder)
    with made.store() as store, store.transaction():
        told = [Observation("rows_unusual", f"{name}.csv", DAY, {"rows": 96}) for name in "ab"]
        record_findings(store, uid("alder"), told, run_no=next_run(store), now=NOON)
    return made


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return _watched(tmp_path)


def night(made: Job, days: int) -> tuple[dict[str, Any], list[Any]]:
    """Run the night so many days later; return the counts of its step, and its findings."""
    folder = made.path.parent / "drop"
    folder.mkdir(exist_ok=True)
    told = run_night(replace(made, now=NOON + timedelta(days=days)), NightOptions(drop=folder))
    ((counts),) = [step.counts for step in told.steps if step.name == "watch"]
    return dict(counts), [(each.level, each.message, each.next) for each in told.findings]


def test_a_finding_is_accepted_once_with_a_reason(made: Job) -> None:
    rows, in_all = watch_rows(made, "alder", state="open", limit=1)
    assert (2, "a.csv") == (in_all, rows[0].about)
    finding = str(rows[0].finding_id)
    assert "open" == show_watch_finding(made, finding[:8]).state
    with pytest.raises(UsageError, match="needs a reason"):
        accept_watch(made, finding, " ")
    told = accept_watch(made, finding, " holiday ", dry_run=True)
    assert ("accepted", True) == (told.state, told.dry_run)
    told = accept_watch(made, finding, " holiday ")
    assert ("accepted", "tester", "holiday") == (told.state, told.closed_by, told.reason)
    with pytest.raises(Refused, match="is accepted already") as refused:
        accept_watch(made, finding, "again")
    assert refused.value.hint is not None
    assert "tester closed it at 2026-06-01T12:00:00.000Z: holiday." == refused.value.hint
    assert None is show_watch_finding(made, finding).next
    assert [("watch_accept",)] == found(made, "select kind from runs where kind <> 'test'")


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        (
            {"rows": 5, "usual": 900, "deviations": Decimal("-7.2")},
            (5, 900, "-7.2"),
        ),
        (
            {"invalid": 40, "among": 200, "usual_share": Decimal("0.01"), "deviations": Decimal(9)},
            (40, Decimal("2.00"), "9"),
        ),
        (
            {"purchases": 0, "expected": Decimal("31.5")},
            (0, Decimal("31.5"), None),
        ),
        ({"expected": "daily.csv by 06:00", "due_at": "2026-06-01"}, (None, None, None)),
    ],
)
def test_what_was_measured_has_fields_of_its_own(
    figures: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    told = measured(figures)
    z = None if told["z"] is None else str(told["z"])
    assert expected == (told["value"], told["expected"], z)


def test_a_finding_is_listed_with_the_fields_of_the_contract(made: Job) -> None:
    listed = in_a_pipe(["watch", "list", "--store", made.path, "--format", "json"]).document
    names = "finding_id institution_id kind subject import_id value expected z state".split()
    assert listed
    assert set() == {*names} - {*listed[0]}


def test_a_finding_of_another_institution_is_not_found(made: Job) -> None:
    rows, _ = watch_rows(made, limit=1)
    with pytest.raises(NotFound):
        show_watch_finding(made, "ffffffff-ffff-8fff-afff-ffffffffffff")
    assert rows[0] == replace(rows[0])


@slow
def test_a_night_and_status_tell_what_is_open(made: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    short_nights(monkeypatch, "watch")
    counts, (told,) = night(made, 1)
    ask = "cardoffers watch list --state open -i alder --code rows_unusual"
    assert ({"open": 2}, "warning", ask) == (counts, told[0], told[2])
    (row,) = status(made)[0].open_watch_findings or ()
    assert ("alder", "rows_unusual", 2) == (row.institution, row.code, row.findings)
    accept_watch(made, "latest", "holiday")
    _, (told,) = night(made, 2)
    (left,), _ = watch_rows(made, state="open", limit=9)
    assert f"cardoffers watch show {left.finding_id}" == told[2]
    accept_watch(made, str(left.finding_id), "holiday")
    assert ({}, []) == night(made, 3)
    assert "open_watch_findings" not in status(made)[0]


def test_the_watch_is_a_setting_that_is_off_and_logged(made: Job) -> None:
    def change(*, is_on: bool) -> list[tuple[str, str | None, str | None]]:
        told = set_institution(made, "alder", {}, watch=is_on)
        return [(each.field, each.old_value, each.new_value) for each in told.changes]

    assert "watch" not in show_institution(made, "alder")
    assert [] == change(is_on=False)
    assert [("watch", "off", "on")] == change(is_on=True)
    assert [] == change(is_on=True)
    assert "on" == show_institution(made, "alder")["watch"]
    assert [("watch", "on", "off")] == change(is_on=False)
    assert "watch" not in show_institution(made, "alder")
    logged = "select count(*) from acts where kind = 'watch_changed'"
    assert [(2,)] == found(made, logged)
