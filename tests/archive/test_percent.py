"""Percent offers are decided on an engine as on DuckDB, table by table."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.archive.duck import DuckEngine
from cardoffers_cli.archive.spark import SparkEngine
from cardoffers_cli.river.match import depends_on_purchases
from cardoffers_cli.river.redeem import counted
from engines import FOUND_PRICED, differing, everything, handed_on_both
from percents import Loop, program, write
from sizes import FULL, GATE, at_the_gate
from tables import put, select

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store
    from sparks import Spark


@at_the_gate
@pytest.mark.parametrize("seed", range(8 if FULL else 1))
def test_percent_offers_come_to_the_same_tables(
    store: Store, spark: Spark, tmp_path: Path, seed: int
) -> None:
    made = program(random.Random(seed), 100 if GATE else 40)  # noqa: S311 - examples, not secrets
    write(store, made)
    put(store, "purchases", made.purchases)
    assert depends_on_purchases(store)
    duck = DuckEngine(store.connection, store.tables)
    engine = SparkEngine.at(spark.url, str(tmp_path / "work"))
    try:
        here, there = handed_on_both(store, engine)
        decided, mine = everything(duck, *here, is_priced=True)
        other, theirs = everything(engine, *there, is_priced=True)
        assert counted(duck, decided) == counted(engine, other)
        assert counted(duck, decided).rounds >= 3
        for name in FOUND_PRICED:
            assert [] == differing(store, mine[name], engine, theirs[name])
    finally:
        engine.close()
    loop = Loop(made.offers, [])
    loop.match(made.purchases)
    rows = select(
        store,
        "select transaction_ref, offer_id, outcome from "  # noqa: S608 - of our own plans
        f"{mine['outcomes_found'].identifier} join purchases using (purchase_no)"
        " join offers using (offer_no)",
    )
    assert loop.outcomes == {(ref, offer): outcome for ref, offer, outcome in rows}
