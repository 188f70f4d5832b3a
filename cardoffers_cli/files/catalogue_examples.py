"""A catalogue of one row of each kind, and a purchase that redeems by it.

They are the templates that somebody fills in, what `cardoffers init --example` begins with, and one
example of every column. All rows fit each other, so that what is written can be imported as it is.
"""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import Refused
from cardoffers_cli.files.catalogue_kinds import KINDS
from cardoffers_cli.files.exports import replacing
from cardoffers_cli.files.lasting import make_folder

if TYPE_CHECKING:
    from pathlib import Path

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
            raise Refused(
                f"There is a file already at {path}.",
                code="file_exists",
                hint="Name another folder: a template is never written over something else.",
            )
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
