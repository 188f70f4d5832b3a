"""Webhooks as an operator meets them: what is shown, how it ends, what strangers do to it."""

from __future__ import annotations

import json
import os
import pty
import signal
import stat
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.events.receiver import Behaviour, Receiver
from cardoffers_cli.kernel.store.signing_secrets import read_secrets
from commands import cardoffers as process
from commands import command
from outbox import events, goes_to, redemption
from post import real_clock
from sizes import at_the_gate, one_in, slow
from strangers import STRANGERS, listening
from work import found, new_store, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

URL = "https://hooks.alder.example/redemptions"
INSECURE = {"CARDOFFERS_ALLOW_INSECURE_WEBHOOKS": "1", "CARDOFFERS_WEBHOOK_DEADLINE_S": "2"}
AT = ("--as-of", "2026-06-02")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver(clock=real_clock) as made:
        yield made


@pytest.fixture
def webhook(cardoffers: Any, tmp_path: Path) -> Any:
    """Run a webhook command on the store of the test; it may send to this machine."""

    def run(*words: object, **environment: str) -> Any:
        store = ("--store", tmp_path / "store.duckdb", *AT)
        return cardoffers("webhook", *words, *store, **{**INSECURE, **environment})

    return run


def secrets(made: Job) -> list[str]:
    """Return the secrets that the store names, each of which must be beside it, and no other."""
    texts = read_secrets(made.path)
    named = found(made, "select secret_sha256 from webhook_secrets order by secret_no")
    assert {name for (name,) in named} == texts.keys()
    return [texts[name] for (name,) in named]


# Setting one


def test_the_secret_is_shown_when_it_is_made_and_never_again(webhook: Any, tmp_path: Path) -> None:
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder")
    first = webhook("set", "-i", "alder", "--url", URL, "--format", "json")
    assert URL == first.document["webhook_url"]
    assert [first.document["signing_secret"]] == secrets(made)
    assert "shown this once" in first.stderr
    again = webhook("set", "-i", "alder", "--url", f"{URL}/2", "--format", "json")
    assert "signing_secret" not in again.document
    assert f"{URL}/2" == again.document["webhook_url"]
    assert 1 == len(secrets(made))


# What is typed and what is answered -> what becomes of the three events from before.
PAST = [
    ("", b"y\n", "all", 3),
    ("", b"n\n", "now", 0),
    ("", b"\n", "now", 0),
    ("--from all", b"", "all", 3),
    ("--from now", b"", "now", 0),
]


@slow
@pytest.mark.parametrize("case", PAST)
@one_in(2)
def test_who_sets_a_first_webhook_is_asked_about_events_from_before(
    tmp_path: Path, webhook: Any, case: tuple[str, bytes, str, int]
) -> None:
    words, answer, said, sent = case
    made = events(tmp_path, 3)
    at = ("--store", made.path, *AT, "--format", "json")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command("webhook", "set", "-i", "alder", "--url", URL, *words.split(), *at),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as asked:
        os.close(theirs)
        os.write(ours, answer)
        shown, notes = asked.communicate()
    os.close(ours)
    assert 0 == asked.returncode
    told = json.loads(shown)
    assert (3, said) == (told["past_events"], told["from"])
    question = b"3 events from before wait for this webhook. Send them too? [y/N]"
    assert (not words) == (question in notes)
    assert sent == webhook("send", "--dry-run", "--format", "json").document["attempted"]


def test_without_a_terminal_events_from_before_are_held_back_and_that_is_said(
    tmp_path: Path, webhook: Any
) -> None:
    events(tmp_path, 3)
    told = webhook("set", "-i", "alder", "--url", URL, "--format", "json")
    assert "Events from before: 3; held back until --from all." in told.stderr
    assert "now" == told.document["from"]
    assert 0 == webhook("send", "--dry-run", "--format", "json").document["attempted"]
    again = webhook("set", "-i", "alder", "--url", URL, "--from", "all")
    assert "Events from before: 3; `cardoffers webhook send` sends them." in again.stderr
    assert 3 == webhook("send", "--dry-run", "--format", "json").document["attempted"]


def test_a_secret_goes_to_a_new_file_of_its_owner(webhook: Any, tmp_path: Path) -> None:
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder")
    file = tmp_path / "secret"
    words = ("-i", "alder", "--secret-file", file, "--format", "json")
    told = webhook("set", "--url", URL, *words)
    assert "signing_secret" not in told.document
    assert [file.read_text().strip()] == secrets(made)
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)
    refused = webhook("rotate-secret", *words)
    assert (4, "file_exists") == (refused.exit_code, refused.error["code"])
    assert [file.read_text().strip()] == secrets(made)


def test_a_secret_that_cannot_be_kept_is_not_made(webhook: Any, tmp_path: Path) -> None:
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder")
    words = ("-i", "alder", "--url", URL, "--secret-file", tmp_path / "nowhere" / "secret")
    refused = webhook("set", *words, "--format", "json")
    assert (2, "folder_missing") == (refused.exit_code, refused.error["code"])
    assert [] == secrets(made)
    assert [(None,)] == found(made, "select webhook_url from institutions")


def test_a_secret_is_long_and_of_the_form_that_scanners_know(webhook: Any, tmp_path: Path) -> None:
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder")
    webhook("set", "-i", "alder", "--url", URL)
    webhook("rotate-secret", "-i", "alder", "--activate-at", "2026-07-01")
    for secret in secrets(made):
        assert secret.startswith("whsec_")
        assert 43 == len(secret.removeprefix("whsec_"))
        assert secret.removeprefix("whsec_").isalnum()
    assert 2 == len(set(secrets(made)))


@pytest.mark.parametrize("url", ["http://hooks.example/", "https://10.0.0.1/", "https://localhost"])
@one_in(3)
def test_insecure_urls_are_for_who_allows_them_and_that_is_said(
    webhook: Any, tmp_path: Path, url: str
) -> None:
    tell(new_store(tmp_path), institutions="institution\nalder")
    strict = {"CARDOFFERS_ALLOW_INSECURE_WEBHOOKS": "0"}
    assert 2 == webhook("set", "-i", "alder", "--url", url, **strict).exit_code
    for _ in range(2):
        allowed = webhook("set", "-i", "alder", "--url", url)
        assert 0 == allowed.exit_code
        assert "for development only" in allowed.stderr


@slow
def test_what_writes_can_be_tried_dry(webhook: Any, tmp_path: Path) -> None:
    made = events(tmp_path)
    assert webhook(
        "set", "-i", "alder", "--url", URL, "--dry-run", "--format", "json"
    ).document == {
        "webhook_url": URL,
        "events": ["completed"],
        "changed": True,
        "past_events": 1,
        "from": "now",
        "dry_run": True,
    }
    assert [] == secrets(made)
    goes_to(made, URL)
    rotated = webhook("rotate-secret", "-i", "alder", "--dry-run", "--format", "json").document
    assert (True, 1) == (rotated["dry_run"], len(secrets(made)))
    assert "signing_secret" not in rotated


@pytest.mark.parametrize(
    ("exit_code", "words"),
    [
        (5, ("set", "-i", "nobody", "--url", URL)),
        (4, ("rotate-secret", "-i", "alder")),
        (2, ("retry",)),
        (5, ("retry", "00000000-0000-4000-8000-000000000000")),
        (5, ("show", "no-id")),
        (5, ("resend", "no-id")),
        (2, ("list", "--state", "lost")),
    ],
)
def test_refusals(webhook: Any, tmp_path: Path, exit_code: int, words: tuple[str, ...]) -> None:
    tell(new_store(tmp_path), institutions="institution\nalder")
    assert exit_code == webhook(*words).exit_code


# Sending


@slow
def test_a_run_that_delivers_everything(webhook: Any, tmp_path: Path, receiver: Receiver) -> None:
    made = events(tmp_path, 2)
    goes_to(made, receiver.url)
    ended = webhook("send", "--format", "json")
    assert 0 == ended.exit_code
    told = ended.document
    assert len(told.pop("run_id")) == 36
    assert {
        "attempted": 2,
        "delivered": 2,
        "failed": 0,
        "exhausted": 0,
        "unknown": 0,
        "still_due": 0,
        "next_attempt_at": None,
        "held": [],
        "dry_run": False,
    } == told


@slow
def test_a_failure_is_seen_in_every_place(webhook: Any, tmp_path: Path) -> None:
    made = events(tmp_path)
    id_ = redemption(made)
    behaviour = Behaviour(status=503, fail=2)
    with Receiver(clock=real_clock, behaviour=behaviour) as receiver:
        goes_to(made, receiver.url)
        ended = webhook("send", "--format", "json")
        assert (3, 1, 1) == (ended.exit_code, ended.document["failed"], ended.document["still_due"])
        (row,) = webhook("list", "--state", "failed", "--format", "json").document
        assert (id_, "failed", 1, 503) == tuple(
            row[name] for name in ("redemption_id", "state", "attempts", "last_http_status")
        )
        assert ended.document["next_attempt_at"] == row["next_attempt_at"]
        assert 3 == webhook("resend", id_, "--format", "json").exit_code
        again = webhook("resend", id_, "--format", "json")
        assert (0, "delivered") == (again.exit_code, again.document["state"])
    shown = webhook("show", id_, "--format", "json").document
    names = ("number", "http_status", "error", "manual")
    assert [
        [1, 503, "http_error", False],
        [2, 503, "http_error", True],
        [3, 200, None, True],
    ] == [[attempt[name] for name in names] for attempt in shown["log"]]
    assert {"started_at", "duration_ms"} < set(shown["log"][0])
    assert [] == webhook("list", "--state", "failed", "--format", "json").document


@slow
def test_events_are_found_by_what_is_known_of_them(webhook: Any, tmp_path: Path) -> None:
    events(tmp_path, 2, ["alder", "brook"])
    for expected, words in (
        (4, ()),
        (2, ("-i", "brook")),
        (4, ("--offer", "A")),
        (0, ("--offer", "B")),
        (4, ("--state", "due")),
        (0, ("--state", "delivered")),
        (4, ("--from", "2026-06-01T12:00:00Z")),
        (0, ("--to", "2026-06-01T12:00:00Z")),
        (3, ("--limit", "3")),
        (4, ("--limit", "3", "--all")),
    ):
        assert expected == len(webhook("list", *words, "--format", "json").document), words


def test_the_table_says_what_to_do_next(webhook: Any, tmp_path: Path) -> None:
    events(tmp_path, 2)
    shown = webhook("send", "--format", "table").stdout
    assert "cardoffers webhook set -i alder --url URL" in shown


@at_the_gate
def test_no_stranger_is_more_than_one_attempt(webhook: Any, tmp_path: Path) -> None:
    # One run for all of them: they are sent to at once, so it takes one deadline.
    names = [f"stranger-{number}" for number in range(len(STRANGERS))]
    made = events(tmp_path, 1, names)
    with listening(*(behave for behave, *_ in STRANGERS.values())) as ports:
        for name, port in zip(names, ports, strict=True):
            goes_to(made, f"http://127.0.0.1:{port}/", name)
        webhook("send")
    rows = found(
        made,
        "select slug, http_status, error from attempts join institutions using (institution_id)",
    )
    assert len(STRANGERS) == len(rows)
    told = {slug: (status, error) for slug, status, error in rows}
    expected = {what: (status, error) for what, (_, status, error) in STRANGERS.items()}
    assert expected == {what: told[name] for name, what in zip(names, STRANGERS, strict=True)}


@slow
def test_no_receiver_at_all(webhook: Any, tmp_path: Path) -> None:
    made = events(tmp_path)
    with listening(STRANGERS["silent"][0]) as (port,):
        goes_to(made, f"http://127.0.0.1:{port}/")
    webhook("send")
    assert [(None, "connection_refused")] == found(made, "select http_status, error from attempts")


@slow
def test_an_address_that_was_allowed_once_is_refused_later(
    webhook: Any, tmp_path: Path, receiver: Receiver
) -> None:
    made = events(tmp_path)
    goes_to(made, receiver.url.replace("http:", "https:"))
    webhook("send", CARDOFFERS_ALLOW_INSECURE_WEBHOOKS="0")
    assert [("address_refused",)] == found(made, "select error from attempts")
    assert [] == receiver.received


# Interruptions


@slow
@pytest.mark.parametrize(
    ("how", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "terminate"]
)
@one_in(2)
def test_asked_to_stop_it_finishes_what_is_in_flight(
    tmp_path: Path, how: signal.Signals, exit_code: int
) -> None:
    made = events(tmp_path, 30)
    sender: list[subprocess.Popen[str]] = []

    def interrupt(_: object) -> None:
        if sender:
            sender.pop().send_signal(how)

    slow = Behaviour(delay_s=1)
    with Receiver(clock=real_clock, behaviour=slow, on_received=interrupt) as receiver:
        goes_to(made, receiver.url)
        words = command("webhook", "send", "--store", made.path, *AT)
        environment = {**os.environ, **INSECURE, "CARDOFFERS_WEBHOOK_DEADLINE_S": "15"}
        with subprocess.Popen(
            words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as run:
            sender.append(run)
            _, told = run.communicate(timeout=60)
    assert exit_code == run.returncode, told
    assert "Finishing what is in flight" in told
    delivered = len(receiver.received)
    assert 1 <= delivered < 30
    assert [(delivered, 30 - delivered, 0)] == found(
        made,
        "select count(*) filter (state = 'delivered'), count(*) filter (state = 'due'),"
        " count(claimed_at) from outbox",
    )


@slow
def test_a_second_sender_is_told_who_sends(tmp_path: Path) -> None:
    made = events(tmp_path)
    words = ("webhook", "send", "--store", made.path, *AT)
    environment = {**os.environ, **INSECURE}
    with listening(STRANGERS["silent"][0]) as (port,):
        goes_to(made, f"http://127.0.0.1:{port}/")
        with subprocess.Popen(command(*words), env=environment, stdout=subprocess.DEVNULL) as first:
            until_claimed(made)
            first.send_signal(signal.SIGSTOP)  # so that it is still sending, however late it gets
            second = process(*words, "--format", "json", env=environment, exit_code=11)
            first.send_signal(signal.SIGCONT)
    assert "sender_busy" == second.error["code"]
    assert str(first.pid) in second.error["message"]


def until_claimed(made: Job) -> None:
    while not found(made, "select 1 from outbox where claimed_at is not null"):
        time.sleep(0.1)
