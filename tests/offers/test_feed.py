from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.offers import feed
from cardoffers_cli.offers.links import find_cardholder
from tables import NOON, given, select, uid

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.kernel.store.store import Store

SECOND = timedelta(seconds=1)
DAYS_90 = timedelta(days=90)
ALDER = uid("alder")


def situation(store: Store, **tables: str) -> None:
    words = {
        "institutions": "institution\nalder\nbrook",
        "merchants": """
            merchant  category
            bakery    food
            Cinema    leisure
            grocer    FOOD
            kiosk     -
        """,
        **tables,
    }
    for word, text in words.items():
        given(store, word, text)


def offer_with(store: Store, **cells: object) -> None:
    """Put one offer into the program of alder."""
    values = {"offer": "A", "merchant": "bakery", **cells}
    situation(
        store,
        offers=f"{' '.join(values)}\n{' '.join(map(str, values.values()))}",
        programs="offer\nA",
    )


def seen(
    store: Store, now: datetime = NOON, segment: str | None = None, cardholder: str | None = None
) -> list[str]:
    number = find_cardholder(store, ALDER, cardholder) if cardholder else None
    numbers = () if number is None else (number,)
    spent = {
        each for reader in feed.readers(store, ALDER, numbers).values() for each in reader.spent
    }
    names = dict(select(store, "select offer_no, offer_id from offers"))
    program = feed.program_of(store, ALDER, now)
    return [names[number] for number in program.open_to(segment) if number not in spent]


# starts_at and expires_at around now -> whether it is seen
WINDOWS = [
    (SECOND, SECOND * 9, False),
    (timedelta(microseconds=1), SECOND, False),
    (SECOND * 0, SECOND, True),
    (-SECOND, SECOND, True),
    (-SECOND, timedelta(microseconds=1), True),
    (-SECOND, SECOND * 0, False),
    (-SECOND * 9, -SECOND, False),
]


@pytest.mark.parametrize(("starts", "ends", "expected"), WINDOWS)
def test_an_offer_is_seen_from_its_start_to_before_its_end(
    store: Store, starts: timedelta, ends: timedelta, expected: bool
) -> None:
    starts_at, expires_at = (NOON + starts).isoformat(), (NOON + ends).isoformat()
    offer_with(store, starts_at=starts_at, expires_at=expires_at)
    assert expected == bool(seen(store))


def test_a_program_is_remembered_until_it_changes(store: Store) -> None:
    situation(
        store,
        offers="""
            offer  merchant  starts_at  expires_at
            A      bakery    08:00:00   11:00:00
            B      bakery    10:00:00   12:00:00
            C      bakery    09:00:00   2026-06-02T12:00:00
        """,
        programs="offer\nA\nB\nC",
    )
    expected = {7: "", 8: "A", 9: "AC", 10: "ABC", 11: "BC", 12: "C"}
    hours = (7, 8, 8, 9, 9, 10, 11, 12, 12, 9, 7, 12, 10)
    assert [expected[hour] for hour in hours] == [
        "".join(seen(store, NOON.replace(hour=hour))) for hour in hours
    ]


# cashback, rate, budget, what redemptions hold -> whether it is seen
BUDGETS = [
    ("1.00", "0", "-", "999999.00", True),
    ("1.00", "0", "0.00", "-", False),
    ("1.00", "0", "0.99", "-", False),
    ("1.00", "0", "1.00", "-", True),
    ("1.00", "0", "1.00", "1.00", False),
    ("1.00", "0", "1.00", "0.01", False),
    ("1.00", "0", "2.00", "1.00", True),
    ("1.00", "0", "2.00", "1.01", False),
    ("1.00", "0.05", "1.04", "-", False),
    ("1.00", "0.05", "1.05", "-", True),
    ("1.00", "0.05", "2.10", "1.05", True),
    ("1.00", "0.05", "2.09", "1.05", False),
    ("1.00", "0", "1.00", "1.50", False),
]


@pytest.mark.parametrize(("cashback", "rate", "budget", "held", "expected"), BUDGETS)
def test_the_budget_covers_one_more_redemption(  # noqa: PLR0917 - a table
    store: Store, cashback: str, rate: str, budget: str, held: str, expected: bool
) -> None:
    offer_with(store, cashback=cashback, rate=rate, budget=budget)
    if held != "-":
        given(store, "ledger", f"offer amount\nA {held}")
    assert expected == bool(seen(store))


@pytest.mark.parametrize(
    ("status", "expected"), [("pending", False), ("settled", False), ("reversed", True)]
)
def test_a_reversal_gives_the_budget_back(store: Store, status: str, expected: bool) -> None:
    offer_with(store, budget="1.00")
    given(store, "ledger", f"offer amount status\nA 1.00 {status}")
    assert expected == bool(seen(store))


def test_institutions_share_the_budget_of_an_offer(store: Store) -> None:
    offer_with(store, budget="1.00")
    given(store, "ledger", "institution offer amount\nbrook A 1.00")
    assert [] == seen(store)


# segments of the offer, segment sent -> whether it is seen
SEGMENTS = [
    ("-", None, True),
    ("-", "gold", True),
    ("gold", None, False),
    ("gold", "", False),
    ("gold", "gold", True),
    ("gold", "GOLD", False),
    ("gold", "gol", False),
    ("gold", "student", False),
    ("gold|student", "student", True),
    ("gold|student", "gold", True),
    ("gold|student", "gold|student", False),
    ("gold|student", "silver", False),
]


@pytest.mark.parametrize(("segments", "sent", "expected"), SEGMENTS)
def test_an_offer_for_segments_is_seen_by_them_only(
    store: Store, segments: str, sent: str | None, expected: bool
) -> None:
    offer_with(store, segments=segments)
    assert expected == bool(seen(store, segment=sent))


# how often an offer may be used, what ann did with it -> whether she sees it, and ben does
USES = [
    ("1", "pending", False, True),
    ("1", "settled", False, True),
    ("1", "reversed", True, True),
    ("2", "pending", True, True),
    ("-", "pending", True, True),
]


@pytest.mark.parametrize(("uses", "status", "by_ann", "by_ben"), USES)
def test_who_has_spent_the_uses_of_an_offer_sees_it_no_more(
    store: Store, uses: str, status: str, by_ann: bool, by_ben: bool
) -> None:
    offer_with(store, uses=uses)
    given(store, "links", "cardholder offer\nann A\nben A")
    given(store, "links", "institution cardholder offer\nbrook ann A")
    given(store, "ledger", f"cardholder offer status\nann A {status}")
    assert by_ann == bool(seen(store, cardholder="ann"))
    assert by_ben == bool(seen(store, cardholder="ben"))
    assert ["A"] == seen(store)


def test_uses_are_spent_by_who_has_the_token_at_this_institution(store: Store) -> None:
    offer_with(store, uses="1")
    given(store, "links", "institution cardholder offer\nalder ann A\nbrook ann A")
    given(store, "ledger", "institution cardholder offer\nbrook ann A")
    assert ["A"] == seen(store, cardholder="ann")


def test_a_paused_offer_is_not_seen(store: Store) -> None:
    offer_with(store, paused="yes")
    assert [] == seen(store)


def test_the_program_says_which_offers_and_in_which_order(store: Store) -> None:
    situation(
        store,
        offers="offer merchant\nA bakery\nB bakery\nC bakery\nD bakery\nE bakery",
        programs="""
            institution  offer  position
            alder        C      1
            alder        B      3
            alder        A      3
            alder        E      20
            brook        D      1
        """,
    )
    assert ["C", "A", "B", "E"] == seen(store)


# Personal order

OFFERS = "offer merchant\nA bakery\nB Cinema\nC grocer\nD kiosk"
PROGRAMS = "offer\nA\nB\nC\nD"


def personal(
    store: Store,
    merchants: str = "",
    categories: str = "",
    cardholder: str = "ann",
    now: datetime = NOON + SECOND,
) -> list[tuple[str, str]]:
    """Return each offer of the feed with its reason."""
    program = feed.program_of(store, ALDER, now).open_to(None)
    preferred = {"merchants": merchants.split(), "categories": categories.split()}
    number = find_cardholder(store, ALDER, cardholder)
    rows = feed.by_affinity(store, ALDER, number, program, preferred=preferred, now=now, limit=100)
    names = dict(select(store, "select offer_no, offer_id from offers"))
    return [(names[row["offer_no"]], row["reason"]) for row in rows]


def reasons(order: str) -> list[tuple[str, str]]:
    """Read `B past_merchant, A` as pairs; what gives no reason stands in program order."""
    pairs = [part.split() for part in order.split(",")]
    return [(name, why[0] if why else "program_order") for name, *why in pairs]


HINTS: list[tuple[str, dict[str, str]]] = [
    ("A, B, C, D", {}),
    ("C preferred_merchant, A, B, D", {"merchants": "grocer"}),
    ("B preferred_merchant, A, C, D", {"merchants": "CINEMA"}),
    ("B preferred_merchant, A, C, D", {"merchants": str(uid("Cinema"))}),
    ("B preferred_merchant, A, C, D", {"merchants": str(uid("Cinema")).upper()}),
    ("B preferred_merchant, D preferred_merchant, A, C", {"merchants": "kiosk cinema"}),
    ("A preferred_category, C preferred_category, B, D", {"categories": "Food"}),
    (
        "C preferred_merchant, B preferred_category, A, D",
        {"merchants": "grocer", "categories": "leisure"},
    ),
    (
        "C preferred_merchant, B preferred_merchant, A preferred_category, D",
        {"merchants": "grocer cinema", "categories": "food"},
    ),
    ("A, B, C, D", {"merchants": "nobody", "categories": "nothing"}),
    ("A, B, C, D", {"merchants": "food", "categories": "bakery"}),
]


@pytest.mark.parametrize(("expected", "hints"), HINTS)
def test_hints_come_first(store: Store, expected: str, hints: dict[str, str]) -> None:
    situation(store, offers=OFFERS, programs=PROGRAMS)
    assert reasons(expected) == personal(store, **hints)


def test_own_purchases_come_next_whatever_names_their_merchant(store: Store) -> None:
    situation(
        store,
        identifiers="identifier merchant\nM1 grocer\nM2 -",
        offers=OFFERS,
        programs=PROGRAMS,
        purchases="""
            institution  cardholder  ref  merchant  identifier
            alder        ann         1    -         M1
            alder        ann         2    kiosk     -
            alder        ann         3    -         M2
            alder        ann         4    nobody    -
            alder        cat         5    nobody    M1
            alder        bob         6    Cinema    -
            brook        ann         7    Cinema    -
        """,
    )
    assert reasons("C past_merchant, D past_merchant, A, B") == personal(store)
    assert reasons("B past_merchant, A, C, D") == personal(store, cardholder="bob")
    assert reasons("C past_merchant, A, B, D") == personal(store, cardholder="cat")
    assert reasons("A, B, C, D") == personal(store, cardholder="stranger")
    hinted = reasons("B preferred_merchant, C past_merchant, D past_merchant, A")
    assert hinted == personal(store, merchants="cinema")


def test_a_category_bought_from_counts_less_than_the_merchant(store: Store) -> None:
    situation(
        store,
        offers="offer merchant\nA Cinema\nB pantry\nC bakery",
        merchants="merchant category\nCinema leisure\nbakery food\npantry food\nkiosk -",
        programs="offer\nA\nB\nC",
        purchases="ref merchant\n1 bakery\n2 kiosk",
    )
    assert reasons("C past_merchant, B past_category, A") == personal(store)


# when the purchase was -> whether it counts
PAST = [
    (NOON - DAYS_90 - SECOND, False),
    (NOON - DAYS_90, True),
    (NOON - DAYS_90 + SECOND, True),
    (NOON - SECOND, True),
    (NOON, False),
    (NOON + SECOND, False),
]


@pytest.mark.parametrize(("at", "expected"), PAST)
def test_ninety_days_before_now_are_the_past(store: Store, at: datetime, expected: bool) -> None:
    situation(
        store,
        offers=OFFERS,
        programs=PROGRAMS,
        purchases=f"ref merchant at\n1 kiosk {at.isoformat()}",
    )
    first = "D past_merchant, A, B, C" if expected else "A, B, C, D"
    assert reasons(first) == personal(store, now=NOON)


def test_what_many_have_added_comes_last(store: Store) -> None:
    situation(
        store,
        offers=OFFERS,
        programs=PROGRAMS,
        purchases="ref merchant\n1 kiosk",
        links="""
            institution  cardholder  offer
            alder        bob         C
            alder        cy          C
            alder        bob         D
            brook        ann         B
        """,
    )
    assert reasons("D past_merchant, C popular, A, B") == personal(store)


def test_ten_offers_are_popular_and_of_equals_the_first_ids(store: Store) -> None:
    names = [f"o{number:02}" for number in range(12)]
    situation(
        store,
        offers="offer merchant\n" + "\n".join(f"{name} kiosk" for name in names),
        programs="offer\n" + "\n".join(names),
        links="cardholder offer\nann o11\nbob o11\n"
        + "\n".join(f"ann {name}" for name in names[:11]),
    )
    popular = [name for name, why in personal(store, cardholder="cy") if why == "popular"]
    assert [*names[:9], "o11"] == popular


def test_equal_scores_keep_the_order_of_the_program(store: Store) -> None:
    situation(
        store,
        offers=OFFERS,
        programs="offer position\nA 9\nB 7\nC 8\nD 1",
    )
    assert reasons("C preferred_category, A preferred_category, D, B") == personal(
        store, categories="food"
    )


# What is shown, and what is noted


def shown(store: Store, *languages: str, cardholder: str = "ann") -> list[dict[str, Any]]:
    program = feed.program_of(store, ALDER, NOON).open_to(None)
    chosen = [feed.ChosenOffer(offer_no=number, reason=None) for number in program]
    number = find_cardholder(store, ALDER, cardholder)
    found = feed.readers(store, ALDER, () if number is None else (number,))
    reader = feed.STRANGER if number is None else found[number]
    return feed.offers_shown(store, reader, chosen, languages)


def test_every_text_falls_back_for_itself(store: Store) -> None:
    situation(
        store,
        offers="offer merchant\nA bakery\nB bakery",
        programs="offer\nA\nB",
        texts="""
            offer  language  title   description
            A      en        bread   fresh
            A      es        pan     -
            A      pt-BR     -       fresco
            B      en        roll    -
        """,
    )
    expected = {
        ("en", "es"): [("bread", "fresh"), ("roll", "")],
        ("es", "en"): [("pan", "fresh"), ("roll", "")],
        ("pt-BR", "es", "en"): [("pan", "fresco"), ("roll", "")],
    }
    assert expected == {
        languages: [(each["title"], each["description"]) for each in shown(store, *languages)]
        for languages in expected
    }


def test_added_is_said_to_the_cardholder_who_has(store: Store) -> None:
    situation(
        store,
        offers="offer merchant\nA bakery\nB bakery\nC bakery",
        programs="offer\nA\nB\nC",
        links="institution cardholder offer\nalder ann B\nalder bob A\nbrook ann C",
    )
    expected = {"ann": [False, True, False], "bob": [True, False, False], "cy": [False] * 3}
    assert expected == {
        cardholder: [each["added"] for each in shown(store, cardholder=cardholder)]
        for cardholder in expected
    }
