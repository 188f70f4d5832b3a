"""Metrics as text: what Prometheus' parser reads is what was written, and names keep the rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardoffers_cli.night.metrics import Family, MetricSample, exposition, gauge, gauges, value_in
from exposed import RULES, complaints, families, values

TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r"), max_size=20)


def test_the_text_of_a_metric() -> None:
    shown = [
        gauge("queue_length", "How many wait.", 3),
        gauges("disk_free_bytes", 'Of "C:\\",\nby folder.', "folder", {'a"b\\c\nd': 1.5}),
        gauge("nothing", "Nobody knows.", None),
    ]
    assert exposition(shown) == (
        "# HELP cardoffers_queue_length How many wait.\n"
        "# TYPE cardoffers_queue_length gauge\n"
        "cardoffers_queue_length 3\n"
        '# HELP cardoffers_disk_free_bytes Of "C:\\\\",\\nby folder.\n'
        "# TYPE cardoffers_disk_free_bytes gauge\n"
        'cardoffers_disk_free_bytes{folder="a\\"b\\\\c\\nd"} 1.5\n'
    )
    assert 3 == value_in(exposition(shown), "queue_length")
    assert value_in(exposition(shown), "nothing") is None
    assert value_in("cardoffers_queue_length three", "queue_length") is None


@given(TEXT, TEXT, st.floats(allow_nan=False))
def test_whatever_a_label_holds_is_read_back(says: str, label: str, value: float) -> None:
    text = exposition([Family("any", "gauge", says, [MetricSample(value, {"state": label})])])
    if len(text.splitlines()) == text.count("\n"):  # the parser takes more for an end of a line
        (family,) = families(text)
        (sample,) = family.samples
        assert (label, value) == (sample.labels["state"], sample.value)


@pytest.mark.parametrize(
    ("problem", "family"),
    [
        ("is not in snake case", gauge("queueLength", "It waits.", 1)),
        ("has no help", gauge("queue_length", "", 1)),
        (
            "grows, and does not end in _total",
            Family("calls", "counter", "Calls.", [MetricSample(1)]),
        ),
        ("does not only grow, and ends as if", gauge("calls_total", "Calls.", 1)),
        ("does not only grow, and ends as if", gauge("calls_count", "Calls.", 1)),
        ("has its type in its name", gauge("calls_gauge", "Calls.", 1)),
        ("is not in a base unit", gauge("wait_ms", "It waits.", 1)),
        ("does not end in its unit", gauge("seconds_waited", "It waited.", 1)),
        ("names somebody", gauges("calls", "Calls.", "institution", {"alder": 1})),
        ("has a label that is not in snake case", gauges("calls", "Calls.", "byRoute", {"a": 1})),
        (
            "has the same sample twice",
            Family("a", "gauge", "A.", [MetricSample(1), MetricSample(2)]),
        ),
    ],
)
def test_a_rule_finds_its_breach(problem: str, family: Family) -> None:
    assert problem in RULES
    assert f"cardoffers_{family.name}: {problem}" in complaints(exposition([family]))


def test_the_other_rules_find_theirs() -> None:
    assert "calls: has no prefix of its own" in complaints("# TYPE calls gauge\ncalls 1\n")
    assert "cardoffers_calls: has no type" in complaints("cardoffers_calls 1\n")
    assert [] == complaints(
        exposition([Family("calls_total", "counter", "Calls.", [MetricSample(1, {"route": "/a"})])])
    )


def test_samples_are_found_by_name_and_labels() -> None:
    text = exposition([gauges("rows", "Rows.", "state", {"taken": 3})])
    assert {("cardoffers_rows", "taken"): 3} == values(text)
