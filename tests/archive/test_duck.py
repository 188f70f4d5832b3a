from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.archive.duck import DuckEngine
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.resolve import find_waiting
from tables import given, temporary
from work import fresh_store, new_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh_store(tmp_path) as store:
        yield store


def defined(engine: DuckEngine, store: Store) -> tuple[Table, Table]:
    """Define what `resolve` is handed: the undecided purchases, and what came back of them."""
    waiting = find_waiting(store)
    undecided = engine.define("undecided", waiting.watermark, waiting.known_now)["undecided"]
    return undecided, waiting.refunded


def test_a_plan_becomes_tables_by_the_names_of_its_queries(store: Store) -> None:
    given(store, "institutions", "institution\nalder")
    given(store, "merchants", "merchant\nbakery")
    given(store, "purchases", "ref merchant\n1 bakery\n2 -")
    engine = DuckEngine(store.connection, store.tables)
    made = engine.run("resolve", *defined(engine, store))
    assert {"resolutions": 2} == {name: engine.count(table) for name, table in made.items()}


def test_what_is_defined_is_computed_where_it_is_read(store: Store) -> None:
    given(store, "institutions", "institution\nalder")
    given(store, "merchants", "merchant\nbakery")
    engine = DuckEngine(store.connection, store.tables)
    undecided, refunded = defined(engine, store)
    resolutions = engine.run("resolve", undecided, refunded)["resolutions"]
    given(store, "purchases", "ref\n1")
    assert (1, 0) == (engine.count(undecided), engine.count(resolutions))


def test_two_runs_of_a_plan_on_one_connection_never_meet(store: Store) -> None:
    given(store, "institutions", "institution\nalder")
    engine = DuckEngine(store.connection, store.tables)
    undecided, refunded = defined(engine, store)
    counts = []
    for ref in ("1", "2"):
        given(store, "purchases", f"ref\n{ref}")
        counts.append(engine.run("resolve", undecided, refunded)["resolutions"])
    assert [1, 2] == [engine.count(table) for table in counts]


@pytest.mark.parametrize(
    ("expected", "handed"),
    [
        ("river/plan/resolve:resolutions reads undecided, and was not handed it.", []),
        (
            "river/plan/resolve is handed ['uses'], which it does not declare.",
            ["undecided", "refunded", "uses"],
        ),
    ],
)
def test_a_plan_reads_what_it_is_handed_and_no_more(
    store: Store, expected: str, handed: list[str]
) -> None:
    query = "select purchase_no, cardholder_no, identifier_no, merchant_id, amount, transacted_at"
    tables = [temporary(store, name, f"{query} from purchases") for name in handed]
    with pytest.raises(LookupError, match=re.escape(expected)):
        DuckEngine(store.connection, store.tables).run("resolve", *tables)


def test_a_plan_that_fails_ends_as_one_of_our_errors(tmp_path: Path) -> None:
    job = new_store(tmp_path)
    with job.store() as store:
        store.connection.execute("alter table links rename column added_at to added_on")
    with pytest.raises(CardoffersError) as caught:
        match_purchases(job)
    assert "store_error" == caught.value.code
