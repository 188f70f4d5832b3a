"""The metrics of a nightly run, for whoever watches many machines: a file that is scraped.

They are of the last run, whatever it came to; `last_success` is of the last one that came to its
end. No institution is named in them.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from cardoffers_cli import __version__
from cardoffers_cli.copies.work import last_copy
from cardoffers_cli.kernel.disk.folders import free_bytes
from cardoffers_cli.kernel.store.layout import with_logs
from cardoffers_cli.kernel.words.errors import CardoffersError, ConfigurationError
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.night import questions as nights

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from cardoffers_cli.copies.work import CopyResult
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.night.options import NightResult


# Metrics as text, in the format that Prometheus reads (text exposition, version 0.0.4).
#
# A family is a metric with all its samples. Names end in their unit, and in `_total` where they
# only grow; `tests/night/test_metrics_text.py` has the rules as a table.


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
    samples = [MetricSample(value, {label: key}) for key, value in values.items()]
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
        metric, _, value = line.partition(" ")
        if metric == PREFIX + name:
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
        labels = ",".join(f'{label}="{_quoted(text)}"' for label, text in sample.labels.items())
        yield f"{name}{sample.suffix}{f'{{{labels}}}' if labels else ''} {sample.value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')


METRICS = "metrics.prom"
LAST_SUCCESS = "nightly_last_success_timestamp_seconds"
_STATES = ("imported", "failed", "held", "changed", "gone")
_ROWS = ("received", "accepted", "duplicates", "conflicts", "invalid")
_PATIENCE_S = 2.0
"""How long the store is waited for: what is only counted can do without."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What is known when a run is over. `result` is there of one that came to its end."""

    ended_at: datetime
    exit_code: int
    last_success: float | None
    result: NightResult | None = None
    queues: Sequence[Queue] = field(default_factory=list)
    as_of: datetime
    store_bytes: int
    copy: CopyResult | None
    free: Mapping[str, int]


def check_metrics_file(path: Path) -> None:
    """Raise `ConfigurationError` for a file that cannot be written, or that nobody would read."""
    problem, hint = None, "Name a file in a folder that exists and may be written to."
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        problem = None if not path.is_dir() else "is a folder"
    elif path.suffix != ".prom":
        problem, hint = "would not be read", "Let its name end in .prom: collectors read no other."
    elif not path.parent.is_dir() or not os.access(path.parent, os.W_OK | os.X_OK):
        problem = "cannot be written"
    if problem:
        raise ConfigurationError(
            f"The file of metrics {path} {problem}.", code="metrics_file_unusable", hint=hint
        )


def measure(
    job: Job,
    *,
    ended_at: datetime,
    exit_code: int,
    result: NightResult | None,
    before: Path | None,
    folders: Mapping[str, Path],
) -> Measured:
    """Measure what a run left; `before` is the file that tells when the last one succeeded."""
    waiting, last = _asked(job)
    if result is not None:
        last = _seconds(ended_at)
    elif before is not None:
        with suppress(OSError, ValueError):
            earlier = value_in(before.read_text("utf-8"), LAST_SUCCESS)
            last = max(filter(None, (earlier, last)), default=None)
    return Measured(
        ended_at=ended_at,
        exit_code=exit_code,
        last_success=last,
        result=result,
        queues=waiting,
        as_of=job.now,
        store_bytes=sum(path.stat().st_size for path in with_logs(job.path) if path.exists()),
        copy=last_copy(job.path),
        free={name: free_bytes(path) for name, path in folders.items() if path.is_dir()},
    )


def night_families(measured: Measured) -> Iterator[Family]:
    """Yield the metrics of a run and of what it left."""
    yield build_info()
    yield gauge(
        "nightly_last_run_timestamp_seconds",
        "When the last nightly run was over, whatever it came to.",
        _seconds(measured.ended_at),
    )
    yield gauge(
        LAST_SUCCESS,
        "When the last nightly run was over that came to its end, with or without findings.",
        measured.last_success,
    )
    says = "The exit code of the last nightly run: 0 done, 3 done with findings, else failed."
    yield gauge("nightly_exit_code", says, measured.exit_code)
    if measured.result is not None:
        yield from _of_result(measured.result)
    waiting = sorted(measured.queues, key=lambda queue: queue.queue)
    lengths = {queue.queue: queue.length for queue in waiting}
    yield gauges("queue_length", "How many wait.", "queue", lengths)
    now = measured.as_of
    ages = {
        queue.queue: max(0.0, (now - queue.oldest_at).total_seconds()) if queue.oldest_at else 0.0
        for queue in waiting
    }
    says = "How old the oldest is that waits, 0 where none does."
    yield gauges("queue_oldest_age_seconds", says, "queue", ages)
    says = "What the user of the nightly run may still write on the disk of a folder."
    yield gauges("disk_free_bytes", says, "folder", measured.free)
    yield gauge("store_size_bytes", "The file of the store, with its logs.", measured.store_bytes)
    if copy := measured.copy:
        age = (measured.as_of - copy.taken_at).total_seconds()
        yield gauge("copy_age_seconds", "How old the newest copy of the store is.", age)
        yield gauge("copy_bytes", "The store in that copy.", copy.store_bytes)


def _of_result(result: NightResult) -> Iterator[Family]:
    ended_at = result.ended_at or result.started_at
    yield gauge(
        "nightly_duration_seconds",
        "From its beginning to its end, also where it was broken off in between.",
        (ended_at - result.started_at).total_seconds(),
    )
    seconds = {step.name: step.seconds for step in result.steps}
    yield gauges("nightly_step_duration_seconds", "What each step took.", "step", seconds)
    states = {state: sum(file.status == state for file in result.imports) for state in _STATES}
    yield gauges("nightly_files", "Files that were found ready.", "state", states)
    reports = [file.others for file in result.imports if file.status == "imported"]
    reports += [report["refunds"] for report in reports if report.get("refunds")]
    rows = {name: sum(report.get(name) or 0 for report in reports) for name in _ROWS}
    yield gauges("nightly_rows", "Rows of the files that were taken.", "state", rows)
    redeemed = sum(row.redeemed for row in result.institutions)
    yield gauge("nightly_redemptions", "Redemptions since the run before.", redeemed)
    counts = Counter((finding.code, finding.level) for finding in result.findings)
    samples = [
        MetricSample(count, {"code": code, "level": level})
        for (code, level), count in counts.items()
    ]
    yield Family("nightly_findings", "gauge", "Findings, by their code.", samples)


class Queue(Record):
    """How much of one kind waits, and since when the oldest of it."""

    queue: str
    length: int
    oldest_at: datetime | None


def _asked(job: Job) -> tuple[Sequence[Queue], float | None]:
    """Return what waits and when the last night ended; nothing where the store does not answer."""
    with suppress(OSError, CardoffersError), job.store(read_only=True, wait_s=_PATIENCE_S) as store:
        newest, _ = nights.newest_finished(store)
        ended_at = newest.ended_at if newest else None
        waiting = store.records(Queue, "night/status:queues", now=job.now)
        return waiting, _seconds(ended_at) if ended_at else None
    return [], None


def _seconds(moment: datetime) -> float:
    """Return a moment of ours, naive UTC, as Unix time."""
    return moment.replace(tzinfo=UTC).timestamp()
