"""Read a catalogue file (CSV, JSON or JSON Lines) into frames of text columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from cardoffers_cli.kernel.words.findings import make_finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cardoffers_cli.intake.paging import RecordFile
    from cardoffers_cli.kernel.words.findings import Finding

_LIST_SEPARATOR = "|"


def pages(file: RecordFile, names: Sequence[str]) -> Iterator[tuple[pl.DataFrame, list[Finding]]]:
    """Read a file page by page: frames of text, and what is wrong with records that have none.

    A frame has `line` (u64) and a String column for each known one, in the order asked for, null
    where absent or empty. JSON numbers keep their text, true and false become text, lists of texts
    become `a|b`; other values become a finding. Raises `FileUnusable`.
    """
    return _csv_pages(file, names) if file.kind == "csv" else _json_pages(file, names)


def _csv_pages(
    file: RecordFile, names: Sequence[str]
) -> Iterator[tuple[pl.DataFrame, list[Finding]]]:
    for page in file.csv_pages():
        absent = [
            pl.lit(None, pl.String).alias(name) for name in names if name not in page.frame.columns
        ]
        yield page.frame.with_columns(absent).select("line", *names), page.findings


def _json_pages(
    file: RecordFile, names: Sequence[str]
) -> Iterator[tuple[pl.DataFrame, list[Finding]]]:
    for page in file.object_pages():
        rows, findings = [], [*page.findings]
        for line, value in zip(page.positions, page.values, strict=True):
            wrong = next((name for name in names if _text(value.get(name)) is None), None)
            if wrong:
                message = f"{wrong} is neither text, number, true, false nor a list of texts"
                findings.append(make_finding("text_invalid", message, line=line, column=wrong))
            else:
                rows.append((line, *(_text(value.get(name)) or None for name in names)))
        schema = {"line": pl.UInt64, **dict.fromkeys(names, pl.String)}
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
