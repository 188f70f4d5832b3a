"""Open a file of rows in whichever layout it is: our own, or one that a profile describes.

A profile describes purchases. A file of another kind of rows that lies among those of an
institution with a profile has the header of our own layout whole, and is read as that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.intake.profiles.reading import ProfiledFile
from cardoffers_cli.intake.recognising import is_of_other_kind
from cardoffers_cli.intake.sources import open_source
from cardoffers_cli.intake.transactions import TransactionFile, open_transactions
from cardoffers_cli.kernel.words.errors import FileUnusable

if TYPE_CHECKING:
    from cardoffers_cli.intake.chunks import FileReading
    from cardoffers_cli.intake.sources import Source


def open_layout(source: str | Source, reading: FileReading) -> TransactionFile:
    """Open a file as `open_transactions` does; with a profile in `reading`, by that."""
    if reading.profile is None:
        return open_transactions(source, reading)
    opened = open_source(source) if isinstance(source, str) else source
    try:
        if _is_in_our_layout(opened):
            return TransactionFile(opened, reading)
        return ProfiledFile(opened, reading, reading.profile)
    except BaseException:
        opened.close()
        raise


def _is_in_our_layout(source: Source) -> bool:
    try:
        return is_of_other_kind(source.head())
    except FileUnusable:  # what no text of ours is, its profile may read
        return False
