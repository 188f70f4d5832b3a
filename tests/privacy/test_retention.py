"""Only what is old enough goes, and nothing that a hold or anything open keeps."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.store.layout import folder_of
from cardoffers_cli.kernel.store.settings import read_settings
from cardoffers_cli.night.options import NightOptions
from cardoffers_cli.night.run import run_night
from cardoffers_cli.privacy.retention import AGING, KINDS, run_retention, show_retention
from cardoffers_cli.river.settlements import settle_due
from cardoffers_cli.storage.doctor import doctor
from sizes import slow
from tables import NOON
from work import COLUMNS, job, kept, once, short_nights, with_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

DAYS = {f"retention_{kind}_days": 30 for kind in AGING}
ROW = "c0,card,M0,,1.00,ref-1,2026-06-01T11:00:00Z,\n"
OLD_S = 1_000_000_000


@once
def two_nights(folder: Path) -> Job:
    """Make a store with two nights, which took a good file and a bad one, and something aside."""
    made = with_catalogue(folder)
    drop = folder / "drop" / "alder"
    drop.mkdir(parents=True)
    for name, text in {"tx.csv": ",".join(COLUMNS) + "\n" + ROW, "bad.csv": "a;b\n"}.items():
        (drop / name).write_text(text)
        os.utime(drop / name, (OLD_S, OLD_S))
    with pytest.MonkeyPatch.context() as patched:
        short_nights(patched, "import", "match")
        for day in range(2):
            run_night(
                replace(made, now=NOON + timedelta(days=day)), NightOptions(drop=folder / "drop")
            )
    (folder_of(made.path) / "usage.20260601T000000Z.kept").write_text("x")
    return made


@pytest.fixture
def made(tmp_path: Path) -> Job:
    """Return a copy whose nights know where it is: they keep the names of their folders."""
    made = two_nights(tmp_path)
    with made.store() as store:
        store.connection.execute(
            "update nights set drop_folder = $1, processed_folder = $2",
            [str(tmp_path / "drop"), str(tmp_path / "processed")],
        )
    return made


def after(made: Job, days: int, **settings: Any) -> Job:
    return job(made.path, NOON + timedelta(days=days), **{**DAYS, **settings})


def going(made: Job) -> dict[str, int]:
    return {each.kind: each.may_go for each in run_retention(made, dry_run=True).kinds}


def files(folder: Path) -> set[str]:
    return {str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()}


@slow
def test_without_an_age_everything_stays(made: Job, tmp_path: Path) -> None:
    before = files(tmp_path)
    later = job(made.path, NOON + timedelta(days=9999))
    assert 0 == run_retention(later).deleted
    assert before == files(tmp_path)
    assert {None} == {each.days for each in show_retention(later)}


@slow
def test_what_is_old_goes_once_all_is_settled(made: Job, tmp_path: Path) -> None:
    nothing = dict.fromkeys(AGING, 0)
    assert nothing == going(after(made, 29))
    assert {**nothing, "runs": 1, "aside": 1} == going(after(made, 31))
    shown = {each.kind: each for each in show_retention(after(made, 31))}
    assert (1, "unsettled") == (shown["processed"].kept, shown["processed"].because)
    settle_due(after(made, 31))
    money = kept(made, "runs")
    later = after(made, 31)
    assert {"processed": 1, "failed": 1, "runs": 1, "aside": 1} == going(later)
    before = files(tmp_path)
    done = run_retention(later)
    assert 4 == done.deleted
    gone = {each.partition("/")[0] for each in before - files(tmp_path)}
    assert {"processed", "runs", "store.duckdb.d"} == gone
    assert {"store.duckdb", "store.duckdb.d/journal"} <= files(tmp_path)
    assert money == kept(made, "runs")
    assert 0 == run_retention(later).deleted
    assert doctor(later, strict=True).ok


@slow
def test_a_legal_hold_wins(made: Job) -> None:
    settle_due(after(made, 31))
    set_institution(made, "alder", {}, legal_hold="on")
    assert dict.fromkeys(AGING, 0) == going(after(made, 9999))
    shown = {each.kind: each for each in show_retention(after(made, 9999))}
    assert {"legal_hold"} == {shown[kind].because for kind in AGING}
    set_institution(made, "alder", {}, legal_hold="off")
    assert 4 == sum(going(after(made, 9999)).values())


def test_a_file_that_changed_since_stays(made: Job, tmp_path: Path) -> None:
    settle_due(after(made, 31))
    with (tmp_path / "processed" / "alder" / "done" / "tx.csv").open("a") as file:
        file.write(ROW.replace("ref-1", "ref-2"))
    assert 0 == going(after(made, 31))["processed"]
    shown = {each.kind: each for each in show_retention(after(made, 31))}
    assert "changed_since" == shown["processed"].because


def test_each_kind_has_its_own_age(made: Job) -> None:
    settle_due(after(made, 31))
    alone = {**DAYS, "retention_runs_days": None, "retention_failed_days": 40}
    assert {"processed": 1, "failed": 0, "runs": 0, "aside": 1} == going(after(made, 31, **alone))


def test_ages_stand_in_a_table_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("[retention]\nprocessed = 400\nruns = 20\n")
    found = read_settings({}, {}, tmp_path / "c.toml")
    assert (400, 20, None) == (
        found.retention_processed_days,
        found.retention_runs_days,
        found.retention_failed_days,
    )


def test_money_and_logs_have_no_age() -> None:
    assert {"money", "security_log", "journal", "request_log", "backups"} == {*KINDS} - {*AGING}
