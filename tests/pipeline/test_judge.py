from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from cardoffers_cli.files.fingerprints import with_fingerprints
from cardoffers_cli.files.transactions import Reading, open_transactions
from cardoffers_cli.pipeline.judge import (
    Verdicts,
    common_findings,
    find_look_alikes,
    findings,
    first_findings,
    judge,
    note_repeats,
    rejected_lines,
    summary,
    tokens_look_rotated,
)
from cardoffers_cli.pipeline.stage import stage_slim
from tables import NOON, select
from work import Row, file_of

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.store.store import Store


def staged(store: Store, folder: Path, rows: str | list[Row]) -> int:
    """Stage a file as a check does; return how many rows it has."""
    path = file_of(folder / "tx.csv", rows)
    with open_transactions(str(path), Reading(now=NOON)) as file:
        stage_slim(
            store,
            [
                (with_fingerprints(chunk.rows, seed=1), chunk.findings, chunk.doubts)
                for chunk in file.chunks()
            ],
        )
        return file.received


def note_repeats_alone(store: Store) -> None:
    find_look_alikes(store, None, with_history=False)
    note_repeats(store, "line")


def test_the_first_row_of_a_ref_wins(store: Store, tmp_path: Path) -> None:
    staged(
        store,
        tmp_path,
        """
        ref  amount
        1    1.00
        2    1.00
        1    1.00
        1    2.00
        2    x
        2    3.00
        1    1.00
        """,
    )
    assert Verdicts(duplicates=4, conflicts=2) == judge(store, None)
    assert [(4, False), (5, True), (7, True), (8, False)] == select(
        store, "select line, is_conflict from staged_duplicates order by line"
    )
    assert [4, 5, 6, 7, 8] == rejected_lines(store).to_list()


def test_an_invalid_row_does_not_take_up_its_ref(store: Store, tmp_path: Path) -> None:
    staged(store, tmp_path, "ref amount\n1 x\n1 1.00")
    assert Verdicts(duplicates=0, conflicts=0) == judge(store, None)


def test_findings_by_code_name_the_first_twenty_lines(store: Store, tmp_path: Path) -> None:
    rows = [{"ref": str(n), "amount": "x", "identifier": "M1"} for n in range(30)]
    rows += [{"ref": "known", "identifier": "M1", "amount": amount} for amount in "1213"]
    staged(store, tmp_path, rows)
    judge(store, None)
    note_repeats_alone(store)
    by_code = {row["code"]: row for row in summary(store)}
    assert (30, list(range(2, 22))) == tuple(
        by_code["amount_invalid"][name] for name in ("row_count", "lines")
    )
    assert (1, [34]) == tuple(by_code["duplicate"][name] for name in ("row_count", "lines"))
    assert (2, [33, 35]) == tuple(
        by_code["duplicate_conflict"][name] for name in ("row_count", "lines")
    )
    assert "error" == summary(store)[0]["level"]


def test_findings_come_in_the_order_of_the_lines(store: Store, tmp_path: Path) -> None:
    rows = [{"ref": str(n % 90_000), "identifier": "M1"} for n in range(120_000)]
    staged(store, tmp_path, rows)
    judge(store, None)
    note_repeats_alone(store)
    repeats = [row["line"] for row in findings(store) if row["code"] == "duplicate"]
    assert list(range(90_002, 120_002)) == repeats
    assert ["token_weak"] == [row["code"] for row in common_findings(store, 120_000)]
    assert [] == first_findings(store, 7)
    assert [] == common_findings(store, 1_000_000)
    assert [2, 3, 4, 5, 6, 7, 8] == [row["line"] for row in first_findings(store, 7)]


@pytest.mark.parametrize(
    ("rows", "repeated", "rotated"),
    [(1000, 0, False), (1001, 0, True), (2000, 9, True), (2000, 40, False)],
)
def test_tokens_look_rotated_when_hardly_any_comes_twice(
    store: Store, tmp_path: Path, rows: int, repeated: int, rotated: bool
) -> None:
    tokens = [{"ref": str(n), "cardholder": f"ch_{n % (rows - repeated)}"} for n in range(rows)]
    received = staged(store, tmp_path, tokens)
    assert rotated == tokens_look_rotated(store, received)


def test_no_findings_are_no_lines(store: Store, tmp_path: Path) -> None:
    staged(store, tmp_path, [])
    judge(store, None)
    assert [] == common_findings(store, 0)
    assert ([], [], []) == (list(findings(store)), summary(store), first_findings(store, 5))
    assert pl.Series("line", [], pl.UInt64).equals(rejected_lines(store))
