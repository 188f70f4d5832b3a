from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.store.runs import finish_run, run_record, start_run
from tables import NOON, select
from work import new_store

if TYPE_CHECKING:
    from pathlib import Path


def test_runs_are_numbered_from_one_and_keep_their_counts(tmp_path: Path) -> None:
    with new_store(tmp_path).store() as store:
        for kind in ("import", "match"):
            run = start_run(store, kind=kind, now=NOON, actor="ann")
            finish_run(store, run, {"rows": run.run_no, "sum": {"GBP": Decimal("1.50")}})
        assert [
            (1, "import", NOON, "ann", '{"rows": 1, "sum": {"GBP": "1.50"}}'),
            (2, "match", NOON, "ann", '{"rows": 2, "sum": {"GBP": "1.50"}}'),
        ] == select(store, "select run_no, kind, as_of, actor, counts from runs order by run_no")


def test_a_record_keeps_what_its_block_counts_and_nothing_of_one_that_fails(
    tmp_path: Path,
) -> None:
    with new_store(tmp_path).store() as store:
        with store.transaction(), run_record(store, kind="match", now=NOON, actor="ann") as run:
            run.counts["rows"] = 3
        with (
            pytest.raises(ZeroDivisionError),
            store.transaction(),
            run_record(store, kind="settle", now=NOON, actor="bob") as failed,
        ):
            failed.counts["rows"] = 1 // 0
        assert [(1, "match", NOON, "ann", '{"rows": 3}')] == select(
            store, "select run_no, kind, as_of, actor, counts from runs"
        )


def test_a_run_is_found_by_its_id(tmp_path: Path) -> None:
    with new_store(tmp_path).store() as store:
        run = start_run(store, kind="settle", now=datetime(2026, 1, 1), actor="bob")  # noqa: DTZ001
        assert [(run.run_no, 4)] == [
            (number, run_id.version)
            for number, run_id in select(store, "select run_no, run_id from runs")
        ]
