"""What is unlike the files before: each figure, which files are like, and how many it takes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.watch.scan import compare
from tables import given, uid
from work import fresh_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store

ALDER = uid("alder")
MONDAY = datetime(2026, 6, 1, 2)  # noqa: DTZ001 - moments are naive UTC
USUAL = {"received": 1000, "accepted": 980, "duplicates": 10, "invalid": 10, "amount": 20_000}
USUAL |= {"median": 15, "unknown": 98, "cardholders": 500, "new": 25, "redeemed": 98}
COUNTS = ("received", "accepted", "duplicates", "invalid")
SHAPE = ("median", "unknown", "cardholders", "new", "redeemed")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh_store(tmp_path) as made:
        given(made, "institutions", "institution\nalder")
        given(made, "merchants", "merchant\nbakery\nbutcher")
        yield made


def keep(store: Store, number: int, day: float, kind: str = "purchases", **other: int) -> None:
    """Write a file of a day after that Monday, as usual but for what is other."""
    unknown = other.get("accepted", USUAL["accepted"]) // 10
    file = {**USUAL, "unknown": unknown, "redeemed": unknown, **other}
    at = MONDAY + timedelta(days=day)
    record = {
        **{name: file[name] for name in COUNTS},
        "import_no": number,
        "import_id": uid(f"import {number}"),
        "institution_id": ALDER,
        "run_no": number,
        "file_name": f"{number}.csv",
        "file_kind": "csv",
        "kind_of_rows": kind,
        "file_sha256": "",
        "size_bytes": 1,
        "conflicts": 0,
        "blank_lines": 0,
        "amount_accepted": file["amount"],
        "currency": "GBP",
        "options": "{}",
        "imported_at": at,
    }
    store.execute("river/stored_imports:record", **record)
    store.connection.execute(
        "insert into import_shapes values ($1, $2, $3, $4, $5, $6, $7, $8)",
        [number, ALDER, at.date(), *(file[name] for name in SHAPE)],
    )


def keep_usual(store: Store, files: int = 12, every: float = 1, kind: str = "purchases") -> None:
    """Write usual files: their rows are 980 to 1,020, all else is the same."""
    for number in range(1, files + 1):
        keep(store, number, (number - 1) * every, kind, received=980 + 10 * (number % 5))


def found(store: Store, number: int) -> dict[str, Any]:
    return {each.code: dict(each.figures) for each in compare(store, ALDER, [number])}


@pytest.mark.parametrize(
    ("expected", "other"),
    [
        ([], {}),
        ([], {"received": 1250, "accepted": 1230}),
        (["rows"], {"received": 1800, "accepted": 1780}),
        (["rows"], {"received": 500, "accepted": 480}),
        (["rows"], {"received": 0, "accepted": 0, "duplicates": 0, "invalid": 0}),
        ([], {"amount": 100_000, "median": 75}),
        (["amount", "median_amount"], {"amount": 200_000, "median": 150}),
        ([], {"invalid": 55}),
        (["invalid"], {"invalid": 100}),
        ([], {"invalid": 0}),
        (["duplicates"], {"duplicates": 300}),
        (["unknown_merchants"], {"unknown": 400}),
        (["new_cardholders"], {"new": 400}),
        ([], {"new": 0}),
        (["redeemed"], {"redeemed": 0}),
        ([], {"redeemed": 400}),
    ],
)
def test_a_figure_far_from_those_before_is_found(
    store: Store, expected: list[str], other: dict[str, int]
) -> None:
    keep_usual(store)
    keep(store, 13, 12, **other)
    assert [f"{name}_unusual" for name in expected] == [*found(store, 13)]


def test_figures_are_told_with_what_is_usual(store: Store) -> None:
    keep_usual(store)
    keep(store, 13, 12, received=500, accepted=480, redeemed=0)
    told = found(store, 13)
    assert (500, 1000, 12) == tuple(
        told["rows_unusual"][name] for name in ("rows", "usual", "like_files")
    )
    assert (0, 480) == tuple(told["redeemed_unusual"][name] for name in ("redeemed", "among"))


@pytest.mark.parametrize(("expected", "before"), [(0, 3), (1, 4)])
def test_it_takes_four_files_of_the_same_kind(store: Store, expected: int, before: int) -> None:
    keep_usual(store, before)
    keep(store, 20, 20, "refunds", received=9)
    keep(store, 21, 21, received=400, accepted=380)
    assert expected == len(found(store, 21))
    assert {} == found(store, 20)


def test_days_are_compared_with_their_like_where_files_come_daily(store: Store) -> None:
    """Five weeks of which Sundays are small."""
    for day in range(35):
        keep(store, day + 1, day, received=200 if day % 7 == 6 else 1000)
    keep(store, 36, 41, received=205)
    keep(store, 37, 42, received=205)
    assert ({}, ["rows_unusual"]) == (found(store, 36), [*found(store, 37)])


def test_monthly_files_are_compared_whatever_their_day(store: Store) -> None:
    keep_usual(store, every=30.5)
    keep(store, 13, 12 * 30.5, received=300, accepted=280)
    assert ["rows_unusual"] == [*found(store, 13)]
    assert 12 == found(store, 13)["rows_unusual"]["like_files"]


@pytest.mark.parametrize(
    ("expected", "new", "known"),
    [
        ([], 249, 1000),
        ([], 250, 999),
        ([("new_cardholders", 250), ("among", 500), ("known", 1000)], 250, 1000),
    ],
)
def test_half_of_the_cardholders_unknown_is_found_where_many_are_known(
    store: Store, expected: list[tuple[str, int]], new: int, known: int
) -> None:
    keep(store, 1, 0, new=new)
    store.connection.execute(
        "insert into cardholders select range, $1, 'holder-' || range from range(1, $2)",
        [ALDER, known + new + 1],
    )
    assert expected == [*found(store, 1).get("cardholders_unknown", {}).items()]


def test_a_file_that_is_wholly_known_is_that_and_nothing_else(store: Store) -> None:
    keep_usual(store, 4)
    keep(store, 5, 4, received=400, accepted=0, duplicates=400, invalid=0)
    assert ["file_wholly_known"] == [*found(store, 5)]
    keep(store, 6, 7, received=500, accepted=480)
    assert 4 == found(store, 6)["rows_unusual"]["like_files"]


@pytest.mark.parametrize(
    ("expected", "each", "but"),
    [([], 13, 0), (["merchant_silent"], 20, 0), ([], 20, 1)],
)
def test_a_merchant_that_every_file_has_and_this_one_has_not_is_silent(
    store: Store, expected: list[str], each: int, but: int
) -> None:
    """At most 13.8 expected purchases may be none by chance; one file without them is enough."""
    keep_usual(store)
    keep(store, 13, 12)
    for number in range(1, 13 - but):
        store.connection.execute(
            "insert into import_merchants values ($1, $2, $3, $4)",
            [number, ALDER, uid("bakery"), each],
        )
    assert expected == [*found(store, 13)]
    given(store, "purchases", "ref cardholder merchant\nr-1 c0 bakery")
    store.connection.execute("update recent_purchases set import_no = 13")
    assert [] == [*found(store, 13)]
