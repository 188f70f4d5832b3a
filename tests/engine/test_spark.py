from __future__ import annotations

import random
from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from cardoffers_cli.engine.duck import DuckEngine
from cardoffers_cli.engine.spark import SparkEngine
from cardoffers_cli.engine.tables import HISTORY, TABLES, columns
from cardoffers_cli.pipeline.match import match
from cardoffers_cli.pipeline.redeem import Found, hold, redeem
from cardoffers_cli.pipeline.resolve import resolve
from cardoffers_cli.sql import statements
from tables import NOON, Row, given, put, select

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.engine.plan import Engine
    from cardoffers_cli.store.store import Store
    from sparks import Spark

GIVEN = (
    *("merchants", "identifiers", "offer_terms", "links", "reserved", "uses", "this_run"),
    *("purchases", "decisions"),
)
PLANS = ("resolve", "match", "redeem", "redeem_round", "outcome", "found")
FOUND = [name for plan in PLANS for name in statements(f"plan/{plan}") if name != "considered"]


@pytest.fixture
def engine(spark: Spark, tmp_path: Path) -> Iterator[SparkEngine]:
    with opened(spark, tmp_path) as engine:
        yield engine


@contextmanager
def opened(spark: Spark, folder: Path) -> Iterator[SparkEngine]:
    engine = SparkEngine.at(spark.url, str(folder / "work"))
    try:
        yield engine
    finally:
        engine.close()


# The same tables on both engines


@pytest.mark.parametrize("seed", range(4))
def test_random_catalogues_come_to_the_same_tables(
    store: Store, engine: SparkEngine, seed: int
) -> None:
    random_service(store, random.Random(seed))  # noqa: S311 - examples, not secrets
    hold(store, 7)
    duck = DuckEngine(store.connection)
    for name in GIVEN:
        engine.put(name, duck.fetch(name))
    found = everything(duck)
    assert found.refusals > 20
    assert found.rounds >= 3
    assert found == everything(engine)
    for name in FOUND:
        assert [] == differing(store, name, engine)


def everything(engine: Engine) -> Found:
    """Run all plans of a match."""
    resolve(engine)
    match(engine)
    return redeem(engine)


def differing(store: Store, name: str, engine: SparkEngine) -> list[Any]:
    """Return the rows that only one of both has, each as often as it has more of them."""
    theirs = engine.fetch(name).read_all()
    store.connection.register("theirs", theirs)
    names = ", ".join(theirs.column_names)
    mine = f"select {names} from {name}"  # noqa: S608 - of our own plans
    try:
        return select(store, f"({mine} except all from theirs)") + select(
            store, f"(from theirs except all {mine})"
        )
    finally:
        store.connection.unregister("theirs")


def random_service(store: Store, chance: random.Random) -> None:
    """Write a service whose offers are scarce, and whose purchases often come at one moment."""
    institutions = ["alder", "brook", "cedar"]
    cardholders = ["ann", "ben", "cat", "dan"]
    ids = ["7fffffff", "80000000", "0000000a"]  # text and number sort alike, signed or not
    put(
        store,
        "institutions",
        [
            {"institution": name, "institution_id": f"{first}-0000-0000-0000-000000000000"}
            for name, first in zip(institutions, ids, strict=True)
        ],
    )
    given(store, "merchants", "merchant\nbakery\ncinema\nmarket")
    given(store, "identifiers", "merchant identifier\nbakery M1\ncinema M2\n- M3")
    offers = [random_offer(name, chance) for name in ("A", "a", "Z", "é", "😀", "10", "9", "_")]
    put(store, "offers", offers)
    put(
        store,
        "links",
        [
            {"institution": institution, "cardholder": cardholder, "offer": offer["offer"]}
            | {"added_at": NOON + timedelta(microseconds=chance.choice([-9, -1, 0, 1]))}
            for institution in institutions
            for cardholder in cardholders
            for offer in offers
            if chance.random() < 0.8
        ],
    )
    put(
        store,
        "purchases",
        [
            random_purchase(number, chance.choice(institutions), chance.choice(cardholders), chance)
            for number in range(300)
        ],
    )
    given(
        store, "ledger", "offer cardholder amount status\nA ann 1.00 pending\nA ben 1.00 reversed"
    )


def random_offer(name: str, chance: random.Random) -> Row:
    return {
        "offer": name,
        "merchant": chance.choice(["bakery", "bakery", "cinema", "market"]),
        "cashback": chance.choice(["0.01", "1.00", "99999999999.9999"]),
        "rate": chance.choice(["0", "0.015", "0.333333"]),
        "budget": chance.choice([None, "0.05", "3.00", "10.00", "9999999999999.9999"]),
        "uses": chance.choice([None, "1", "2"]),
        "min_spend": chance.choice(["0", "10.00"]),
        "expires_at": NOON + timedelta(microseconds=chance.choice([1, 2, 9]), days=1),
    }


def random_purchase(
    number: int, institution: str, cardholder: str, chance: random.Random
) -> dict[str, Any]:
    merchant, identifier = chance.choice(
        [("bakery", None), ("cinema", "M1"), (None, "M1"), (None, "M2"), (None, "M3"), (None, None)]
        + [("market", None), ("florist", "M1")]
    )
    return {
        "ref": chance.choice(["r", "R", "0"]) + str(number),
        "institution": institution,
        "cardholder": cardholder,
        "merchant": merchant,
        "identifier": identifier,
        "amount": chance.choice(["9.99", "10.00", "999999999999.9999"]),
        "at": NOON + timedelta(microseconds=chance.randrange(-1, 3)),
    }
