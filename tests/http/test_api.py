"""`cardoffers api` as scripts meet it: keys, bodies, what is printed and how it ends."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from sizes import one_in, slow
from tables import key_text
from work import new_store, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FEED = "/api/v1/offers?cardholder_token=ann"
ADD = "/api/v1/offers/A/add"
TOKENS = {"cardholder_token": "ann", "card_token": "card"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a store and a private file with a key."""
    job = new_store(tmp_path)
    tell(
        job,
        institutions="institution\nalder",
        merchants="merchant\nbakery",
        offers="offer merchant min_spend\nA bakery 12.5",
        programs="offer\nA",
        keys="key\nsecret",
    )
    key = tmp_path / "key.txt"
    key.write_text(f"{key_text('secret')}\n")
    key.chmod(0o600)
    return tmp_path


@pytest.fixture
def api(cardoffers: Any, folder: Path) -> Callable[..., Any]:
    """Run `cardoffers api` with the key file, if not said otherwise."""

    def run(*words: str, key: bool = True, stdin: Any = None, **environment: str) -> Any:
        usual = ["--store", str(folder / "store.duckdb"), "--as-of", "2026-06-01T12:00:00Z"]
        named = ["--key-file", str(folder / "key.txt")] if key else []
        return cardoffers("api", *words, *named, *usual, stdin=stdin, **environment)

    return run


def test_a_body_is_printed_as_it_comes(api: Any) -> None:
    ended = api("GET", FEED)
    assert 0 == ended.exit_code
    assert ended.stdout.startswith('{"offers": [{"id": "A"')
    assert '"min_spend": 12.50,' in ended.stdout
    assert ended.stdout.endswith('"total": 1, "personalized": false}')
    assert "" == ended.stderr


def test_a_key_may_come_from_the_environment(api: Any) -> None:
    assert 4 == api("GET", FEED, key=False).exit_code
    assert 0 == api("GET", FEED, key=False, CARDOFFERS_KEY=key_text("secret")).exit_code
    assert 0 == api("GET", FEED, CARDOFFERS_KEY=key_text("other")).exit_code


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_a_key_file_that_others_may_touch_is_refused(api: Any, folder: Path, mode: int) -> None:
    (folder / "key.txt").chmod(mode)
    ended = api("GET", FEED, "--format", "json")
    assert (4, "file_open") == (ended.exit_code, ended.error["code"])
    assert "chmod 600" in ended.error["hint"]


def test_files_that_are_not_there_are_named(api: Any, folder: Path) -> None:
    ended = api("POST", ADD, "--body", str(folder / "none.json"))
    assert 5 == ended.exit_code
    assert "none.json" in ended.stderr
    (folder / "key.txt").unlink()
    ended = api("GET", FEED)
    assert 5 == ended.exit_code
    assert "key.txt" in ended.stderr


def test_a_key_is_not_taken_from_the_command_line(api: Any) -> None:
    ended = api("GET", FEED, "-H", f"authorization: Bearer {key_text('secret')}", key=False)
    assert 2 == ended.exit_code
    assert "--key-file" in ended.stderr
    assert key_text("secret") not in ended.stderr


def test_a_body_comes_from_a_file_or_standard_input(api: Any, folder: Path) -> None:
    body = folder / "add.json"
    body.write_text(json.dumps(TOKENS))
    ended = api("POST", ADD, "--body", str(body))
    assert (0, "added") == (ended.exit_code, ended.document["status"])
    ended = api("post", ADD, "--body", "-", stdin=json.dumps(TOKENS))
    assert (0, "already_added") == (ended.exit_code, ended.document["status"])


def test_a_header_goes_before_what_is_usual(api: Any) -> None:
    words = ("POST", ADD, "--body", "-")
    ended = api(*words, "-H", "Content-Type: text/csv", stdin="{}")
    assert (3, 415) == (ended.exit_code, ended.document["status"])
    assert 2 == api(*words, "-H", "no colon", stdin="{}").exit_code


def test_status_and_headers_come_before_the_body(api: Any) -> None:
    ended = api("GET", FEED, "--include")
    head, _, body = ended.stdout.partition("\n\n")
    assert "HTTP 200 OK" == head.splitlines()[0]
    names = [line.partition(":")[0] for line in head.splitlines()[1:]]
    assert {"content-type", "x-request-id"} <= set(names)
    assert json.loads(body) == api("GET", FEED).document


def test_as_json_the_answer_is_one_object_with_exact_numbers(api: Any) -> None:
    ended = api("GET", FEED, "--include", "--format", "json")
    assert 0 == ended.exit_code
    assert {"status", "headers", "body"} == ended.document.keys()
    assert (200, 1) == (ended.document["status"], ended.document["body"]["total"])
    assert '"min_spend": 12.50,' in ended.stdout
    ended = api("GET", FEED, "--include", "--format", "json", key=False)
    assert (4, 401) == (ended.exit_code, ended.document["status"])
    assert "Bearer" == ended.document["headers"]["www-authenticate"]


EXITS = [
    ("GET", "/openapi.json", None, 0),
    ("GET", FEED, None, 0),
    ("GET", "/nowhere", None, 5),
    ("POST", "/api/v1/offers/B/add", TOKENS, 5),
    ("DELETE", FEED, None, 3),
    ("GET", "/api/v1/offers", None, 3),
    ("POST", ADD, {}, 3),
    ("POST", ADD, None, 3),
]


@pytest.mark.parametrize(("method", "path", "body", "exit_code"), EXITS)
@one_in(3)
def test_the_exit_code_follows_the_status(
    api: Any, method: str, path: str, body: Any, exit_code: int
) -> None:
    words = () if body is None else ("--body", "-")
    ended = api(method, path, *words, stdin=json.dumps(body))
    assert exit_code == ended.exit_code
    assert bool(ended.stderr) == (exit_code == 3)
    if exit_code == 3:
        assert str(json.loads(ended.stdout)["status"]) == ended.stderr.split()[0]


def test_an_answer_can_be_written_to_a_file(api: Any, folder: Path) -> None:
    ended = api("GET", "/openapi.json", "-o", str(folder / "openapi.json"))
    assert (0, "") == (ended.exit_code, ended.stdout)
    assert "3.1" in json.loads((folder / "openapi.json").read_text())["openapi"]


def test_without_a_store_it_ends_as_every_command_does(cardoffers: Any, tmp_path: Path) -> None:
    words = ("--store", str(tmp_path / "none.duckdb"))
    assert 10 == cardoffers("api", "GET", FEED, *words).exit_code
    assert 0 == cardoffers("api", "GET", "/openapi.json", *words).exit_code


def test_a_busy_store_is_the_contract_s_503(api: Any, folder: Path) -> None:
    holder = "import sys, time\nfrom work import job\nwith job(sys.argv[1]).store():\n"
    holder += "    print('held', flush=True)\n    sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holder, folder / "store.duckdb"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as held:
        assert held.stdout
        assert b"held\n" == held.stdout.readline()
        ended = api("GET", FEED, "--lock-wait", "0", "--include")
        held.communicate()
    assert 15 == ended.exit_code
    assert "HTTP 503" in ended.stdout
    assert "retry-after: " in ended.stdout
    assert 0 == api("GET", FEED).exit_code


@slow
def test_on_a_terminal_a_refusal_is_explained(folder: Path) -> None:
    ours, theirs = pty.openpty()
    words = ["api", "GET", "/api/v1/offers?limit=0", "--key-file", "key.txt", "--no-color"]
    with subprocess.Popen(
        [sys.executable, "-m", "cardoffers_cli", *words, "--store", "store.duckdb"],
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as running:
        os.close(theirs)
        _, said = running.communicate()
    os.close(ours)
    assert 3 == running.returncode
    assert "422 Unprocessable" in said.decode()
    assert "/query/limit: limit is not a whole number from 1 to 100." in said.decode()
