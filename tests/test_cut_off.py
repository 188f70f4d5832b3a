"""A sender killed between an answer and its record: nothing is lost, and the store knows."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import Counter
from typing import TYPE_CHECKING

from cardoffers_cli.events.receiver import Received, Receiver
from commands import cardoffers, command
from outbox import events, goes_to
from post import real_clock
from sizes import FULL, slow, tries
from work import found

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 200 if FULL else tries(3, 12)
PER_KILL = 3
"""Events that a run has sent when it is killed; two of them were answered at least."""


class Killer:
    """Kills the running sender when it has sent enough; keeps which run sent what."""

    def __init__(self) -> None:
        self.copies: list[tuple[int, bytes]] = []
        self.run_no = 0
        self._left = 0
        self._sender: subprocess.Popen[bytes] | None = None

    def run(self, words: tuple[object, ...], environment: dict[str, str]) -> None:
        """Run a command until it has sent enough, and kill it."""
        self.run_no += 1
        self._left = PER_KILL
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command(*words), env=environment, **silent) as sender:
            self._sender = sender
        assert -signal.SIGKILL == sender.returncode

    def note(self, received: Received) -> None:
        self.copies.append((self.run_no, received.body))
        self._left -= 1
        if self._left == 0 and self._sender:
            self._sender.send_signal(signal.SIGKILL)


@slow
def test_a_sender_killed_before_it_records_loses_nothing(tmp_path: Path) -> None:
    made = events(tmp_path, KILLS + 20)
    words = ("webhook", "send", "--store", made.path, "--as-of", "2026-06-02")
    environment = {**os.environ, "CARDOFFERS_ALLOW_INSECURE_WEBHOOKS": "1"}
    killer = Killer()
    with Receiver(clock=real_clock, on_received=killer.note) as receiver:
        goes_to(made, receiver.url)
        for _ in range(KILLS):
            killer.run(words, environment)
        killer.run_no += 1
        last = cardoffers(*words, "--format", "json", env=environment).document
    assert 0 == last["still_due"]
    arrived = Counter(body for _, body in killer.copies)
    assert {body.encode() for (body,) in found(made, "select body from outbox")} == set(arrived)
    assert 1 == max(Counter(killer.copies).values()), "more than one copy for a kill"
    attempts = "select coalesce(error, 'delivered'), count(*) from attempts group by all"
    told = dict(found(made, attempts))
    assert len(arrived) == told["delivered"]
    assert arrived.total() <= told["delivered"] + told["unknown"]
