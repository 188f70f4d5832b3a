"""Bodies: what those in hand take, and how one is read within its limits.

Memory is counted as bytes come and not as they are announced, for each institution and for all, so
who announces much and sends nothing takes nothing from anybody.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import Counter, defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cardoffers_cli.http.contract.gate import BODY_BYTES, body_too_large
from cardoffers_cli.http.contract.problems import Problem, busy
from cardoffers_cli.night.metrics import Family, MetricSample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from uuid import UUID

    from cardoffers_cli.http.limits import ServerLimits
    from cardoffers_cli.http.wire import HttpConnection


class Bodies:
    """The calls in hand, and what of their bodies came."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._calls: Counter[UUID] = Counter()
        self._bytes: Counter[UUID] = Counter()

    @contextmanager
    def entered(self, owner: UUID) -> Iterator[Callable[[int], None]]:
        """Count a call of an institution for the length of the block.

        Gives what counts bytes of its body. Both raise `Problem` 503 where it would be too much.
        """
        if self._calls[owner] >= self._limits.calls_per_institution:
            raise busy()
        byte_count = 0

        def take(count: int) -> None:
            nonlocal byte_count
            if (
                self._bytes[owner] + count > self._limits.held_bytes_per_institution
                or self._bytes.total() + count > self._limits.held_bytes
            ):
                raise busy()
            self._bytes[owner] += count
            byte_count += count

        self._calls[owner] += 1
        try:
            yield take
        finally:
            self._calls[owner] -= 1
            self._bytes[owner] -= byte_count
            if not self._calls[owner]:
                del self._calls[owner], self._bytes[owner]


class Body:
    """The body of one request, which comes over a wire."""

    def __init__(self, wire: HttpConnection, limits: ServerLimits, told_bytes: int) -> None:
        self._wire = wire
        self._limits = limits
        self._told_bytes = told_bytes

    def check(self) -> None:
        """Raise `Problem` 413 where its own head says that it is too large."""
        if self._told_bytes > BODY_BYTES:
            raise body_too_large()

    async def read(self, take: Callable[[int], None]) -> bytes:
        """Return the whole body; raises `Problem` where it is too large, too slow or cut off."""
        limits, loop = self._limits, asyncio.get_running_loop()
        began = loop.time()
        body = bytearray()
        try:
            async with asyncio.timeout(min(limits.body_s, limits.body_grace_s)) as deadline:
                while piece := await self._wire.piece():
                    if len(body) + len(piece) > BODY_BYTES:
                        raise body_too_large()
                    take(len(piece))
                    body += piece
                    due_s = limits.body_grace_s + len(body) / limits.body_bytes_per_s
                    deadline.reschedule(began + min(limits.body_s, due_s))
        except TimeoutError:
            raise Problem(
                408,
                "body_too_slow",
                f"A body has {limits.body_s:g} seconds, and {limits.body_bytes_per_s:g} bytes in"
                " each at least.",
            ) from None
        return bytes(body)


# What a server counts of its requests, for who runs it: by endpoint, never by institution.


BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Durations are counted up to each of these, and those beyond."""
OTHER = "other"
"""Paths that are none of ours, and methods that HTTP does not know: they are the client's words."""


class RequestCounts:
    """Requests by method, endpoint and status, and how long their answers took by endpoint."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS_S) + 1))
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def count(self, method: str | None, route: str | None, status: int, seconds: float) -> None:
        """Count an answer; called for each, in the thread of the connections."""
        place = route or OTHER
        self._requests[method or OTHER, place, status] += 1
        self._buckets[place][bisect_left(BUCKETS_S, seconds)] += 1
        self._seconds[place] += seconds

    def families(self) -> Iterator[Family]:
        """Yield the metrics."""
        yield Family(
            "http_requests_total",
            "counter",
            "Requests that were answered, by endpoint.",
            [
                MetricSample(count, {"method": method, "route": route, "status": str(status)})
                for (method, route, status), count in sorted(self._requests.items())
            ],
        )
        yield Family(
            "http_request_duration_seconds",
            "histogram",
            "From the end of the head of a request to the end of its answer, by endpoint.",
            [sample for route in sorted(self._buckets) for sample in self._histogram(route)],
        )

    def _histogram(self, route: str) -> Iterator[MetricSample]:
        total = 0
        for most, count in zip((*map(str, BUCKETS_S), "+Inf"), self._buckets[route], strict=True):
            total += count
            yield MetricSample(total, {"route": route, "le": most}, "_bucket")
        yield MetricSample(self._seconds[route], {"route": route}, "_sum")
        yield MetricSample(total, {"route": route}, "_count")
