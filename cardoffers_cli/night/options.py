"""What a night is given, and its result: as the command line shows it, and as a file keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardoffers_cli.drop.drop import clear_drafts
from cardoffers_cli.drop.file_changes import KEPT_IN, ProcessedFolder
from cardoffers_cli.kernel.disk.folders import make_folder
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.store.layout import reports_folder, runs_folder
from cardoffers_cli.kernel.words.json_text import pieces
from cardoffers_cli.kernel.words.records import OpenRecord, Record, if_any, shown
from cardoffers_cli.night import questions as nights
from cardoffers_cli.night.questions import NightFinding

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.archive.target import EngineTarget
    from cardoffers_cli.arrivals.work import ArrivalNotices
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.night.hooks import HookOutcome
    from cardoffers_cli.night.questions import Counts, Night, NightFile, NightIntakeRow, NightStep
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


RESULT = "result.json"
NOTHING_NEW = "nothing_new"
"""The status of a run that had ended before, and had nothing to add."""
WITH_FINDINGS = 3
"""The exit code where a finding needs attention."""
_SAID = {"file", "is_kept"}
"""What of the report on a file `file` and `kept_as` say."""


class NightImport(OpenRecord):
    """What became of a file of a night, where it is kept, and the report on it."""

    file: str
    institution: str
    status: str
    taken_as: str
    kept_as: str | None


class NightResult(Record):
    """What a night came to, with its findings in the order of its steps.

    `processed` is where the files are kept that it took, `reports` the folder of its reports,
    `hooks` what came of those that were told until then.
    """

    run_id: UUID
    status: str
    night: str
    as_of: datetime
    started_at: datetime
    ended_at: datetime | None
    steps: list[StepReport]
    imports: list[NightImport]
    processed: str | None
    findings: list[NightFinding]
    institutions: list[NightIntakeRow]
    reports: str | None
    security_log_head: str | None
    dry_run: bool
    hooks: list[HookOutcome] | None = if_any()


def result_of(
    store: Store, path: Path, night: Night, *, status: str, is_untold: bool = False
) -> NightResult:
    """Return what a night came to, or only its findings that are untold; `path` is the store's."""
    steps = nights.steps(store, night)
    tell = nights.steps(store, night, is_untold=True) if is_untold else steps
    files = nights.files(store, night)
    counts = {step.name: step.counts for step in steps}
    return NightResult(
        run_id=night.run_id,
        status=status,
        night=night.name,
        as_of=night.as_of,
        started_at=night.began_at,
        ended_at=night.ended_at,
        steps=[told(step) for step in steps],
        imports=[_import(file, night) for file in files],
        processed=night.processed_folder,
        findings=[replace(finding, step=step.name) for step in tell for finding in step.findings],
        institutions=nights.summary(store, night),
        reports=str(reports_folder(path) / night.name) if "reports" in counts else None,
        security_log_head=counts.get("audits", {}).get("security_log_head"),
        dry_run=False,
    )


def write_result(path: Path, result: NightResult, *, mode: int) -> None:
    """Keep the result as `runs/RUN_ID/result.json` beside the store of `path`."""
    folder = runs_folder(path) / str(result.run_id)
    make_folder(folder)
    clear_drafts(folder)
    with replacing(folder / RESULT, mode=mode) as out:
        out.writelines(piece.encode() for piece in pieces(result, indent=2))
        out.write(b"\n")


def needs_attention(result: NightResult) -> bool:
    """Return whether a finding needs attention."""
    return any(finding.level != WITHOUT_CONSEQUENCE for finding in result.findings)


def exit_code_of(result: NightResult) -> int:
    """Return the exit code of a run that came to its end: 3 where a finding needs attention."""
    is_over = result.status == NOTHING_NEW
    return WITH_FINDINGS if needs_attention(result) and not is_over else 0


def _import(file: NightFile, night: Night) -> NightImport:
    report = file.report or {}
    path = None
    if file.is_kept:
        folder = ProcessedFolder(Path(night.processed_folder))
        path = folder.path(file.institution, KEPT_IN[file.state], file.taken_as)
    return NightImport(
        file=f"{file.institution}/{file.file_name}",
        institution=file.institution,
        status=file.state,
        taken_as=file.taken_as,
        kept_as=str(path) if path else None,
        others={name: value for name, value in report.items() if name not in _SAID},
    )
