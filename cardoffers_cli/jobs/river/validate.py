"""Validate: check a transaction file without a store, a key or the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import FileUnusable
from cardoffers_cli.files.opening import open_layout
from cardoffers_cli.jobs.river.intake import (
    FileReport,
    Outputs,
    check_file,
    stage_check,
    write_outputs,
)
from cardoffers_cli.store.opening import scratch_store

if TYPE_CHECKING:
    from cardoffers_cli.files.transactions import FileReading
    from cardoffers_cli.jobs.context.job import Job
    from cardoffers_cli.jobs.river.intake import Progress


def validate(
    source: str,
    reading: FileReading,
    job: Job,
    *,
    outputs: Outputs,
    progress: Progress | None = None,
) -> FileReport:
    """Check one file and report; a file that cannot be read is in the report, not raised."""
    try:
        with (
            open_layout(source, reading) as file,
            scratch_store(job.settings, "imports") as store,  # no other table is read
        ):
            judged = check_file(store, file, stage_check(store, file, progress=progress))
            write_outputs(store, file, judged, outputs, mode=job.settings.mode)
            return judged.report
    except FileUnusable as error:
        return FileReport(file=source, file_error=error)
