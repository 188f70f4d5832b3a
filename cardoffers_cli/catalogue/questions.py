"""What every catalogue file shares while it is taken in: its findings and its audit.

`findings` and `changes` are the tables that `begin` and `begin_file` made. All that is staged is
temporary; nothing opens a transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store


class CodeFindings(Record):
    """The findings of one code in one file: in so many rows, with the first lines and messages."""

    code: str
    level: str
    rows: int
    lines: Sequence[int]
    messages: Sequence[str]


class FieldChange(Record):
    """One field that was changed; values are the text that catalogue files have."""

    subject_id: str
    field: str
    old_value: str | None
    new_value: str | None


def rejected(store: Store, findings: Table, kind: str) -> int:
    """Count the rows of one file that were rejected."""
    return int(store.value("catalogue/questions:rejected", findings, kind=kind))
