"""`cardoffers validate`: check transaction files before anyone uploads them."""

from pathlib import Path
from typing import Annotated

import typer

from cardoffers_cli.cli.kernel import show
from cardoffers_cli.cli.kernel.commands import Format
from cardoffers_cli.cli.kernel.desk import Desk
from cardoffers_cli.cli.kernel.options import (
    AllowUnterminated,
    Currency,
    Delimiter,
    Errors,
    Kind,
    LayoutProfile,
    RawRejected,
    Rejected,
    SheetName,
    Timezone,
    Valid,
    argument,
    checked_as,
    option,
)
from cardoffers_cli.domain.errors import UsageError


def validate(
    ctx: typer.Context,
    sources: Annotated[list[str], argument("FILE...", "Files; - is stdin.")],
    *,
    currency: Currency = None,
    delimiter: Delimiter = ",",
    sheet: SheetName = None,
    profile: LayoutProfile = None,
    kind: Kind = None,
    assume_timezone: Timezone = None,
    allow_unterminated: AllowUnterminated = False,
    errors: Errors = None,
    valid: Valid = None,
    rejected: Rejected = None,
    raw_rejected: RawRejected = False,
    report: Annotated[
        Path | None, option("Write a page (.html) with the verdict, to be sent on.", metavar="FILE")
    ] = None,
) -> None:
    """Check files of purchases, refunds or credits: CSV, JSON, workbooks. Needs no store."""
    from cardoffers_cli.cli.file_reports import page_of, show_files
    from cardoffers_cli.jobs.river.intake import Outputs
    from cardoffers_cli.jobs.river.validate import validate as check

    desk = Desk.of(ctx)
    one_file_for(sources, errors, valid, rejected)
    desk.writes(
        {"--errors": errors, "--valid": valid, "--rejected": rejected, "--report": report},
        reads=sources,
    )
    if report:
        _check_page(report)
    reading = checked_as(
        *(desk.now, currency, delimiter, profile),
        zone=assume_timezone,
        sheet=sheet,
        kind=kind,
        allow_unterminated=allow_unterminated,
    )
    outputs = Outputs(errors=errors, valid=valid, rejected=rejected, raw=raw_rejected)
    reports = []
    for source in sources:
        with desk.progress(f"Checking {source}") as bar:
            reports.append(check(source, reading, desk.job, outputs=outputs, progress=bar.update))
    documents = [each.document() for each in reports]
    if report:
        show.show_page(page_of(desk, documents), report)
        desk.note(f"Wrote {report}")
    show_files(desk, documents, reports, is_page=desk.format is Format.html)


def _check_page(report: Path) -> None:
    """Refuse, before any work, a page that cannot be written."""
    form = show.format_of(report)
    if form is not Format.html:
        raise UsageError(
            f"--report writes a page, and {report.name} is none.",
            code="format_unknown",
            hint="Name a file that ends in .html.",
        )
    show.check(form, report)


def one_file_for(sources: list[str], *outputs: Path | None) -> None:
    """Refuse report files for several inputs: the second would replace the first."""
    if len(sources) > 1 and any(outputs):
        raise UsageError(
            "--errors, --valid and --rejected are about one file.", hint="Name one file at a time."
        )
