"""The next number of a table: looked up once, and right whoever adds rows, or takes them back."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.store.interning import (
    next_number,
    number_identifiers,
    number_payers,
    numbered_up_to,
)
from cardoffers_cli.kernel.store.runs import start_run
from statements import statements_in
from tables import NOON, given, select, uid
from work import fresh_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store

RUN = "kernel/store/runs:next_no"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh_store(tmp_path) as store:
        yield store


def start(store: Store) -> int:
    return start_run(store, kind="test", now=NOON, actor="tester").run_no


def test_a_number_is_looked_up_once(store: Store) -> None:
    said: list[str] = []
    with statements_in(store, said):
        assert [1, 2, 3] == [start(store) for _ in range(3)]
    assert 1 == sum("max(run_no)" in text for text in said)


@pytest.mark.parametrize("is_failure", [True, False], ids=["failed", "dry run"])
def test_what_is_taken_back_is_given_again(store: Store, *, is_failure: bool) -> None:
    with suppress(ZeroDivisionError), store.transaction(keep=False):
        assert 1 == next_number(store, RUN)
        assert [1, 2] == [start(store), start(store)]
        if is_failure:
            raise ZeroDivisionError
    assert [] == store.new_runs
    assert 1 == start(store)


def test_rows_that_somebody_else_added_are_noticed(store: Store) -> None:
    assert 1 == next_number(store, RUN)
    run = {"run_id": uid("r"), "kind": "k", "actor": "a", "counts": None}
    store.execute("kernel/store/runs:write", run_no=7, as_of=NOON, machine_at=NOON, **run)
    assert 8 == next_number(store, RUN)
    numbered_up_to(store, RUN, 8)
    assert 9 == next_number(store, RUN)


def test_few_texts_get_the_numbers_that_many_get(store: Store) -> None:
    """New ones in the order of their text, known ones as before; an instrument is its holder's."""
    given(store, "institutions", "institution\nalder\nbrook")
    pairs = {("ben", "c1"), ("ann", "c2"), ("ann", "c1"), ("Ünal", "c1")}
    expected = {("ann", "c1"): (1, 1), ("ann", "c2"): (1, 2), ("ben", "c1"): (2, 3)}
    found = number_payers(store, uid("alder"), pairs)
    assert {**expected, ("Ünal", "c1"): (3, 4)} == found
    assert {("ann", "c1"): (4, 5)} == number_payers(store, uid("brook"), {("ann", "c1")})
    more = {("ann", "c1"), ("ann", "c9"), ("ann", "c2")}
    for _ in range(2):
        found = number_payers(store, uid("alder"), more)
        assert {("ann", "c1"): (1, 1), ("ann", "c2"): (1, 2), ("ann", "c9"): (1, 6)} == found
        store.memory.forget()
    typed = {("mid", "M2"), ("mid", "M1"), ("acceptor", "M2")}
    numbers = {("acceptor", "M2"): 1, ("mid", "M1"): 2, ("mid", "M2"): 3}
    for _ in range(2):
        assert numbers == number_identifiers(store, typed)
        store.memory.forget()
    assert [(4, 6, 3)] == select(
        store,
        "select (select count(*) from cardholders), (select count(*) from instruments),"
        " (select count(*) from identifiers)",
    )
