"""The one thread that has the store, and the queue before it.

It takes every call that waits and answers them in one use of the store, so the more calls come the
fewer commits each of them costs. It keeps the store open between two uses, and looks before each,
and a hundred times a second while no call comes, whether somebody else wants it, who has it then
(`kernel/store/opening.py`). While somebody else holds the store the calls stay in their order; a
call that only reads is answered from the snapshot soon, and each has a deadline.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

from cardoffers_cli.http.contract.messages import busy, internal
from cardoffers_cli.kernel.words.errors import StoreBusy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cardoffers_cli.http.contract.gate import Keyring
    from cardoffers_cli.http.contract.messages import Answer, Call
    from cardoffers_cli.http.contract.service import Service
    from cardoffers_cli.http.listening import ServerLimits

_LOCK_WAIT_S = 0.25
"""How long the thread waits for the store before it looks after those who wait for the thread; the
lock spreads these waits, so that several servers do not march."""
_GATHER_S = 0.05
_GATHER_PART = 4
"""How long at most as many calls as were answered together last are waited for: their senders are
likely to have more, and each use of the store has a cost of its own; and which part at most of the
time that those took."""
_GLANCE_S = 0.01
"""How often it is looked whether somebody wants the store that no call needs now."""
_READ_WAIT_S = 1.0
"""How long a call that only reads waits for the store itself, before the snapshot will do."""


@dataclass(frozen=True, eq=False)
class WaitingCall:
    """A call in the queue and the promise of its answer; moments are of the monotonic clock."""

    call: Call
    may_be_old_at: float
    """From when on an answer from the snapshot will do."""
    deadline: float
    is_alone: bool
    """Whether it is work of its own, whatever else is answered with it."""
    promise: Future[Answer] = field(default_factory=Future)

    def give(self, answer: Answer) -> None:
        """Keep the promise, if anybody still holds on to it."""
        if self.promise.set_running_or_notify_cancel():
            self.promise.set_result(answer)


@dataclass(eq=False, repr=False)
class Worker:
    """Answers calls in a thread of its own, from `start` to `stop`."""

    service: Service
    limits: ServerLimits
    wait_s: float
    on_fault: Callable[[str, BaseException], None]
    on_fault_outside: Callable[[BaseException], None]

    def __post_init__(self) -> None:
        self._queue: deque[WaitingCall] = deque()
        self._asked: list[Future[Keyring]] = []
        self._latest = 0
        self._latest_s = 0.0
        self._changed = threading.Condition()
        self._is_stopping = False
        self.ended: Future[None] = Future()
        """Kept when all that was taken in is answered, after `stop`."""
        self.ended.set_running_or_notify_cancel()
        # A statement of the engine cannot be hurried: the process may end without it, and what it
        # did not commit is not acknowledged.
        self._thread = threading.Thread(target=self._work, name="store", daemon=True)

    @property
    def waiting(self) -> int:
        """How many calls wait for the store."""
        return len(self._queue)

    @property
    def has_store(self) -> bool:
        """Whether the store is open here."""
        return self.service.is_open

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self, within_s: float) -> None:
        """Answer what was taken in, and end; after `within_s` seconds nobody waits for it."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify()
        self._thread.join(within_s)

    def put(self, call: Call, *, may_be_old: bool, is_alone: bool = False) -> Future[Answer]:
        """Take a call in and promise its answer; raises `Problem` where too many wait."""
        now = time.monotonic()
        deadline = now + self.wait_s
        soon = now + _READ_WAIT_S if may_be_old else deadline
        waiting = WaitingCall(call, min(soon, deadline), deadline, is_alone)
        with self._changed:
            if len(self._queue) >= self.limits.waiting_calls:
                raise busy()
            self._queue.append(waiting)
            self._changed.notify()
        return waiting.promise

    def answer_open(self, call: Call) -> Answer:
        """Answer a call that is open to everybody, in the caller's thread: it needs no store."""
        return self.service.answer_all([call], wait_s=0)[0]

    def read_keyring(self) -> Future[Keyring]:
        """Promise the keys as the store has them from now on, or else as the snapshot has them."""
        promise: Future[Keyring] = Future()
        with self._changed:
            self._asked.append(promise)
            self._changed.notify()
        return promise

    def _work(self) -> None:
        try:
            while self._has_work():
                self._give_way()
                self._tell_keys()
                if not (batch := self._taken()):
                    continue
                began = time.monotonic()
                try:
                    answers = self.service.answer_all(_calls(batch), wait_s=_LOCK_WAIT_S)
                except StoreBusy:
                    with self._changed:
                        self._queue.extendleft(reversed(batch))
                    self._answer_late()
                except Exception as fault:  # noqa: BLE001  the thread lives as long as the server
                    self._fail(batch, fault)
                else:
                    self._latest_s = time.monotonic() - began
                    for call, answer in zip(batch, answers, strict=True):
                        call.give(answer)
            self.service.let_go()
        finally:
            self.ended.set_result(None)

    def _has_work(self) -> bool:
        """Wait until there is something to do; return False when the work is at its end."""
        while True:
            glance_s = _GLANCE_S if self.service.is_open else None
            with self._changed:
                if self._changed.wait_for(
                    lambda: self._queue or self._asked or self._is_stopping, glance_s
                ):
                    return bool(self._queue or self._asked)
            self._give_way()

    def _give_way(self) -> None:
        """Let go of the store if somebody wants it; what cannot be closed is opened anew."""
        try:
            self.service.give_way()
        except Exception as fault:  # noqa: BLE001  as below
            self.on_fault_outside(fault)

    def _tell_keys(self) -> None:
        with self._changed:
            promises, self._asked = self._asked, []
        promises = [promise for promise in promises if promise.set_running_or_notify_cancel()]
        if not promises:
            return
        try:
            keyring = self.service.read_keyring(wait_s=_LOCK_WAIT_S)
        except Exception as fault:  # noqa: BLE001  as above
            for promise in promises:
                promise.set_exception(fault)
        else:
            for promise in promises:
                promise.set_result(keyring)

    def _taken(self) -> list[WaitingCall]:
        """Take what waits, the oldest first, up to a batch; wrong keys wait for all others.

        Of calls that are work of their own one is taken at once: then it is looked again
        whether somebody wants the store.
        """
        batch: list[WaitingCall] = []
        postponed: list[WaitingCall] = []
        room, alone = self.limits.batch_bytes, self.limits.batch_calls_alone
        with self._changed:
            if self._queue:
                gather_s = min(_GATHER_S, self._latest_s / _GATHER_PART)
                self._changed.wait_for(lambda: len(self._queue) >= self._latest, gather_s)
            self._queue = deque(sorted(self._queue, key=lambda call: call.call.is_head_only))
            while self._queue and len(batch) < self.limits.batch_calls:
                waiting = self._queue.popleft()
                size = len(waiting.call.body)
                if waiting.promise.cancelled():
                    continue
                if waiting.is_alone and not alone:
                    postponed.append(waiting)
                    continue
                if batch and room < size:
                    postponed.append(waiting)
                    break
                batch.append(waiting)
                room, alone = room - size, alone - waiting.is_alone
            self._queue.extendleft(reversed(postponed))
        self._latest = len(batch)
        return batch

    def _answer_late(self) -> None:
        """Answer without the store who has waited long enough.

        Where no snapshot will do for a call that only reads, it waits on until its deadline.
        """
        now = time.monotonic()
        with self._changed:
            overdue = [call for call in self._queue if call.may_be_old_at <= now]
        try:
            answers = self.service.answer_busy(_calls(overdue)) if overdue else []
        except Exception as fault:  # noqa: BLE001  as above
            self._remove(overdue)
            self._fail(overdue, fault)
            return
        final = [
            (call, answer)
            for call, answer in zip(overdue, answers, strict=True)
            if answer.status != HTTPStatus.SERVICE_UNAVAILABLE or call.deadline <= now
        ]
        self._remove([call for call, _ in final])
        for call, answer in final:
            call.give(answer)

    def _remove(self, answered: Sequence[WaitingCall]) -> None:
        removed = set(answered)
        with self._changed:
            self._queue = deque(call for call in self._queue if call not in removed)

    def _fail(self, batch: Sequence[WaitingCall], fault: Exception) -> None:
        for call in batch:
            request_id = call.call.request_id
            self.on_fault(request_id, fault)
            call.give(internal().answer(request_id))


def _calls(batch: Sequence[WaitingCall]) -> list[Call]:
    return [call.call for call in batch]
