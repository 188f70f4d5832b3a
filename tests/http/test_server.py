"""The server as its operator has it: starting, TLS, a busy store, stopping, and its log."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPSConnection
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import trustme

from cardoffers_cli.copies.work import publish
from cardoffers_cli.http.commands import EXTRA
from cardoffers_cli.keys.work import revoke_key
from commands import cardoffers, command
from serving import Heard, Served, heard, serving, serving_within
from sizes import at_the_gate, slow, tries
from tables import key_text, uid
from work import found, held, new_store, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

TRANSACTIONS = "/api/v1/transactions"
FUNNEL = "/api/v1/reporting/funnel"
AS_OF = ("--as-of", "2026-06-01T12:00:00Z")


@pytest.fixture
def made(tmp_path: Path) -> Job:
    made = new_store(tmp_path)
    tell(
        made,
        institutions="institution\nalder",
        keys="key institution scopes\nall alder offers|reporting|transactions",
    )
    return made


@pytest.fixture
def served(made: Job) -> Iterator[Served]:
    with serving(made.path, *AS_OF) as served:
        yield served


def bearer(key: str = "all") -> dict[str, str]:
    return {"authorization": f"Bearer {key_text(key)}", "content-type": "application/json"}


def event(ref: str, **fields: Any) -> str:
    return json.dumps(
        {
            "cardholder_token": "c" * 40,
            "card_token": "card-1",
            "card_acceptor_id": "M1",
            "amount": 12.5,
            "transaction_ref": ref,
            "transacted_at": "2026-06-01T11:00:00Z",
            **fields,
        }
    )


def send(served: Served, ref: str, key: str = "all") -> Heard:
    return served.call("POST", TRANSACTIONS, event(ref), bearer(key))


def refs(made: Job) -> list[str]:
    return [ref for (ref,) in found(made, "select transaction_ref from purchases order by 1")]


# Starting


def refused(path: Path, *words: object, exit_code: int) -> str:
    """Start a server that must not start; return the code of the error."""
    ended = cardoffers(
        "serve", "--store", path, "--format", "json", *words, exit_code=exit_code, timeout=30
    )
    assert ended.error["hint"]
    code: str = ended.error["code"]
    return code


@slow
def test_a_store_must_be_there(tmp_path: Path) -> None:
    assert "store_missing" == refused(tmp_path / "none.duckdb", exit_code=10)


@slow
def test_a_store_must_be_of_this_version(made: Job) -> None:
    with duckdb.connect(str(made.path)) as connection:
        connection.execute("update schema_versions set version = version + 1")
    assert "store_version" == refused(made.path, exit_code=12)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104  that is what is refused
def test_keys_do_not_travel_in_the_open(made: Job, host: str) -> None:
    assert "tls_missing" == refused(made.path, "--host", host, exit_code=2)


@slow
def test_a_proxy_in_front_may_end_tls(made: Job) -> None:
    words = ("--host", "0.0.0.0", "--plain-http")  # noqa: S104  as above
    with serving(made.path, *words) as served:
        assert 200 == served.call("GET", "/openapi.json").status


@slow
def test_a_port_that_is_taken_is_told(made: Job) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert "listen_failed" == refused(made.path, "--port", port, exit_code=15)


@slow
def test_a_certificate_needs_its_key(made: Job, tmp_path: Path) -> None:
    some, other = trustme.CA().issue_cert("localhost"), trustme.CA().issue_cert("localhost")
    chain, key, empty = (tmp_path / name for name in ("chain.pem", "key.pem", "empty.pem"))
    some.cert_chain_pems[0].write_to_path(str(chain))
    other.private_key_pem.write_to_path(str(key))
    empty.touch()
    assert "usage" == refused(made.path, "--tls-cert", chain, exit_code=2)
    pairs = [(chain, key), (chain, empty), (empty, key), (tmp_path / "none.pem", key)]
    for pair in pairs[: tries(2, 4)]:
        words = ("--tls-cert", pair[0], "--tls-key", pair[1])
        assert "tls_unusable" == refused(made.path, *words, exit_code=13)


def test_a_missing_extra_is_named(made: Job) -> None:
    for package in EXTRA:
        lost = f"import sys; sys.modules[{package!r}] = None;"
        code = f"{lost} from cardoffers_cli.__main__ import main; main()"
        ended = subprocess.run(
            [sys.executable, "-c", code, "serve", "--store", made.path],
            check=False,
            capture_output=True,
            text=True,
        )
        assert 2 == ended.returncode
        assert "pip install 'cardoffers-cli[serve]'" in ended.stderr


@slow
def test_a_server_starts_while_the_store_is_busy(made: Job) -> None:
    with held(made.path), serving(made.path, *AS_OF) as served:
        assert 200 == served.call("GET", "/openapi.json").status
        assert "busy" in served.log.read_text()


@slow
def test_where_it_listens_is_told(made: Job) -> None:
    with serving(made.path) as served:
        assert f"Listening on http://127.0.0.1:{served.port}\n" in served.log.read_text()


# TLS


@slow
def test_the_contract_is_answered_over_tls(made: Job, tmp_path: Path) -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", "127.0.0.1")
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    issued.cert_chain_pems[0].write_to_path(str(chain))
    issued.private_key_pem.write_to_path(str(key))
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with serving(made.path, *AS_OF, "--tls-cert", chain, "--tls-key", key) as served:
        connection = HTTPSConnection("localhost", served.port, timeout=20, context=trusting)
        for ref in ("one", "two"):
            connection.request("POST", TRANSACTIONS, event(ref), bearer())
            assert 202 == heard(connection.getresponse()).status
        assert "TLSv1.3" == connection.sock.version()
        connection.close()
        with pytest.raises(ConnectionError):
            served.call("GET", "/openapi.json")
        assert f"Listening on https://127.0.0.1:{served.port}\n" in served.log.read_text()
    assert ["one", "two"] == refs(made)


# Keys that change while it runs


@slow
def test_a_key_is_what_it_is_in_the_store_at_that_moment(made: Job, served: Served) -> None:
    assert 202 == send(served, "before").status
    tell(made, keys="key institution\nnew alder")
    assert 202 == send(served, "new-key", "new").status
    revoke_key(str(uid("all")), made)
    assert [403, 403] == [send(served, "after").status for _ in range(2)]
    assert 202 == send(served, "still", "new").status
    assert ["before", "new-key", "still"] == refs(made)


# A busy store


def test_a_busy_store_is_told_within_the_deadline(made: Job) -> None:
    with serving(made.path, *AS_OF, environment=waiting(2)) as served, held(made.path):
        began = time.monotonic()
        answer = send(served, "late")
        assert (503, "busy", "5") == (
            answer.status,
            answer.document["code"],
            answer.headers["retry-after"],
        )
        assert 1.8 < time.monotonic() - began < 5
    assert [] == refs(made)


@slow
def test_who_waits_is_answered_when_the_store_is_free(made: Job, served: Served) -> None:
    with ThreadPoolExecutor() as clients:
        with held(made.path):
            promised = [clients.submit(send, served, f"{number:03}") for number in range(20)]
            time.sleep(1)
        assert [202] * 20 == [answer.result().status for answer in promised]
    assert [f"{number:03}" for number in range(20)] == refs(made)


@slow
def test_reports_are_read_from_the_snapshot_meanwhile(made: Job, served: Served) -> None:
    publish(made)
    with held(made.path):
        answer = served.call("GET", FUNNEL, headers=bearer())
    assert (200, "2026-06-01T12:00:00.000Z") == (answer.status, answer.headers["x-snapshot-at"])
    now = served.call("GET", FUNNEL, headers=bearer())
    assert (200, False) == (now.status, "x-snapshot-at" in now.headers)
    assert now.document["data"] == answer.document["data"]


@slow
def test_commands_get_their_turn_beside_a_server_under_load(made: Job, served: Served) -> None:
    with ThreadPoolExecutor(4) as clients:
        until = time.monotonic() + 4
        sending = [clients.submit(keep_sending, served, name, until) for name in "abc"]
        cardoffers("match", "--store", made.path, *AS_OF, "--lock-wait", 3)
        cardoffers("status", "--store", made.path, "--lock-wait", 3)
        sent = [ref for promise in sending for ref in promise.result()]
    assert sorted(sent) == refs(made)


def keep_sending(served: Served, name: str, until: float) -> list[str]:
    sent: list[str] = []
    while time.monotonic() < until:
        sent.append(f"{name}{len(sent)}")
        assert 202 == send(served, sent[-1]).status
    return sent


def waiting(seconds: int) -> dict[str, str]:
    return {**os.environ, "CARDOFFERS_REQUEST_WAIT_S": str(seconds)}


# Stopping


@slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_what_was_taken_in_is_answered_before_the_end(made: Job, how: signal.Signals) -> None:
    with serving(made.path, *AS_OF) as served, ThreadPoolExecutor() as clients:
        with held(made.path):
            promised = [clients.submit(send, served, f"{number}") for number in range(5)]
            time.sleep(1)
            served.process.send_signal(how)
            time.sleep(0.5)
            with pytest.raises(ConnectionError):
                served.connect()
        assert [202] * 5 == [answer.result().status for answer in promised]
        assert 0 == served.process.wait(10)
        assert "Traceback" not in served.log.read_text()
    assert ["0", "1", "2", "3", "4"] == refs(made)


@slow
def test_a_stop_does_not_wait_for_who_says_nothing(served: Served) -> None:
    with served.connect() as idle, served.connect() as half:
        half.sendall(b"GET /")
        assert 200 == served.call("GET", "/openapi.json").status
        served.process.terminate()
        assert 0 == served.process.wait(5)
        assert b"" == idle.recv(1)


@slow
def test_a_stop_has_an_end_while_a_body_trickles(made: Job) -> None:
    with serving_within(made.path, {"request_wait_s": 1}) as served, served.connect() as slow:
        key = f"authorization: {bearer()['authorization']}"
        head = f"POST {TRANSACTIONS} HTTP/1.1\r\nhost: x\r\n{key}\r\ncontent-length: 99\r\n\r\n{{"
        slow.sendall(head.encode())
        time.sleep(0.3)
        served.process.terminate()
        assert 0 == served.process.wait(15)


@slow
def test_a_second_signal_does_not_wait(made: Job) -> None:
    with serving(made.path) as served, ThreadPoolExecutor() as clients, held(made.path):
        promise = clients.submit(send, served, "cut off")
        time.sleep(0.5)
        for _ in range(2):
            served.process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        assert 0 == served.process.wait(8)
        assert promise.exception() or promise.result().status >= 500


# The log


@slow
def test_the_log_tells_who_called_what_and_no_secret(served: Served) -> None:
    canary = "canary-5511"
    sent = served.call(
        "POST", f"{TRANSACTIONS}?q={canary}", event("r", colour=canary, note=canary), bearer()
    )
    wrong = served.call("GET", FUNNEL, headers={"authorization": f"Bearer {canary}"})
    served.call("GET", f"/{canary}", headers={"x-token": canary})
    line = served.line(sent.headers["x-request-id"])
    assert line.pop("time")
    assert line.pop("duration_ms") >= 0
    assert {
        "request_id": sent.headers["x-request-id"],
        "method": "POST",
        "route": TRANSACTIONS,
        "status": 202,
        "bytes": len(sent.body),
        "key_prefix": key_text("all")[:12],
        "institution": "alder",
        "code": None,
        "unknown_fields": 2,
    } == line
    assert "unauthenticated" == served.line(wrong.headers["x-request-id"])["code"]
    log = served.log.read_text()
    secrets = (canary, key_text("all"), "c" * 40, "card-1")
    assert [] == [secret for secret in secrets if secret in log]


@slow
def test_a_fault_is_located_in_the_log_and_hidden_from_the_client(made: Job) -> None:
    with serving(made.path, *AS_OF) as served:
        with made.store() as store:
            store.connection.execute("drop table engagement")
        answer = served.call("GET", FUNNEL, headers=bearer())
        assert (500, "internal") == (answer.status, answer.document["code"])
        assert b"engagement" not in answer.body
        fault = served.line(answer.headers["x-request-id"])["fault"]
        assert any("store.py" in place for place in fault["places"])
        assert "engagement" not in served.log.read_text().replace("engagement.py", "")


@slow
def test_output_is_for_data_and_the_log_is_not(made: Job) -> None:
    words = command("serve", "--store", made.path, "--port", 0)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith(b"Listening on")
        process.terminate()
        assert b"" == process.communicate(timeout=20)[0]


@contextmanager
def started(made: Job, *shell: str) -> Iterator[Served]:
    """Run a server whose stderr is a pipe, perhaps under a shell's code, and stop it."""
    port_file = made.path.with_name("port")
    words = command("serve", "--store", made.path, "--port", 0, "--port-file", port_file, *AS_OF)
    with subprocess.Popen([*shell, *words], stderr=subprocess.PIPE) as process:
        try:
            deadline = time.monotonic() + 30
            while not port_file.exists():
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.02)
            yield Served(process, int(port_file.read_text()), port_file)
            process.terminate()
            assert 0 == process.wait(10)
        finally:
            process.kill()


def ask_often(served: Served, times: int) -> None:
    connection = HTTPConnection("127.0.0.1", served.port, timeout=20)
    for _ in range(times):
        connection.request("GET", "/nothing")
        assert 404 == heard(connection.getresponse()).status
    connection.close()


@slow
def test_a_log_that_nobody_reads_holds_up_no_answer_and_no_stop(made: Job) -> None:
    with started(made) as served:
        ask_often(served, 500)  # a pipe holds some 240 lines
        assert 202 == send(served, "one").status
        served.process.terminate()
        assert 0 == served.process.wait(10)
        assert served.process.stderr is not None
        lines = served.process.stderr.read().splitlines()
    assert lines[0].startswith(b"Listening on")
    assert all(json.loads(line)["status"] == 404 for line in lines[1:-1])
    assert ["one"] == refs(made)


@slow
def test_a_log_that_is_read_late_is_whole(made: Job) -> None:
    with started(made) as served:
        assert served.process.stderr is not None
        ask_often(served, 500)
        lines = [served.process.stderr.readline() for _ in range(501)]
        assert 500 == sum(json.loads(line)["status"] == 404 for line in lines[1:])


@slow
def test_a_log_that_is_closed_ends_nothing(made: Job) -> None:
    with started(made) as served:
        assert served.process.stderr is not None
        served.process.stderr.close()
        ask_often(served, 20)
        assert 202 == send(served, "one").status


@at_the_gate
def test_a_log_that_was_never_open_is_written_nowhere(made: Job) -> None:
    """Its descriptor is another file's then, which may be the store's."""
    with started(made, "/bin/sh", "-c", 'exec 2>&-; exec "$@"', "sh") as served:
        ask_often(served, 20)
        assert 202 == send(served, "one").status
    assert ["one"] == refs(made)
