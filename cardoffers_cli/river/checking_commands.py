"""`cardoffers validate`: check transaction files before anyone uploads them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cardoffers_cli.intake.file_options import (
    AllowUnterminated,
    Currency,
    Delimiter,
    Errors,
    Kind,
    LayoutProfile,
    NoProfile,
    RawRejected,
    Rejected,
    SheetName,
    Timezone,
    Valid,
    checked_as,
    layout_for,
)
from cardoffers_cli.kernel.cli import show
from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import argument, institution_option, option
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from cardoffers_cli.intake.chunks import FileReading
    from cardoffers_cli.river.certificates import Certificate

Asked = Annotated[
    str | None,
    institution_option(
        help="Ask the store that --store names too, as an import for this one would: slug or id."
    ),
]


def validate(
    ctx: typer.Context,
    sources: Annotated[list[str], argument("FILE...", "Files; - is stdin.")],
    *,
    institution: Asked = None,
    currency: Currency = None,
    delimiter: Delimiter = ",",
    sheet: SheetName = None,
    profile: LayoutProfile = None,
    no_profile: NoProfile = False,
    allow_unterminated: AllowUnterminated = False,
    kind: Kind = None,
    assume_timezone: Timezone = None,
    errors: Errors = None,
    valid: Valid = None,
    rejected: Rejected = None,
    raw_rejected: RawRejected = False,
    report: Annotated[
        Path | None, option("Write a page (.html) with the verdict, to be sent on.", metavar="FILE")
    ] = None,
    certificate: Annotated[
        Path | None, option("Write what was found (JSON), for --check later.", metavar="FILE")
    ] = None,
    check: Annotated[
        Path | None, option("Compare the files with this certificate.", metavar="FILE")
    ] = None,
) -> None:
    """Check files of purchases, refunds or credits: CSV, JSON, workbooks. Needs no store."""
    from cardoffers_cli.river.checks import Rehearsal
    from cardoffers_cli.river.checks import validate as check_file
    from cardoffers_cli.river.receiving import Outputs
    from cardoffers_cli.river.report_commands import page_of, show_files

    if certificate or check:
        from cardoffers_cli.river import certificates

    context = CommandContext.of(ctx)
    one_file_for(sources, errors, valid, rejected)
    context.writes(
        {
            "--errors": errors,
            "--valid": valid,
            "--rejected": rejected,
            "--report": report,
            "--certificate": certificate,
        },
        reads=[*sources, *([check] if check else [])],
    )
    _check_certified(sources, certificate, check)
    if report:
        _check_page(report)
    reading = checked_as(
        *(context.now, currency, delimiter, profile),
        zone=assume_timezone,
        sheet=sheet,
        kind=kind,
        allow_unterminated=allow_unterminated,
    )
    certified = certificates.read_certificate(check) if check else None
    reading = certificates.read_again(certified, reading) if certified else reading
    outputs = Outputs(errors=errors, valid=valid, rejected=rejected, raw=raw_rejected)
    how: FileReading | Rehearsal = reading
    if institution:
        from cardoffers_cli.river.imports import ImportOptions

        _check_asked(context, currency, certificate or check)
        options = ImportOptions(
            profile=layout_for(
                *(context, institution, reading.profile),
                is_other=no_profile or delimiter != "," or sheet is not None,
                to_write=True,
            ),
            sheet=sheet,
            delimiter=delimiter,
            assume_timezone=assume_timezone,
            allow_unterminated=allow_unterminated,
            kind=reading.kind if reading.is_kind_given else None,
        )
        how = Rehearsal(institution=institution, options=options)
    reports = []
    for source in sources:
        with context.progress(f"Checking {source}") as bar:
            reports.append(
                check_file(source, how, context.job, outputs=outputs, progress=bar.update)
            )
    documents = [each.document() for each in reports]
    if report:
        show.show_page(page_of(context, documents), report)
        context.note(f"Wrote {report}")
    if certified:
        _compare(context, certified, certificates.certificate_of(reports, reading))
        return
    if certificate:
        made = certificates.certificate_of(reports, reading)
        show.write(f"{dumps(made, indent=2)}\n".encode(), certificate, mode=context.settings.mode)
        context.note(f"Wrote {certificate}")
    show_files(context, documents, reports, is_page=context.format is Format.html)


def _compare(context: CommandContext, certified: "Certificate", found: "Certificate") -> None:
    """Show where files are not as their certificate says; end with 3 if they are not."""
    from cardoffers_cli.river.certificates import CertificateDifference, compare

    told = compare(certified, found)
    if not told.same_rules:
        context.note(f"The certificate was made by other rules, of version {certified.program}.")
    files = counted(len(certified.files), "file")
    verdict = "as certified" if told.ok else "not as certified"
    rows = show.Sheet.of(CertificateDifference, "differences", told.differences)
    said = show.Text([f"{files}, certified at {format_minute(told.made_at)}: {verdict}."])
    context.show(told, rows, said, exit_code=0 if told.ok else 3)


def _check_certified(sources: list[str], certificate: Path | None, check: Path | None) -> None:
    """Refuse what cannot be read again, and to write and to check at once."""
    if certificate and check:
        raise UsageError("--certificate and --check exclude each other.", hint="Leave one out.")
    if "-" in sources and (certificate or check):
        raise UsageError(
            "Standard input cannot be read again when a certificate is checked.",
            hint="Name files.",
        )


def _check_asked(context: CommandContext, currency: str | None, certificate: Path | None) -> None:
    """Refuse to ask a store that is not named, and what an answer of a store is not for."""
    if context.options.store is None:
        raise UsageError(
            "-i asks a store what it knows of the file, and no store is named.",
            hint="Name it with --store, or leave -i out.",
        )
    if currency:
        raise UsageError("The currency is the institution's.", hint="Leave --currency or -i out.")
    if certificate:
        raise UsageError(
            "A certificate says what the file shows without a store.", hint="Leave -i out."
        )


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
