"""How `validate`, `import` and `simulate` show what was found in transaction files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.verdicts import ASKED, verdict_of
from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.show import Column, Sheet, Text
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.findings import CODES
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.kernel.words.visible import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cardoffers_cli.kernel.cli.context import CommandContext
    from cardoffers_cli.kernel.cli.show import Block
    from cardoffers_cli.kernel.sheets.pages import Page
    from cardoffers_cli.river.receiving import FileReport

FOUND = (
    *(Column("file"), Column("code"), Column("level"), Column("rows", kind="integer")),
    *(Column("lines"), Column("fix")),
)
ABOUT_FILES = Column("message")
"""What a finding about a whole file says, where there is one."""
_LINES_SHOWN = 5
_OF_FILE_SHOWN = 3


def show_files(
    context: CommandContext,
    documents: Sequence[Mapping[str, Any]],
    reports: Sequence[FileReport],
    *further: Block,
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


def page_of(context: CommandContext, documents: Sequence[Mapping[str, Any]]) -> Page:
    """Return the documents as a page that can be sent on: no value of a row is on it."""
    from cardoffers_cli.intake.page import validation_page

    return validation_page(documents, context.now)


def blocks(reports: Sequence[FileReport]) -> Iterator[Block]:
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


def _rows(report: FileReport) -> Iterator[Mapping[str, Any]]:
    for finding in report.findings:
        yield {**finding, "file": report.file, "lines": first_lines(finding)}


def first_lines(finding: Mapping[str, Any]) -> str:
    """Return the first lines a finding was made in, as text."""
    shown = [str(line) for line in finding["lines"][:_LINES_SHOWN]]
    more = finding["rows"] > len(shown) and shown
    return " ".join([*shown, "…"] if more else shown)


def _headline(report: FileReport) -> str:
    word, said = verdict_of(report.document())
    return f"{report.file}: {word}. {said}."


def _first_findings(report: FileReport) -> Iterator[str]:
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


def _common(report: FileReport, found: Mapping[str, Any]) -> str:
    message = found["message"] or CODES[found["code"]].summary
    of = f"{found['row_count']:,} of {counted(report.received, 'row')}"
    return f"{report.file}: {found['code']} {message}: {of}"


def _of_file(report: FileReport) -> Iterator[tuple[str, str]]:
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
