"""Real purchases of a council: every table of a match is the same on both engines.

The data lies beside the repository, not in it; without it this is skipped.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.archive.duck import DuckEngine
from cardoffers_cli.archive.spark import SparkEngine
from cardoffers_cli.river.redeem import counted
from commands import cardoffers
from engines import FOUND, differing, everything, handed_on_both
from sizes import at_the_gate
from test_calderdale import DATA, SLUGS
from work import job

if TYPE_CHECKING:
    from pathlib import Path

    from sparks import Spark

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the data is not beside the repository")


@at_the_gate
def test_the_engines_find_the_same(spark: Spark, tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    expected = json.loads((DATA / "expected.json").read_text())
    at = ("--store", path, "--as-of", expected["as_of"])
    cardoffers("init", *at)
    cardoffers("catalog", "import", DATA / "catalog", *at)
    for slug in SLUGS:
        cardoffers("import", DATA / f"{slug}.csv", "-i", slug, *at, exit_code=3)
    engine = SparkEngine.at(spark.url, str(tmp_path / "work"))
    with job(path).store() as store, store.transaction(keep=False):
        duck = DuckEngine(store.connection, store.tables)
        here, there = handed_on_both(store, engine)
        decided, mine = everything(duck, *here)
        counts = counted(duck, decided)
        assert (expected["purchases"], expected["redeemed"]) == (
            counts.considered,
            duck.count(mine["redeemed"]),
        )
        other, theirs = everything(engine, *there)
        assert counts == counted(engine, other)
        for name in FOUND:
            assert [] == differing(store, mine[name], engine, theirs[name])
    engine.close()
