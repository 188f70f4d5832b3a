from __future__ import annotations

import random
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from cardoffers_cli.archive import spark as module
from cardoffers_cli.archive.archive import Sums
from cardoffers_cli.archive.duck import DuckEngine
from cardoffers_cli.archive.spark import SparkEngine
from cardoffers_cli.archive.target import rows_of, stored
from cardoffers_cli.kernel.store.binding import declared
from cardoffers_cli.river.redeem import counted, keep_decisions
from cardoffers_cli.river.resolve import find_not_redeemed, find_undecided, keep_waiting
from engines import FOUND, differing, everything, handed_on_both
from sizes import GATE, at_the_gate, slow
from tables import NOON, Row, given, moment, put, temporary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store
    from sparks import Spark

NAMED = [
    *(("bakery", None), ("market", None), ("cinema", "M1"), ("florist", "M1")),
    *((None, "M1"), (None, "M2"), (None, "M3"), (None, None)),
]
"""The merchant and the identifier that a purchase is sent with."""
CHANGES = [
    "amount = amount + 0.0001",
    "transacted_at = transacted_at + to_microseconds(1)",
    "identifier_no = coalesce(identifier_no + 1, 1)",
    "identifier_no = null",
    "merchant_id = institution_id",
    "merchant_id = null",
    "cardholder_no = cardholder_no + 1",
    "instrument_no = instrument_no + 1",
    "institution_id = '0000000a-0000-0000-0000-000000000000'",
    "transaction_ref = lower(transaction_ref)",
    "transaction_ref = '0' || transaction_ref",
]
"""What another row may say otherwise of the same purchase."""


@pytest.fixture
def engine(spark: Spark, tmp_path: Path) -> Iterator[SparkEngine]:
    engine = SparkEngine.at(spark.url, str(tmp_path / "work"))
    yield engine
    engine.close()


# The same tables on both engines


@at_the_gate
@pytest.mark.parametrize("seed", range(4 if GATE else 1))
def test_random_catalogues_come_to_the_same_tables(
    store: Store, engine: SparkEngine, seed: int
) -> None:
    random_service(store, random.Random(seed))  # noqa: S311 - examples, not secrets
    duck = DuckEngine(store.connection, store.tables)
    here, there = handed_on_both(store, engine)
    decided, mine = everything(duck, *here)
    counts = counted(duck, decided)
    assert counts.refusals > 20
    assert counts.rounds >= 3
    assert duck.count(mine["later_periods"]) >= 1
    other, theirs = everything(engine, *there)
    assert counts == counted(engine, other)
    for name in FOUND:
        assert [] == differing(store, mine[name], engine, theirs[name])


@slow
def test_what_was_decided_is_left_alone_but_for_a_rematch(
    store: Store, engine: SparkEngine
) -> None:
    random_service(store, random.Random(9))  # noqa: S311 - examples, not secrets
    duck = DuckEngine(store.connection, store.tables)
    here, _ = handed_on_both(store, engine)
    keep_decisions(store, everything(duck, *here)[0])
    keep_waiting(store, run_no=7)
    given(store, "identifiers", "identifier merchant\nM3 bakery")
    here, there = handed_on_both(store, engine)
    for mine, theirs in (
        (find_undecided(duck, here[0]), find_undecided(engine, there[0])),
        (
            find_not_redeemed(duck, here[0].refunded),
            find_not_redeemed(engine, there[0].refunded),
        ),
    ):
        assert 0 < duck.count(mine.purchases) < 300
        assert [] == differing(store, mine.purchases, engine, theirs.purchases)
        assert [] == differing(store, mine.said_unknown, engine, theirs.said_unknown)


def test_the_refs_seen_before_and_their_conflicts_are_the_same(
    store: Store, engine: SparkEngine
) -> None:
    random_service(store, random.Random(5))  # noqa: S311 - examples, not secrets
    _, *columns = declared("river/plan/dedupe:known_refs").handed["staged_refs"]
    again = f"select purchase_no as line, {', '.join(columns)}"
    refs = temporary(store, "staged_refs", f"{again} from purchases")
    for number, change in enumerate(CHANGES):
        store.connection.execute(
            f"update {refs.identifier} set {change}"  # noqa: S608 - of our own
            f" where line % {len(CHANGES) + 1} = {number}"
        )
    duck = DuckEngine(store.connection, store.tables)
    engine.put("purchases", stored(store, "recent_purchases"))
    both = "select purchase_no as line, purchase_no from purchases"
    here = (refs, temporary(store, "same_refs", both))
    there = [engine.hand(each.name, rows_of(store, each)) for each in here]
    mine, theirs = (
        each.run("dedupe", *handed)["known_refs"]
        for each, handed in ((duck, here), (engine, there))
    )
    assert 0 < duck.count(mine) < 300
    assert [] == differing(store, mine, engine, theirs)


# What goes there and back


EXTREMES = {
    "purchase_no": [1, 2**63 - 1],
    "institution_id": ["00000000-0000-0000-0000-00000000000a", "é"],
    "transaction_ref": ["", "'\\\t\u20ac😀"],
    "cardholder_no": [1, 2],
    "instrument_no": [1, 2],
    "identifier_no": [None, 0],
    "merchant_id": [None, ""],
    "amount": [Decimal("0.0001"), Decimal("99999999999999.9999")],
    "currency": ["GBP", "JPY"],
    "transacted_at": [moment("1970-01-01"), moment("2100-12-31T23:59:59.999999")],
    "received_at": [moment("2026-03-29T01:30:00"), moment("2026-10-25T01:30:00.000001")],
    "import_no": [None, 1],
    "line": [None, 2],
}  # fmt: skip


def test_every_value_comes_back_as_it_was(engine: SparkEngine) -> None:
    sent = engine.put("purchases", pa.table(EXTREMES))
    assert EXTREMES == engine.fetch(sent).sort_by("purchase_no").to_pydict()


@pytest.mark.parametrize("kind", [pa.int32(), pa.uint32(), pa.int64(), pa.uint64()])
def test_whole_numbers_of_any_type_are_taken(engine: SparkEngine, kind: pa.DataType) -> None:
    sent = engine.hand("staged_refs", pa.table({"line": pa.array([1, 2**31 - 1], kind)}))
    assert [1, 2**31 - 1] == sorted(engine.fetch(sent)["line"].to_pylist())


def test_rows_go_in_as_many_messages_as_they_need(
    engine: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SLICE_BYTES", 64)
    sent = engine.put("this_run", pa.table({"run_no": list(range(100))}))
    assert 13 == len(list((tmp_path / "work").iterdir()))
    assert list(range(100)) == sorted(engine.fetch(sent)["run_no"].to_pylist())


def test_a_large_table_comes_back_in_buckets_by_offer(
    engine: SparkEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BUCKET_ROWS", 10)
    rows = [{"offer_no": n % 7, "cardholder_no": n, "used": n} for n in range(100)]
    sent = engine.put("uses", pa.Table.from_pylist(rows))
    found = engine.fetch(sent).to_pylist()
    assert rows == sorted(found, key=lambda row: row["used"])
    offers = [row["offer_no"] for row in found]
    assert offers == sorted(offers)  # eleven buckets, and each offer has one to itself


def test_a_table_is_what_folders_hold_and_what_is_sent(engine: SparkEngine, tmp_path: Path) -> None:
    folders = [str(tmp_path / f"run={number}") for number in (1, 2)]
    for number, folder in enumerate(folders, 1):
        made = pa.table({"run_no": [number] * 2, "purchase_no": [1, 2]})
        engine.save(engine.put("decisions", made), folder)
    assert [] == found(engine, "this_run", [], [])
    assert [1, 1] == found(engine, "this_run", folders[:1], [])
    assert [1, 1, 2, 2, 3] == found(engine, "this_run", folders, [3])


def runs(*numbers: int) -> pa.Table:
    return pa.table({"run_no": pa.array(numbers, pa.int64())})


def found(engine: SparkEngine, name: str, folders: list[str], sent: list[int]) -> list[int]:
    table = engine.put(name, runs(*sent), folders)
    return sorted(engine.fetch(table)["run_no"].to_pylist())


def test_what_is_saved_is_read_back_and_takes_the_place_of_what_was_there(
    engine: SparkEngine, tmp_path: Path
) -> None:
    for number in (1, 2):
        decided = {"purchase_no": [number, 2**63 - 1], "run_no": [7, 7]}
        sums = Sums(row_count=2, purchase_no_sum=number + 2**63 - 1, amount=None)
        sent = engine.put("decisions", pa.table(decided))
        assert sums == engine.save(sent, str(tmp_path / "decisions" / "run=1"))
    none = engine.put("decisions", pa.table(decided).slice(2))
    nothing = Sums(row_count=0, purchase_no_sum=0, amount=None)
    assert nothing == engine.save(none, str(tmp_path / "nothing"))


def test_the_working_folder_is_left_empty(spark: Spark, tmp_path: Path) -> None:
    engine = SparkEngine.at(spark.url, str(tmp_path / "work"))
    engine.put("this_run", runs(1))
    assert list((tmp_path / "work").rglob("*.parquet"))
    engine.close()
    assert [] == [
        path
        for path in (tmp_path / "work").rglob("*")
        if "this_run" in str(path) and path.is_file()
    ]


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
    put(store, "versions", [random_version(chance.choice(offers), chance) for _ in range(8)])
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


def random_version(offer: Row, chance: random.Random) -> Row:
    """Return other terms of an offer, known from one of the moments at which purchases come."""
    return {
        "offer": offer["offer"],
        "cashback": chance.choice(["0.01", "0.02", "1.00"]),
        "rate": chance.choice(["0", "0.5"]),
        "uses": chance.choice([None, "1", "3"]),
        "min_spend": chance.choice(["0", "10.00"]),
        "known_at": NOON
        + timedelta(days=chance.randrange(2), microseconds=chance.randrange(-1, 3)),
    }


def random_purchase(
    number: int, institution: str, cardholder: str, chance: random.Random
) -> dict[str, Any]:
    merchant, identifier = chance.choice(NAMED)
    return {
        "ref": chance.choice(["r", "R", "0"]) + str(number),
        "institution": institution,
        "cardholder": cardholder,
        "merchant": merchant,
        "identifier": identifier,
        "amount": chance.choice(["9.99", "10.00", "999999999999.9999"]),
        "at": NOON + timedelta(days=chance.randrange(2), microseconds=chance.randrange(-1, 3)),
    }
