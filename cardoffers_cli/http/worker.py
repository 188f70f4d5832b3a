"""The one thread that has the store, and the queue before it.

It takes every call that waits and answers them in one opening of the store, so the more calls come
the fewer openings each of them costs. While somebody else holds the store the calls stay in their
order; a call that only reads is answered from the snapshot soon, and each has a deadline.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

from cardoffers_cli.contract.problems import busy, internal
from cardoffers_cli.domain.errors import StoreBusy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cardoffers_cli.contract.messages import Answer, Call
    from cardoffers_cli.contract.service import Service
    from cardoffers_cli.http.limits import Limits

_LOCK_WAIT_S = 0.25
"""How long the thread waits for the store before it looks after those who wait for the thread; the
lock spreads these waits, so that several servers do not march."""
_GATHER_S = 0.05
"""How long as many calls as were answered together last are waited for: their senders are likely to
have more, and each opening of the store costs more than this."""
_READ_WAIT_S = 1.0
"""How long a call that only reads waits for the store itself, before the snapshot will do."""


@dataclass(frozen=True, eq=False)
class Waiting:
    """A call in the queue and the promise of its answer; moments are of the monotonic clock."""

    call: Call
    may_be_old_at: float
    """From when on an answer from the snapshot will do."""
    deadline: float
    promise: Future[Answer] = field(default_factory=Future)

    def give(self, answer: Answer) -> None:
        """Keep the promise, if anybody still holds on to it."""
        if self.promise.set_running_or_notify_cancel():
            self.promise.set_result(answer)


class Worker:
    """Answers calls in a thread of its own, from `start` to `stop`."""

    def __init__(
        self,
        service: Service,
        limits: Limits,
        *,
        wait_s: float,
        on_fault: Callable[[str, BaseException], None],
    ) -> None:
        self._service = service
        self._limits = limits
        self._wait_s = wait_s
        self._on_fault = on_fault
        self._queue: deque[Waiting] = deque()
        self._latest = 0
        self._changed = threading.Condition()
        self._is_stopping = False
        # A statement of the engine cannot be hurried: the process may end without it, and what it
        # did not commit is not acknowledged.
        self._thread = threading.Thread(target=self._work, name="store", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self, within_s: float) -> None:
        """Answer what was taken in, and end; after `within_s` seconds nobody waits for it."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify()
        self._thread.join(within_s)

    def put(self, call: Call, *, may_be_old: bool) -> Future[Answer]:
        """Take a call in and promise its answer; raises `Problem` where too many wait."""
        now = time.monotonic()
        deadline = now + self._wait_s
        soon = now + _READ_WAIT_S if may_be_old else deadline
        waiting = Waiting(call, min(soon, deadline), deadline)
        with self._changed:
            if len(self._queue) >= self._limits.waiting_calls:
                raise busy()
            self._queue.append(waiting)
            self._changed.notify()
        return waiting.promise

    def _work(self) -> None:
        while batch := self._taken():
            try:
                answers = self._service.answer_all(_calls(batch), wait_s=_LOCK_WAIT_S)
            except StoreBusy:
                self._put_back(batch)
                self._answer_late()
            except Exception as fault:  # noqa: BLE001  the thread lives as long as the server
                self._fail(batch, fault)
            else:
                _give(batch, answers)

    def _taken(self) -> list[Waiting]:
        """Take what waits, the oldest first, up to a batch; nothing when the work is at its end."""
        batch: list[Waiting] = []
        room = self._limits.batch_bytes
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._is_stopping)
            self._changed.wait_for(lambda: len(self._queue) >= self._latest, _GATHER_S)
            while self._queue and len(batch) < self._limits.batch_calls:
                room -= len(self._queue[0].call.body)
                if batch and room < 0:
                    break
                batch.append(self._queue.popleft())
        self._latest = len(batch)
        return batch

    def _put_back(self, batch: Sequence[Waiting]) -> None:
        with self._changed:
            self._queue.extendleft(reversed(batch))

    def _answer_late(self) -> None:
        """Answer without the store who has waited long enough.

        Where no snapshot will do for a call that only reads, it waits on until its deadline.
        """
        now = time.monotonic()
        with self._changed:
            late = [each for each in self._queue if each.may_be_old_at <= now]
        try:
            answers = self._service.answer_busy(_calls(late)) if late else []
        except Exception as fault:  # noqa: BLE001  as above
            self._remove(late)
            self._fail(late, fault)
            return
        final = [
            (each, answer)
            for each, answer in zip(late, answers, strict=True)
            if answer.status != HTTPStatus.SERVICE_UNAVAILABLE or each.deadline <= now
        ]
        self._remove([each for each, _ in final])
        for each, answer in final:
            each.give(answer)

    def _remove(self, answered: Sequence[Waiting]) -> None:
        gone = set(answered)
        with self._changed:
            self._queue = deque(each for each in self._queue if each not in gone)

    def _fail(self, batch: Sequence[Waiting], fault: Exception) -> None:
        for each in batch:
            request_id = each.call.request_id
            self._on_fault(request_id, fault)
            each.give(internal().answer(request_id))


def _calls(batch: Sequence[Waiting]) -> list[Call]:
    return [each.call for each in batch]


def _give(batch: Sequence[Waiting], answers: Sequence[Answer]) -> None:
    for each, answer in zip(batch, answers, strict=True):
        each.give(answer)
