"""Export everything stored about one cardholder: a CSV file for each table, and all as JSON.

The folder is new, and its owner's only, as the files in it are: full tokens are in them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.intake.table_folders import write_tables
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.records import Record, shown
from cardoffers_cli.offers.cardholders import CardholderUnknown, find_cardholder
from cardoffers_cli.privacy.personal_data import EXPORTED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

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
        raise Refused(
            f"There is something already at {folder}.",
            code="file_exists",
            hint="Name a new folder: this writes over nothing.",
        )
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
