"""`cardoffers validate`: check files before anyone uploads them; how what was found is shown."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardoffers_cli.intake import file_options
from cardoffers_cli.intake.verdicts import ASKED, verdict_of
from cardoffers_cli.kernel.cli import show
from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import argument, institution_option, option
from cardoffers_cli.kernel.cli.show import Column, Sheet, Text
from cardoffers_cli.kernel.words.errors import FileUnusable, UsageError
from cardoffers_cli.kernel.words.findings import CODES
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.kernel.words.visible import shortened

if TYPE_CHECKING:
    from cardoffers_cli.intake.chunks import FileReading
    from cardoffers_cli.kernel.cli.show import Block
    from cardoffers_cli.kernel.sheets.pages import Page
    from cardoffers_cli.river.checks import Certificate
    from cardoffers_cli.river.receiving import FileReport


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
    currency: file_options.Currency = None,
    delimiter: file_options.Delimiter = ",",
    sheet: file_options.SheetName = None,
    profile: file_options.LayoutProfile = None,
    no_profile: file_options.NoProfile = False,
    allow_unterminated: file_options.AllowUnterminated = False,
    kind: file_options.Kind = None,
    assume_timezone: file_options.Timezone = None,
    errors: file_options.Errors = None,
    valid: file_options.Valid = None,
    rejected: file_options.Rejected = None,
    raw_rejected: file_options.RawRejected = False,
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

    if certificate or check:
        from cardoffers_cli.river import checks as certificates

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
    if report:  # a page that cannot be written is refused before any work
        form = show.format_of(report)
        if form is not Format.html:
            raise UsageError.from_table("river", "format_unknown", report=report)
        show.check(form, report)
    reading = file_options.checked_as(
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
            profile=file_options.layout_for(
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


def _compare(context: "CommandContext", certified: "Certificate", found: "Certificate") -> None:
    """Show where files are not as their certificate says; end with 3 if they are not."""
    from cardoffers_cli.river.checks import CertificateDifference, compare

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


def _check_asked(context: "CommandContext", currency: str | None, certificate: Path | None) -> None:
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


def one_file_for(sources: list[str], *outputs: Path | None) -> None:
    """Refuse report files for several inputs: the second would replace the first."""
    if len(sources) > 1 and any(outputs):
        raise UsageError(
            "--errors, --valid and --rejected are about one file.", hint="Name one file at a time."
        )


FOUND = (
    *(Column("file"), Column("code"), Column("level"), Column("rows", kind="integer")),
    *(Column("lines"), Column("fix")),
)
ABOUT_FILES = Column("message")
"""What a finding about a whole file says, where there is one."""
_LINES_SHOWN = 5
_OF_FILE_SHOWN = 3


def show_files(
    context: "CommandContext",
    documents: Sequence[Mapping[str, Any]],
    reports: "Sequence[FileReport]",
    *further: "Block",
    is_page: bool = False,
) -> None:
    """Show the documents (one alone is not a list) and end with the exit code they call for.

    `is_page` shows them as a page that says no value of a row. Ends by raising the first file's
    error, where a file could not be read: exit 14 outweighs 3.
    """
    unusable = [named(report.file, report.file_error) for report in reports if report.file_error]
    ok = all(report.ok for report in reports)
    document = documents[0] if len(documents) == 1 else list(documents)
    exit_code = 0 if ok or unusable else 3
    if is_page:
        context.show_page(page_of(context, documents), exit_code=exit_code)
    elif len(unusable) < len(reports) or context.format not in {Format.table, Format.md}:
        context.show(document, *blocks(reports), *further, exit_code=exit_code)
    for error in unusable[1:]:
        context.note(error.message)
    if unusable:
        raise unusable[0]


def page_of(context: "CommandContext", documents: Sequence[Mapping[str, Any]]) -> "Page":
    """Return the documents as a page that can be sent on: no value of a row is on it."""
    from cardoffers_cli.intake.page import validation_page

    return validation_page(documents, context.now)


def blocks(reports: "Sequence[FileReport]") -> "Iterator[Block]":
    """Yield the findings by code, then one by one as `file:line:`, then a verdict on each file.

    Errors come before warnings, and what is found in most rows once, with how many they are.
    """
    rows = [row for report in reports for row in _rows(report)]
    columns = FOUND if len(reports) > 1 else FOUND[1:]
    further = (ABOUT_FILES,) if any("message" in row for row in rows) else ()
    yield Sheet("findings", (*columns, *further), rows, title="Findings")
    first = [line for report in reports for line in _first_findings(report)]
    if first:
        yield Text(first)
    headlines = [_headline(report) for report in reports if report.file_error is None]
    if met := {name for report in reports for name in report.not_asked}:
        asked = ", ".join(words for name, words in ASKED.items() if name in met)
        headlines.append(f"An import would also look for: {asked}.")
    yield Text(headlines)


def named(source: str, error: FileUnusable) -> FileUnusable:
    """Give an error of one file its name, as a sentence can carry it."""
    return error.of("Standard input" if source == "-" else shortened(source))


def _rows(report: "FileReport") -> Iterator[Mapping[str, Any]]:
    for finding in report.findings:
        yield {**finding, "file": report.file, "lines": first_lines(finding)}


def first_lines(finding: Mapping[str, Any]) -> str:
    """Return the first lines a finding was made in, as text."""
    shown = [str(line) for line in finding["lines"][:_LINES_SHOWN]]
    more = finding["rows"] > len(shown) and shown
    return " ".join([*shown, "…"] if more else shown)


def _headline(report: "FileReport") -> str:
    word, said = verdict_of(report.document())
    return f"{report.file}: {word}. {said}."


def _first_findings(report: "FileReport") -> Iterator[str]:
    """Yield the first findings that ask something of the reader, one a line, errors first."""
    told = [
        *((found["level"], _common(report, found)) for found in report.common_findings),
        *(
            (found["level"], f"{report.file}:{found['line']}: {found['code']} {found['message']}")
            for found in report.first_findings
        ),
        *_of_file(report),
    ]
    for level in ("error", "warning"):
        yield from (line for own, line in told if own == level)
    count = report.first_findings[0]["findings"] if report.first_findings else 0
    if (more := count - len(report.first_findings)) > 0:
        yield f"… {more:,} more; --errors FILE writes them all."


def _common(report: "FileReport", found: Mapping[str, Any]) -> str:
    message = found["message"] or CODES[found["code"]].summary
    of = f"{found['row_count']:,} of {counted(report.received, 'row')}"
    return f"{report.file}: {found['code']} {message}: {of}"


def _of_file(report: "FileReport") -> Iterator[tuple[str, str]]:
    """Yield the level and the words of what is about the file as a whole.

    What there is much of is said once: the findings by code have each.
    """
    of_file = [found for found in report.findings if not found["rows"]]
    counts = Counter(found["code"] for found in of_file)
    for found in of_file:
        code = found["code"]
        if counts[code] <= _OF_FILE_SHOWN:
            yield found["level"], f"{report.file}: {code} {found['message']}"
    for code, count in counts.items():
        if count > _OF_FILE_SHOWN:
            yield CODES[code].level, f"{report.file}: {code} {CODES[code].summary}: {count} times"
