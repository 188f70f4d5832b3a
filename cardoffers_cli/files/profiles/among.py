"""The refunds among the rows of an institution's own file, read as a file of refunds is.

What an import takes behind the purchases of the same file: the rows whose amounts are negative,
where the profile says that these are refunds (rules.md#refunds-among-purchases).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.row_kinds import REFUNDS
from cardoffers_cli.files.profiles.reading import ProfiledFile
from cardoffers_cli.files.profiles.refunds import NAMES, as_refunds

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from cardoffers_cli.domain.findings import Finding
    from cardoffers_cli.files.profiles.translation import Translated


class RefundsAmong(ProfiledFile):
    """The refunds of a file whose rows are read first: its source is read again, and not closed.

    What is learnt of the references of the purchases holds of those of the refunds too.
    """

    rows_are = REFUNDS

    def __init__(self, file: ProfiledFile) -> None:
        super().__init__(file.source, file.reading, file.profile)
        self.labels = {NAMES.get(name, name): label for name, label in self.labels.items()}
        self.share_numbers(file.numbers)

    @property
    def file_findings(self) -> list[Finding]:
        """Return nothing: what holds of the file is said with its purchases."""
        return []

    def _pages(self) -> Iterator[tuple[pl.DataFrame, list[Finding], bool]]:
        for found, _ in self.translated():
            yield as_refunds(found.refunded), [], False
        self.blank_lines = 0  # they are told with the purchases

    def note(self, found: Translated, faulted: int) -> None:
        """Count a stretch: of its rows those that are refunds."""
        super().note(found, faulted)
        self.received = self.refunds


def refunds_among(file: object) -> RefundsAmong | None:
    """Return the refunds of a file; None where no profile says that there may be any."""
    if isinstance(file, ProfiledFile) and file.profile.negatives == "refund":
        return RefundsAmong(file)
    return None
