"""Every stranger of `strangers.py`: in time, in little memory, with the right word.

The sender runs in a process of its own, so that the memory is its own; it goes from one to the
next, and tells of each.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from sizes import slow
from strangers import ENDLESS, STRANGERS, listening

DEADLINE_S = 1.0
MEMORY = 32 * 1024 * 1024

SENDER = """
import json, resource, sys, time
from datetime import UTC, datetime
from cardoffers_cli.kernel.net.sender import AttemptLimits, Delivery, send_all

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

def attempt(port):
    delivery = Delivery(
        number=port,
        url=f"http://127.0.0.1:{port}/",
        body=b"x" * 400,
        sign=lambda now_s: {"x-now": str(now_s)},
        lane="one",
    )
    outcomes = []
    send_all(
        [[delivery]],
        AttemptLimits(deadline_s=float(sys.argv[1]), allow_insecure=True),
        clock=lambda: datetime.now(UTC).replace(tzinfo=None),
        on_outcome=outcomes.append,
    )
    (outcome,) = outcomes
    return outcome

attempt(1)  # what the first one loads belongs to nobody
before = peak()
for port in sys.argv[2:]:
    begun = time.monotonic()
    outcome = attempt(int(port))
    print(json.dumps({
        "status": outcome.http_status,
        "error": outcome.error,
        "duration_ms": outcome.duration_ms,
        "seconds": time.monotonic() - begun,
        "memory": peak() - before,
    }))
"""


@pytest.fixture(scope="module")
def attempts() -> dict[str, Any]:
    with listening(*(behave for behave, _, _ in STRANGERS.values())) as ports:
        words = [sys.executable, "-W", "error", "-c", SENDER, str(DEADLINE_S), *map(str, ports)]
        ended = subprocess.run(words, check=False, capture_output=True, text=True)
    assert (0, "") == (ended.returncode, ended.stderr)
    return dict(zip(STRANGERS, map(json.loads, ended.stdout.splitlines()), strict=True))


@slow
@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_costs_little_and_is_told_by_its_word(
    stranger: str, attempts: dict[str, Any]
) -> None:
    _, status, error = STRANGERS[stranger]
    attempt = attempts[stranger]
    assert (status, error) == (attempt["status"], attempt["error"])
    assert attempt["seconds"] < DEADLINE_S + 1
    assert attempt["memory"] < MEMORY
    takes_all = error == "timeout" or stranger in ENDLESS
    assert (attempt["duration_ms"] >= DEADLINE_S * 1000) == takes_all
