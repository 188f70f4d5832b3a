from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.domain.errors import CardoffersError
from cardoffers_cli.engine.duck import DuckEngine
from cardoffers_cli.jobs.elsewhere import match_purchases
from cardoffers_cli.store.opening import scratch_store
from tables import NOON, given, select, uid
from work import new_store, settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.store.store import Store


@pytest.fixture
def store() -> Iterator[Store]:
    with scratch_store(settings(), NOON) as store:
        yield store


def test_a_plan_becomes_tables_by_the_names_of_its_queries(store: Store) -> None:
    given(store, "institutions", "institution\nalder")
    given(store, "merchants", "merchant\nbakery")
    given(store, "purchases", "ref merchant\n1 bakery\n2 -")
    engine = DuckEngine(store.connection)
    engine.define("undecided")
    engine.run("resolve")
    assert (0, 2) == (engine.count("known_identifiers"), engine.count("resolutions"))


def test_what_is_defined_is_computed_where_it_is_read(store: Store) -> None:
    given(store, "institutions", "institution\nalder")
    given(store, "merchants", "merchant\nbakery")
    engine = DuckEngine(store.connection)
    engine.define("undecided")
    engine.run("resolve")
    given(store, "purchases", "ref\n1")
    assert (1, 0) == (engine.count("undecided"), engine.count("resolutions"))


def test_ids_are_fetched_as_text_and_by_the_columns_that_plans_read(store: Store) -> None:
    given(store, "merchants", "merchant category\nbakery food")
    (row,) = DuckEngine(store.connection).fetch("merchants").read_all().to_pylist()
    assert {"merchant_no": 1, "merchant_id": str(uid("bakery"))} == row


def test_the_next_round_takes_the_place_of_the_last(store: Store) -> None:
    for table, rows in (("proposals", "(1), (2)"), ("next_proposals", "(2), (3), (4)")):
        store.connection.execute(f"create temp table {table} as from (values {rows}) t(n)")
    DuckEngine(store.connection).advance("proposals")
    assert [(2,), (3,), (4,)] == select(store, "from proposals order by n")


def test_a_plan_that_fails_ends_as_one_of_our_errors(tmp_path: Path) -> None:
    job = new_store(tmp_path)
    with job.store() as store:
        store.connection.execute("alter table links rename column added_at to added_on")
    with pytest.raises(CardoffersError) as caught:
        match_purchases(job)
    assert "store_error" == caught.value.code
