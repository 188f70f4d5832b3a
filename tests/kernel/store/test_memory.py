"""What is remembered of an open store, and when it is forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.store.memory import tables_changed, tables_read, tables_rewritten
from cardoffers_cli.kernel.store.runs import start_run
from tables import NOON, uid
from work import fresh_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store

NEWEST = "kernel/store/journal:newest"
ALDER = uid("alder")
NUMBER = "offers/cardholders:numbers"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh_store(tmp_path) as store:
        yield store


def count(store: Store, *, grows: bool = False) -> int:
    """Return how many runs there are, remembered."""
    return store.memory.recall(
        "runs", (NEWEST,), lambda: len(store.rows("kernel/store/journal:all_runs")), grows=grows
    )


def add_run(store: Store) -> None:
    start_run(store, kind="test", now=NOON, actor="tester")


def test_an_answer_is_remembered_until_a_table_of_it_is_changed(store: Store) -> None:
    asked: list[str] = []
    for name in ("one", "one", "another"):
        store.memory.recall(name, (NEWEST,), lambda name=name: asked.append(name))
    assert ["one", "another"] == asked
    assert 0 == count(store)
    store.execute("keys/questions:use", key_id=ALDER, used_at=NOON)
    store.connection.execute(
        "insert into runs by name select 9 as run_no, uuid() as run_id, 'k' as kind, 'a' as actor,"
        " now()::timestamp as as_of, now()::timestamp as machine_at"
    )
    assert 0 == count(store)  # nobody may write so
    add_run(store)
    assert 2 == count(store)


def test_what_only_grows_outlasts_what_is_added(store: Store) -> None:
    assert 0 == count(store, grows=True)
    add_run(store)
    assert 0 == count(store, grows=True)
    store.execute("kernel/store/runs:finish", run_no=1, counts="{}")
    assert 1 == count(store, grows=True)


@pytest.mark.parametrize("is_failure", [True, False], ids=["failed", "dry run"])
def test_what_was_read_in_a_transaction_that_is_not_kept_is_forgotten(
    store: Store, *, is_failure: bool
) -> None:
    def add() -> None:
        with store.transaction(keep=False):
            add_run(store)
            assert 1 == count(store)
            if is_failure:
                raise ZeroDivisionError

    if is_failure:
        with pytest.raises(ZeroDivisionError):
            add()
    else:
        add()
    assert 0 == count(store)


def test_what_was_known_before_a_transaction_that_is_not_kept_is_known_after_it(
    store: Store,
) -> None:
    """Be it that it changed, but not where it may have been added to."""
    said: list[str] = []

    def known(name: str, address: str, *, grows: bool = False) -> list[str]:
        return store.memory.recall(name, (address,), lambda: [*said], grows=grows)

    def all_known() -> tuple[list[str], ...]:
        return (
            known("keys", "keys/questions:candidates"),
            known("holders", NUMBER, grows=True),
            known("runs", NEWEST),
            known("runs that grow", NEWEST, grows=True),
        )

    assert ([], [], [], []) == all_known()
    said.append("in it")
    with store.transaction(keep=False):
        add_run(store)
        assert ([], [], said, []) == all_known()
        add_run(store)
    said.append("after it")
    assert ([], [], [], said) == all_known()
    with store.transaction():
        add_run(store)
    assert ([], [], said, said) == all_known()


def test_memory_has_an_end(store: Store) -> None:
    first, *_ = [store.memory.recall(each, (NEWEST,), list) for each in range(10_001)]
    assert first is not store.memory.recall(0, (NEWEST,), list)


@pytest.mark.parametrize(
    ("address", "read", "changed", "rewritten"),
    [
        ("keys/questions:candidates", {"api_keys"}, set(), set()),  # and the macro of their end
        # approvals is a column there, with the name of a table: one too many does no harm
        (
            "kernel/store/institutions:find",
            {"institutions", "currencies", "approvals", "watched_institutions"},
            set(),
            set(),
        ),
        (NUMBER, {"cardholders"}, set(), set()),
        (
            "offers/feed:program",
            {
                "program_offers",
                "offers",
                "currencies",
                "merchants",
                "ledger_entries",
                "ledger_moves",
                "offer_counts",
                "counted_up_to",
                "redemptions",  # a column is called so
                "adjustments",
                "institutions",
            },
            set(),
            set(),
        ),
        ("offers/feed:changes_at", {"program_offers", "offers"}, set(), set()),
        ("offers/feed:texts", {"offers", "offer_texts"}, set(), set()),
        ("kernel/store/runs:write", {"runs", "rehearsal"}, {"runs"}, set()),
        ("kernel/store/runs:finish", {"runs"}, {"runs"}, {"runs"}),
        ("offers/feed:record", {"engagement"}, {"engagement"}, set()),
        ("river/judge:refuse", set(), set(), set()),  # of a temporary table
    ],
)
def test_the_tables_of_a_statement_are_known(
    address: str, read: set[str], changed: set[str], rewritten: set[str]
) -> None:
    assert (read, changed, rewritten) == (
        tables_read(address),
        tables_changed(address),
        tables_rewritten(address),
    )
