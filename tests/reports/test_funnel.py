from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.reports.funnel import STEPS, By, Window, count_by, count_funnel, count_people
from cardoffers_cli.reports.funnel import people as people_of
from sizes import one_in, slow, tries
from tables import NOON, Row, given, put, uid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.kernel.store.store import Store

INSTITUTIONS = "institution languages\nalder es|en\nbrook en"
MERCHANTS = "merchant\nbakery\ncinema"
OFFERS = "offer merchant\nA bakery\nB bakery\nC cinema"
MERCHANT_OF = {"A": "bakery", "B": "bakery", "C": "cinema"}
DAY = Window(from_at=NOON, to_at=NOON + timedelta(days=1))


def situation(store: Store, **tables: str) -> None:
    words = {"institutions": INSTITUTIONS, "merchants": MERCHANTS, "offers": OFFERS, **tables}
    for word, text in words.items():
        given(store, word, text)


def counted(store: Store, window: Window = DAY, institution: str = "alder") -> tuple[int, ...]:
    return tuple(count_funnel(store, uid(institution), window).values())


def taken_apart(store: Store, by: By, window: Window = DAY) -> list[tuple[Any, ...]]:
    """Return the rows of a funnel taken apart: what they are of, and their counts."""
    name = {"day": "day", "offer": "offer_id", "merchant": "merchant_name"}[by]
    rows = count_by(store, uid("alder"), window, by)
    return [(row[name], *(row[step] for step in STEPS)) for row in rows]


def test_nothing_is_counted_where_nothing_is(store: Store) -> None:
    situation(store)
    assert dict.fromkeys(STEPS, 0) == count_funnel(store, uid("alder"), DAY)
    assert [] == taken_apart(store, "offer")


def test_a_cardholder_is_unique_however_often_the_widget_is_opened(store: Store) -> None:
    situation(
        store,
        engagement="""
        cardholder  event             offer  at
        ann         widget_view       -      13:00
        ann         widget_view       -      14:00
        ann         widget_view       -      14:00
        bob         widget_view       -      13:00
        cy          offer_impression  A      13:00
        """,
    )
    assert (4, 2, 1, 0, 0) == counted(store)


def test_institutions_are_counted_apart(store: Store) -> None:
    situation(
        store,
        engagement="institution event\nalder widget_view\nbrook widget_view\nbrook widget_view",
        links="institution offer added_at\nalder A 13:00\nbrook B 13:00\nbrook C 13:00",
        redemptions="institution offer\nalder A\nbrook A\nbrook A\nbrook B",
    )
    assert (1, 1, 0, 1, 1) == counted(store)
    assert (2, 1, 0, 2, 3) == counted(store, institution="brook")


SECOND, INSTANT = timedelta(seconds=1), timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("inside", "at"),
    [
        (0, DAY.from_at - SECOND),
        (0, DAY.from_at - INSTANT),
        (1, DAY.from_at),
        (1, DAY.from_at + SECOND),
        (1, DAY.to_at - SECOND),
        (1, DAY.to_at - INSTANT),
        (0, DAY.to_at),
        (0, DAY.to_at + SECOND),
    ],
)
@one_in(3)
def test_a_window_holds_its_start_and_not_its_end(store: Store, inside: int, at: datetime) -> None:
    situation(store)
    put(store, "engagement", [{"event": "widget_view", "at": at}])
    put(store, "engagement", [{"event": "offer_impression", "offer": "A", "at": at}])
    put(store, "links", [{"offer": "A", "added_at": at}])
    put(store, "redemptions", [{"offer": "A", "at": at}])
    assert (inside,) * 5 == counted(store)
    assert [inside] == [len(taken_apart(store, "offer"))]
    assert [inside] == [len(taken_apart(store, "merchant"))]
    assert (inside,) * 5 == tuple(map(sum, zip(*by_day(store, DAY), strict=True)))


def by_day(store: Store, window: Window) -> list[tuple[int, ...]]:
    return [counts for _, *counts in taken_apart(store, "day", window)]


def test_every_day_that_the_window_touches_has_a_row(store: Store) -> None:
    situation(
        store,
        engagement="cardholder event at\nann widget_view 13:00\nann widget_view 2026-06-03T13:00Z",
    )
    window = Window(from_at=NOON, to_at=datetime(2026, 6, 4))  # noqa: DTZ001
    assert [
        ("2026-06-01", 1, 1, 0, 0, 0),
        ("2026-06-02", 0, 0, 0, 0, 0),
        ("2026-06-03", 1, 1, 0, 0, 0),
    ] == taken_apart(store, "day", window)
    assert (2, 1, 0, 0, 0) == counted(store, window)


def test_offers_and_merchants_have_no_views_and_the_most_redeemed_come_first(store: Store) -> None:
    situation(
        store,
        engagement="""
        cardholder  event             offer
        ann         widget_view       -
        ann         offer_impression  A
        ann         offer_impression  B
        bob         offer_impression  A
        """,
        links="cardholder offer added_at\nann C 13:00",
        redemptions="offer\nC",
    )
    assert [
        ("C", None, None, 0, 1, 1),
        ("A", None, None, 2, 0, 0),
        ("B", None, None, 1, 0, 0),
    ] == taken_apart(store, "offer")
    assert [
        ("cinema", None, None, 0, 1, 1),
        ("bakery", None, None, 3, 0, 0),
    ] == taken_apart(store, "merchant")


def test_a_title_missing_in_the_language_of_the_program_is_english(store: Store) -> None:
    situation(store, redemptions="offer\nA")
    assert ["A"] == [row["title"] for row in count_by(store, uid("alder"), DAY, "offer")]


def steps(store: Store, window: Window = DAY) -> tuple[int, ...]:
    return tuple(count_people(store, uid("alder"), window).values())


def test_cardholders_are_counted_step_by_step(store: Store) -> None:
    situation(
        store,
        engagement="""
        institution  cardholder  event             offer  at
        alder        ann         widget_view       -      13:00
        alder        ann         offer_impression  A      13:00
        alder        bob         offer_impression  A      13:00
        alder        cy          widget_view       -      13:00
        alder        eve         widget_view       -      11:00
        brook        dan         widget_view       -      13:00
        """,
        links="""
        institution  cardholder  offer  added_at
        alder        ann         A      2026-05-01T00:00Z
        alder        bob         A      13:00
        alder        cy          A      2026-06-03T00:00Z
        alder        eve         A      2026-05-01T00:00Z
        alder        fay         A      2026-05-01T00:00Z
        brook        cy          A      2026-05-01T00:00Z
        """,
        redemptions="""
        institution  cardholder  offer  at
        alder        ann         A      14:00
        alder        ann         A      15:00
        alder        bob         A      11:00
        alder        eve         A      14:00
        alder        fay         A      14:00
        brook        bob         A      14:00
        """,
    )
    assert (3, 2, 1, 3) == steps(store)
    assert (0, 0, 0, 0) == tuple(count_people(store, uid("brook"), EMPTY).values())


@pytest.mark.parametrize("seed", range(4))
def test_each_step_is_a_part_of_the_one_before_as_a_loop_counts_them(
    store: Store, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    people = [f"c{number}" for number in range(9)]
    hours = ["2026-05-31T09:00Z", "2026-06-01T13:00Z", "2026-06-01T18:00Z", "2026-06-03T09:00Z"]

    def some(count: int, words: Sequence[str]) -> list[tuple[str, str, str]]:
        return [
            (chance.choice(people), chance.choice(words), chance.choice(hours))
            for _ in range(count)
        ]

    seen = some(chance.randrange(20), ["widget_view", "offer_impression"])
    added = list({each[:2]: each for each in some(chance.randrange(9), "ABC")}.values())
    redeemed = some(chance.randrange(9), "ABC")
    situation(
        store,
        engagement="\n".join(
            ["cardholder event offer at"]
            + [f"{who} {what} {'-' if what[0] == 'w' else 'A'} {at}" for who, what, at in seen]
        ),
        links="\n".join(["cardholder offer added_at", *(" ".join(each) for each in added)]),
        redemptions="\n".join(["cardholder offer at", *(" ".join(each) for each in redeemed)]),
    )
    saw = {who for who, _, at in seen if at in hours[1:3]}
    had_added = {who for who, _, at in added if who in saw and at in hours[:3]}
    all_who_redeemed = {who for who, _, at in redeemed if at in hours[1:3]}
    expected = (saw, had_added, all_who_redeemed & had_added, all_who_redeemed)
    assert tuple(map(len, expected)) == steps(store)
    shares = [row["share"] for row in people_of(count_people(store, uid("alder"), DAY))]
    assert all(share is None or share <= 1 for share in shares)


EMPTY = Window(from_at=NOON + timedelta(days=9), to_at=NOON + timedelta(days=10))


def test_a_day_has_the_redemptions_of_its_purchases_too(store: Store) -> None:
    situation(store)
    put(store, "purchases", [{"ref": "1", "at": NOON}, {"ref": "2", "at": NOON - DAY_LONG}])
    put(store, "redemptions", [{"offer": "A", "at": NOON + DAY_LONG}] * 2)
    window = Window(from_at=NOON, to_at=NOON + 2 * DAY_LONG)
    rows = count_by(store, uid("alder"), window, "day")
    assert [
        ("2026-06-01", 0, 1),
        ("2026-06-02", 2, 0),
        ("2026-06-03", 0, 0),
    ] == [(row["day"], row["redemptions"], row["purchase_day_redemptions"]) for row in rows]


DAY_LONG = timedelta(days=1)


# Random events against a plain loop

MOMENTS = st.integers(0, 5 * 24).map(lambda hours: NOON + timedelta(hours=hours))
HOLDERS = st.sampled_from(["ann", "bob", "cy"])
EVENTS = st.fixed_dictionaries(
    {
        "step": st.sampled_from(["widget_view", "offer_impression", "link", "redemption"]),
        "institution": st.sampled_from(["alder", "brook"]),
        "cardholder": HOLDERS,
        "offer": st.sampled_from("ABC"),
        "at": MOMENTS,
    }
)


def write(store: Store, events: list[Row]) -> None:
    situation(store)
    views = [{**row, "event": row["step"], "offer": None} for row in of(events, "widget_view")]
    seen = [{**row, "event": row["step"]} for row in of(events, "offer_impression")]
    put(store, "engagement", views + seen)
    put(store, "links", [{**row, "added_at": row["at"]} for row in of(events, "link")])
    put(store, "redemptions", of(events, "redemption"))


def of(events: list[Row], step: str) -> list[Row]:
    return [row for row in events if row["step"] == step]


def plainly(events: list[Row], window: Window) -> tuple[int, ...]:
    """Count as the contract says, one event after the other."""
    views, holders, seen, added, redeemed = 0, set(), 0, 0, 0
    for row in events:
        if row["institution"] != "alder" or not window.from_at <= row["at"] < window.to_at:
            continue
        match row["step"]:
            case "widget_view":
                views += 1
                holders.add(row["cardholder"])
            case "offer_impression":
                seen += 1
            case "link":
                added += 1
            case _:
                redeemed += 1
    return views, len(holders), seen, added, redeemed


def people_plainly(events: list[Row], window: Window) -> tuple[int, ...]:
    """Follow one cardholder after the other through the steps."""
    own = [row for row in events if row["institution"] == "alder"]

    def who(step: str, *, ever: bool = False) -> set[str]:
        rows = [row for row in own if row["at"] < window.to_at]
        rows = [row for row in rows if ever or row["at"] >= window.from_at]
        return {row["cardholder"] for row in rows if row["step"] == step}

    saw = who("widget_view") | who("offer_impression")
    added = {each for each in saw if each in who("link", ever=True)}
    redeemed = who("redemption")
    return len(saw), len(added), len(added & redeemed), len(redeemed)


@slow
@profile(
    max_examples=tries(10, 60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@examples(st.lists(EVENTS, max_size=30), MOMENTS, st.integers(1, 80))
def test_it_counts_as_a_plain_loop_does(
    scratch: Store, events: list[Row], from_at: datetime, hours: int
) -> None:
    window = Window(from_at=from_at, to_at=from_at + timedelta(hours=hours))
    with scratch.transaction(keep=False):
        write(scratch, events)
        assert plainly(events, window) == counted(scratch, window)
        assert people_plainly(events, window) == steps(scratch, window)
        saw, had_added, redeemed, _ = steps(scratch, window)
        assert saw >= had_added >= redeemed
        for day, *counts in taken_apart(scratch, "day", window):
            on_day = [row for row in events if str(row["at"].date()) == day]
            assert plainly(on_day, window) == tuple(counts)
        for by, name_of in (("offer", {"A": "A", "B": "B", "C": "C"}), ("merchant", MERCHANT_OF)):
            apart = {name: counts for name, *counts in taken_apart(scratch, by, window)}
            for name in set(name_of.values()):
                its = [row for row in events if name_of[row["offer"]] == name]
                counts = plainly(its, window)[2:]
                assert (counts if any(counts) else None) == (
                    tuple(apart[name][2:]) if name in apart else None
                )
