"""Export everything stored about one cardholder: a CSV file for each table, and all as JSON.

The folder is new, and its owner's only, as the files in it are: full tokens are in them.
"""

from __future__ import annotations

from shutil import rmtree
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.kernel.disk.folders import make_folder, sync_folder_if_possible
from cardoffers_cli.kernel.sheets.exports import replacing, write_frame
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words import json_text
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.records import Record, shown
from cardoffers_cli.offers.links import CardholderUnknown, find_cardholder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


# Everything stored about one cardholder, table by table (rules.md#stored-of-a-cardholder).
#
# Every table of `kernel/store/schema.sql` is in it or, with the reason why nothing of it is,
# exported, in the list of `tests/privacy/test_privacy.py`.


_TABLES = {
    "of_cardholder": "cardholders instruments links engagement purchases unresolved_purchases"
    " refunds redemptions ledger_entries legal_holds withdrawn_purchases withdrawn_rows",
    "of_purchases": "purchase_details decisions outcomes",
    "of_redemptions": "ledger_moves adjustments outbox attempts credit_links",
    "of_refunds": "refund_links refund_outcomes refund_dismissals",
    "credits": "credits",
    "verdicts": "reconciliation_verdicts",
    "duplicates": "duplicates",
    "named": "offers",
    "bought_at": "identifiers",
}
EXPORTED = {
    table: f"privacy/export:{query}_{table}"
    for query, tables in _TABLES.items()
    for table in tables.split()
}
"""The statement that finds a cardholder's rows of each table."""


ALL = "cardholder.json"


class ExportedTable(Record):
    """How many rows of a cardholder one table has, and the file that they are in."""

    file: str
    table_name: str = shown("table")
    rows: int


class ExportedCardholder(Record):
    """The folder with everything stored about a cardholder; tables with nothing have no file."""

    institution: str
    folder: str
    tables: Sequence[ExportedTable]
    dry_run: bool


def export_cardholder(
    job: Job, institution: str, token: str, folder: Path, *, dry_run: bool = False
) -> ExportedCardholder:
    """Write all there is of a cardholder into a new folder.

    Raises `NotFound` for a stranger, and `Refused` where the folder is there already.
    """
    if folder.exists():
        raise Refused.from_table("privacy", "file_exists", folder=folder)
    with job.store(read_only=True) as store:
        owner = find_institution(store, institution)
        number = find_cardholder(store, owner.id, token)
        if number is None:
            raise CardholderUnknown(owner.slug)
        frames = {
            table: store.frame(EXPORTED[table], institution_id=owner.id, cardholder_no=number)
            for table in EXPORTED
        }
    frames = {table: frame for table, frame in frames.items() if frame.height}
    if not dry_run:
        write_tables(folder, frames, together=ALL)
    return ExportedCardholder(
        institution=owner.slug,
        folder=str(folder),
        tables=[
            ExportedTable(file=f"{table}.csv", table_name=table, rows=frame.height)
            for table, frame in frames.items()
        ],
        dry_run=dry_run,
    )


_OWNER_ONLY = 0o700
_MOMENT = "%Y-%m-%dT%H:%M:%S%.6fZ"


def write_tables(folder: Path, frames: Mapping[str, pl.DataFrame], *, together: str) -> None:
    """Write each frame as `<name>.csv`, and all into the file `together`; moments are naive UTC.

    Nothing is guarded: these are the texts as they are stored. Where it fails, as on a full disk,
    the folder goes too: half of what is kept of somebody is not to lie about as if it were all.
    """
    make_folder(folder.parent)
    folder.mkdir(_OWNER_ONLY)
    try:
        for name, frame in frames.items():
            with replacing(folder / f"{name}.csv") as out:
                write_frame(frame.with_columns(pl.col(pl.Datetime).dt.strftime(_MOMENT)), out)
        rows = {name: frame.to_dicts() for name, frame in frames.items()}
        with replacing(folder / together) as out:
            out.writelines(piece.encode() for piece in json_text.pieces(rows))
            out.write(b"\n")
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise
    sync_folder_if_possible(folder.parent)
