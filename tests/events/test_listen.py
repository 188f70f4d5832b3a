"""A listener as a process of its own, and deliveries to it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
import trustme

from cardoffers_cli.kernel.net.sender import AttemptLimits
from commands import cardoffers, command
from post import SECRET, delivery, post, send
from sizes import one_in, slow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOKEN = "ch_9f8e7d6c5b4a3kanarie0f1e2d3c4b5a6"  # noqa: S105 - a token of a test
FULL = json.dumps(
    {
        "event": "redemption.completed",
        "redemption_id": "r-7",
        "cardholder_token": TOKEN,
        "cardholder_token_masked": "what the sender says",
        "institution_payout_amount": 12.5,
    }
).encode()

ONE_BY_ONE = AttemptLimits(deadline_s=5, allow_insecure=True, per_lane=1)


@contextmanager
def listener(*words: object) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run `webhook listen` until it ends or is interrupted; yield its URL and the process."""
    line = command("webhook", "listen", "--port", 0, *words)
    pipe = subprocess.PIPE
    with subprocess.Popen(line, text=True, stdout=pipe, stderr=pipe) as process:
        assert process.stderr is not None
        found = re.search(r"Listening on (http\S+);", process.stderr.readline())
        assert found
        try:
            yield found[1], process
        finally:
            process.kill()


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.touch(mode=0o600)
    path.write_text(f"whsec_old\n{SECRET}\n")
    return path


@slow
def test_each_request_is_shown_as_it_comes(secret_file: Path) -> None:
    with listener("--secret-file", secret_file, "--format", "jsonl") as (url, process):
        assert process.stdout is not None
        for copy in (1, 2):
            assert post(f"{url}hooks").error is None
            row = json.loads(process.stdout.readline())
            shown = ("number", "path", "verified", "faults", "status", "copy", "redemption_id")
            assert [copy, "/hooks", True, [], 200, copy, "r-1"] == [row[name] for name in shown]
        process.send_signal(signal.SIGINT)
        assert 0 == process.wait(10)


def test_it_ends_after_a_count_and_shows_everything() -> None:
    with listener("--count", 2, "--fail", 1, "--status", 503, "--format", "json") as (url, process):
        outcomes = send((delivery(url, number) for number in range(2)), ONE_BY_ONE)
        output, _ = process.communicate(timeout=10)
    assert [503, 200] == [outcome.http_status for outcome in outcomes]
    assert [503, 200] == [row["status"] for row in json.loads(output)]
    assert [None, None] == [row["verified"] for row in json.loads(output)]
    assert 0 == process.returncode


@slow
def test_a_late_answer_still_arrives() -> None:
    with listener("--count", 1, "--delay", 1.5) as (url, process):
        assert 200 == post(url).http_status
        assert 0 == process.wait(10)


def test_what_does_not_verify_is_answered_401_and_ends_with_3(tmp_path: Path) -> None:
    wrong = tmp_path / "secret"
    wrong.touch(mode=0o600)
    wrong.write_text("whsec_wrong")
    with listener("--count", 1, "--secret-file", wrong, "--format", "table") as (url, process):
        assert 401 == post(url).http_status
        output, _ = process.communicate(timeout=10)
    assert "401  not verified (v1_wrong, v2_wrong)" in output
    assert 3 == process.returncode


@pytest.mark.parametrize("form", ["table", "tsv", "csv", "json", "jsonl", "md"])
@one_in(3)
def test_no_full_token_is_shown(form: str) -> None:
    with listener("--count", 1, "--format", form) as (url, process):
        send([delivery(url, body=FULL)], ONE_BY_ONE)
        output, notes = process.communicate(timeout=10)
    assert "kanarie" not in output + notes
    assert "ch_9…b5a6" in output
    assert "12.5" in output
    assert "what the sender says" not in output


@slow
@pytest.mark.parametrize(
    "body",
    [b"", b"no json", b"[]", b'{"event": 1, "redemption_id": []}', b'"\xff"', b"[" * 9999],
    ids=["empty", "text", "list", "other types", "not UTF-8", "deep"],
)
@one_in(2)
def test_what_is_no_event_is_shown_too(body: bytes) -> None:
    with listener("--count", 1, "--format", "json") as (url, process):
        send([delivery(url, body=body)], ONE_BY_ONE)
        output, _ = process.communicate(timeout=10)
    (row,) = json.loads(output)
    assert (None, None, 200) == (row["event"], row["redemption_id"], row["status"])


def test_it_speaks_tls(tmp_path: Path) -> None:
    authority = trustme.CA()
    pem, ca_file = tmp_path / "server.pem", tmp_path / "ca.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(pem)
    authority.cert_pem.write_to_path(ca_file)
    with listener("--count", 1, "--certificate", pem) as (url, _):
        assert url.startswith("https://")
        assert 200 == post(url, ca_file=ca_file).http_status


@slow
def test_a_port_that_is_taken_is_a_network_failure() -> None:
    with listener() as (url, _):
        port = url.rstrip("/").rpartition(":")[2]
        ended = cardoffers("webhook", "listen", "--port", port, "--format", "json", exit_code=15)
    assert "cannot_listen" == ended.error["code"]
