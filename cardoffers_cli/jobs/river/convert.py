"""Convert: an institution's own file into one of our own layout, as its profile says.

What is written are the rows that `validate` calls valid, so the file that comes out is good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import FileUnusable
from cardoffers_cli.files.exports import replacing
from cardoffers_cli.files.profiles.reading import ProfiledFile
from cardoffers_cli.files.sources import open_source
from cardoffers_cli.jobs.river.intake import FileReport, check_file, stage_check, write_outputs
from cardoffers_cli.pipeline.judge import rejected_lines
from cardoffers_cli.store.opening import scratch_store

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.domain.profiles import Profile
    from cardoffers_cli.files.chunks import FileReading
    from cardoffers_cli.jobs.context.job import Job
    from cardoffers_cli.jobs.river.intake import Outputs, Progress


def convert(
    source: str,
    profile: Profile,
    reading: FileReading,
    job: Job,
    *,
    to: Path,
    outputs: Outputs,
    progress: Progress | None = None,
) -> FileReport:
    """Check one file and write its valid rows in our own layout; nothing of an unusable one."""
    try:
        with (
            open_source(source) as opened,
            ProfiledFile(opened, reading, profile) as file,
            scratch_store(job.settings, "imports") as store,  # no other table is read
        ):
            judged = check_file(store, file, stage_check(store, file, progress=progress))
            write_outputs(store, file, judged, outputs, mode=job.settings.mode)
            rejected = rejected_lines(store, judged.staged, judged.repeats)
            with replacing(to, mode=job.settings.mode) as out:
                file.write_canonical(rejected, out)
            return judged.report
    except FileUnusable as error:
        return FileReport(file=source, file_error=error)
