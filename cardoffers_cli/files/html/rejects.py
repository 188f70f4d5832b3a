"""Why rows of files were not accepted, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.findings import CODES, FILE_CODES
from cardoffers_cli.files.html.pages import Section
from cardoffers_cli.files.html.tables import Advice
from cardoffers_cli.files.report_columns import REJECTS
from cardoffers_cli.files.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_MOST = 15


def meaning(code: str) -> str:
    """Return what a code of a finding means, as a sentence without its full stop."""
    known = CODES.get(code) or FILE_CODES.get(code)
    text = known.summary if known else code.replace("_", " ")
    return text if "_" in text.split()[0] else text[:1].upper() + text[1:]


def rejects_section(
    rows: Sequence[Mapping[str, Any]], *, lines: Sequence[str] = ()
) -> Iterator[Section]:
    """Show why rows were not taken; rows as `services/imports.py` counts them, nothing for none."""
    if not rows:
        return
    ordered = sorted(rows, key=lambda row: (-row["errors"], row["code"], row["institution"]))
    named = [{**row, "meaning": Advice(meaning(row["code"]))} for row in ordered[:_MOST]]
    sheet = Sheet("rejects", REJECTS, named)
    yield Section(title="Rows that were not taken", lines=lines, sheet=sheet, in_all=len(ordered))
