"""Write catalogue files in the format of import, templates of them, and the findings of an import.

The files are not guarded against spreadsheet formulas: a guard would change names that start with a
hyphen, and an export is there to be imported again. The report is. Templates are the examples of
`catalogue.txt`: somebody fills them in, and `cardoffers init --example` begins with them.
"""

from __future__ import annotations

import csv
from decimal import Decimal
from io import StringIO
from typing import TYPE_CHECKING, Any

import polars as pl

from cardoffers_cli.catalogue import forms
from cardoffers_cli.catalogue.files import KINDS
from cardoffers_cli.kernel.disk.folders import make_folder
from cardoffers_cli.kernel.sheets.exports import replacing, write_frame
from cardoffers_cli.kernel.words import json_text
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.money import AMOUNT_SCALE, MINOR_UNITS
from cardoffers_cli.kernel.words.records import Record, if_any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_REPORT = ("line", "transaction_ref", "column", "code", "level", "message", "file")


class CatalogueOutput(Record):
    """A file of the catalogue that was written, with so many rows; of a template its name alone."""

    file: str
    kind: str | None = if_any()
    rows: int
    dry_run: bool


def write_catalogue(path: Path, kind: str, rows: pl.DataFrame, *, mode: int) -> None:
    """Write rows of one kind as CSV or, where the path ends in `.json`, as a JSON array."""
    texts = rows.select(_text(name, dtype) for name, dtype in rows.schema.items())
    with replacing(path, mode=mode) as out:
        if path.suffix == ".json":
            kinds = {column.name: column.form.json for column in KINDS[kind].columns}
            items = (  # numbers and flags have the types of JSON, and what is empty is left out
                {name: _value(text, kinds[name]) for name, text in row.items() if text is not None}
                for row in texts.iter_rows(named=True)
            )
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
        # A spreadsheet is kept from reading text as a formula, as by `sheets.guard`.
        text = pl.col(pl.String)
        is_formula = text.str.contains(r"^[=+\-@\t\r]")
        write_frame(
            report.with_columns(
                pl.when(is_formula).then(pl.lit("'") + text).otherwise(text).name.keep()
            ),
            out,
        )


def _text(name: str, dtype: pl.DataType) -> pl.Expr:
    """Return the column as the text that import reads back."""
    column = pl.col(name)
    if dtype in {forms.RATE, forms.PERCENT}:
        return column.cast(pl.String).str.strip_chars_end("0").str.strip_chars_end(".")
    if isinstance(dtype, pl.Decimal):
        # The text holds zeros beyond the decimals of its currency.
        text = column.cast(pl.String)
        unit = pl.col("currency").replace_strict(MINOR_UNITS, return_dtype=pl.Int64)
        return text.str.head(text.str.len_bytes() - (AMOUNT_SCALE - unit)).str.strip_chars_end(".")
    if isinstance(dtype, pl.Datetime):
        return column.dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").str.replace(
            ".000000Z", "Z", literal=True
        )
    return column.cast(pl.String)


def _value(text: str, json: str) -> Any:
    match json:
        case "number":
            return Decimal(text)
        case "flag":
            return text == "true"
        case _:
            return text


EXAMPLES = {name: kind.example for name, kind in KINDS.items()}
"""One row of each kind of catalogue file; columns that are left out are empty."""

PURCHASE = {
    "cardholder_token": EXAMPLES["links"]["cardholder_token"],
    "card_token": EXAMPLES["links"]["card_token"],
    "card_acceptor_id": EXAMPLES["merchant_identifiers"]["merchant_identifier"],
    "amount": "12.40",
    "transaction_ref": "example-0001",
    "transacted_at": "2026-01-03T12:30:00Z",
}
"""A purchase that redeems the offer."""

TRANSACTIONS = "transactions"


def templates() -> dict[str, str]:
    """Return the text of every template by the name of its file."""
    files = {f"{name}.csv": _csv(list(kind.names), EXAMPLES[name]) for name, kind in KINDS.items()}
    return {**files, f"{TRANSACTIONS}.csv": _csv(list(PURCHASE), PURCHASE)}


def write_templates(folder: Path, *, dry_run: bool = False) -> list[Path]:
    """Write the templates into a folder; return their paths. Raises `Refused` where one is."""
    paths = {folder / name: text for name, text in templates().items()}
    for path in paths:
        if path.exists():
            raise Refused.from_table("catalogue", "file_exists", path=path)
    if not dry_run:
        make_folder(folder)
        for path, text in paths.items():
            with replacing(path) as out:
                out.write(text.encode())
    return list(paths)


def _csv(names: list[str], row: dict[str, str]) -> str:
    out = StringIO()
    writer = csv.DictWriter(out, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerow(row)
    return out.getvalue()
