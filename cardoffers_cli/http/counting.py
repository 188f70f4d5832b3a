"""What a server counts of its requests, for who runs it: by endpoint, never by institution."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from cardoffers_cli.night.exposition import Family, MetricSample

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        done = 0
        for most, count in zip((*map(str, BUCKETS_S), "+Inf"), self._buckets[route], strict=True):
            done += count
            yield MetricSample(done, {"route": route, "le": most}, "_bucket")
        yield MetricSample(self._seconds[route], {"route": route}, "_sum")
        yield MetricSample(done, {"route": route}, "_count")
