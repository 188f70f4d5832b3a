"""The result of a night, as the command line's contract shows it, and its file beside the store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.drop.drop import clear_drafts
from cardoffers_cli.drop.file_changes import KEPT_IN, ProcessedFolder
from cardoffers_cli.kernel.disk.folders import make_folder
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.store.layout import reports_folder, runs_folder
from cardoffers_cli.kernel.words.json_text import pieces
from cardoffers_cli.kernel.words.records import OpenRecord, Record, if_any
from cardoffers_cli.night import questions as nights
from cardoffers_cli.night.options import WITHOUT_CONSEQUENCE, told

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.night.hooks import HookOutcome
    from cardoffers_cli.night.options import StepReport
    from cardoffers_cli.night.questions import Night, NightFile, NightFinding, NightIntakeRow

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
