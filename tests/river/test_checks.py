from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.intake.transactions import FileReading
from cardoffers_cli.river.checks import validate
from cardoffers_cli.river.receiving import Outputs
from tables import NOON
from work import file_of, job, new_store, taken, tell

if TYPE_CHECKING:
    from pathlib import Path

ROWS = """
ref  cardholder  amount  at
1    ann         10.00   2026-06-01T12:00:00Z
2    ann         x       yesterday
1    ann         10.00   2026-06-01T12:00:00Z
1    ben         10.00   2026-06-01T12:00:00Z
3    -           0       2026-06-01T12:00:00Z
4    ann         0.07    2026-06-01T12:00:00Z
"""


def checked(path: Path, **outputs: Path) -> dict[str, Any]:
    reading = FileReading(now=NOON)
    return validate(str(path), reading, job(), outputs=Outputs(**outputs)).document()


def test_a_check_and_an_import_say_the_same(tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", ROWS)
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder")
    first = {name: tmp_path / f"checked-{name}" for name in ("errors", "valid", "rejected")}
    second = {name: tmp_path / f"taken-{name}" for name in ("errors", "valid", "rejected")}
    told, imported = checked(path, **first), taken(made, path, **second)
    assert ["references", "other_institutions"] == told["not_asked"]
    asked = {"not_asked": [], "can_earn": 0}  # the store knows no merchant
    assert {**told, **asked} == {name: imported[name] for name in told}
    assert told["valid"] == imported["accepted"] == 2
    assert [p.read_bytes() for p in first.values()] == [p.read_bytes() for p in second.values()]


def test_the_rows_that_are_good_make_a_file_that_is_good(tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", ROWS)
    checked(path, valid=tmp_path / "valid.csv")
    again = checked(tmp_path / "valid.csv")
    assert (True, 2, 0, 0) == tuple(
        again[name] for name in ("ok", "received", "invalid", "duplicates")
    )


def test_a_harmless_duplicate_is_no_fault_and_a_conflict_is(tmp_path: Path) -> None:
    for rows, ok in (("ref\n1\n1", True), ("ref amount\n1 1.00\n1 2.00", False)):
        assert ok == checked(file_of(tmp_path / "tx.csv", rows))["ok"]


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"", "file_empty"), (b"PK\x03\x04", "file_binary"), (b"a,b\n1,2\n", "header_missing")],
)
def test_a_file_that_cannot_be_read_is_told_and_counts_nothing(
    tmp_path: Path, content: bytes, code: str
) -> None:
    path = tmp_path / "tx.csv"
    path.write_bytes(content)
    told = checked(path, errors=tmp_path / "errors.csv")
    assert (code, False, 0) == (told["file_error"]["code"], told["ok"], told["received"])
    assert told["file_error"]["hint"]
    assert not (tmp_path / "errors.csv").exists()


def test_a_check_leaves_nothing_behind(tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", ROWS)
    checked(path)
    assert [path] == list(tmp_path.iterdir())
