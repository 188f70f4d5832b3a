"""Why rows were not accepted, counted."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.river.stored_imports import rejects_by_code
from tables import NOON, given, uid

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store

REJECTS = """
    import institution line code
    1      alder       2    amount_invalid
    1      alder       2    token_invalid
    1      alder       3    amount_invalid
    2      alder       2    amount_invalid
    3      brook       2    field_count
"""
HOUR = timedelta(hours=1)
IMPORT = {
    "file_name": "a.csv",
    "file_kind": "csv",
    "kind_of_rows": "purchases",
    "file_sha256": "",
    "size_bytes": 1,
    "received": 2,
    "accepted": 0,
    "duplicates": 0,
    "conflicts": 0,
    "invalid": 2,
    "blank_lines": 0,
    "amount_accepted": 0,
    "currency": "GBP",
    "options": "{}",
}


@pytest.fixture
def imported(store: Store) -> Store:
    """Files of runs 11, 12 and 13, an hour apart."""
    given(store, "institutions", "institution\nalder\nbrook")
    for number, institution in enumerate(("alder", "alder", "brook"), 1):
        record = {
            **IMPORT,
            "import_no": number,
            "import_id": uid(f"import {number}"),
            "institution_id": uid(institution),
            "run_no": 10 + number,
            "imported_at": NOON + number * HOUR,
        }
        store.execute("river/stored_imports:record", **record)
    for row in REJECTS.strip().splitlines()[1:]:
        number, institution, line, code = row.split()
        store.connection.execute(
            "insert into rejects values ($1, $2, $3, null, null, $4, '')",
            [int(number), uid(institution), int(line), code],
        )
    return store


@pytest.mark.parametrize(
    ("expected", "restricted"),
    [
        ("alder amount_invalid 3 3 2, alder token_invalid 1 1 1, brook field_count 1 1 1", {}),
        ("brook field_count 1 1 1", {"institution_id": uid("brook")}),
        ("brook field_count 1 1 1", {"from_at": NOON + 3 * HOUR}),
        ("alder amount_invalid 2 2 1, alder token_invalid 1 1 1", {"to_at": NOON + 2 * HOUR}),
        ("alder amount_invalid 1 1 1", {"after_run_no": 11, "to_run_no": 12}),
        ("", {"after_run_no": 13}),
    ],
    ids=["all", "institution", "from", "to", "runs", "none"],
)
def test_rejects_are_counted_by_code(
    imported: Store, expected: str, restricted: dict[str, Any]
) -> None:
    rows = rejects_by_code(imported, **restricted)
    assert expected == ", ".join(" ".join(map(str, row.values())) for row in rows)
