"""A match that spark-submit runs, in the session it made; where Apache Spark is tried at all."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli import __main__
from cardoffers_cli.kernel.sheets.exports import copy_sample_data
from commands import cardoffers
from sparks import MASTERS, SERVERS, spark_home

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(MASTERS[0] not in SERVERS, reason="CARDOFFERS_SPARK_TESTS is unset")


def test_a_match_under_spark_submit_finds_the_same(tmp_path: Path) -> None:
    copy_sample_data(tmp_path)
    store = tmp_path / "store.duckdb"
    at = ("--store", store, "--as-of", "2026-11-01T00:00:00Z", "--format", "json")
    cardoffers("init", *at)
    cardoffers("catalog", "import", tmp_path / "catalog", *at)
    for file in sorted((tmp_path / "transactions").glob("*.csv")):
        cardoffers("import", file, "-i", file.stem, *at, exit_code=None)
    copy = shutil.copy(store, tmp_path / "copy.duckdb")
    cardoffers("store", "export", "--to", tmp_path / "history", "--store", copy)
    here = cardoffers("match", *at).document
    home = spark_home()
    submit = f"{home}/bin/spark-submit --master {MASTERS[0]} {__main__.__file__}"
    match = ["match", "--engine", "session", *map(str, at), "--store", str(copy)]
    told = subprocess.run(
        [*submit.split(), *match],
        env={**os.environ, "SPARK_HOME": home, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=True,
    )
    there = json.loads(told.stdout)
    assert here["redeemed"] > 0
    assert {**here, "run_id": None} == {**there, "run_id": None}
