"""Validate: check a transaction file without a store, a key or the network, or ask a store too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cardoffers_cli.intake.opening import open_layout
from cardoffers_cli.kernel.store.opening import scratch_store
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.river.receiving import FileReport, Outputs, judge, stage_check, write_outputs

if TYPE_CHECKING:
    from cardoffers_cli.intake.transactions import FileReading
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.river.imports import ImportOptions
    from cardoffers_cli.river.receiving import Progress


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """An import for an institution that is not kept: by what it knows a file is judged."""

    institution: str
    options: ImportOptions


def validate(
    source: str,
    how: FileReading | Rehearsal,
    job: Job,
    *,
    outputs: Outputs,
    progress: Progress | None = None,
) -> FileReport:
    """Check one file and report; a file that cannot be read is in the report, not raised.

    With a rehearsal the store of the job is asked, and the verdict is that of the import.
    """
    try:
        if isinstance(how, Rehearsal):
            from cardoffers_cli.river.imports import import_file  # noqa: PLC0415 - most ask none

            dry = replace(how.options, dry_run=True)
            into = how.institution
            result = import_file(source, into, job, dry, outputs=outputs, progress=progress)
            return result.report
        with (
            open_layout(source, how) as file,
            scratch_store(job.settings, "imports") as store,  # no other table is read
        ):
            judged = judge(store, file, stage_check(store, file, progress=progress))
            write_outputs(store, file, judged, outputs, mode=job.settings.mode)
            return judged.report
    except FileUnusable as error:
        return FileReport(file=source, file_error=error)
