"""Signing secrets are in one file of their owner's, and in nothing that is made of the store."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.archive.export import compact, export
from cardoffers_cli.catalogue.importing import export_catalogue
from cardoffers_cli.copies.work import backup, publish
from cardoffers_cli.events.sending import resend, send
from cardoffers_cli.events.subscriptions import rotate_secret
from cardoffers_cli.kernel.store.layout import kept_files, secrets_path, snapshot_path
from cardoffers_cli.kernel.store.signing_secrets import (
    add_secrets,
    forget_others,
    missing,
    read_secrets,
)
from cardoffers_cli.kernel.words.errors import CardoffersError, NoSpace
from cardoffers_cli.night.options import NightOptions
from cardoffers_cli.night.run import run_night
from cardoffers_cli.privacy.erase import reapply
from cardoffers_cli.storage.doctor import doctor
from cardoffers_cli.storage.restore import restore
from cardoffers_cli.storage.stores import init
from killing import killed_everywhere
from outbox import events, goes_to, redemption
from sizes import at_the_gate, one_in, slow
from tables import NOON
from work import found, job, new_store, once

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardoffers_cli.kernel.store.job import Job

URL = "https://hooks.alder.example/redemptions"
OLD, NEXT = "whsec_" + "4fj2" * 10, "whsec_" + "kanarie" * 6


@pytest.fixture
def made(tmp_path: Path) -> Job:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    return with_secret(folder)


@once
def with_secret(folder: Path) -> Job:
    """Make a store with one event, and a webhook with its secret."""
    made = events(folder)
    goes_to(made, URL)
    return made


def texts(made: Job) -> list[str]:
    return sorted(read_secrets(made.path).values())


def holders(folder: Path, secret: str) -> list[str]:
    """Return the names of the files below a folder that hold a secret's bytes."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    )


def code_of(work: Callable[[], Any]) -> str:
    with pytest.raises(CardoffersError) as caught:
        work()
    assert caught.value.hint
    return caught.value.code


# Where a secret is


@slow
def test_a_secret_is_in_its_file_and_in_no_other_that_is_made_of_the_store(
    made: Job, tmp_path: Path
) -> None:
    (secret,) = texts(made)
    backups = tmp_path / "backups"
    backups.mkdir()
    publish(made)
    export_catalogue(made, tmp_path / "catalog")
    backup(made, backups / "b")
    export(made, str(tmp_path / "history"))
    compact(made)
    publish(made)
    assert ["backups/b.secrets", "store/store.duckdb.d/secrets"] == holders(tmp_path, secret)
    assert snapshot_path(made.path).exists()


@slow
def test_a_secret_that_was_given_up_is_nowhere(made: Job, tmp_path: Path) -> None:
    (first,) = texts(made)
    second = rotate_secret(made, "alder", activate_at=NOON + timedelta(days=1))["signing_secret"]
    third = rotate_secret(made, "alder")["signing_secret"]
    publish(made)
    assert sorted([first, third]) == texts(made)
    assert [] == holders(tmp_path, second)


def test_a_secret_that_is_committed_is_shown_though_the_old_one_cannot_be_removed(
    made: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_given: Any) -> None:
        raise NoSpace

    with monkeypatch.context() as full:
        full.setattr("cardoffers_cli.kernel.store.signing_secrets.forget_others", no_room)
        rotate_secret(made, "alder")
        third = rotate_secret(made, "alder")["signing_secret"]
    assert third in texts(made)
    assert 3 == len(texts(made))
    assert rotate_secret(made, "alder")["signing_secret"] in texts(made)
    assert 2 == len(texts(made))


def test_the_file_is_its_owners_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        add_secrets(tmp_path / "store.duckdb", [OLD])
        forget_others(tmp_path / "store.duckdb", [])
    finally:
        os.umask(before)
    assert 0o600 == secrets_path(tmp_path / "store.duckdb").stat().st_mode & 0o777


def test_a_new_store_leaves_the_secrets_of_one_before_it_alone(made: Job) -> None:
    (secret,) = texts(made)
    made.path.unlink()
    init(made)
    assert {} == read_secrets(made.path)
    (kept,) = kept_files(secrets_path(made.path))
    assert secret in kept.read_text()


# A file that is not to be used


def others_may_read(file: Path) -> None:
    file.chmod(0o640)


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-9])


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def another_text(file: Path) -> None:
    file.write_text(file.read_text().replace("whsec_", "WHSEC_"))


def another_form(file: Path) -> None:
    file.write_text(json.dumps({"form": "birds", "secrets": {}}))


def a_list(file: Path) -> None:
    file.write_text("[]")


def gone(file: Path) -> None:
    file.unlink()


@pytest.mark.parametrize(
    ("harm", "fault"),
    [
        (others_may_read, "secrets_open"),
        (cut_off, "secrets_damaged"),
        (emptied, "secrets_damaged"),
        (another_text, "secrets_damaged"),
        (another_form, "secrets_damaged"),
        (a_list, "secrets_damaged"),
    ],
)
@one_in(3)
def test_a_file_of_secrets_that_is_no_good_signs_nothing_and_is_told(
    made: Job, harm: Callable[[Path], None], fault: str
) -> None:
    harm(secrets_path(made.path))
    before = secrets_path(made.path).read_bytes()
    assert fault == code_of(lambda: send(made))
    assert fault == code_of(lambda: rotate_secret(made, "alder"))
    assert before == secrets_path(made.path).read_bytes()
    (audit,) = [each for each in doctor(made)["audits"] if not each["ok"]]
    assert ("signing_secrets_are_there", {"fault": fault}) == (audit["name"], audit["example"])


@slow
def test_events_wait_for_a_secret_that_is_gone_and_a_new_one_sends_them(made: Job) -> None:
    gone(secrets_path(made.path))
    report = send(made)
    assert 0 == report["attempted"]
    assert [{"institution": "alder", "reason": "secret_missing", "events": 1}] == report["held"]
    assert "secret_missing" == code_of(lambda: resend(made, redemption(made)))
    assert not doctor(made)["ok"]
    rotate_secret(made, "alder")
    assert [] == send(made, dry_run=True)["held"]


@slow
@pytest.mark.parametrize(
    ("harm", "codes"),
    [
        (others_may_read, {"secrets_open", "audit_failed", "copy_missing"}),
        (emptied, {"secrets_damaged", "audit_failed", "copy_missing"}),
        (gone, {"webhooks_held", "audit_failed", "copy_missing"}),
    ],
)
@one_in(3)
def test_a_night_does_the_rest_without_them(
    made: Job, tmp_path: Path, harm: Callable[[Path], None], codes: set[str]
) -> None:
    harm(secrets_path(made.path))
    (tmp_path / "drop").mkdir()
    result = run_night(made, NightOptions(drop=tmp_path / "drop"))
    assert codes == {each["code"] for each in result["findings"]}
    assert all(each["next"] for each in result["findings"])
    assert ("finished", "copy") == (result["status"], result["steps"][-1]["name"])


@slow
def test_a_night_says_in_words_what_events_wait_for(made: Job, tmp_path: Path) -> None:
    gone(secrets_path(made.path))
    (tmp_path / "drop").mkdir()
    result = run_night(made, NightOptions(drop=tmp_path / "drop"))
    (told,) = [each for each in result["findings"] if each["code"] == "webhooks_held"]
    assert (
        "1 webhook of alder cannot be sent (its signing secret is not beside the store any more)."
        == told["message"]
    )
    send_again = "put the file of secrets back, or cardoffers webhook rotate-secret -i alder"
    assert send_again == told["next"]


# Killed at any moment: stores are opened a few times for each of them, which takes seconds

OURS = r"^secrets"
"""The files of secrets of the store itself."""

ROTATE = """
from work import job
from cardoffers_cli.events.subscriptions import rotate_secret
def work(folder):
    rotate_secret(job(folder / "store.duckdb"), "alder")
"""
RESTORE = """
from work import job
from cardoffers_cli.storage.restore import restore
def work(folder):
    restore(job(folder / "store.duckdb"), folder / "b", accept_loss=True)
"""


@slow
def test_killed_while_a_secret_is_made_every_one_that_is_named_is_there(
    made: Job, tmp_path: Path
) -> None:
    (before,) = texts(made)
    left = killed_everywhere(made.path.parent, tmp_path / "killed", ROTATE, OURS)
    named = [_whole(job(folder / made.path.name)) for folder in left]
    assert {1, 2} == set(named)
    for folder in left:
        again = job(folder / made.path.name)
        assert before in texts(again)
        new = rotate_secret(again, "alder")["signing_secret"]
        assert new in texts(again)
        assert _whole(again) == len(texts(again))


def _whole(made: Job) -> int:
    """Return how many secrets a store names, each of which must be beside it."""
    with made.store(read_only=True) as store:
        assert [] == missing(store, read_secrets(made.path))
    return len(found(made, "select secret_sha256 from webhook_secrets"))


@at_the_gate
def test_killed_while_it_is_restored_a_store_has_the_secrets_that_it_names(
    made: Job, tmp_path: Path
) -> None:
    (before,) = texts(made)
    backup(made, made.path.with_name("b"))
    rotate_secret(made, "alder")
    rotate_secret(made, "alder")
    for folder in killed_everywhere(made.path.parent, tmp_path / "killed", RESTORE, OURS):
        again = job(folder / made.path.name)
        _whole(again)
        restore(again, folder / "b", accept_loss=True)
        assert 1 == _whole(again)
        assert before in texts(again)


# Backups


@slow
def test_a_restored_store_signs_as_it_did(made: Job, tmp_path: Path) -> None:
    (secret,) = texts(made)
    backup(made, tmp_path / "b")
    moved = job(tmp_path / "moved.duckdb")
    assert [] == restore(moved, tmp_path / "b")["secrets_missing"]
    assert [secret] == texts(moved)
    reapply(moved, none_since=True)
    assert doctor(moved)["ok"]


@slow
def test_a_store_that_is_put_aside_keeps_its_secrets(made: Job, tmp_path: Path) -> None:
    backup(made, tmp_path / "b")
    later = rotate_secret(made, "alder")["signing_secret"]
    aside = restore(made, tmp_path / "b", accept_loss=True)["kept_aside"]
    assert later in texts(job(Path(aside)))


@slow
def test_a_backup_without_its_secrets_is_restored_and_says_whose_are_gone(
    made: Job, tmp_path: Path
) -> None:
    backup(made, tmp_path / "b")
    (tmp_path / "b.secrets").unlink()
    moved = job(tmp_path / "moved.duckdb")
    assert ["alder"] == restore(moved, tmp_path / "b", dry_run=True)["secrets_missing"]
    assert ["alder"] == restore(moved, tmp_path / "b")["secrets_missing"]
    assert [] == restore(made, tmp_path / "b", accept_loss=True)["secrets_missing"]  # still here


@pytest.mark.parametrize("harm", [cut_off, another_text])
def test_secrets_that_are_not_those_of_the_backup_are_refused(
    made: Job, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    backup(made, tmp_path / "b")
    harm(tmp_path / "b.secrets")
    assert "backup_damaged" == code_of(lambda: restore(made, tmp_path / "b"))


@slow
def test_a_backup_of_a_store_without_secrets_is_restored(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    backup(made, tmp_path / "b")
    assert [] == restore(made, tmp_path / "b")["secrets_missing"]
