"""What a server counts of requests: each answer once, in its bucket, by names that keep rules."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry, Histogram, generate_latest

from cardoffers_cli.http.wire import BUCKETS_S, RequestCounts
from cardoffers_cli.night.metrics import exposition
from exposed import complaints, one, values

FEED = "/api/v1/offers"


def test_every_answer_is_counted_by_endpoint_and_status() -> None:
    counts = RequestCounts()
    for answer in [
        ("GET", FEED, 200, 0.004),
        ("GET", FEED, 200, 0.02),
        ("GET", FEED, 401, 11.0),
        ("GET", None, 404, 0.001),
        (None, None, 400, 0.001),
    ]:
        counts.count(*answer)
    text = exposition(counts.families())
    assert [] == complaints(text)
    found = values(text)
    assert [2, 1, 1, 1] == [
        one(found, "http_requests_total", *labels)
        for labels in (
            ("GET", FEED, "200"),
            ("GET", FEED, "401"),
            ("GET", "other", "404"),
            ("other", "other", "400"),
        )
    ]


@pytest.mark.parametrize("seconds", [[0.0, 0.005, 0.0050001, 0.1, 3.0], [10.0, 10.1], [*BUCKETS_S]])
def test_the_histogram_is_that_of_the_client_of_prometheus(seconds: list[float]) -> None:
    counts, registry = RequestCounts(), CollectorRegistry()
    theirs = Histogram(
        "cardoffers_http_request_duration_seconds",
        "As ours.",
        ["route"],
        registry=registry,
        buckets=BUCKETS_S,
    )
    for each in seconds:
        counts.count("GET", FEED, 200, each)
        theirs.labels(FEED).observe(each)
    expected = values(generate_latest(registry).decode())
    found = values(exposition(counts.families()))
    assert {
        name: value for name, value in expected.items() if not name[0].endswith("_created")
    } == {name: value for name, value in found.items() if "duration" in name[0]}
