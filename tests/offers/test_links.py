from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from cardoffers_cli.offers.links import ENDED, find_cardholder, links_of
from tables import NOON, given, uid

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store

ALDER = uid("alder")
SECOND = timedelta(seconds=1)


def situation(store: Store, **tables: str) -> None:
    words = {
        "institutions": "institution\nalder\nbrook",
        "merchants": "merchant\nbakery",
        "offers": "offer merchant uses budget\nA bakery 2 -\nB bakery - 1.00",
        "links": "institution cardholder offer\nalder ann A\nalder ann B\nbrook ann A",
        **tables,
    }
    for word, text in words.items():
        given(store, word, text)


def held(store: Store, cardholder: str = "ann") -> list[dict[str, Any]]:
    number = find_cardholder(store, ALDER, cardholder)
    return links_of(store, ALDER, number, NOON)


def test_a_cardholder_has_their_own_links(store: Store) -> None:
    situation(store)
    given(store, "texts", "offer language title\nA fr pain\nB es pan")
    store.connection.execute("update institutions set languages = 'es|en'")
    assert [("A", "A"), ("B", "pan")] == [
        (link["offer_id"], link["offer_title"]) for link in held(store)
    ]
    assert [] == held(store, "stranger")


def link_id(store: Store, number: int | None, offer: str) -> Any:
    of = {"institution_id": ALDER, "cardholder_no": number, "offer_id": offer}
    return store.value("offers/links:find", **of)


def test_the_id_is_made_of_what_is_linked(store: Store) -> None:
    situation(store)
    digest = sha256(f"{ALDER}\x1fann\x1fA".encode()).hexdigest()
    derived = UUID(f"{digest[:12]}8{digest[13:16]}a{digest[17:32]}")
    number = find_cardholder(store, ALDER, "ann")
    assert derived == link_id(store, number, "A")
    assert derived == held(store)[0]["cardholder_offer_id"]
    assert link_id(store, number, "C") is None
    assert link_id(store, None, "A") is None


def test_uses_are_the_cardholders_own_and_come_back(store: Store) -> None:
    situation(
        store,
        ledger="""
            institution  cardholder  offer  status
            alder        ann         A      pending
            alder        ann         A      reversed
            alder        bob         A      pending
            brook        ann         A      pending
        """,
    )
    used = [(link["uses"], link["uses_left"], link["state"]) for link in held(store)]
    assert [(1, 1, "active"), (0, None, "active")] == used


# uses of the offer, redemptions of ann -> uses left, state
USES = [
    ("-", 9, None, "active"),
    ("2", 1, 1, "active"),
    ("2", 2, 0, "used_up"),
    ("1", 2, 0, "used_up"),
]


@pytest.mark.parametrize(("uses", "redemptions", "left", "state"), USES)
def test_a_link_without_uses_left_is_used_up(
    store: Store, uses: str, redemptions: int, left: int | None, state: str
) -> None:
    situation(
        store,
        offers=f"offer merchant uses\nA bakery {uses}",
        links="offer\nA",
        ledger="offer\n" + "A\n" * redemptions,
    )
    (link,) = held(store)
    assert (left, state) == (link["uses_left"], link["state"])


# paused, starts_at, expires_at, budget -> state
STATES = [
    ("no", -SECOND, SECOND, "-", "active"),
    ("no", SECOND, SECOND * 2, "-", "not_started"),
    ("no", SECOND * 0, SECOND * 2, "-", "active"),
    ("no", -SECOND, SECOND * 0, "-", "expired"),
    ("yes", -SECOND, SECOND, "0.50", "paused"),
    ("yes", SECOND, SECOND * 2, "-", "paused"),
    ("yes", -SECOND * 2, -SECOND, "-", "expired"),
    ("no", -SECOND, SECOND, "0.99", "budget_spent"),
    ("no", -SECOND, SECOND, "1.00", "active"),
    ("no", SECOND, SECOND * 2, "0.99", "not_started"),
]


@pytest.mark.parametrize(("paused", "starts", "ends", "budget", "state"), STATES)
def test_a_link_has_the_state_of_its_offer(  # noqa: PLR0917 - a table
    store: Store, paused: str, starts: timedelta, ends: timedelta, budget: str, state: str
) -> None:
    cells = (paused, (NOON + starts).isoformat(), (NOON + ends).isoformat(), budget)
    situation(
        store,
        offers=f"offer merchant paused starts_at expires_at budget\nA bakery {' '.join(cells)}",
        links="offer\nA",
    )
    (link,) = held(store)
    assert (state, state not in ENDED) == (link["state"], link["active"])


def test_tokens_are_masked(store: Store) -> None:
    token = "0123kanarie4567"  # noqa: S105 - a token of a test
    situation(store, links=f"cardholder offer\n{token} A")
    (link,) = held(store, token)
    assert ("0123…4567", "…") == (link["cardholder_token_masked"], link["card_token_masked"])
    assert "kanarie" not in repr(link)
