from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.sample.plan import Plan
from cardoffers_cli.sample.work import sample
from sizes import slow

if TYPE_CHECKING:
    from pathlib import Path


def test_each_file_is_told_with_its_rows_and_bytes(tmp_path: Path) -> None:
    told = {made["file"]: made for made in sample(tmp_path, Plan(rows=100, seed=1))}
    assert [
        "catalog/institutions.csv",
        "catalog/merchants.csv",
        "catalog/merchant_identifiers.csv",
        "catalog/offers.csv",
        "catalog/program_offers.csv",
        "catalog/links.csv",
        "catalog/engagement.csv",
        "transactions/larkmere.csv",
        "refunds/larkmere.csv",
        "transactions/tarnhollow.csv",
        "refunds/tarnhollow.csv",
    ] == list(told)
    assert (60, 40) == (
        told["transactions/larkmere.csv"]["rows"],
        told["transactions/tarnhollow.csv"]["rows"],
    )
    assert all((tmp_path / name).stat().st_size == made["bytes"] for name, made in told.items())


@slow
def test_other_files_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    list(sample(tmp_path, Plan(rows=100, seed=1)))
    list(sample(tmp_path, Plan(rows=100, seed=1)))
    there = {path.name for path in tmp_path.iterdir()}
    assert {"catalog", "transactions", "refunds", "notes.txt"} == there
    assert list(sample(tmp_path, Plan(rows=9, seed=1, institutions=1)))


@pytest.mark.parametrize(
    "options",
    [
        {"rows": 0},
        {"rows": 3, "institutions": 4},
        {"institutions": 0},
        {"institutions": 65},
        {"days": 0},
        {"files": 0},
        {"links": -1},
        {"refunds": -1},
        {"refunds": 101},
        {"seed": -1},
    ],
)
def test_a_plan_without_sense_is_refused_before_anything_is_written(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    with pytest.raises(UsageError):
        list(sample(tmp_path / "new", Plan(**({"rows": 100, "seed": 1} | options))))
    assert not (tmp_path / "new").exists()
