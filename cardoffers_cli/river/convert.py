"""Convert: an institution's own file into one of our own layout, as its profile says.

What is written are the rows that `validate` calls valid, so the file that comes out is good. The
refunds that are among them, by the profile, can be written into a file of their own.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from cardoffers_cli.intake.profiles.reading import ProfiledFile
from cardoffers_cli.intake.sources import open_source
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.store.opening import scratch_store
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.river.judge import rejected_lines
from cardoffers_cli.river.receiving import FileReport, judge, stage_check, write_outputs

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.intake.chunks import FileReading
    from cardoffers_cli.intake.layout_model import Profile
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.river.receiving import Outputs, Progress


def convert(
    source: str,
    profile: Profile,
    reading: FileReading,
    job: Job,
    *,
    to: Path,
    refunds_to: Path | None = None,
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
            staged = stage_check(store, file, progress=progress)
            judged = judge(store, file, staged, takes_refunds=refunds_to is not None)
            write_outputs(store, file, judged, outputs, mode=job.settings.mode)
            rejected = rejected_lines(store, judged.found, judged.repeats)
            with ExitStack() as stack:
                outs = [
                    stack.enter_context(replacing(path, mode=job.settings.mode))
                    for path in (to, refunds_to)
                    if path
                ]
                file.write_canonical(rejected, *outs)
            return judged.report
    except FileUnusable as error:
        return FileReport(file=source, file_error=error)
