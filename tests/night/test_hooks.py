"""Hooks: who is told what of a nightly run, and that nothing of the run depends on it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.events.receiver import Behaviour, Receiver
from cardoffers_cli.kernel.net import transport
from cardoffers_cli.kernel.net.transport import ERRORS
from cardoffers_cli.kernel.words.errors import ConfigurationError, NotFound
from cardoffers_cli.night.hooks import Hook, HookOutcome, Notice, hooks_of, tell
from cardoffers_cli.night.options import NightObserver, NightOptions
from cardoffers_cli.night.run import rehearse, resume_night, run_night
from nights import CONTENT
from post import real_clock
from sizes import at_the_gate, slow
from strangers import STRANGERS, listening, says, status
from tables import NOON, select
from work import found, job, once, settings, with_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.night.options import NightResult

HEADER = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at\n"
GOOD = f"{HEADER}c0,card-1,M0,20.00,r1,2026-05-30T12:00:00Z\n"
BAD = f"{GOOD}c1,card-2,M0,-1,r2,2026-05-30T12:00:00Z\n"
PUBLIC = "https://hc-ping.com/0a1b-secret"


class Heard(NightObserver):
    """Keeps what came of hooks."""

    def __init__(self) -> None:
        self.outcomes: list[HookOutcome] = []

    def told(self, outcome: HookOutcome) -> None:
        self.outcomes.append(outcome)


@once
def store_and_drop(folder: Path) -> Job:
    """Make a store that has no webhook to send, and a drop folder."""
    made = with_catalogue(folder)
    (folder / "drop" / "alder").mkdir(parents=True)
    return made


@contextmanager
def pinged(behaviour: Behaviour | None = None) -> Iterator[Receiver]:
    with Receiver(clock=real_clock, behaviour=behaviour) as receiver:
        yield receiver


def drop(made: Job, text: str, name: str = "a.csv") -> None:
    alder = made.path.parent / "drop" / "alder"
    (alder / name).write_text(text)
    (alder / f"{name}.done").touch()


def hooked(made: Job, **hooks: Any) -> Job:
    more = {f"hooks_{name}": value for name, value in hooks.items()}
    return replace(
        made, settings=settings(allow_insecure_webhooks=True, webhook_deadline_s=1, **more)
    )


def run(made: Job, onlooker: NightObserver | None = None) -> NightResult:
    return run_night(made, NightOptions(drop=made.path.parent / "drop"), onlooker)


def notice(**changes: Any) -> Notice:
    told = {"event": "on_start", "run_id": "r-1", "night": "2026-06-01", "as_of": NOON}
    told |= {"status": "running", "exit_code": None, "error": None}
    told |= {"files": 0, "failed_files": 0, "findings": {}}
    return Notice(**{**told, **changes})


# What is told of a run, from its beginning to its end


@slow
def test_a_night_tells_of_its_beginning_and_its_end(tmp_path: Path) -> None:
    """A ping service hears a small notice; a command has the result; one that fails is said."""
    made = store_and_drop(tmp_path)
    drop(made, BAD)
    script = f"cat > {tmp_path}/$CARDOFFERS_EVENT.json; echo $CARDOFFERS_RUN_ID; exit 9"
    heard = Heard()
    with pinged() as receiver:
        hooks = {"ping": f"{receiver.url}ping/abc/", "on_findings": f"{receiver.url}findings?x=1"}
        result = run(hooked(made, **hooks, on_success=f"/bin/sh -c '{script}'"), heard)
    begun, findings, ended = receiver.received
    assert ["/ping/abc/start", "/findings", "/ping/abc"] == [
        each.path for each in (begun, findings, ended)
    ]
    assert {"event": "on_start", "run_id": str(result.run_id), "status": "running"}.items() <= (
        json.loads(begun.body).items()
    )
    assert {
        "event": "on_success",
        "run_id": str(result.run_id),
        "night": "2026-06-01",
        "as_of": "2026-06-01T12:00:00.000Z",
        "status": "finished",
        "exit_code": 3,
        "error": None,
        "files": 1,
        "failed_files": 0,
        "findings": {"rows_rejected": 1, "webhooks_held": 1, "copy_missing": 1},
    } == json.loads(ended.body)
    assert b"alder" not in b"".join(each.body for each in receiver.received)
    kept = json.loads((tmp_path / "runs" / str(result.run_id) / "result.json").read_bytes())
    told = json.loads((tmp_path / "on_success.json").read_bytes())
    assert {name: value for name, value in kept.items() if name != "hooks"} == told
    assert [
        ("on_start", "told", None),
        ("on_findings", "told", None),
        ("on_success", "failed", f"{result.run_id}\n"),
        ("on_success", "told", None),
    ] == [(each["event"], each["status"], each.get("output")) for each in kept["hooks"]]
    assert heard.outcomes == result.hooks


@at_the_gate
def test_a_quiet_night_has_no_findings_to_tell_and_one_that_was_is_a_success(
    tmp_path: Path,
) -> None:
    made = store_and_drop(tmp_path)
    drop(made, GOOD)
    with pinged() as receiver:
        asked = hooked(made, on_findings=receiver.url + "findings", on_success=receiver.url + "ok")
        results = [run(asked), run(asked)]
    assert ["finished", "nothing_new"] == [each.status for each in results]
    assert ["/ok", "/ok"] == [each.path for each in receiver.received]
    kept = tmp_path / "runs" / str(results[0].run_id) / "result.json"
    assert "finished" == json.loads(kept.read_bytes())["status"]


class Breaking(Heard):
    def begins(self, step: str, position: int, of: int) -> None:  # noqa: ARG002
        if step == "settle":
            raise OSError(28, "No space left on device")

    def ending(self, error: BaseException) -> tuple[int, str]:
        return 16, f"no_space {type(error).__name__}"


@at_the_gate
def test_a_failure_is_told_and_who_goes_on_tells_of_the_same_run(tmp_path: Path) -> None:
    made = store_and_drop(tmp_path)
    with pinged() as receiver:
        asked = hooked(made, ping=receiver.url + "abc")
        with pytest.raises(OSError, match="No space"):
            run(asked, Breaking())
        resume_night(asked, None)
    assert ["/abc/start", "/abc/fail", "/abc/start", "/abc"] == [
        each.path for each in receiver.received
    ]
    said = [json.loads(each.body) for each in receiver.received]
    assert 1 == len({each["run_id"] for each in said})
    assert (16, "no_space OSError", "failed") == tuple(
        said[1][name] for name in ("exit_code", "error", "status")
    )


def test_a_run_that_could_not_begin_is_told_without_its_id(tmp_path: Path) -> None:
    made = store_and_drop(tmp_path)
    (tmp_path / "drop" / "alder").rmdir()
    (tmp_path / "drop").rmdir()
    with pinged() as receiver:
        with pytest.raises(NotFound):
            run(hooked(made, ping=receiver.url + "abc"))
        (only,) = receiver.received
    assert ("/abc/fail", None) == (only.path, json.loads(only.body)["run_id"])


def test_nobody_is_told_that_there_is_nothing_to_go_on_with(tmp_path: Path) -> None:
    made = store_and_drop(tmp_path)
    with pinged() as receiver, pytest.raises(NotFound):
        resume_night(hooked(made, ping=receiver.url + "abc"), None)
    assert [] == receiver.received


# Nothing of the run depends on it


@at_the_gate
def test_hooks_that_fail_change_nothing_and_are_said(tmp_path: Path) -> None:
    made = store_and_drop(tmp_path / "one")
    other = store_and_drop(tmp_path / "two")
    heard = Heard()
    with pinged(Behaviour(status=500)) as receiver:
        asked = hooked(made, ping=receiver.url, on_success="/bin/sh -c 'echo because >&2; exit 1'")
        results = []
        for each in (asked, other):
            drop(each, BAD)
            results.append(run(each, heard))
    assert [
        ("on_start", "http_error 500 (any other status than 2xx)", None),
        ("on_success", "it ended with exit code 1", "because\n"),
        ("on_success", "http_error 500 (any other status than 2xx)", None),
    ] == [(each.event, each.error, each.output) for each in heard.outcomes]
    assert heard.outcomes == results[0].hooks
    assert results[1].hooks is None
    assert "hooks" not in results[1]
    assert books(made) == books(other)
    codes = [[found.code for found in each.findings] for each in results]
    assert codes[0] == codes[1]


def books(made: Job) -> list[Any]:
    with made.store(read_only=True) as store:
        return [select(store, sql) for sql in CONTENT if "outbox" not in sql]


@slow
def test_every_stranger_costs_a_deadline_and_is_told_by_its_word() -> None:
    chosen = settings(allow_insecure_webhooks=True, webhook_deadline_s=1)
    with listening(*(behave for behave, _, _ in STRANGERS.values())) as ports:
        hooks = [Hook(event="on_start", url=f"http://127.0.0.1:{port}/") for port in ports]
        with ThreadPoolExecutor(len(hooks)) as pool:
            outcomes = [*pool.map(lambda hook: tell(hook, notice(), None, chosen), hooks)]
    for outcome, (_, code, error) in zip(outcomes, STRANGERS.values(), strict=True):
        words = f"{error} {code or ''}".strip()
        assert (error and f"{words} ({ERRORS[error]})") == outcome.error
        assert outcome.seconds < 8  # all of them at once, on a machine that has others to serve


@pytest.mark.parametrize(
    ("error", "behave", "scheme"),
    [
        ("redirect 302", status(302, "Location: http://169.254.169.254/latest"), "http"),
        ("redirect 307", status(307, "Location: http://10.0.0.1/"), "http"),
        ("timeout", says(b"", pause_s=60), "https"),
    ],
    ids=["to a metadata service", "to a private address", "slow TLS"],
)
def test_no_stranger_leads_elsewhere(error: str, behave: Any, scheme: str) -> None:
    chosen = settings(allow_insecure_webhooks=True, webhook_deadline_s=1)
    with listening(behave) as (port,):
        hook = Hook(event="on_start", url=f"{scheme}://127.0.0.1:{port}/")
        assert (tell(hook, notice(), None, chosen).error or "").startswith(f"{error} (")


def test_a_name_that_leads_inside_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who configures a name does not know what it resolves to when the run ends."""
    hook = Hook(event="on_start", url="https://hooks.example.com/")
    with monkeypatch.context() as changed:
        changed.setattr(
            transport.socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("10.0.0.1", 0))]
        )
        outcome = tell(hook, notice(), None, settings())
    assert "address_refused (the URL or what its name resolves to is not public)" == outcome.error


# What is configured


@pytest.mark.parametrize(
    ("to", "hooks"),
    [
        ([], {}),
        (["curl"], {"on_start": "curl -fsS https://x.example/?token=secret"}),
        (["/bin/sh"], {"on_failure": ("/bin/sh", "-c", "echo a b")}),
        (["https://hooks.example.com/…"], {"on_success": "HTTPS://hooks.example.com/secret"}),
        (["https://hc-ping.com/…"] * 3, {"ping": PUBLIC}),
    ],
)
def test_who_is_told_is_shown_without_secrets(to: list[str], hooks: dict[str, Any]) -> None:
    chosen = settings(**{f"hooks_{name}": value for name, value in hooks.items()})
    made = hooks_of(chosen)
    assert to == [hook.to for hook in made]
    assert "secret" not in f"{made} {chosen!r}"


@pytest.mark.parametrize(
    ("says", "hooks"),
    [
        (
            "on_start cannot be told: there is no command 'no-such-command'",
            {"on_start": "no-such-command x"},
        ),
        ("on_start cannot be told: there is no command ''", {"on_start": ""}),
        ("on_failure cannot be told: its quotes do not match", {"on_failure": "echo 'a"}),
        (
            "on_success cannot be told: its URL does not begin with https",
            {"on_success": "http://a.example.com"},
        ),
        (
            "ping cannot be told: its host 10.0.0.1 is not public",
            {"ping": "https://10.0.0.1/secret"},
        ),
        ("ping cannot be told: its URL is not well-formed", {"ping": "hc-ping.com"}),
        (
            "ping cannot be told: its URL holds a user name",
            {"ping": "https://me:secret@example.com"},
        ),
    ],
)
def test_a_hook_that_cannot_be_told_is_found_before_anything_begins(
    tmp_path: Path, says: str, hooks: dict[str, str]
) -> None:
    made = store_and_drop(tmp_path)
    chosen = settings(**{f"hooks_{name}": each for name, each in hooks.items()})
    wrong = replace(made, settings=chosen)
    for begin in (run, lambda each: rehearse(each, NightOptions(drop=tmp_path / "drop"))):
        with pytest.raises(ConfigurationError) as caught:
            begin(wrong)
        assert says in caught.value.message
        assert "hook_unusable" == caught.value.code
        assert "secret" not in str(caught.value)
    assert [] == found(job(made.path), "from nights")


@slow
def test_a_rehearsal_says_who_would_be_told_and_tells_nobody(tmp_path: Path) -> None:
    made = store_and_drop(tmp_path)
    with pinged() as receiver:
        asked = hooked(made, ping=receiver.url, on_findings=f"/bin/touch {tmp_path}/told")
        result = rehearse(asked, NightOptions(drop=tmp_path / "drop"))
    assert [
        ("on_findings", "/bin/touch", "would_be_told"),
        ("on_start", "http://127.0.0.1/…", "would_be_told"),
        ("on_success", "http://127.0.0.1/…", "would_be_told"),
        ("on_failure", "http://127.0.0.1/…", "would_be_told"),
    ] == [(each.event, each.to, each.status) for each in result.hooks or ()]
    assert [] == receiver.received
    assert not (tmp_path / "told").exists()
