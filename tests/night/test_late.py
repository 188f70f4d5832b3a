"""Slow uploads: what was too young is looked at again, what came too late is told."""

from __future__ import annotations

import gzip
import json
import os
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.night import checks as looking
from cardoffers_cli.night import steps
from cardoffers_cli.night.options import NightObserver, NightOptions
from cardoffers_cli.night.run import run_night
from cardoffers_cli.night.status import last_night, list_nights, night_history
from cardoffers_cli.river.decide import decide
from cardoffers_cli.storage.doctor import doctor
from cardoffers_cli.storage.file_changes import FileCheck, accept_taken, look_at
from commands import in_a_pipe
from sizes import at_the_gate, one_in, slow
from work import COLUMNS, Job, found, job, short_nights, taken, with_catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from cardoffers_cli.drop.file_changes import ProcessedFile

OLD_S = 1_000_000_000
HEADER = ",".join(COLUMNS) + "\n"


@pytest.fixture
def made(tmp_path: Path) -> Job:
    made = with_catalogue(tmp_path)
    (tmp_path / "drop" / "alder").mkdir(parents=True)
    return job(made.path, quiet_s=60)


@pytest.fixture(autouse=True)
def _short(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "whole_nights" not in request.fixturenames:
        short_nights(monkeypatch, "import", "second_look")


@pytest.fixture
def whole_nights() -> None:
    """Nights with all of their steps."""


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody see who has a file open, as on a network disk."""
    monkeypatch.setattr(looking, "held_open", lambda _drop, _files: set())


def row(number: int) -> str:
    return f"c0,card,M0,,1.00,ref-{number},2026-06-01T11:{number:02}:00Z,\n"


def dropped(made: Job, name: str = "tx.csv", rows: int = 2, *, old: bool = True) -> Path:
    """Put a file without a marker into the drop folder, written long ago or just now."""
    path = made.path.parent / "drop" / "alder" / name
    path.write_text(HEADER + "".join(map(row, range(rows))))
    if old:
        age(path)
    return path


def age(path: Path) -> None:
    os.utime(path, (OLD_S, OLD_S))


class During(NightObserver):
    """Does something when a step of the night begins."""

    def __init__(self, step: str, act: Callable[[], Any]) -> None:
        self._step, self._act = step, act

    def begins(self, step: str, position: int, of: int) -> None:  # noqa: ARG002
        if step == self._step:
            self._act()


def night(made: Job, onlooker: NightObserver | None = None) -> dict[str, Any]:
    return run_night(made, NightOptions(drop=made.path.parent / "drop"), onlooker)


def told(result: dict[str, Any], code: str) -> list[dict[str, Any]]:
    return [each for each in result["findings"] if each["code"] == code]


def codes(result: dict[str, Any]) -> list[str]:
    return [each["code"] for each in result["findings"]]


def kept(made: Job, name: str = "tx.csv", folder: str = "done") -> Path:
    return made.path.parent / "processed" / "alder" / folder / name


PURCHASES = "select count(*) from purchases"
REDEEMED = "select count(*) from redemptions"


# Too young


@slow
def test_a_file_that_is_open_for_writing_waits(made: Job) -> None:
    path = dropped(made)
    with path.open("a") as writer:
        age(path)
        result = night(made)
        assert ["file_not_ready"] == codes(result)
        assert "open for writing" in result["findings"][0]["message"]
        writer.write(row(7))
    age(path)
    assert [3] == [each["accepted"] for each in night(made)["imports"]]


@slow
@pytest.mark.usefixtures("whole_nights")
def test_a_young_file_is_looked_at_again_before_the_night_ends(made: Job) -> None:
    path = dropped(made, old=False)
    result = night(made, During("second_look", lambda: age(path)))
    assert [("alder/tx.csv", "imported", 2)] == [
        (each["file"], each["status"], each["accepted"]) for each in result["imports"]
    ]
    assert ["file_not_ready", "copy_missing"] == codes(result)
    assert [(2,)] == found(made, REDEEMED)
    assert [(2,)] == found(made, "select count(*) from ledger_entries where status = 'settled'")
    assert [(2,)] == found(made, "select count(*) from outbox")
    reports = made.path.parent / "reports" / result["night"]
    assert 3 == len((reports / "alder-redemptions.csv").read_text().splitlines())
    assert "nothing_new" == night(made)["status"]


@pytest.mark.usefixtures("whole_nights")
@at_the_gate
def test_a_marker_that_comes_meanwhile_counts(made: Job) -> None:
    path = dropped(made, old=False)
    result = night(made, During("match", path.with_name("tx.csv.done").touch))
    assert ["imported"] == [each["status"] for each in result["imports"]]


@slow
def test_a_file_that_stays_young_is_left(made: Job) -> None:
    path = dropped(made, old=False)
    result = night(made)
    assert ([], ["file_not_ready"]) == (result["imports"], codes(result))
    assert path.exists()


class Stopped(Exception):
    """The test broke the night off."""


def stop(*_given: Any) -> None:
    raise Stopped


@at_the_gate
@pytest.mark.usefixtures("whole_nights")
@pytest.mark.parametrize("at", ["_compute", "send_webhooks", "look_at"])
@one_in(3)
def test_a_second_look_that_was_broken_off_is_finished(
    made: Job, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    path = dropped(made, old=False)
    monkeypatch.setattr(steps, at, stop)  # the other steps have the functions themselves
    with pytest.raises(Stopped):
        night(made, During("second_look", lambda: age(path)))
    monkeypatch.undo()
    result = night(made)
    assert ("finished", ["imported"]) == (
        result["status"],
        [each["status"] for each in result["imports"]],
    )
    assert [(2,)] == found(made, REDEEMED)
    assert doctor(made, strict=True)["ok"]


# Markers


@at_the_gate
def test_an_institution_may_need_markers(made: Job) -> None:
    set_institution(made, "alder", {"require_marker": "true"})
    path = dropped(made)
    result = night(made)
    (finding,) = told(result, "marker_missing")
    assert ("warning", "alder/tx.csv") == (finding["level"], finding["file"])
    assert "--no-require-marker" in finding["next"]
    path.with_name("tx.done").touch()
    assert ["imported"] == [each["status"] for each in night(made)["imports"]]


# Too late


@pytest.fixture
def grown(made: Job, blind: None) -> Job:  # noqa: ARG001
    """Return a job on a store whose file was taken in the middle of its upload: 20 rows of 40."""
    path = dropped(made, rows=20)
    with path.open("a") as writer:
        result = night(made)
        assert [20] == [each["accepted"] for each in result["imports"]]
        assert "taken_file_changed" not in codes(result)
        writer.writelines(map(row, range(20, 40)))
    return made


@slow
def test_rows_that_came_after_a_file_was_taken_are_named_until_somebody_answers(
    grown: Job,
) -> None:
    dropped(grown, "next.csv", 0)
    for name in ("next.csv", "later.csv"):
        dropped(grown, name, 0)
        (finding,) = told(night(grown), "taken_file_changed")
        assert ("error", "alder/tx.csv", 20) == (
            finding["level"],
            finding["file"],
            finding["count"],
        )
        assert "lines 22 to 41, 20 rows, not read" in finding["message"]
        report = doctor(grown)
        (audit,) = [each for each in report["audits"] if each["name"] == "taken_files_are_as_read"]
        assert (False, 1, "alder/tx.csv") == (report["ok"], audit["rows"], audit["example"]["file"])


@at_the_gate
def test_the_command_of_the_finding_takes_the_rest(grown: Job) -> None:
    dropped(grown, "next.csv", 0)
    (finding,) = told(night(grown), "taken_file_changed")
    words = shlex.split(finding["next"].partition(", ")[0])
    assert ["cardoffers", "import", str(kept(grown)), "-i", "alder"] == words
    done = taken(grown, kept(grown), "alder")
    assert (40, 20, 20) == (done["received"], done["accepted"], done["duplicates"])
    assert doctor(grown)["ok"]
    dropped(grown, "later.csv", 0)
    assert [] == told(night(grown), "taken_file_changed")
    assert [(40,)] == found(grown, PURCHASES)


@slow
def test_a_change_can_be_accepted_and_a_further_one_is_told_again(grown: Job) -> None:
    dry = accept_taken(grown, "alder/tx.csv", dry_run=True)
    assert (True, "grew", 22, 41) == tuple(
        dry[name] for name in ("dry_run", "change", "first_line", "last_line")
    )
    assert not doctor(grown)["ok"]
    accept_taken(grown, "alder/tx.csv")
    assert doctor(grown)["ok"]
    assert [("file_accept", "tester")] == found(
        grown, "select kind, actor from runs order by run_no desc limit 1"
    )
    with kept(grown).open("a") as writer:
        writer.write(row(40))
    (audit,) = [each for each in doctor(grown)["audits"] if not each["ok"]]
    assert (22, 42) == (audit["example"]["first_line"], audit["example"]["last_line"])


@slow
def test_the_command_line_accepts(grown: Job) -> None:
    words = ["run", "accept", "--store", grown.path, "--format", "json"]
    accepted = in_a_pipe([*words, "alder/tx.csv"])
    assert (0, "grew", 20) == (
        accepted.exit_code,
        *(json.loads(accepted.stdout)[name] for name in ("change", "rows")),
    )
    again = in_a_pipe([*words, "alder/tx.csv"])
    assert (5, "taken_file_not_found") == (
        again.exit_code,
        json.loads(again.stderr)["error"]["code"],
    )


@slow
def test_others_may_write_while_somebody_looks_at_what_to_accept(
    grown: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(files: Sequence[ProcessedFile]) -> FileCheck:
        with grown.store(wait_s=0):
            return look_at(files)

    monkeypatch.setattr("cardoffers_cli.storage.file_changes.look_at", look)
    assert "grew" == accept_taken(grown, "alder/tx.csv")["change"]


@slow
@pytest.mark.parametrize(("begins", "what"), [(b"C", "changed"), (b"c", "grew")])
@one_in(2)
def test_a_file_that_grows_without_end_is_told_and_can_be_accepted(
    made: Job, begins: bytes, what: str
) -> None:
    dropped(made)
    night(made)
    with kept(made).open("r+b") as writer:
        writer.write(begins)
        writer.truncate(1 << 40)
    dropped(made, "next.csv", 0)
    assert 1 == len(told(night(made), "taken_file_changed"))
    assert what == accept_taken(made, "alder/tx.csv")["change"]
    assert doctor(made)["ok"]


def test_only_what_changed_is_accepted(made: Job) -> None:
    dropped(made)
    night(made)
    with pytest.raises(NotFound) as missing:
        accept_taken(made, "alder/tx.csv")
    assert "taken_file_not_found" == missing.value.code


def rewrite(path: Path) -> None:
    path.write_text(path.read_text().replace("1.00", "2.00"))
    age(path)


def cut(path: Path) -> None:
    os.truncate(path, 100)


@slow
@pytest.mark.parametrize("how", [rewrite, cut])
@one_in(2)
def test_what_is_not_what_was_read_is_told(made: Job, how: Callable[[Path], None]) -> None:
    """Also with its size and time as before: the kernel tells that it was written to."""
    dropped(made)
    night(made)
    how(kept(made))
    dropped(made, "next.csv", 0)
    (finding,) = told(night(made), "taken_file_changed")
    assert "it is not what was read" in finding["message"]


@at_the_gate
def test_an_unchanged_file_is_read_once_more_and_then_no_more(
    made: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped(made)
    night(made)
    dropped(made, "next.csv", 0)
    night(made)
    read = []
    monkeypatch.setattr(
        "cardoffers_cli.drop.file_changes.look_later",
        lambda path, *_: read.append(path.name),
    )
    doctor(made)
    assert ["next.csv"] == read
    kept(made).touch()
    doctor(made)
    assert ["next.csv", "tx.csv", "next.csv"] == read


@at_the_gate
def test_a_file_that_was_taken_away_is_no_matter(made: Job) -> None:
    dropped(made)
    night(made)
    kept(made).unlink()
    dropped(made, rows=3)
    result = night(made)
    assert [("tx.csv", 1)] == [(each["taken_as"], each["accepted"]) for each in result["imports"]]
    assert [] == told(result, "taken_file_changed")
    assert doctor(made)["ok"]


@slow
@pytest.mark.usefixtures("blind")
def test_a_file_that_failed_for_being_half_is_told_when_the_rest_comes(made: Job) -> None:
    whole = gzip.compress((HEADER + row(1)).encode())
    path = made.path.parent / "drop" / "alder" / "tx.csv.gz"
    path.write_bytes(whole[:40])
    age(path)
    with path.open("ab") as writer:
        assert ["file_corrupt"] == codes(night(made))
        writer.write(whole[40:])
    dropped(made, "next.csv", 0)
    (finding,) = told(night(made), "taken_file_changed")
    assert str(kept(made, "tx.csv.gz", "failed")) in finding["next"]
    assert 1 == taken(made, kept(made, "tx.csv.gz", "failed"), "alder")["accepted"]
    assert doctor(made)["ok"]


# What is told of the nights


@slow
def test_a_file_that_was_not_taken_for_what_others_did_has_not_failed(made: Job) -> None:
    gone, changed, bad = (dropped(made, f"{name}.csv") for name in ("gone", "changed", "bad"))
    bad.write_text("no header\n")
    age(bad)

    def meddle() -> None:
        gone.unlink()
        changed.write_text(HEADER)

    states = [each["status"] for each in night(made, During("import", meddle))["imports"]]
    assert ["changed", "failed", "gone"] == sorted(states)
    with made.store(read_only=True) as store:
        newest = last_night(store, made.path)
    rows = [newest or {}, *list_nights(made, 1), *night_history(made, 1)["nights"]]
    assert [(3, 1)] * 3 == [(each["files"], each["failed_files"]) for each in rows]


@slow
@pytest.mark.usefixtures("whole_nights")
def test_of_a_night_that_has_not_ended_what_was_before_it_is_not_told(made: Job) -> None:
    """Its reports are to cover all since the reports before; until then only itself is told."""
    by_hand = made.path.parent / "by hand.csv"
    by_hand.write_text(HEADER + "".join(map(row, range(5))))
    taken(made, by_hand)
    decide_all(made)
    dropped(made, rows=7)
    for step, rows, redeemed in (("import", 0, 0), ("match", 7, 0), ("reports", 7, 2)):
        with pytest.raises(Stopped):
            night(made, During(step, stop))
        assert (rows, redeemed, "broken off") == told_of(made)
    assert "finished" == night(made)["status"]
    assert (12, 7, "finished") == told_of(made)


def decide_all(made: Job) -> None:
    with made.store() as store:
        decide(store, made)


def told_of(made: Job) -> tuple[int, int, str]:
    """Return rows, redemptions and state of the newest night, as `status` and history have them."""
    with made.store(read_only=True) as store:
        newest = last_night(store, made.path)
    (row,) = night_history(made, 1).nights
    assert newest
    assert newest.received == row.received
    return newest.received, sum(each.redeemed for each in row.money.values()), newest.state


# A layout of before


@slow
def test_folders_of_an_earlier_version_stay_as_history(made: Job) -> None:
    alder = made.path.parent / "drop" / "alder"
    for name in ("done", "failed"):
        (alder / name).mkdir()
        (alder / name / "old.csv").write_text(HEADER + row(0))
    dropped(made, "tx.csv")
    result = night(made)
    assert "stray_file" not in codes(result)
    assert ["tx.csv"] == [each["taken_as"] for each in result["imports"]]
    assert ["done", "failed"] == sorted(path.name for path in alder.iterdir())


@at_the_gate
@pytest.mark.usefixtures("whole_nights")
def test_the_result_names_the_places(made: Job) -> None:
    dropped(made)
    result = night(made)
    assert str(made.path.parent / "processed") == result["processed"]
    assert [str(kept(made))] == [each["kept_as"] for each in result["imports"]]
    (step,) = [each for each in result["steps"] if each["name"] == "import"]
    assert result["processed"] == step["counts"]["processed"]


@slow
def test_the_processed_folder_is_where_it_is_set_to_be(made: Job, tmp_path: Path) -> None:
    dropped(made, "bad.csv", 1).write_text("no header\n")
    age(made.path.parent / "drop" / "alder" / "bad.csv")
    set_elsewhere = job(made.path, quiet_s=60, processed_dir=tmp_path / "elsewhere")
    (finding,) = told(night(set_elsewhere), "header_missing")
    assert f"cat {tmp_path}/elsewhere/alder/failed/bad.csv.errors.csv" == finding["next"]
    assert (tmp_path / "elsewhere" / "alder" / "failed" / "bad.csv.errors.csv").exists()
    assert not (tmp_path / "processed").exists()
