"""Metrics as text, in the format that Prometheus reads (text exposition, version 0.0.4).

A family is a metric with all its samples. Names end in their unit, and in `_total` where they only
grow; `tests/domain/test_exposition.py` has the rules as a table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cardoffers_cli import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "cardoffers_"

Number = int | float


@dataclass(frozen=True)
class MetricSample:
    """One value; `suffix` is what a histogram has behind its name."""

    value: Number
    labels: Mapping[str, str] = field(default_factory=dict)
    suffix: str = ""


@dataclass(frozen=True)
class Family:
    """A metric: its name without the prefix that all share, what it says, and its samples."""

    name: str
    kind: Literal["gauge", "counter", "histogram"]
    says: str
    samples: list[MetricSample]


def gauge(name: str, says: str, value: Number | None) -> Family:
    """Return a metric of one value, which can fall; without a value it has no sample."""
    return Family(name, "gauge", says, [] if value is None else [MetricSample(value)])


def gauges(name: str, says: str, label: str, values: Mapping[str, Number]) -> Family:
    """Return a metric of several values, told apart by a label."""
    samples = [MetricSample(value, {label: each}) for each, value in values.items()]
    return Family(name, "gauge", says, samples)


def build_info() -> Family:
    """Return which version of the program tells."""
    return gauges("build_info", "The program, by its version.", "version", {__version__: 1})


def exposition(families: Iterable[Family]) -> str:
    """Return metrics as text; those without samples are left out."""
    return "".join(f"{line}\n" for family in families for line in _lines(family))


def value_in(text: str, name: str) -> float | None:
    """Return the value of a metric without labels in text of ours; None where it is not there."""
    for line in text.splitlines():
        found, _, value = line.partition(" ")
        if found == PREFIX + name:
            try:
                return float(value)
            except ValueError:
                return None
    return None


def _lines(family: Family) -> Iterator[str]:
    if not family.samples:
        return
    name = PREFIX + family.name
    yield f"# HELP {name} {_escaped(family.says)}"
    yield f"# TYPE {name} {family.kind}"
    for sample in family.samples:
        labels = ",".join(f'{each}="{_quoted(text)}"' for each, text in sample.labels.items())
        yield f"{name}{sample.suffix}{f'{{{labels}}}' if labels else ''} {sample.value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')
