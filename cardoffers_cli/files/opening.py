"""Open a transaction file in whichever layout it is: our own, or one that a profile describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.files.profiles.reading import ProfiledFile
from cardoffers_cli.files.sources import open_source
from cardoffers_cli.files.transactions import TransactionFile, open_transactions

if TYPE_CHECKING:
    from cardoffers_cli.files.chunks import FileReading
    from cardoffers_cli.files.sources import Source


def open_layout(source: str | Source, reading: FileReading) -> TransactionFile:
    """Open a file as `open_transactions` does; with a profile in `reading`, by that."""
    if reading.profile is None:
        return open_transactions(source, reading)
    opened = open_source(source) if isinstance(source, str) else source
    try:
        return ProfiledFile(opened, reading, reading.profile)
    except BaseException:
        opened.close()
        raise
