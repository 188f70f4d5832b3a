"""Commands that are told something: what they are given, how they end, and what ends with them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from cardoffers_cli.events.receiver import CommandOutcome, run_command

SOON_S = 5


def run(
    script: str, told: bytes = b"", deadline_s: float = SOON_S, **variables: str
) -> CommandOutcome:
    words = ["/bin/sh", "-c", script]
    return run_command(words, told, deadline_s=deadline_s, variables=variables)


def test_it_is_told_on_its_input(tmp_path: Path) -> None:
    large = os.urandom(1 << 20)
    assert run(f"cat > {tmp_path}/told", large).error is None
    assert large == (tmp_path / "told").read_bytes()


@pytest.mark.parametrize(
    ("error", "output", "script"),
    [
        (None, "yes\n", "echo yes"),
        (None, "a\nb\n", "echo a; echo b >&2"),
        (None, "", "exec >&- 2>&-; sleep 0.1"),
        ("it ended with exit code 7", "no\n", "echo no; exit 7"),
        ("it was killed by signal 15", "", "kill $$"),
        ("it did not end within 0.3 s", "x\n", "echo x; exec sleep 60"),
        ("it did not end within 0.3 s", "", "exec >&- 2>&-; exec sleep 60"),
        ("it did not end within 0.3 s", "", "trap '' TERM; sleep 60 & wait"),
    ],
)
def test_it_ends_as_it_does_and_in_time(error: str | None, output: str, script: str) -> None:
    began = time.monotonic()
    ended = run(script, deadline_s=0.3 if error and "within" in error else SOON_S)
    assert (error, output) == (ended.error, ended.output)
    assert time.monotonic() - began < SOON_S


@pytest.mark.parametrize(
    "words", [["/no/such"], ["/dev/null"], ["/etc/"]], ids=["missing", "device", "folder"]
)
def test_what_cannot_be_started_says_so(words: list[str]) -> None:
    ended = run_command(words, b"", deadline_s=1, variables={})
    assert (ended.error or "").startswith("it cannot be started: ")


def test_the_beginning_of_endless_output_is_kept() -> None:
    ended = run("yes", deadline_s=0.3)
    assert ("y\n" * 2048, "it did not end within 0.3 s") == (ended.output, ended.error)


@pytest.mark.parametrize("script", ["SLEEP & echo $!; wait", "SLEEP & echo $!"])
def test_what_it_started_ends_with_it(script: str) -> None:
    """Also what was left running, and still has the output open."""
    began = time.monotonic()
    ended = run(script.replace("SLEEP", "sleep 60"), deadline_s=0.5)
    assert time.monotonic() - began < SOON_S
    for _ in range(100):
        if not is_running(int(ended.output)):
            return
        time.sleep(0.05)
    pytest.fail("it still runs")


def is_running(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def test_no_secret_is_in_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CARDOFFERS_KEY", "CARDOFFERS_WEBHOOK_SECRET", "AWS_SECRET_ACCESS_KEY", "PGPASS"):
        monkeypatch.setenv(name, "a-secret")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    lines = run("env", CARDOFFERS_EVENT="on_start").output.splitlines()
    said = dict(line.split("=", 1) for line in lines)
    assert ("C.UTF-8", os.environ["PATH"], "on_start") == (
        said["LC_ALL"],
        said["PATH"],
        said["CARDOFFERS_EVENT"],
    )
    assert "a-secret" not in said.values()
