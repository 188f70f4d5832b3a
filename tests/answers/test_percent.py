"""Why a percent offer gave what it gave, as staff and as the cardholder are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.answers.why import plain_answers, why
from cardoffers_cli.river.engines import match_purchases
from tables import read
from work import new_store, tell

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    job = new_store(tmp_path_factory.mktemp("percent"))
    tell(
        job,
        institutions="institution percent\nalder yes",
        merchants="merchant\nbakery\nkiosk",
        offers="""
            offer  merchant  percent  cap   budget  basis  rate  most_commission
            ten    bakery    10       5.00  10.00   spend  0.01  0.50
            tiny   kiosk     0.01     1.00  -       -      -     -
        """,
        programs="offer\nten\ntiny",
        links="cardholder offer\nann ten\nann tiny",
        purchases="""
            ref  at        merchant  amount
            1    12:00:01  bakery    62.15
            2    12:00:02  bakery    20.05
            3    12:00:03  bakery    9.00
            4    12:00:04  kiosk     49.00
        """,
    )
    match_purchases(job)
    return job


HEADLINES = read("""
    ref  reason                   says
    1    redeemed                 10_%_of_GBP_62.15_is_GBP_6.22;_the_offer_gives_at_most_GBP_5.00.
    2    budget_exhausted         GBP_5.50_of_GBP_10.00,_and_one_redemption_takes_at_most_GBP_5.50
    3    budget_exhausted         GBP_5.50_of_GBP_10.00,_and_one_redemption_takes_at_most_GBP_5.50
    4    reward_below_minor_unit  0.01_%_of_GBP_49.00_is_GBP_0.00,_which_is_nothing_to_pay
""")


def test_staff_are_told_how_it_was_computed(made: Job) -> None:
    for row in HEADLINES:
        answer = why(row["ref"], "alder", made)
        assert row["reason"] == answer.reason
        assert row["says"].replace("_", " ") in answer.headline


def test_the_cardholder_is_told_why_only_so_much(made: Job) -> None:
    told = [row.answer for row in plain_answers(["1", "4"], "alder", made, locale="en")]
    assert told[0].endswith("10 % of GBP 62.15 is GBP 6.22; the offer gives at most GBP 5.00.")
    assert told[1].endswith("is less than the smallest amount that can be paid.")


def test_the_terms_and_the_sum_stand_in_json(made: Job) -> None:
    (offer,) = why("1", "alder", made).evaluations
    assert (10, 5) == (offer.terms.cashback_percent, offer.terms.cashback_amount)
    assert "10 % of GBP 62.15 is GBP 6.22; the offer gives at most GBP 5.00" == offer.reward
