"""The per-row report of a file: one line per finding, in the order of the file."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, BinaryIO

from cardoffers_cli.kernel.sheets.sheets import guard
from cardoffers_cli.kernel.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FIELDS = ("transaction_ref", "field", "code", "level", "message")


def write_findings(
    out: BinaryIO, findings: Iterable[Mapping[str, Any]], *, position: str = "line"
) -> None:
    """Write findings as CSV; `position` names the first column (`index` for JSON arrays)."""
    text = io.TextIOWrapper(out, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((position, "transaction_ref", "column", "code", "level", "message"))
    writer.writerows(
        (finding["line"], *(guard(visible(finding[name] or "")) for name in _FIELDS))
        for finding in findings
    )
    text.flush()
    text.detach()
