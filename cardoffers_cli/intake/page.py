"""The page of a check of files, which answers: is the file good, and what mends it.

No value of a row is on it: a finding is told by what its code means, with the lines it is on. The
digest says which file it is, to whoever has it too. Only what is said of a column has its name, for
such a file has a header; a file whose first line is none cannot be read, and nothing of that line
is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.verdicts import verdict_of
from cardoffers_cli.kernel.sheets.pages import Fact, Page, Section
from cardoffers_cli.kernel.sheets.pictures import whole
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet
from cardoffers_cli.kernel.sheets.tables import Advice, PrintedCommand, State
from cardoffers_cli.kernel.words.findings import CODES, FILE_CODES
from cardoffers_cli.kernel.words.sentences import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from cardoffers_cli.intake.schemas.formats import FieldFormat, FileFormat
    from cardoffers_cli.kernel.sheets.sheets import Row, Rows


_LINES = 10
_OF_COLUMNS = {"column_unknown", "column_ignored"}
_REJECTS = (
    *(Column("meaning", "what is wrong"), Column("errors", kind="integer")),
    *(Column("rows", kind="integer"), Column("files", kind="integer"), Column("institution")),
)
_FINDINGS = (
    *(Column("meaning", "what is wrong"), Column("rows", kind="integer")),
    *(Column("lines", "on lines"), Column("fix", "how to fix it"), Column("state", "level")),
    Column("more"),
)
_STATES = {"error": State("error", "alarm"), "warning": State("warning", "warn")}


def validation_page(files: Rows, as_of: datetime) -> Page:
    """Return the page of files that were checked; documents as `validate` shows them."""
    return Page(
        title="Check of " + (_name(files[0]) if len(files) == 1 else f"{len(files):,} files"),
        headline=_headline(files),
        as_of=as_of,
        about=["Lines are told, and no value that is in the file."],
        facts=list(_facts(files)),
        sections=[section for file in files for section in _sections(file, len(files) > 1)],
    )


def _headline(files: Rows) -> str:
    if len(files) == 1:
        return _verdict(files[0])
    bad = [file for file in files if file["file_error"] or verdict_of(file)[0] != "good"]
    good = len(files) - len(bad)
    if not bad:
        return f"All {counted(len(files), 'file')} are good."
    return f"{good:,} of {counted(len(files), 'file')} are good; {_name(bad[0])} is not."


def _verdict(file: Row) -> str:
    if file["file_error"]:
        what = meaning(file["file_error"]["code"])
        return f"The file cannot be read: {what[:1].lower()}{what[1:]}."
    word, detail = verdict_of(file)
    return f"The file is {word}: {detail}."


def _name(file: Row) -> str:
    """Return the name of a file without the folders it is in, which are nobody else's concern."""
    return str(file["file"]).rpartition("/")[2]


def _facts(files: Rows) -> Iterator[Fact]:
    readable = [file for file in files if not file["file_error"]]
    conflicts = sum(file["conflicts"] for file in readable)
    other = f"{conflicts:,} of them with other content" if conflicts else ""
    for name, words, note in (
        ("received", "rows", ""),
        ("valid", "valid", ""),
        ("invalid", "invalid", ""),
        ("duplicates", "known already", other),
    ):
        if readable:
            yield Fact.of(words, sum(file[name] for file in readable), note)


def _sections(file: Row, is_one_of_many: bool) -> Iterator[Section]:
    title = _name(file) if is_one_of_many else None
    intro = [_verdict(file)] if is_one_of_many else []
    if file["file_error"]:
        file_code = FILE_CODES.get(file["file_error"]["code"])
        yield Section(title=_name(file), lines=[*intro, file_code.advice if file_code else ""])
        return
    rows = [_row(finding) for finding in file["findings"]]
    parts = [
        ("valid", file["valid"], "good"),
        ("known already", file["duplicates"] - file["conflicts"], "soft"),
        ("known with other content", file["conflicts"], "warn"),
        ("invalid", file["invalid"], "alarm"),
    ]
    yield Section(
        title=title,
        lines=[*intro, f"It is the file whose content has the SHA-256 {file['sha256']}."],
        pictures=[whole("Rows, by what becomes of them", parts)] if file["received"] else [],
    )
    if rows:
        errors = sum(row["level"] == "error" for row in rows)
        warnings = counted(len(rows) - errors, "kind")
        yield Section(
            title=f"What was found in {_name(file)}" if is_one_of_many else "What was found",
            lines=[f"{counted(errors, 'kind')} of error, {warnings} of warning."],
            sheet=Sheet("findings", _FINDINGS, rows, title="Findings, errors first"),
        )


def _row(finding: Row) -> Mapping[str, Any]:
    entry = CODES.get(finding["code"])
    message = finding.get("message") if finding["code"] in _OF_COLUMNS else None
    text = f"{message[:1].upper()}{message[1:]}" if message else meaning(finding["code"])
    lines = [str(line) for line in finding["lines"][:_LINES]]
    more = finding["rows"] - len(lines)
    return {
        "meaning": Advice(text),
        "rows": finding["rows"] or None,
        "lines": ", ".join(lines) + (f" and {more:,} more" if lines and more > 0 else ""),
        "fix": Advice(entry.advice if entry else finding["fix"]),
        "state": _STATES[finding["level"]],
        "level": finding["level"],
        "more": PrintedCommand(f"cardoffers help findings {finding['code']}"),
    }


_MOST = 15


def meaning(code: str) -> str:
    """Return what a code of a finding means, as a sentence without its full stop."""
    entry = CODES.get(code) or FILE_CODES.get(code)
    text = entry.summary if entry else code.replace("_", " ")
    return text if "_" in text.split()[0] else text[:1].upper() + text[1:]


def rejects_section(
    rows: Sequence[Mapping[str, Any]], *, lines: Sequence[str] = ()
) -> Iterator[Section]:
    """Show why rows were not taken; rows as an import counts them, nothing for none."""
    if not rows:
        return
    ordered = sorted(rows, key=lambda row: (-row["errors"], row["code"], row["institution"]))
    named = [{**row, "meaning": Advice(meaning(row["code"]))} for row in ordered[:_MOST]]
    sheet = Sheet("rejects", _REJECTS, named)
    yield Section(title="Rows that were not taken", lines=lines, sheet=sheet, in_all=len(ordered))


# The page of the format of a kind of files, which answers: what has to stand in such a file.
#
# Its figures are those of `schemas/formats.py`; the same rows are what the command shows as a
# table.


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
    needed = [field.name for field in form.fields if field.is_needed]
    more = [f"one of {' and '.join(group)}" for group in form.one_of]
    columns = counted(len(form.in_csv), "column")
    return f"A file of {form.name} has up to {columns}; every row needs {listed([*needed, *more])}."


def format_page(form: FileFormat) -> Page:
    """Return the page of a format; it is of no time."""
    columns, findings = format_sheets(form)
    field_rows = [
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
    finding_rows = [
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
            Section(title="Columns", sheet=Sheet("columns", COLUMNS, field_rows), is_whole=True),
            Section(
                title="Findings, and how to fix them",
                sheet=Sheet("findings", FINDINGS, finding_rows),
                is_whole=True,
                more=f"cardoffers schema --kind {form.name} --format csv",
            ),
        ],
    )


def column_rows(form: FileFormat) -> Iterator[Mapping[str, Any]]:
    """Yield each column with what has to stand in it, in words."""
    for field in form.fields:
        yield {
            "column": field.name,
            "needed": _needed(field, form),
            "holds": "; ".join(_holds(field)),
            "example": field.example,
            "findings": " ".join(field.codes),
        }


def _needed(field: FieldFormat, form: FileFormat) -> str:
    group = next((group for group in form.one_of if field.name in group), ())
    if field.is_needed or not group:
        default = f"no; else {field.default}" if field.default else "no"
        return "yes" if field.is_needed else default
    return f"yes, or {' or '.join(name for name in group if name != field.name)}"


def _holds(field: FieldFormat) -> Iterator[str]:
    yield field.says
    if 1 < len(field.words) <= _FEW_WORDS and field.words[0] not in field.says:
        yield f"one of {', '.join(field.words)}"
    if field.longest:
        yield f"at most {field.longest} characters"
