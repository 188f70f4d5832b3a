"""Write catalogue files in the format of import, and the report of an import's findings.

The files are not guarded against spreadsheet formulas: a guard would change names that start with a
hyphen, and an export is there to be imported again. The report is.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl

from cardoffers_cli.domain import json_text
from cardoffers_cli.domain.money import AMOUNT_SCALE, MINOR_UNITS
from cardoffers_cli.files import forms
from cardoffers_cli.files.catalogue_kinds import KINDS
from cardoffers_cli.files.exports import replacing, write_frame

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_REPORT = ("line", "transaction_ref", "column", "code", "level", "message", "file")


def write_catalogue(path: Path, kind: str, rows: pl.DataFrame, *, mode: int) -> None:
    """Write rows of one kind as CSV or, where the path ends in `.json`, as a JSON array."""
    texts = rows.select(_text(name, dtype) for name, dtype in rows.schema.items())
    with replacing(path, mode=mode) as out:
        if path.suffix == ".json":
            items = (_typed(row, kind) for row in texts.iter_rows(named=True))
            out.writelines(piece.encode() for piece in json_text.pieces(items, indent=1))
            out.write(b"\n")
        else:
            write_frame(texts, out)


def write_report(path: Path, findings: Sequence[tuple[str, pl.DataFrame]], *, mode: int) -> None:
    """Write the findings of each file, in line order, as CSV.

    The columns are those of the report on a transaction file, whose reference stays empty, and the
    name of the file.
    """
    frames = [
        frame.rename({"field": "column"}).with_columns(
            transaction_ref=pl.lit(None, pl.String), file=pl.lit(name)
        )
        for name, frame in findings
    ]
    empty = pl.DataFrame(schema={**dict.fromkeys(_REPORT, pl.String), "line": pl.UInt64})
    with replacing(path, mode=mode) as out:
        report = pl.concat([empty, *(frame.select(_REPORT) for frame in frames)])
        write_frame(report.with_columns(_guarded(pl.col(pl.String))), out)


def _guarded(text: pl.Expr) -> pl.Expr:
    """Keep a spreadsheet from reading text as a formula, as `sheets.guard` does."""
    is_formula = text.str.contains(r"^[=+\-@\t\r]")
    return pl.when(is_formula).then(pl.lit("'") + text).otherwise(text).name.keep()


def _text(name: str, dtype: pl.DataType) -> pl.Expr:
    """Return the column as the text that import reads back."""
    column = pl.col(name)
    if dtype == forms.RATE:
        return column.cast(pl.String).str.strip_chars_end("0").str.strip_chars_end(".")
    if isinstance(dtype, pl.Decimal):
        return _amount(column)
    if isinstance(dtype, pl.Datetime):
        return column.dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").str.replace(
            ".000000Z", "Z", literal=True
        )
    return column.cast(pl.String)


def _amount(column: pl.Expr) -> pl.Expr:
    """Cut an amount's text to the decimals of its currency; it holds zeros beyond them."""
    text = column.cast(pl.String)
    unit = pl.col("currency").replace_strict(MINOR_UNITS, return_dtype=pl.Int64)
    return text.str.head(text.str.len_bytes() - (AMOUNT_SCALE - unit)).str.strip_chars_end(".")


def _typed(row: dict[str, str | None], kind: str) -> dict[str, Any]:
    """Give a row's numbers and flags the types they have in JSON; leave out what is empty."""
    kinds = {column.name: column.form.json for column in KINDS[kind].columns}
    return {name: _value(text, kinds[name]) for name, text in row.items() if text is not None}


def _value(text: str, json: str) -> Any:
    match json:
        case "number":
            return Decimal(text)
        case "flag":
            return text == "true"
        case _:
            return text
