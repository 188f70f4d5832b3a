from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl
import pytest

from cardoffers_cli.intake.transactions import FileReading, open_transactions
from cardoffers_cli.kernel.words.errors import FileUnusable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = datetime(2026, 11, 1)  # noqa: DTZ001 - moments are naive UTC inside the product


@dataclass(frozen=True)
class Outcome:
    """What came of reading one file."""

    kind: str
    rows: pl.DataFrame
    findings: list[tuple[int, str]]
    columns: list[tuple[int, str | None, str]]
    rejected: list[int]
    counts: tuple[int, int, int]
    warnings: list[str]
    sha256: str
    assumed_timezone: bool
    text: str


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Outcome | str]:
    """Return a function that reads bytes as a transaction file: its outcome, or the file's code."""

    def read_bytes(content: bytes, **options: object) -> Outcome | str:
        path = tmp_path / "transactions"
        path.write_bytes(content)
        return outcome_of(str(path), FileReading(**{"now": NOW, **options}))

    return read_bytes


def outcome_of(source: str, reading: FileReading) -> Outcome | str:
    try:
        with open_transactions(source, reading) as file:
            chunks = list(file.chunks())
            findings = pl.concat(chunk.findings for chunk in chunks)
            return Outcome(
                kind=file.kind,
                rows=pl.concat(chunk.rows for chunk in chunks),
                findings=findings.select("line", "code").rows(),
                columns=findings.select("line", "column", "code").rows(),
                rejected=pl.concat(chunk.rejected for chunk in chunks).to_list(),
                counts=(file.received, file.invalid, file.blank_lines),
                warnings=[finding.code for finding in file.file_findings],
                sha256=file.sha256,
                assumed_timezone=file.assumed_timezone,
                text=str(findings.rows()) + str(file.file_findings),
            )
    except FileUnusable as error:
        return error.code
