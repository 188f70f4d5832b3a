from __future__ import annotations

from decimal import Decimal

import pytest

from cardoffers_cli.reports.funnel import (
    STEPS,
    compared,
    conversions,
    people,
    people_compared,
    share,
    volumes,
)


@pytest.mark.parametrize(
    ("expected", "part", "whole"),
    [
        ("0.0000", 0, 7),
        ("1.0000", 7, 7),
        ("0.3333", 1, 3),
        ("0.6667", 2, 3),
        ("0.1000", 1, 10),
        ("0.0001", 1, 20_000),  # half up
        ("0.0000", 1, 20_001),
        ("12.5000", 25, 2),
        ("-0.2500", -1, 4),
        ("0.3000", 3 * 10**15, 10**16),
        (None, 0, 0),
        (None, 3, 0),
    ],
)
def test_a_share_has_four_exact_decimals(expected: str | None, part: int, whole: int) -> None:
    found = share(part, whole)
    assert expected == (found if found is None else str(found))


def test_a_step_is_a_share_of_the_one_before_and_of_the_first() -> None:
    counts = dict(zip(STEPS, (200, 50, 400, 20, 5), strict=True))
    assert [
        ("widget_views", 200, None, None, None),
        ("unique_cardholders", 50, Decimal("0.25"), Decimal("0.25"), "widget_views"),
        ("offer_impressions", 400, Decimal(8), Decimal(2), "unique_cardholders"),
        ("offer_add_successes", 20, Decimal("0.05"), Decimal("0.1"), "offer_impressions"),
        ("redemptions", 5, Decimal("0.25"), Decimal("0.025"), "offer_add_successes"),
    ] == [tuple(row.values()) for row in conversions(counts)]


def test_cardholders_are_a_share_of_the_step_before() -> None:
    counts = {"saw": 200, "added": 50, "redeemed": 5, "all_who_redeemed": 90}
    assert [
        ("Saw offers", 200, None),
        ("of these, had added one", 50, Decimal("0.25")),
        ("of these, redeemed", 5, Decimal("0.1")),
    ] == [tuple(row.values()) for row in people(counts)]
    before = {"saw": 100, "added": 50, "redeemed": 0, "all_who_redeemed": 0}
    assert [(100, Decimal(1)), (50, Decimal(0)), (0, None)] == [
        (row["previous"], row["change"]) for row in people_compared(counts, before)
    ]


def test_what_happened_is_told_in_words_and_divided_by_nothing() -> None:
    counts = dict(zip(STEPS, (200, 50, 400, 20, 5), strict=True))
    assert [("Views", 200), ("Offers shown", 400), ("Offers added", 20), ("Redemptions", 5)] == [
        (row["label"], row["count"]) for row in volumes(counts)
    ]
    (views, *_) = volumes(counts, {**counts, "widget_views": 100})
    assert (100, Decimal(1)) == (views["previous"], views["change"])


def test_a_change_is_a_share_of_the_count_before() -> None:
    counts = dict(zip(STEPS, (200, 50, 400, 20, 0), strict=True))
    before = dict(zip(STEPS, (100, 50, 500, 0, 0), strict=True))
    assert [
        (100, Decimal(1)),
        (50, Decimal(0)),
        (500, Decimal("-0.2")),
        (0, None),
        (0, None),
    ] == [(row["previous"], row["change"]) for row in compared(counts, before)]
