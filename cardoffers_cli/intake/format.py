"""The page of the format of a kind of files, which answers: what has to stand in such a file.

Its figures are those of `schemas/formats.py`; the same rows are what the command shows as a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.pages import Page, Section
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet
from cardoffers_cli.kernel.sheets.tables import Advice, PrintedCommand, State
from cardoffers_cli.kernel.words.counting import counted
from cardoffers_cli.kernel.words.sentences import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cardoffers_cli.intake.schemas.formats import FieldFormat, FileFormat

COLUMNS = (
    *(Column("column"), Column("needed"), Column("holds"), Column("example", gives_way=2)),
    Column("findings", gives_way=1),
)
FINDINGS = (Column("code"), Column("level"), Column("meaning"), Column("fix", "how to fix it"))
_FEW_WORDS = 10
_TONES = {"error": "alarm", "warning": "warn"}


def format_sheets(form: FileFormat) -> list[Sheet]:
    """Return the columns of a kind of files, and what can be wrong in them."""
    findings = [
        {"code": code.code, "level": code.level, "meaning": code.summary, "fix": code.fix}
        for code in form.codes
    ]
    return [
        Sheet("columns", COLUMNS, [*column_rows(form)], title="Columns"),
        Sheet("findings", FINDINGS, findings, title="Findings, and how to fix them"),
    ]


def headline(form: FileFormat) -> str:
    """Say in a sentence what a row of such a file has to have."""
    needed = [each.name for each in form.fields if each.is_needed]
    more = [f"one of {' and '.join(group)}" for group in form.one_of]
    columns = counted(len(form.in_csv), "column")
    return f"A file of {form.name} has up to {columns}; every row needs {listed([*needed, *more])}."


def format_page(form: FileFormat) -> Page:
    """Return the page of a format; it is of no time."""
    columns, findings = format_sheets(form)
    shown = [
        {
            **row,
            "column": PrintedCommand(row["column"]),
            "needed": Advice(row["needed"]),
            "holds": Advice(row["holds"]),
            "example": PrintedCommand(row["example"]),
            "findings": Advice(row["findings"]),
        }
        for row in columns.rows
    ]
    told = [
        {
            **row,
            "code": PrintedCommand(row["code"]),
            "level": State(row["level"], _TONES.get(row["level"], "soft")),
            "meaning": Advice(row["meaning"]),
            "fix": Advice(row["fix"]),
        }
        for row in findings.rows
    ]
    return Page(
        title=f"The format of files of {form.name}",
        headline=headline(form).replace("_", " "),
        as_of=None,
        sections=[
            Section(title="Columns", sheet=Sheet("columns", COLUMNS, shown), is_whole=True),
            Section(
                title="Findings, and how to fix them",
                sheet=Sheet("findings", FINDINGS, told),
                is_whole=True,
                more=f"cardoffers schema --kind {form.name} --format csv",
            ),
        ],
    )


def column_rows(form: FileFormat) -> Iterator[Mapping[str, Any]]:
    """Yield each column with what has to stand in it, in words."""
    for each in form.fields:
        yield {
            "column": each.name,
            "needed": _needed(each, form),
            "holds": "; ".join(_holds(each)),
            "example": each.example,
            "findings": " ".join(each.codes),
        }


def _needed(each: FieldFormat, form: FileFormat) -> str:
    group = next((group for group in form.one_of if each.name in group), ())
    if each.is_needed or not group:
        default = f"no; else {each.default}" if each.default else "no"
        return "yes" if each.is_needed else default
    return f"yes, or {' or '.join(name for name in group if name != each.name)}"


def _holds(each: FieldFormat) -> Iterator[str]:
    yield each.says
    if 1 < len(each.words) <= _FEW_WORDS and each.words[0] not in each.says:
        yield f"one of {', '.join(each.words)}"
    if each.longest:
        yield f"at most {each.longest} characters"
