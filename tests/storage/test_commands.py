from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from cardoffers_cli.kernel.cli import main
from cardoffers_cli.kernel.store.layout import log_path, usage_path
from cardoffers_cli.kernel.store.runs import start_run
from cardoffers_cli.storage.doctor import names
from sizes import one_in, slow
from work import found, job, new_store

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture
def made(tmp_path: Path) -> Job:
    made = new_store(tmp_path)
    night(made)
    return made


def night(made: Job) -> None:
    with made.store() as store, store.transaction():
        start_run(store, kind="nightly", now=made.now, actor="tester")


def run(made: Job, *words: object, exit_code: int = 0) -> Any:
    """Run a command; return its JSON, or the error's."""
    line = [*map(str, words), "--store", str(made.path), "--format", "json"]
    ended = CliRunner().invoke(main.app, line)
    assert exit_code == ended.exit_code, ended.output
    if exit_code in {0, 3}:
        return json.loads(ended.stdout)
    return json.loads(ended.stderr.splitlines()[-1])["error"]


def lose(made: Job) -> None:
    """Put a copy back that is older than the newest run."""
    copy = made.path.read_bytes()
    night(made)
    made.path.write_bytes(copy)


def harm(made: Job) -> None:
    with made.store() as store:
        store.connection.execute("insert into links values (uuid(), 1, 1, 1, now(), 1)")


def test_a_clean_store_has_its_audits_listed(made: Job) -> None:
    report = run(made, "doctor", "--strict")
    assert report["ok"]
    assert names() == [audit["name"] for audit in report["audits"]]
    assert {("name", "ok", "rows", "example")} == {tuple(audit) for audit in report["audits"]}
    assert len(names(strict=False)) == len(run(made, "doctor")["audits"])


@slow
def test_a_store_with_a_fault_ends_with_3(made: Job) -> None:
    harm(made)
    report = run(made, "doctor", "--strict", exit_code=3)
    assert not report["ok"]
    assert [("nothing_points_nowhere", 2)] == [
        (audit["name"], audit["rows"]) for audit in report["audits"] if not audit["ok"]
    ]


@slow
@pytest.mark.parametrize("form", ["table", "tsv", "csv", "jsonl", "md"])
@one_in(3)
def test_every_command_of_the_store_has_every_form(made: Job, form: str) -> None:
    backup = made.path.with_name("b")
    lost = ("store", "accept-loss", "--yes")
    for words in (
        ("doctor", "--strict"),
        ("store", "backup", backup),
        ("store", "compact", "--dry-run"),
        ("store", "compact"),
        ("store", "restore", backup),
        lost,
    ):
        if words == lost:
            lose(made)
        line = [*map(str, words), "--store", str(made.path), "--format", form]
        ended = CliRunner().invoke(main.app, line)
        assert 0 == ended.exit_code, ended.output
        assert ended.stdout


def test_a_store_that_lost_a_night_is_refused_until_somebody_accepts_it(made: Job) -> None:
    lose(made)
    error = run(made, "status", exit_code=14)
    assert ("store_lost_commits", ["2026-06-01"]) == (error["code"], error["nights"])
    assert "cardoffers nightly DROP_DIR --as-of 2026-06-01" in error["hint"]
    assert "unconfirmed" == run(made, "store", "accept-loss", exit_code=2)["code"]
    report = run(made, "store", "accept-loss", "--yes")
    assert (1, ["cardoffers nightly DROP_DIR --as-of 2026-06-01"]) == (
        report["lost"],
        report["next"],
    )
    run(made, "status")
    assert "nothing_lost" == run(made, "store", "accept-loss", "--yes", exit_code=4)["code"]


@slow
def test_a_store_whose_log_is_damaged_is_recovered_when_somebody_agrees(made: Job) -> None:
    log_path(made.path).write_bytes(NO_LOG)
    error = run(made, "status", exit_code=14)
    assert "cardoffers store recover --dry-run" in error["hint"]
    looked = run(made, "store", "recover", "--dry-run")
    assert (True, 0, []) == (looked["dry_run"], looked["lost"], looked["kept_logs"])
    error = run(made, "store", "recover", exit_code=2)
    assert ("unconfirmed", "Add --yes.") == (error["code"], error["hint"])
    assert "Put the log of" in error["message"]
    report = run(made, "store", "recover", "--yes")
    assert {**looked, "dry_run": False, "kept_logs": report["kept_logs"]} == report
    run(made, "status")
    assert "nothing_to_recover" == run(made, "store", "recover", "--yes", exit_code=4)["code"]


NO_LOG = b"d" + bytes(5000)
"""What the engine takes for a log and cannot read."""


@slow
def test_what_goes_with_a_log_is_asked_for(made: Job) -> None:
    copy = made.path.read_bytes()
    night(made)
    night(made)
    made.path.write_bytes(copy)
    log_path(made.path).write_bytes(NO_LOG)
    error = run(made, "store", "recover", exit_code=2)
    assert "go on without 2 runs that were committed (2 to 3)" in error["message"]
    report = run(made, "store", "recover", "--yes")
    assert ["2026-06-01"] == report["nights"]
    run(made, "status")


@slow
def test_a_store_that_was_replaced_is_one_again_when_somebody_agrees(made: Job) -> None:
    backup = made.path.with_name("b")
    run(made, "store", "backup", backup)
    aside = job(restored(made, backup)["kept_aside"])
    error = run(aside, "status", exit_code=4)
    assert ("store_replaced", str(made.path)) == (error["code"], error["replaced_by"])
    assert "unconfirmed" == run(aside, "store", "accept-loss", exit_code=2)["code"]
    assert run(aside, "store", "accept-loss", "--yes")["accepted"]
    run(aside, "status")


@slow
def test_books_of_calls_that_were_put_aside_are_told_of(made: Job) -> None:
    assert [] == run(made, "status")["calls_put_aside"]
    usage_path(made.path).write_bytes(b"birds" * 1000)
    run(made, "audit", "list")
    (kept,) = run(made, "status")["calls_put_aside"]
    assert b"birds" * 1000 == Path(kept).read_bytes()
    ended = CliRunner().invoke(main.app, ["status", "--store", str(made.path), "--format", "md"])
    assert "damaged usage journals put aside" in ended.stdout
    report = run(made, "doctor", exit_code=3)
    assert ["call_book_is_whole"] == [each["name"] for each in report["audits"] if not each["ok"]]


@slow
def test_the_way_there_and_back(made: Job) -> None:
    backup = made.path.with_name("b")
    assert 1 == run(made, "store", "backup", backup)["run_no"]
    assert "file_exists" == run(made, "store", "backup", backup, exit_code=4)["code"]
    night(made)
    assert "backup_older" == run(made, "store", "restore", backup, exit_code=4)["code"]
    assert [2] == [line["run_no"] for line in restored(made, backup)["lost_runs"]]
    assert [(1,)] == found(made, "select count(*) from runs")
    backup.write_bytes(b"birds")
    assert "backup_damaged" == run(made, "store", "restore", backup, exit_code=14)["code"]


def restored(made: Job, backup: Path) -> Any:
    return run(made, "store", "restore", backup, "--yes")
