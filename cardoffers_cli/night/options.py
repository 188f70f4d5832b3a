"""What a night is given: the order, the one who looks on, and the night at work."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.night.questions import NightFinding

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from cardoffers_cli.archive.target import EngineTarget
    from cardoffers_cli.arrivals.work import ArrivalNotices
    from cardoffers_cli.drop.file_changes import ProcessedFolder
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.night.hooks import HookOutcome
    from cardoffers_cli.night.questions import Counts, Night, NightStep
    from cardoffers_cli.river.engines import EngineOutput

WITHOUT_CONSEQUENCE = "note"
"""The level of a finding that asks nothing of anybody."""


@dataclass(frozen=True, kw_only=True)
class NightOptions:
    """What is to be done: which folder, how long webhooks may take, and who chose the clock.

    `is_clock_chosen` says that somebody named the moment; `wait_s` is for another night to end.
    `metrics_file` is written in place of that of the settings.
    """

    drop: Path
    webhook_time_s: float = 600
    is_clock_chosen: bool = False
    wait_s: float = 0
    metrics_file: Path | None = None


class StepReport(Record, sheet="name status started_at seconds counts"):
    """A step as the result tells it; who looks on hears its findings with it. Times are real."""

    name: str = shown("step")
    status: str
    started_at: datetime = shown(gives_way=1)
    seconds: float
    counts: Counts = shown(gives_way=2)
    findings: Sequence[NightFinding] | None = if_any()


def told(step: NightStep) -> StepReport:
    """Return a step as the result tells it."""
    return StepReport(
        name=step.name,
        status=step.status,
        started_at=step.began_at,
        seconds=round((step.ended_at - step.began_at).total_seconds(), 3),
        counts=step.counts,
    )


class NightObserver:
    """Who looks on while a night runs; this one keeps silent."""

    def begins(self, step: str, position: int, of: int) -> None:
        """Hear that a step begins."""

    def moves(self, what: str, count: int, total: int | None) -> None:
        """Hear how far the step is, in a unit of its own."""

    def ends(self, step: StepReport) -> None:
        """Hear what a step came to, as the result tells it."""

    def is_stopping(self) -> bool:
        """Whether somebody told the program to stop; then an error is nobody's fault."""
        return False

    def told(self, outcome: HookOutcome) -> None:
        """Hear what came of a hook."""

    def warn(self, message: str) -> None:
        """Hear what went wrong beside the night, and changed nothing of it."""

    def ending(self, error: BaseException) -> tuple[int, str]:  # noqa: ARG002
        """Return the exit code that a night ends with for an error, and the error's code."""
        return 1, "unexpected"


@dataclass(kw_only=True)
class NightContext:
    """A night at work. `job` has the night's own clock, `clock` is what the command was given.

    `processed` is where the files are kept that it takes. `target` is where its engine works, if it
    has one, and `computed` the match that was made there. `file_news` is what there is to tell of
    expected files, `unwatched` of institutions that the watch could not look at, `remarks` what the
    next step that is recorded is to tell beside its own.
    """

    job: Job
    night: Night
    order: NightOptions
    onlooker: NightObserver
    clock: datetime
    processed: ProcessedFolder
    remarks: list[NightFinding] = field(default_factory=list)
    target: EngineTarget | None = None
    computed: EngineOutput | None = None
    file_news: ArrivalNotices | None = None
    unwatched: list[NightFinding] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """What a step came to: counts, and findings for whoever reads the result."""

    counts: Counts
    findings: list[NightFinding] = field(default_factory=list)


def finding(
    code: str, message: str, *, level: str = "error", then: str | None = None, **about: Any
) -> NightFinding:
    """Make a finding: `then` is the next command, or what to do."""
    return NightFinding(code=code, level=level, message=message, next=then, others=about)
