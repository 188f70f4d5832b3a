"""`cardoffers key` as operators and scripts meet it."""

from __future__ import annotations

import os
import pty
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.store.usage_journal import UsageJournal
from cardoffers_cli.keys.rules import is_well_formed
from commands import command
from sizes import one_in, slow
from tables import NOON, key_text, uid
from work import new_store, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FORMATS = ("table", "tsv", "csv", "json", "jsonl", "md", "html", "parquet", "xlsx")
AS_OF = "2026-06-01T12:00:00Z"
CREATE = ("create", "-i", "alder", "--name", "mobile app", "--scopes", "offers, transactions")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the store of an institution `alder`, and its keys `app` and `gone`."""
    tell(
        new_store(tmp_path),
        institutions="institution\nalder",
        keys="""
            key   scopes  created     expires     revoked
            app   offers  2026-05-01  2026-06-15  -
            gone  -       2026-05-01  2026-06-15  2026-05-20
        """,
    )
    return tmp_path


@pytest.fixture
def key(cardoffers: Any, folder: Path) -> Callable[..., Any]:
    """Run `cardoffers key`."""

    def run(*words: object, stdin: str | None = None, form: str = "json") -> Any:
        usual = ("--store", folder / "store.duckdb", "--as-of", AS_OF, "--format", form)
        return cardoffers("key", *words, *usual, stdin=stdin)

    return run


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_key_is_made_and_shown_once(key: Any) -> None:
    made = key(*CREATE)
    assert (0, "Keep the key safe: it is shown this once.\n") == (made.exit_code, made.stderr)
    assert is_well_formed(made.document["key"])
    assert {
        **made.document,
        "key_file": None,
        "institution": "alder",
        "name": "mobile app",
        "scopes": ["offers", "transactions"],
        "created_at": "2026-06-01T12:00:00.000Z",
        "expires_at": "2027-06-01T12:00:00.000Z",
        "dry_run": False,
    } == made.document
    assert {"key_id", "key"} < made.document.keys()


def test_a_key_goes_to_a_file_of_its_owners(key: Any, folder: Path) -> None:
    made = key(*CREATE, "--key-file", folder / "app.key")
    assert (None, str(folder / "app.key")) == (made.document["key"], made.document["key_file"])
    assert 0o600 == mode(folder / "app.key")
    checked = key("check", stdin=(folder / "app.key").read_text())
    assert made.document["key_id"] == checked.document["key_id"]
    again = key(*CREATE, "--key-file", folder / "app.key")
    assert (4, "file_exists") == (again.exit_code, again.error["code"])


@pytest.mark.parametrize("form", FORMATS)
@one_in(3)
def test_what_is_written_to_a_file_is_its_owners(key: Any, folder: Path, form: str) -> None:
    out = folder / "made"
    out.touch(0o644)
    assert 0 == key(*CREATE, "-o", out, form=form).exit_code
    assert 0o600 == mode(out)


@pytest.mark.parametrize(("setting", "listed"), [("", 0o600), ("0640", 0o640)])
def test_other_commands_write_files_of_the_mode_that_is_set(
    key: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, setting: str, listed: int
) -> None:
    monkeypatch.setenv("CARDOFFERS_FILE_MODE", setting)
    key("list", "-o", folder / "list.json")
    key(*CREATE, "-o", folder / "made.json")
    assert (listed, 0o600) == (mode(folder / "list.json"), mode(folder / "made.json"))


@pytest.mark.parametrize("out", ["nowhere/made.json", ""])
def test_where_it_cannot_be_written_no_key_is_made(key: Any, folder: Path, out: str) -> None:
    assert 2 == key(*CREATE, "-o", folder / out).exit_code
    assert 2 == len(key("list").document)


def test_a_key_whose_file_cannot_be_written_is_shown(key: Any) -> None:
    made = key(*CREATE, "-o", "/dev/full")
    assert (16, "no_space") == (made.exit_code, made.error["code"])
    assert "was made, but /dev/full was not written." in made.stderr
    checked = key("check", stdin=made.stdout)
    assert (0, "mobile app") == (checked.exit_code, checked.document["name"])


def test_a_dry_run_shows_no_key(key: Any) -> None:
    made = key(*CREATE, "--dry-run")
    assert (None, True) == (made.document["key"], made.document["dry_run"])
    assert 2 == len(key("list").document)


@pytest.mark.parametrize(
    ("option", "expires_at"),
    [("2026-07-01", "2026-07-01T00:00:00.000Z"), ("never", None)],
)
def test_when_a_key_ends_is_said_by_its_maker(
    key: Any, option: str, expires_at: str | None
) -> None:
    assert expires_at == key(*CREATE, "--expires", option).document["expires_at"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("create", "-i", "alder", "--name", "x", "--scopes", ","), "scope_unknown"),
        (("create", "-i", "alder", "--name", "x", "--scopes", "offers,all"), "scope_unknown"),
        (("create", "-i", "alder", "--name", "", "--scopes", "offers"), "name_invalid"),
        ((*CREATE, "--expires", "tomorrow"), "usage"),
        ((*CREATE, "--expires", "2026-06-01"), "expires_in_past"),
        (("rotate", uid("app"), "--overlap", "a week"), "usage"),
        (("revoke", uid("app")), "unconfirmed"),
    ],
)
def test_what_is_not_well_asked_is_refused(key: Any, words: tuple[str, ...], code: str) -> None:
    ended = key(*words)
    assert (2, code) == (ended.exit_code, ended.error["code"])


def test_keys_are_listed_and_shown(key: Any) -> None:
    listed = key("list", "-i", "alder").document
    assert {"app": "valid", "gone": "revoked"} == {each["name"]: each["state"] for each in listed}
    for each in listed:
        assert each == key("show", each["key_id"]).document
    cells = key("list", form="csv").stdout
    assert "offers|reporting|transactions (legacy)" in cells


def test_a_rotation_says_until_when_the_old_key_works(key: Any) -> None:
    made = key("rotate", uid("app"), "--overlap", "7d")
    assert (str(uid("app")), "2026-06-08T12:00:00.000Z") == (
        made.document["replaces"],
        made.document["old_key_ends_at"],
    )
    assert "works until 2026-06-08 12:00 UTC, or until it is revoked:" in made.stderr
    assert 0 == key("check", stdin=key_text("app")).exit_code
    assert 4 == key("rotate", uid("app")).exit_code


def test_a_key_is_revoked_once(key: Any) -> None:
    assert "valid" == key("check", stdin=key_text("app")).document["state"]
    assert "revoked" == key("revoke", uid("app"), "--dry-run").document["state"]
    assert "revoked" == key("revoke", uid("app"), "--yes").document["state"]
    again = key("revoke", uid("app"), "--yes")
    assert (4, "already_revoked") == (again.exit_code, again.error["code"])


@pytest.mark.parametrize(("answer", "exit_code"), [(b"n\n", 130), (b"\n", 130), (b"y\n", 0)])
@one_in(3)
def test_who_revokes_is_asked_first(folder: Path, answer: bytes, exit_code: int) -> None:
    ours, theirs = pty.openpty()
    words = ("key", "revoke", uid("app"), "--store", folder / "store.duckdb", "--as-of", AS_OF)
    with subprocess.Popen(
        command(*words), stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as asked:
        os.close(theirs)
        os.write(ours, answer)
        _, notes = asked.communicate()
    os.close(ours)
    assert exit_code == asked.returncode
    assert b"Revoke the key app (co_live_a172" in notes


@pytest.mark.parametrize(
    ("stdin", "exit_code", "code"),
    [
        ("", 2, "input_missing"),
        (f"{key_text('app')[:-1]}\n", 2, "key_mistyped"),
        (f"{key_text('nobody')}\n", 5, "key_unknown"),
        (f"{key_text('gone')}\n", 4, "token_revoked"),
    ],
)
def test_a_key_that_does_not_work_says_why(key: Any, stdin: str, exit_code: int, code: str) -> None:
    ended = key("check", stdin=stdin)
    assert (exit_code, code) == (ended.exit_code, ended.error["code"])


def test_a_key_that_works_says_for_whom_and_until_when(key: Any) -> None:
    told = key("check", stdin=f" {key_text('app')}\r\n").document
    assert ("alder", "app", ["offers"], "valid", "2026-06-15T00:00:00.000Z") == tuple(
        told[name] for name in ("institution", "name", "scopes", "state", "ends_at")
    )


def test_notices_land_in_the_inbox(key: Any, cardoffers: Any, folder: Path) -> None:
    given = key("notices", "--dry-run").document
    assert (None, True, ["14_days"]) == (
        given["run_id"],
        given["dry_run"],
        [notice["notice"] for notice in given["notices"]],
    )
    assert ["14_days"] == [notice["notice"] for notice in key("notices").document["notices"]]
    again = key("notices")
    assert ([], "No notice is owed.\n") == (again.document["notices"], again.stderr)
    words = ("-i", "alder", "--store", folder / "store.duckdb", "--format", "json")
    (message,) = cardoffers("inbox", "list", *words).document
    assert {"id", "kind", "created_at", "text", "read_at"} == message.keys()
    assert "The API key app (co_live_a172…) ends on 2026-06-15" in message["text"]


@slow
def test_no_key_is_anywhere_but_where_it_was_handed_over(
    key: Any, process: Any, folder: Path
) -> None:
    heard = []

    def listen(*words: object, **options: Any) -> Any:
        ended = key(*words, "--debug", **options)
        heard.append((words, ended.stdout + ended.stderr))
        return ended

    shown, kept = key(*CREATE).document, listen(*CREATE, "--key-file", folder / "app.key").document
    secrets = {shown["key"], (folder / "app.key").read_text().strip(), key_text("gone")}
    successor = key("rotate", kept["key_id"], "--overlap", "7d").document["key"]
    mistyped = shown["key"][:-1]
    texts = [*secrets, successor, mistyped, key_text("nobody")]
    for form in FORMATS[:7]:
        for words in (["list"], ["show", shown["key_id"]], ["notices"], ["show", successor]):
            listen(*words, form=form)
        for text in texts:
            listen("check", stdin=text, form=form)
    for text in texts:
        listen("revoke", text, "--yes")
        listen("create", "-i", "alder", "--name", text, "--scopes", "offers")
        listen("create", "-i", "alder", "--name", "x", "--scopes", text)
    with UsageJournal(folder / "store.duckdb") as book:
        book.note_failure(uid("use"), "token_revoked", NOON, "request", key_id=uid("gone"))
        book.note_use(uid("app"), NOON)
        listen("revoke", shown["key_id"], "--yes")
        broken = process("key", "check", "--store", folder, "--debug", input=shown["key"])
        heard.append((("key", "check"), broken.stdout + broken.stderr))
        (folder / "app.key").unlink()
        files = [path for path in folder.rglob("*") if path.is_file()]
        found = [
            (path.name, text)
            for path in files
            for text in texts
            if text.encode() in path.read_bytes()
        ]
    assert {"store.duckdb", "usage", "usage-wal"} <= {path.name for path in files}
    assert [] == found
    assert "Traceback" in broken.stderr
    assert len(heard) > 70
    assert [] == [words for words, said in heard for text in texts if text in said]
    assert key("list").document  # the marks that show which key is meant are there
    assert shown["key"][:12].encode() in (folder / "store.duckdb").read_bytes()
