from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.services import popularity
from tables import given, select, uid

if TYPE_CHECKING:
    from cardoffers_cli.store.store import Store

ALDER = uid("alder")


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(popularity, "MOST_UNCOUNTED", 2)


def situation(store: Store) -> None:
    given(store, "institutions", "institution\nalder\nbrook")
    given(store, "merchants", "merchant\nbakery")
    given(store, "offers", "offer merchant\nA bakery\nB bakery")


def links(store: Store, run_no: int, *added: str) -> None:
    """Add links (`ann A`) as a run would."""
    given(store, "links", "\n".join(["cardholder offer", *added]))
    store.connection.execute("update links set run_no = $1 where run_no = 0", [run_no])


def counted(store: Store, *, keep: bool = True) -> list[tuple[Any, ...]]:
    totals = popularity.count_links(store, ALDER, keep=keep)
    return select(
        store,
        f"select offer_id, links from {totals.identifier} join offers using (offer_no)"  # noqa: S608 - ours
        " order by offer_id",
    )


def kept(store: Store) -> list[tuple[Any, ...]]:
    return select(
        store,
        "select offer_id, links, counted_to from link_counts join offers using (offer_no)"
        " order by offer_id",
    )


@pytest.mark.usefixtures("few_are_many")
def test_counts_are_kept_and_later_links_come_on_top(store: Store) -> None:
    situation(store)
    assert ([], []) == (counted(store), kept(store))
    links(store, 3, "ann A", "bob A")
    assert ([("A", 2)], []) == (counted(store), kept(store))
    links(store, 5, "ann B")
    assert [("A", 2), ("B", 1)] == counted(store)
    assert [("A", 2, 5), ("B", 1, 5)] == kept(store)
    links(store, 6, "bob B")
    assert [("A", 2), ("B", 2)] == counted(store)
    assert [("A", 2, 5), ("B", 1, 5)] == kept(store)
    links(store, 7, "cy A", "cy B")
    assert [("A", 3), ("B", 3)] == counted(store)
    assert [("A", 3, 7), ("B", 3, 7)] == kept(store)


@pytest.mark.usefixtures("few_are_many")
def test_a_reader_keeps_nothing(store: Store) -> None:
    situation(store)
    links(store, 1, "ann A", "bob A", "cy A")
    assert [("A", 3)] == counted(store, keep=False)
    assert [] == kept(store)


@pytest.mark.usefixtures("few_are_many")
def test_every_institution_counts_its_own(store: Store) -> None:
    situation(store)
    given(store, "links", "institution cardholder offer\nbrook ann A\nbrook bob A\nbrook cy B")
    assert [] == counted(store)
    links(store, 1, "ann B")
    popularity.count_links(store, uid("brook"), keep=True)
    assert [("B", 1)] == counted(store)
