"""Fetching from a real sshd: each file once, done with at its place only when it is imported."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.drop.drop import MANIFEST
from cardoffers_cli.drop.fetched_files import POOL
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.night.options import NightOptions
from cardoffers_cli.night.run import rehearse, run_night
from cardoffers_cli.pickup import work
from cardoffers_cli.pickup.ssh import words_of
from cardoffers_cli.pickup.work import pick_up
from nights import fork_server
from sizes import one_in, slow
from sshd import SftpServer, gpg_home, needs_gpg, needs_sshd, new_key, public, sftp_server
from tables import NOON
from work import Job, file_of, found, new_store, settings, short_nights, tell
from work import job as job_at

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = needs_sshd


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SftpServer]:
    with sftp_server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture
def server(running: SftpServer, tmp_path: Path) -> SftpServer:
    """The server, with a folder of this test."""
    root = tmp_path / "remote"
    root.mkdir()
    return replace(running, root=root)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    made = new_store(tmp_path)
    tell(made, institutions="institution  plan\nalder  growth\nbirch  growth")
    (tmp_path / "drop").mkdir()
    short_nights(monkeypatch, "import")
    return made


def purchases(*refs: str) -> str:
    return "\n".join(["ref amount cardholder", *(f"{ref} 10.00 of-{ref}" for ref in refs)])


def csv(tmp_path: Path, *refs: str) -> bytes:
    """Return a transaction file of these references."""
    return file_of(tmp_path / "made.csv", purchases(*refs)).read_bytes()


def at(made: Job, server: SftpServer, **changes: Any) -> Job:
    """Return the job, with a place for alder."""
    places = {"alder": server.place(**changes)}
    return replace(made, settings=settings(pickup=places))


def picked(made: Job, **changes: Any) -> dict[str, str]:
    """Fetch; return the state of each file and the codes of findings."""
    told = pick_up(made, made.path.parent / "drop", **changes)
    return {each.file: each.state for each in told.files} | {
        f"!{each.code}": each.level for each in told.findings
    }


def night(made: Job) -> dict[str, str]:
    """Run a night; return what became of each file and the codes of findings."""
    told = run_night(made, NightOptions(drop=made.path.parent / "drop"))
    return {each["file"]: each["status"] for each in told["imports"]} | {
        f"!{each['code']}": each["level"] for each in told["findings"]
    }


def later(made: Job, days: int) -> Job:
    return replace(made, now=NOON.replace(day=NOON.day + days))


def dropped(made: Job) -> list[str]:
    folder = made.path.parent / "drop" / "alder"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@slow
@pytest.mark.parametrize(
    ("after", "done"), [("keep", "kept"), ("remove", "removed"), ("move:done/old", "moved")]
)
def test_a_file_is_taken_once_and_then_done_with_at_its_place(
    made: Job, server: SftpServer, tmp_path: Path, after: str, done: str
) -> None:
    server.put("a.csv", csv(tmp_path, "r1", "r2"))
    server.put("a.csv.done")
    (server.root / "done").mkdir()
    job = at(made, server, after=after)
    assert {"alder/a.csv": "imported"} == night(job)
    assert (["a.csv", "a.csv.done"] if done == "kept" else []) == server.names()
    assert [("a.csv", done)] == found(made, "select remote_name, outcome from picked_files")
    assert {} == picked(job)
    assert [(2,)] == found(made, "select count(*) from purchases")
    if done == "moved":
        assert ["a.csv", "a.csv.done"] == server.names("done/old")


@slow
def test_the_command_fetches_and_the_next_visit_tidies_up(
    made: Job, server: SftpServer, tmp_path: Path
) -> None:
    server.put("a.csv", csv(tmp_path, "r1"))
    job = at(made, server, after="remove")
    assert {"a.csv": "new"} == picked(job, dry_run=True)
    assert [] == [*(tmp_path / "drop").iterdir()]
    assert {"a.csv": "fetched"} == picked(job)
    assert {"a.csv": "waiting"} == picked(job)
    assert ["a.csv"] == server.names()
    assert {"alder/a.csv": "imported"} == night(replace(made, settings=settings()))
    assert ["a.csv"] == server.names()
    assert {"a.csv": "imported"} == picked(job, dry_run=True)
    assert ["a.csv"] == server.names()
    assert {"a.csv": "removed"} == picked(job)
    assert [] == server.names()


def test_what_is_fetched_is_private_and_marked_as_whole(made: Job, server: SftpServer) -> None:
    sent = server.put("a.csv", b"x")
    picked(at(made, server))
    came = made.path.parent / "drop/alder/a.csv"
    assert int(sent.stat().st_mtime) == int(came.stat().st_mtime)
    assert ["a.csv", "a.csv.done"] == dropped(made)
    modes = {path.stat().st_mode & 0o777 for path in (made.path.parent / "drop/alder").iterdir()}
    assert {0o600} == modes
    assert [] == [*(made.path.parent / "drop" / POOL).iterdir()]


@pytest.mark.parametrize(
    ("expected", "age_s", "names"),
    [
        ("fetched", 600, "a.csv"),
        ("fetched", -600, "a.csv"),
        ("not_ready", 5, "a.csv"),
        ("fetched", 5, "a.csv a.csv.done"),
        ("fetched", 5, "a.csv a.done"),
        (None, 600, "a.txt"),
        (None, 600, ".a.csv"),
        (None, 600, "a.csv.part"),
        (None, 600, "a.errors.csv"),
        ("fetched", 600, "-rf.csv"),
    ],
)
def test_files_that_match_and_are_ready_are_fetched(
    made: Job, server: SftpServer, expected: str | None, age_s: float, names: str
) -> None:
    for name in names.split():
        server.put(name, age_s=age_s)
    named = {names.split(maxsplit=1)[0]: expected} if expected else {}
    assert named == picked(at(made, server, pattern="*.csv"))


def test_an_institution_may_need_a_marker(made: Job, server: SftpServer) -> None:
    set_institution(made, "alder", {"require_marker": True})
    server.put("a.csv")
    assert {"a.csv": "not_ready", "!marker_missing": "warning"} == picked(at(made, server))


# What comes again


@slow
def test_a_name_that_comes_again_with_other_content_is_taken_and_told(
    made: Job, server: SftpServer, tmp_path: Path
) -> None:
    job = at(made, server, after="remove")
    server.put("a.csv", csv(tmp_path, "r1"))
    night(job)
    server.put("a.csv", csv(tmp_path, "r2"), age_s=500)
    assert {"alder/a.csv": "imported", "!pickup_came_again": "note"} == night(later(job, 1))
    assert [(2,)] == found(made, "select count(*) from purchases")


@slow
def test_a_file_that_is_replaced_before_it_was_done_with_is_a_warning(
    made: Job, server: SftpServer, tmp_path: Path
) -> None:
    job = at(made, server, after="remove")
    server.put("a.csv", csv(tmp_path, "r1"))
    picked(job)
    server.put("a.csv", csv(tmp_path, "r1", "r2"), age_s=500)
    assert {"a.csv": "fetched", "!pickup_came_again": "warning"} == picked(job)
    assert {"alder/a-2.csv": "imported", "alder/a.csv": "imported"} == night(job)
    assert [("replaced",), ("removed",)] == found(
        made, "select outcome from picked_files order by picked_no"
    )
    assert [(2,)] == found(made, "select count(*) from purchases")


@slow
def test_a_file_that_is_only_touched_is_not_taken_again(
    made: Job, server: SftpServer, tmp_path: Path
) -> None:
    job = at(made, server, after="remove")
    server.put("a.csv", csv(tmp_path, "r1"))
    picked(job)
    server.put("a.csv", csv(tmp_path, "r1"), age_s=500)
    assert {"a.csv": "same"} == picked(job)
    assert {"alder/a.csv": "imported"} == night(job)
    assert [] == server.names()


@slow
def test_a_file_that_was_refused_is_told_once_and_stays_at_its_place(
    made: Job, server: SftpServer
) -> None:
    job = at(made, server, after="remove")
    server.put("a.csv", b"no header\n")
    assert "failed" == night(job)["alder/a.csv"]
    assert {"a.csv": "refused"} == picked(job)
    assert ["a.csv"] == server.names()


@slow
def test_a_file_that_was_lost_from_the_drop_folder_is_fetched_again(
    made: Job, server: SftpServer
) -> None:
    job = at(made, server)
    server.put("a.csv")
    picked(job)
    (made.path.parent / "drop/alder/a.csv").unlink()
    assert {"a.csv": "fetched"} == picked(job)
    assert [(1,)] == found(made, "select count(*) from picked_files")


def test_a_name_that_is_in_use_in_the_drop_folder_gets_a_number(
    made: Job, server: SftpServer
) -> None:
    (made.path.parent / "drop/alder").mkdir()
    (made.path.parent / "drop/alder/a.csv").write_text("theirs")
    server.put("a.csv", b"ours")
    picked(at(made, server))
    assert ["a-2.csv", "a-2.csv.done", "a.csv"] == dropped(made)


# Manifests


def test_a_manifest_comes_with_its_file(made: Job, server: SftpServer, tmp_path: Path) -> None:
    job = at(made, server, after="remove")
    server.put("a.csv", csv(tmp_path, "r1", "r2"), age_s=1)
    server.put("a.csv.manifest.json", json.dumps({"rows": 2, "amount_sum": "20.00"}))
    assert {"alder/a.csv": "imported"} == night(job)
    assert [] == server.names()


@pytest.mark.parametrize(
    ("code", "manifest"),
    [
        ("manifest_mismatch", '{"sha256": "00"}'),
        ("manifest_invalid", "[]"),
        ("manifest_invalid", " " * (1 << 20) + " "),
    ],
)
def test_a_file_that_is_not_what_its_manifest_says_is_left(
    made: Job, server: SftpServer, code: str, manifest: str
) -> None:
    server.put("a.csv")
    server.put(f"a.csv{MANIFEST}", manifest)
    assert {"a.csv": "left", f"!{code}": "error"} == picked(at(made, server))
    assert [] == dropped(made)


# What fails


@slow
@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("host_key_changed", {"host_key": "other"}),
        ("login_refused", {"key_file": "other"}),
        ("pickup_refused", {"from": "/nowhere"}),
        ("pickup_unreachable", {"from": "sftp://ann@127.0.0.1:1/x"}),
        ("key_file_missing", {"key_file": "/nowhere"}),
    ],
)
def test_a_place_that_fails_is_told_and_stops_nothing(
    made: Job, server: SftpServer, tmp_path: Path, said: str, changes: dict[str, str]
) -> None:
    meant = dict(changes)
    if meant.get("host_key"):
        meant["host_key"] = public(new_key("other"))
    if meant.get("key_file") == "other":
        meant["key_file"] = str(new_key("other"))
    if meant.get("from") == "/nowhere":
        meant["from"] = server.table()["from"] + "/nowhere"
    (tmp_path / "drop/alder").mkdir()
    file_of(tmp_path / "drop/alder/b.csv", purchases("r1"))
    (tmp_path / "drop/alder/b.csv.done").touch()
    told = run_night(at(made, server, **meant), NightOptions(drop=tmp_path / "drop"))
    assert ["imported"] == [each["status"] for each in told["imports"]]
    (failure,) = told["findings"]
    assert ("pickup_failed", "error") == (failure["code"], failure["level"])
    assert f"Fetching for alder failed ({said})." in failure["message"]
    assert failure["next"]
    again = run_night(at(made, server, **meant), NightOptions(drop=tmp_path / "drop"))
    assert ["pickup_failed"] == [each["code"] for each in again["findings"]]


@slow
def test_an_imported_file_that_cannot_be_moved_is_told_and_tried_again(
    made: Job, server: SftpServer, tmp_path: Path
) -> None:
    server.put("a.csv", csv(tmp_path, "r1"))
    server.put("done", "a file where a folder is to be")
    job = at(made, server, after="move:done/old", pattern="*.csv")
    assert {"alder/a.csv": "imported", "!pickup_left_there": "warning"} == night(job)
    (server.root / "done").unlink()
    (server.root / "done").mkdir()
    assert {"a.csv": "moved"} == picked(job)


@slow
def test_a_file_that_changes_after_its_import_is_not_removed(
    made: Job, server: SftpServer, tmp_path: Path
) -> None:
    server.put("a.csv", csv(tmp_path, "r1"))
    picked(at(made, server))
    night(replace(made, settings=settings()))
    server.put("a.csv", csv(tmp_path, "r2"), age_s=500)
    assert {"a.csv": "fetched", "!pickup_came_again": "warning"} == {
        **picked(at(made, server, after="remove"))
    }
    assert ["a.csv"] == server.names()


@slow
def test_only_so_many_and_so_large_files_are_fetched(made: Job, server: SftpServer) -> None:
    for name in ("a", "b", "c"):
        server.put(name, b"xx")
    job = at(made, server, most_bytes=1)
    assert ["left"] * 3 == [state for name, state in picked(job).items() if len(name) == 1]
    places = {"alder": server.place()}
    few = replace(made, settings=settings(pickup=places, file_most_per_institution=2))
    assert {"a": "fetched", "b": "fetched", "!too_many_files": "warning"} == picked(few)
    server.put("d", b"xx")
    waiting, new = dict.fromkeys("ab", "waiting"), dict.fromkeys("cd", "fetched")
    assert {**waiting, **new} == picked(few)


def test_what_is_listed_and_is_no_file_is_named(made: Job, server: SftpServer) -> None:
    (server.root / "link").symlink_to("/etc/passwd")
    (server.root / "folder.csv").mkdir()
    server.put("two\nlines")
    server.put("\u202egpj.exe")
    told = pick_up(at(made, server), made.path.parent / "drop")
    said = [each.message for each in told.findings]
    assert 3 == len(said)
    assert [] == [*told.files]
    assert all(message.isprintable() for message in said)


def test_a_table_of_nobody_is_told(made: Job, server: SftpServer) -> None:
    job = replace(made, settings=settings(pickup={"elder": server.place()}))
    assert {"!institution_unknown": "warning"} == picked(job)


def test_a_rehearsal_looks_and_fetches_nothing(made: Job, server: SftpServer) -> None:
    server.put("a.csv")
    told = rehearse(at(made, server), NightOptions(drop=made.path.parent / "drop"))
    assert ["pickup_waiting"] == [each["code"] for each in told["findings"]]
    assert [] == [*(made.path.parent / "drop").iterdir()]


# Servers that lie, and messages


@pytest.mark.parametrize(
    ("code", "way"),
    [
        ("pickup_size", "endless"),
        ("pickup_size", "less"),
        ("pickup_failed", "text"),
        ("pickup_failed", "trickle"),
    ],
)
@one_in(2)
def test_what_a_server_lies_about_is_told_and_nothing_of_it_is_taken(
    made: Job, tmp_path: Path, code: str, way: str
) -> None:
    liar = tmp_path / "liar.sh"
    program = Path(__file__).with_name("liar.py")
    liar.write_text(f"#!/bin/sh\nexec {sys.executable} -IS {program} {way}")
    liar.chmod(0o755)
    with sftp_server(tmp_path, subsystem=str(liar)) as server:
        told = picked(at(made, server, most_seconds=5))
    assert f"!{code}" in told
    assert [] == [*(tmp_path / "drop" / POOL).iterdir()]
    assert [] == dropped(made)


@slow
def test_a_server_that_wants_a_password_is_left_at_once(made: Job, tmp_path: Path) -> None:
    with sftp_server(tmp_path, others="yes") as server:
        told = pick_up(at(made, server, key_file=str(new_key("other"))), made.path.parent / "drop")
    assert ["login_refused" in each.message for each in told.findings] == [True]


@slow
@needs_gpg
def test_encrypted_and_signed_files_are_taken_and_others_left(
    made: Job, server: SftpServer, tmp_path: Path
) -> None:
    """Keys are made, and a night is run."""
    with gpg_home() as gpg:
        pinned = {"decrypt_with": gpg.key("ours"), "signed_by": gpg.key("bank")}
        to_us = ("--recipient", "ours@example.org", "--encrypt")
        signed = ("--local-user", "bank@example.org", "--sign")
        plain = csv(tmp_path, "r1", "r2")
        message = gpg.run(*to_us, *signed, given=plain)
        server.put("a.csv.gpg", message)
        said = {"sha256": hashlib.sha256(message).hexdigest(), "rows": 2}
        server.put("a.csv.gpg.manifest.json", json.dumps(said))
        server.put("b.csv.gpg", gpg.run(*to_us, given=plain))
        server.put("c.csv", plain)
        server.put("z.csv.done.gpg", message)
        job = at(made, server, after="remove", gpg_home=str(gpg.home), **pinned)
        assert {"alder/a.csv": "imported", "!pickup_not_vouched": "error"} == night(job)
    assert ["b.csv.gpg", "c.csv", "z.csv.done.gpg"] == server.names()
    assert [(2,)] == found(made, "select count(*) from purchases")


@slow
def test_nothing_secret_is_on_the_command_line_or_told(
    made: Job, server: SftpServer, tmp_path: Path
) -> None:
    words = words_of(server.place(), tmp_path / "known")
    private = new_key("client").read_text().splitlines()[1:-1]
    assert not any(line in " ".join(words) for line in private)
    assert {"-F", "none", "BatchMode=yes", "StrictHostKeyChecking=yes"} < {*words}
    told = dumps(pick_up(at(made, server), made.path.parent / "drop"))
    assert "@" not in told
    assert "BEGIN" not in told


# Killed anywhere and made again

MOMENTS = ("fetch", "record", "place", "_put_away")


def _struck(path: Path, places: dict[str, Any], moment: str, when: str) -> None:
    """Be a night that is killed before or after it does something."""
    owner: Any = work.PickupSession if moment.startswith("_") else work
    act = getattr(owner, moment)

    def dies(*given: Any) -> None:
        if when == "after":
            act(*given)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, moment, dies)
    night(replace(job_at(path), settings=settings(pickup=places)))


@slow
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("when", ["before", "after"])
@one_in(3)
def test_killed_at_any_moment_nothing_is_lost_and_nothing_taken_twice(
    made: Job, server: SftpServer, tmp_path: Path, moment: str, when: str
) -> None:
    """A process of its own is killed, which takes a second."""
    server.put("a.csv", csv(tmp_path, "r1", "r2"))
    server.put("a.csv.manifest.json", '{"rows": 2}')
    job = at(made, server, after="remove")
    night_of_its_own = fork_server().Process(
        target=_struck, args=(made.path, {"alder": server.place(after="remove")}, moment, when)
    )
    night_of_its_own.start()
    night_of_its_own.join()
    assert -signal.SIGKILL == night_of_its_own.exitcode
    for _ in range(2):
        night(job)
    assert [] == server.names()
    ((name, outcome),) = found(made, "select remote_name, outcome from picked_files")
    assert ("a.csv", True) == (name, outcome in {"removed", "gone"})
    assert [(2, 2)] == found(
        made, "select count(*), count(distinct transaction_ref) from purchases"
    )
    assert [(1,)] == found(made, "select count(*) from imports")
    assert [] == [*(tmp_path / "drop" / POOL).iterdir()]
    assert [] == dropped(made)
