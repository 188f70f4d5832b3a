"""The parts of the verdict on a transaction file, in the shape of `validate --format json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.findings import CODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cardoffers_cli.domain.errors import FileUnusable
    from cardoffers_cli.domain.findings import Finding


def about_code(found: Mapping[str, Any]) -> dict[str, object]:
    """Tell what was found in rows by one code: code, level, row_count, the first lines."""
    return {
        "code": found["code"],
        "level": found["level"],
        "rows": found["row_count"],
        "lines": found["lines"],
        "fix": CODES[found["code"]].fix,
    }


def about_file(finding: Finding) -> dict[str, object]:
    """Tell what was found of the file as a whole."""
    return {
        "code": finding.code,
        "level": finding.level,
        "rows": 0,
        "lines": [] if finding.line is None else [finding.line],
        "fix": CODES[finding.code].fix,
        "message": finding.message,
    }


def about_error(error: FileUnusable | None) -> dict[str, object] | None:
    """Tell why a file could not be read, if it could not."""
    if error is None:
        return None
    return {
        "code": error.code,
        "message": error.message,
        "line": error.details.get("line"),
        "hint": error.hint,
    }


def in_their_words(
    rows: Iterable[Mapping[str, Any]], labels: Mapping[str, str]
) -> Iterator[Mapping[str, Any]]:
    """Name in each finding the column of the file, where it is not called as our field."""
    for row in rows:
        label = labels.get(row["field"] or "", row["field"])
        if label == row["field"]:
            yield row
        else:
            message = row["message"] or CODES[row["code"]].summary
            yield {**row, "field": label, "message": f"{message} (column {label})"}
