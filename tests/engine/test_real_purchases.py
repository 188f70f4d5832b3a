"""Real purchases of a council: every table of a match is the same on both engines.

The data lies beside the repository, not in it; without it this is skipped.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.engine.duck import DuckEngine
from cardoffers_cli.engine.spark import SparkEngine
from cardoffers_cli.pipeline.redeem import hold
from commands import cardoffers
from engines import FOUND, GIVEN, differing, everything
from test_calderdale import DATA, SLUGS
from work import job

if TYPE_CHECKING:
    from pathlib import Path

    from sparks import Spark

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the data is not beside the repository")


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
        hold(store, 7)
        duck = DuckEngine(store.connection)
        for name in GIVEN:
            engine.put(name, duck.fetch(name))
        found = everything(duck)
        assert (expected["purchases"], expected["redeemed"]) == (
            found.considered,
            duck.count("redeemed"),
        )
        assert found == everything(engine)
        for name in FOUND:
            assert [] == differing(store, name, engine)
    engine.close()
