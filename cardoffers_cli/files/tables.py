"""Read a catalogue file (CSV, JSON or JSON Lines) into one frame of text columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import polars as pl

from cardoffers_cli.domain.findings import Finding, make_finding
from cardoffers_cli.files.headers import Names
from cardoffers_cli.files.pages import RecordFile
from cardoffers_cli.files.sources import open_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LIST_SEPARATOR = "|"


@dataclass(frozen=True, kw_only=True)
class RawTable:
    """The records of a catalogue file, as text.

    `frame` has `line` (u64) and one String column per known column, in the order asked for, null
    where absent or empty. Records without columns stand in `findings` only. `received` counts both.
    For JSON arrays `line` is the index from 0, and `position` says so.
    """

    frame: pl.DataFrame
    findings: list[Finding]
    received: int
    kind: str
    position: str


def read_table(
    source: str, *, known: Sequence[str], required: Sequence[str], list_key: str | None = None
) -> RawTable:
    """Read a file of records with the known columns; `required` ones must stand in a CSV header.

    `list_key` names the array inside a JSON object that holds the records. JSON numbers keep their
    text, true and false become text, lists of texts become `a|b`; other values become a finding.
    Raises `FileUnusable`.
    """
    names = Names(known=known, required=required)
    with open_source(source) as opened:
        file = RecordFile(opened, names, list_key=list_key)
        frames, found = zip(*pages(file, known), strict=True)
    findings = [*file.header_findings, *chain.from_iterable(found)]
    if not file.received:
        findings.append(make_finding("rows_missing", "the file has no rows"))
    schema = {"line": pl.UInt64, **dict.fromkeys(known, pl.String)}
    return RawTable(
        frame=pl.concat([pl.DataFrame(schema=schema), *frames]),
        findings=findings,
        received=file.received,
        kind=file.kind,
        position=file.position,
    )


def pages(file: RecordFile, known: Sequence[str]) -> Iterator[tuple[pl.DataFrame, list[Finding]]]:
    """Read a file page by page as `read_table` does, for files too long to be held as a whole."""
    return _csv_pages(file, known) if file.kind == "csv" else _json_pages(file, known)


def _csv_pages(
    file: RecordFile, known: Sequence[str]
) -> Iterator[tuple[pl.DataFrame, list[Finding]]]:
    for page in file.csv_pages():
        absent = [
            pl.lit(None, pl.String).alias(name) for name in known if name not in page.frame.columns
        ]
        yield page.frame.with_columns(absent).select("line", *known), page.findings


def _json_pages(
    file: RecordFile, known: Sequence[str]
) -> Iterator[tuple[pl.DataFrame, list[Finding]]]:
    for page in file.object_pages():
        rows, findings = [], [*page.findings]
        for line, value in zip(page.positions, page.values, strict=True):
            wrong = next((name for name in known if _text(value.get(name)) is None), None)
            if wrong:
                message = f"{wrong} is neither text, number, true, false nor a list of texts"
                findings.append(make_finding("text_invalid", message, line=line, column=wrong))
            else:
                rows.append((line, *(_text(value.get(name)) or None for name in known)))
        schema = {"line": pl.UInt64, **dict.fromkeys(known, pl.String)}
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        yield frame, sorted(findings, key=lambda finding: finding.line or 0)


def _text(value: Any) -> str | None:
    """Write a JSON value as the text a CSV file would hold; null becomes empty, None is no text."""
    if value is None:
        return ""
    if isinstance(value, list):
        return _LIST_SEPARATOR.join(value) if all(isinstance(v, str) for v in value) else None
    if isinstance(value, dict):
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)
