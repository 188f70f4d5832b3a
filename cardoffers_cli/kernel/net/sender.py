"""Deliveries out, outcomes back: many at once, no attempt longer than its deadline.

A receiver is a stranger. Whatever it does, an attempt ends within one deadline over everything
(name, connection, TLS, headers, body), reads a bounded part of the answer, follows nothing,
remembers nothing, and ends in one outcome. Delivered means a 2xx status, whatever becomes of the
body behind it (rules.md#success).
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cardoffers_cli import __version__
from cardoffers_cli.kernel.net.transport import (
    Destination,
    Lookup,
    Reply,
    Transport,
    error_of,
    error_of_status,
    look_up,
    make_tls,
    prepare,
    retry_after_s,
)
from cardoffers_cli.kernel.words.addresses import check_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

HEADERS = {
    "Content-Type": "application/json",
    "User-Agent": f"cardoffers/{__version__}",
    "Accept": "*/*",
    "Accept-Encoding": "identity",
}
"""What every delivery says beside its signature."""

_MAY_ASK_TO_WAIT = {429, 503}


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One event for one receiver. `sign` makes its headers at the attempt's own Unix second."""

    number: int
    url: str = field(repr=False)
    body: bytes = field(repr=False)
    sign: Callable[[int], Mapping[str, str]] = field(repr=False)
    lane: str


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one attempt ended; `error` is a word of `failures.ERRORS`, or None when delivered."""

    number: int
    http_status: int | None
    error: str | None
    retry_after_s: int | None
    started_at: datetime
    duration_ms: int


@dataclass(frozen=True, kw_only=True)
class AttemptLimits:
    """What one run of the sender may take. `per_lane` of `at_once` go to one lane at most.

    A lane is what must not hold up others: an institution. `ca_file` holds certificates (PEM) to
    be trusted beside the usual ones; `allow_insecure` lifts https and public addresses.
    """

    deadline_s: float = 15
    body_bytes: int = 64 * 1024
    at_once: int = 64
    per_lane: int = 8
    allow_insecure: bool = False
    ca_file: Path | None = None


def send_all(
    batches: Iterable[Sequence[Delivery]],
    limits: AttemptLimits,
    *,
    clock: Callable[[], datetime],
    on_outcome: Callable[[Outcome], None],
    stop: Callable[[], bool] = lambda: False,
    lookup: Lookup = look_up,
) -> None:
    """Attempt every delivery once, and tell each outcome as soon as it is there.

    Batches are pulled in another thread, one after the other, and may take their time: what came
    is sent meanwhile, and how much waits is up to who makes them. `clock` is the real one, naive
    UTC: receivers compare the timestamp of the signature with theirs. Once `stop` answers true
    nothing more is started. What is in flight ends, also when pulling fails; then that failure is
    raised.
    """
    context = make_tls(limits.ca_file)

    async def run() -> None:
        transport = Transport(context, lookup, allow_insecure=limits.allow_insecure)
        async with aclosing(transport):
            sender = _Sender(
                transport=transport, limits=limits, clock=clock, on_outcome=on_outcome, stop=stop
            )
            await sender.send(iter(batches))

    asyncio.run(run())


@dataclass
class _Queue:
    """What waits in a lane, and how many attempts of it are under way."""

    waiting: deque[Delivery] = field(default_factory=deque)
    under_way: int = 0
    is_in_turns: bool = False


@dataclass(kw_only=True)
class _Sender:
    """One run: as many workers as there are slots, which take of the lanes in turn.

    A lane is in `turns`, once, while something waits in it and its share of the slots is not full.
    """

    transport: Transport
    limits: AttemptLimits
    clock: Callable[[], datetime]
    on_outcome: Callable[[Outcome], None]
    stop: Callable[[], bool]

    def __post_init__(self) -> None:
        self.lanes = defaultdict[str, _Queue](_Queue)
        self.turns = deque[_Queue]()
        self.working = 0
        self.destinations = dict[str, Destination]()

    async def send(self, batches: Iterator[Sequence[Delivery]]) -> None:
        """Attempt every delivery; a failure to pull more waits for what is in flight."""
        failure: Exception | None = None
        async with asyncio.TaskGroup() as workers:
            try:
                await self._start(batches, workers)
            except Exception as error:  # noqa: BLE001  raised below
                failure = error
        if failure is not None:
            raise failure

    async def _start(
        self, batches: Iterator[Sequence[Delivery]], workers: asyncio.TaskGroup
    ) -> None:
        while not self.stop():
            batch = await asyncio.to_thread(next, batches, None)
            if batch is None:
                return
            for delivery in batch:
                lane = self.lanes[delivery.lane]
                lane.waiting.append(delivery)
                self._line_up(lane)
            for _ in range(self.working, min(self.limits.at_once, self.working + len(batch))):
                self.working += 1
                workers.create_task(self._work())

    def _line_up(self, lane: _Queue) -> None:
        """Let a lane have a turn, when it has something for it."""
        may_have = lane.waiting and lane.under_way < self.limits.per_lane
        if may_have and not lane.is_in_turns:
            lane.is_in_turns = True
            self.turns.append(lane)

    async def _work(self) -> None:
        """Attempt what waits, one after the other, until no lane has a turn.

        Whoever ends an attempt takes the turn that becomes free by it; so none is left waiting.
        """
        while self.turns and not self.stop():
            lane = self.turns.popleft()
            lane.is_in_turns = False
            delivery = lane.waiting.popleft()
            lane.under_way += 1
            self._line_up(lane)
            self.on_outcome(await self._attempt(delivery))
            lane.under_way -= 1
            self._line_up(lane)
        self.working -= 1

    async def _attempt(self, delivery: Delivery) -> Outcome:
        started_at, begun = self.clock(), time.monotonic()
        status = wait_s = None
        try:
            # The form is checked once; what the name resolves to, with every connection.
            url = delivery.url
            if url not in self.destinations:
                check_url(url, allow_insecure=self.limits.allow_insecure)
                self.destinations[url] = prepare(url, HEADERS)
            destination = self.destinations[url]
            signature = delivery.sign(int(started_at.replace(tzinfo=UTC).timestamp()))
            async with asyncio.timeout(self.limits.deadline_s):
                reply = await self.transport.post(destination, signature, delivery.body)
                try:
                    status = reply.status
                    wait_s = self._wanted_wait_s(reply)
                    await reply.read(self.limits.body_bytes)
                finally:
                    reply.end()
            error = error_of_status(status)
        except Exception as problem:  # noqa: BLE001  one receiver must not end the others
            # A 2xx status is success, whatever becomes of the body behind it.
            is_delivered = status is not None and error_of_status(status) is None
            error = None if is_delivered else error_of(problem)
        return Outcome(
            number=delivery.number,
            http_status=status,
            error=error,
            retry_after_s=wait_s,
            started_at=started_at,
            duration_ms=round((time.monotonic() - begun) * 1000),
        )

    def _wanted_wait_s(self, reply: Reply) -> int | None:
        if reply.status not in _MAY_ASK_TO_WAIT:
            return None
        text = reply.header("Retry-After")
        return None if text is None else retry_after_s(text, self.clock())
