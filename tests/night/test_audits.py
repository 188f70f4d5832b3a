"""What the audits of a night look at: what came since those before, and once a week everything."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.store.runs import finish_run, start_run
from cardoffers_cli.keys.security import verify_security
from cardoffers_cli.night import questions as night_audits
from cardoffers_cli.night.options import NightObserver, NightOptions
from cardoffers_cli.night.run import run_night
from sizes import at_the_gate, slow
from tables import NOON
from work import file_of, short_nights, with_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

A_DAY = timedelta(days=1)
HARM = (
    "update outbox set attempts = 1"
    " where redemption_no = (select max(redemption_no) from redemptions)"
)
MENDED = "update outbox set attempts = 0"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A store with a catalogue, whose nights take files, match and audit."""
    short_nights(monkeypatch, "import", "match", "audits")
    (tmp_path / "drop" / "alder").mkdir(parents=True)
    return with_catalogue(tmp_path)


def drop(made: Job, *rows: int) -> None:
    """Put a file of purchases that redeem into the drop folder."""
    path = made.path.parent / "drop" / "alder" / f"{rows[0]}.csv"
    file_of(path, "\n".join(["ref cardholder identifier", *(f"r{row} c2 M1" for row in rows)]))
    path.with_name(f"{path.name}.done").touch()


def do(made: Job, sql: str) -> None:
    with made.store() as store, store.transaction():
        store.connection.execute(sql)


class Harming(NightObserver):
    """Does something to the store when the audits begin."""

    def __init__(self, made: Job, sql: str) -> None:
        self._made, self._sql = made, sql

    def begins(self, step: str, position: int, total: int) -> None:  # noqa: ARG002
        if step == "audits":
            do(self._made, self._sql)


def night(made: Job, day: int, harm: str | None = None) -> tuple[str, list[str]]:
    """Run the night of a day; return what its audits looked at, and the faults that they found."""
    onlooker = Harming(made, harm) if harm else None
    job = replace(made, now=NOON + day * A_DAY)
    result = run_night(job, NightOptions(drop=made.path.parent / "drop"), onlooker)
    (counts,) = [step["counts"] for step in result["steps"] if step["name"] == "audits"]
    faults = [each["audit"] for each in result["findings"] if each["code"] == "audit_failed"]
    assert len(faults) == counts["faults"]
    return "all" if counts["after_run_no"] is None else "part", faults


@slow
def test_a_fault_in_what_came_is_told_every_night_until_it_is_gone(made: Job) -> None:
    drop(made, 1, 2)
    assert ("all", []) == night(made, 0)
    drop(made, 3)
    assert ("part", ["attempts_are_consecutive"]) == night(made, 1, HARM)
    assert ("all", ["attempts_are_consecutive"]) == night(made, 2)
    do(made, MENDED)
    assert ("all", []) == night(made, 3)
    assert ("part", []) == night(made, 4)


class Counting(NightObserver):
    """Notes how far the step is that is last."""

    def begins(self, step: str, position: int, of: int) -> None:  # noqa: ARG002
        self.heard: list[tuple[int, int | None]] = []

    def moves(self, what: str, count: int, total: int | None) -> None:  # noqa: ARG002
        self.heard.append((count, total))


@slow
def test_progress_is_of_the_audits_that_are_made(made: Job) -> None:
    onlooker = Counting()
    result = run_night(made, NightOptions(drop=made.path.parent / "drop"), onlooker)
    (counts,) = [step["counts"] for step in result["steps"] if step["name"] == "audits"]
    assert [(number, counts["audits"]) for number in range(counts["audits"])] == onlooker.heard


@slow
def test_once_a_week_everything_is_looked_at(made: Job) -> None:
    drop(made, 1, 2)
    assert ("all", []) == night(made, 0)
    do(made, HARM)
    assert ("part", []) == night(made, 6)
    assert ("all", ["attempts_are_consecutive"]) == night(made, 7)


@at_the_gate
def test_a_week_is_counted_from_when_everything_was_looked_at(made: Job) -> None:
    looked_at = [night(made, day)[0] for day in (0, 6, 7, 8, 13, 14)]
    assert ["all", "part", "all", "part", "part", "all"] == looked_at


@at_the_gate
def test_where_most_is_new_everything_is_looked_at(made: Job) -> None:
    drop(made, 1, 2)
    assert "all" == night(made, 0)[0]
    drop(made, 3, 4)
    assert "part" == night(made, 1)[0]
    drop(made, *range(5, 11))
    assert "all" == night(made, 2)[0]


@slow
def test_a_night_from_before_says_nothing_of_what_it_looked_at(made: Job) -> None:
    night(made, 0)
    counts = json.dumps({"audits": 39, "faults": 0, "security_log_head": ""})
    do(made, f"update night_steps set counts = '{counts}' where name = 'audits'")  # noqa: S608
    assert "all" == night(made, 1)[0]


@pytest.mark.parametrize(
    ("expected", "days_ago", "is_over"), [(3, 0, True), (1, 0, False), (1, 1, False), (3, 2, False)]
)
def test_what_a_run_that_goes_on_may_still_write_is_left_to_the_next_night(
    made: Job, expected: int, days_ago: int, is_over: bool
) -> None:
    with made.store() as store, store.transaction(keep=False):
        for number in (1, 2, 3):
            is_slow = number == 2
            now = NOON - days_ago * A_DAY if is_slow else NOON
            run = start_run(store, kind="webhook_send", now=now, actor="tester")
            if is_over or not is_slow:
                finish_run(store, run, {})
        assert expected == night_audits.up_to(store, run_no=99, now=NOON)


def test_the_night_itself_goes_on_while_it_is_looked_at(made: Job) -> None:
    with made.store() as store, store.transaction(keep=False):
        own = start_run(store, kind="nightly", now=NOON, actor="tester")
        assert own.run_no == night_audits.up_to(store, run_no=own.run_no, now=NOON)


@slow
def test_a_night_says_that_the_clock_went_back(made: Job, tmp_path: Path) -> None:
    drop(made, 1)
    night(made, 1)
    for hours, is_told in ((0, True), (48, False)):
        clock = NOON + timedelta(hours=hours)
        later = replace(made, now=NOON + (hours + 48) * A_DAY / 24, machine=lambda _, at=clock: at)
        result = run_night(later, NightOptions(drop=tmp_path / "drop"))
        assert is_told == ("clock_went_back" in {each["code"] for each in result["findings"]})


@slow
def test_a_night_leaves_the_head_of_the_log_in_a_file(made: Job, tmp_path: Path) -> None:
    heads = tmp_path / "heads.csv"
    made = replace(made, settings=replace(made.settings, audit_head_file=heads))
    for day in (1, 2):
        drop(made, day)
        night(made, day)
    assert 2 == len(heads.read_text().splitlines())
    assert verify_security(made, str(heads)).ok
    do(made, "delete from acts where act_no = (select max(act_no) from acts)")
    assert not verify_security(made, str(heads)).ok
    unwritten = replace(made, settings=replace(made.settings, audit_head_file=tmp_path))
    result = run_night(
        replace(unwritten, now=NOON + 3 * A_DAY), NightOptions(drop=tmp_path / "drop")
    )
    assert "audit_head_not_kept" in {each["code"] for each in result["findings"]}
