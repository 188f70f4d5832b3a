from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from cardoffers_cli.intake.chunks import NO_ROWS, with_fingerprints
from cardoffers_cli.intake.transactions import FileReading, open_transactions
from cardoffers_cli.kernel.words.row_kinds import PURCHASES
from cardoffers_cli.river.judge import (
    find_common,
    find_repeats,
    findings,
    first_findings,
    none_known,
    note_repeats,
    rejected_lines,
    tokens_look_rotated,
)
from cardoffers_cli.river.stage import stage_slim
from tables import NOON, rows_of
from work import Row, file_of

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.river.handles import Repeats, Staged


@dataclass(frozen=True)
class Judged:
    """A file as a check stages it, and the rows of it that repeat others."""

    staged: Staged
    repeats: Repeats
    received: int


def judged(store: Store, folder: Path, rows: str | list[Row]) -> Judged:
    path = file_of(folder / "tx.csv", rows)
    with open_transactions(str(path), FileReading(now=NOON)) as file:
        chunks = [
            (with_fingerprints(chunk.rows, seed=1), chunk.findings, chunk.doubts)
            for chunk in (NO_ROWS, *file.chunks())
        ]
        (staged,) = stage_slim(store, ((each,) for each in chunks), [PURCHASES])
        repeats = find_repeats(store, staged, none_known(store))
        return Judged(staged, repeats, file.received)


def noted(store: Store, folder: Path, rows: str | list[Row]) -> Judged:
    made = judged(store, folder, rows)
    none_alike = store.define("river/judge:no_look_alikes")
    note_repeats(store, made.staged, made.repeats, none_alike, "line")
    return made


def by_code_of(store: Store, made: Judged) -> list[dict[str, Any]]:
    return store.rows("river/judge:summary", made.staged.findings)


def found_repeats(made: Judged) -> tuple[int, int]:
    return made.repeats.duplicates, made.repeats.conflicts


def test_the_first_row_of_a_ref_wins(store: Store, tmp_path: Path) -> None:
    made = judged(
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
    assert (4, 2) == found_repeats(made)
    repeated = {line: is_conflict for line, _, is_conflict, *_ in rows_of(store, made.repeats.rows)}
    assert {4: False, 5: True, 7: True, 8: False} == repeated
    assert [4, 5, 6, 7, 8] == rejected_lines(store, made.staged.findings, [made.repeats]).to_list()


def test_an_invalid_row_does_not_take_up_its_ref(store: Store, tmp_path: Path) -> None:
    assert (0, 0) == found_repeats(judged(store, tmp_path, "ref amount\n1 x\n1 1.00"))


def test_findings_by_code_name_the_first_twenty_lines(store: Store, tmp_path: Path) -> None:
    rows = [{"ref": str(n), "amount": "x", "identifier": "M1"} for n in range(30)]
    rows += [{"ref": "known", "identifier": "M1", "amount": amount} for amount in "1213"]
    made = noted(store, tmp_path, rows)
    by_code = {row["code"]: row for row in by_code_of(store, made)}
    assert (30, list(range(2, 22))) == tuple(
        by_code["amount_invalid"][name] for name in ("row_count", "lines")
    )
    assert (1, [34]) == tuple(by_code["duplicate"][name] for name in ("row_count", "lines"))
    assert (2, [33, 35]) == tuple(
        by_code["duplicate_conflict"][name] for name in ("row_count", "lines")
    )
    assert "error" == by_code_of(store, made)[0]["level"]


def test_a_row_with_a_finding_in_two_columns_is_one_of_the_twenty(
    store: Store, tmp_path: Path
) -> None:
    rows = [{"ref": "", "amount": "", "identifier": "M1"} for _ in range(30)]
    (found,) = (
        row
        for row in by_code_of(store, noted(store, tmp_path, rows))
        if row["code"] == "required_missing"
    )
    assert (30, list(range(2, 22))) == (found["row_count"], found["lines"])


def test_findings_come_in_the_order_of_the_lines(store: Store, tmp_path: Path) -> None:
    rows = [{"ref": str(n % 90_000), "identifier": "M1"} for n in range(120_000)]
    made = noted(store, tmp_path, rows)
    rows_found = findings(store, made.staged.findings)
    repeats = [row["line"] for row in rows_found if row["code"] == "duplicate"]
    assert list(range(90_002, 120_002)) == repeats
    most, few = (find_common(store, made.staged.findings, rows) for rows in (120_000, 1_000_000))
    assert ["token_weak"] == [row["code"] for row in store.rows("river/judge:common", most)]
    assert [] == first_findings(store, made.staged.findings, most, 7)
    assert [] == store.rows("river/judge:common", few)
    first = first_findings(store, made.staged.findings, few, 7)
    assert [2, 3, 4, 5, 6, 7, 8] == [row["line"] for row in first]


@pytest.mark.parametrize(
    ("rows", "repeated", "rotated"),
    [(1000, 0, False), (1001, 0, True), (2000, 9, True), (2000, 40, False)],
)
def test_tokens_look_rotated_when_hardly_any_comes_twice(
    store: Store, tmp_path: Path, rows: int, repeated: int, rotated: bool
) -> None:
    tokens = [{"ref": str(n), "cardholder": f"ch_{n % (rows - repeated)}"} for n in range(rows)]
    made = judged(store, tmp_path, tokens)
    assert rotated == tokens_look_rotated(store, made.staged, made.received)


def test_no_findings_are_no_lines(store: Store, tmp_path: Path) -> None:
    made = judged(store, tmp_path, [])
    common = find_common(store, made.staged.findings, 0)
    assert [] == store.rows("river/judge:common", common)
    assert [] == [*findings(store, made.staged.findings), *by_code_of(store, made)]
    assert [] == first_findings(store, made.staged.findings, common, 5)
    rejected = rejected_lines(store, made.staged.findings, [made.repeats])
    assert pl.Series("line", [], pl.UInt64).equals(rejected)
