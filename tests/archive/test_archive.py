"""The statements that are told once for all archived tables: each is run, for each of them."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from cardoffers_cli.archive.archive import TABLES, begin, recent
from cardoffers_cli.archive.buckets import place_of
from cardoffers_cli.kernel.store.statements import statements
from cardoffers_cli.kernel.words.records import Record
from tables import select

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store


class Run(Record):
    """What a part is named after."""

    run_no: int
    run_id: UUID


EXTREMES: dict[str, list[Any]] = {
    "BIGINT": [1, 2**63 - 1],
    "INTEGER": [-(2**31), 2**31 - 1],
    "UUID": [UUID(int=0), UUID(int=2**128 - 1)],
    "VARCHAR": ["", "'\\\t\u20ac\U0001f600"],
    "DECIMAL(18,4)": [Decimal("-0.0001"), Decimal("99999999999999.9999")],
    "TIMESTAMP": [
        datetime(1970, 1, 1),  # noqa: DTZ001 - moments are naive UTC
        datetime(2100, 12, 31, 23, 59, 59, 999999),  # noqa: DTZ001 - as above
    ],
}
"""By type, the least and the greatest that a column may hold."""


@pytest.mark.parametrize("table", TABLES)
def test_whatever_a_table_holds_is_the_same_in_the_archive(
    store: Store, tmp_path: Path, table: str
) -> None:
    columns = select(store, f"describe recent_{table}")
    for row in (0, 1):
        put(store, table, {name: EXTREMES[kind][row] for name, kind, *_ in columns})
    put(store, table, {name: EXTREMES[kind][0] for name, kind, null, *_ in columns if null == "NO"})
    before = described(store, table), select(store, f"from {table} order by all")
    archive = begin(store, place_of(str(tmp_path / "history")))
    sums = recent(store)
    for number in range(3):
        run = Run(run_no=number, run_id=UUID(int=number))
        assert ({} if number else sums) == archive.move(run)
    archive.show()
    assert before == (described(store, table), select(store, f"from {table} order by all"))
    assert [] == select(store, f"from recent_{table}")
    [part] = archive.parts()
    assert (table, 3, 2 + 2**63 - 1) == (part.table_name, part.row_count, part.purchase_no_sum)
    amount = sum(row["amount"] for row in rows(store, table)) if table == "purchases" else None
    assert (amount, []) == (part.amount, archive.faults())


def put(store: Store, table: str, row: dict[str, Any]) -> None:
    marks = ", ".join("?" * len(row))
    store.connection.execute(
        f"insert into recent_{table} ({', '.join(row)}) values ({marks})",  # noqa: S608 - of our own
        [*row.values()],
    )


def described(store: Store, table: str) -> list[tuple[Any, ...]]:
    """Return the names and types of the columns of a view."""
    return [(name, kind) for name, kind, *_ in select(store, f"describe {table}")]


def rows(store: Store, table: str) -> list[dict[str, Any]]:
    names = [name for name, _ in described(store, table)]
    return [dict(zip(names, row, strict=True)) for row in select(store, f"from {table}")]


def test_every_archived_table_has_every_statement() -> None:
    of_tables: dict[str, set[str]] = {}
    for name in statements("archive/archive"):
        if found := re.fullmatch(rf"(.+?)_({'|'.join(TABLES)})", name):
            of_tables.setdefault(found[1], set()).add(found[2])
    expected = ("files_of", "show", "write", "recent", "sums", "empty")
    assert {name: {*TABLES} for name in expected} == of_tables


def test_a_block_for_each_table_has_the_columns_that_the_schema_tells() -> None:
    assert (
        "select purchase_no, institution_id, instrument_type, mcc, merchant_descriptor, network\n"
        "from recent_purchase_details\n"
    ) in statements("archive/archive")["show_purchase_details"]
    assert (
        "select purchase_no, cast(institution_id as uuid) as institution_id, instrument_type"
    ) in statements("archive/archive")["show_purchase_details"]
