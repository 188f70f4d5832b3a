"""Deliveries out, outcomes back: many at once, no attempt longer than its deadline.

A receiver is a stranger. Whatever it does, an attempt ends within one deadline over everything
(name, connection, TLS, headers, body), reads a bounded part of the answer, follows nothing,
remembers nothing, and ends in one outcome. Delivered means a 2xx status, whatever becomes of the
body behind it (rules.md#success).
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

import httpx

from cardoffers_cli import __version__
from cardoffers_cli.domain.addresses import check_url
from cardoffers_cli.domain.retry_after import retry_after_s
from cardoffers_cli.wire.failures import error_of, error_of_status
from cardoffers_cli.wire.resolving import Lookup, look_up
from cardoffers_cli.wire.transport import make_tls, make_transport

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
        async with make_transport(
            context, lookup, allow_insecure=limits.allow_insecure
        ) as transport:
            sender = _Sender(
                transport=transport,
                limits=limits,
                clock=clock,
                on_outcome=on_outcome,
                stop=stop,
            )
            await sender.send(iter(batches))

    asyncio.run(run())


@dataclass(kw_only=True)
class _Sender:
    """One run: a slot for each attempt in flight, and a share of the slots for each lane."""

    transport: httpx.AsyncBaseTransport
    limits: AttemptLimits
    clock: Callable[[], datetime]
    on_outcome: Callable[[Outcome], None]
    stop: Callable[[], bool]

    def __post_init__(self) -> None:
        self.slots = asyncio.Semaphore(self.limits.at_once)
        self.lanes = defaultdict[str, asyncio.Semaphore](
            lambda: asyncio.Semaphore(self.limits.per_lane)
        )

    async def send(self, batches: Iterator[Sequence[Delivery]]) -> None:
        """Attempt every delivery; a failure to pull more waits for what is in flight."""
        failure: Exception | None = None
        async with asyncio.TaskGroup() as attempts:
            try:
                await self._start(batches, attempts)
            except Exception as error:  # noqa: BLE001  raised below
                failure = error
        if failure is not None:
            raise failure

    async def _start(
        self, batches: Iterator[Sequence[Delivery]], attempts: asyncio.TaskGroup
    ) -> None:
        while not self.stop():
            batch = await asyncio.to_thread(next, batches, None)
            if batch is None:
                return
            for delivery in batch:
                attempts.create_task(self._take_turn(delivery))

    async def _take_turn(self, delivery: Delivery) -> None:
        """Wait for the lane first and then for a slot: so slots go round among the lanes."""
        async with self.lanes[delivery.lane], self.slots:
            if not self.stop():
                self.on_outcome(await self._attempt(delivery))

    async def _attempt(self, delivery: Delivery) -> Outcome:
        started_at, begun = self.clock(), time.monotonic()
        status = wait_s = None
        try:
            url = _checked(delivery.url, allow_insecure=self.limits.allow_insecure)
            signature = delivery.sign(int(started_at.replace(tzinfo=UTC).timestamp()))
            headers = {**HEADERS, **signature}
            request = httpx.Request("POST", url, headers=headers, content=delivery.body)
            async with (
                asyncio.timeout(self.limits.deadline_s),
                aclosing(await self.transport.handle_async_request(request)) as response,
            ):
                status = response.status_code
                wait_s = self._wanted_wait_s(response)
                await self._read(response)
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

    def _wanted_wait_s(self, response: httpx.Response) -> int | None:
        text = response.headers.get("Retry-After")
        if text is None or response.status_code not in _MAY_ASK_TO_WAIT:
            return None
        return retry_after_s(text, self.clock())

    async def _read(self, response: httpx.Response) -> None:
        """Read the body as it comes, without unpacking it, and not beyond the cap."""
        size = 0
        async for chunk in response.aiter_raw():
            size += len(chunk)
            if size >= self.limits.body_bytes:
                return


@lru_cache
def _checked(url: str, *, allow_insecure: bool) -> httpx.URL:
    """Check a URL's form once; what its name resolves to is checked with every connection."""
    check_url(url, allow_insecure=allow_insecure)
    return httpx.URL(url)
