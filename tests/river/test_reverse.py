from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.redemptions import reverse
from cardoffers_cli.river.settlements import settle_due
from sizes import one_in, slow
from tables import NOON
from work import file_of, found, job, kept, new_store, once, taken, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return with_one_use(tmp_path)


@once
def with_one_use(folder: Path) -> Job:
    """Make a store where the budget, and ann's one use, are taken by purchase 1."""
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery",
        identifiers="identifier merchant\nM1 bakery",
        offers="offer merchant cashback rate budget uses\nA bakery 2.00 0.1 2.20 1",
        links="cardholder offer\nann A",
    )
    buy(made, folder, "1")
    return made


def buy(made: Job, folder: Path, ref: str) -> int:
    """Import one purchase of ann's and match; return how many redeemed."""
    taken(made, file_of(folder / "tx.csv", [{"ref": ref, "identifier": "M1"}]))
    return match_purchases(made).redeemed.redeemed


def redemption(made: Job, ref: str = "1") -> str:
    return str(dict(found(made, "select transaction_ref, redemption_id from redemptions"))[ref])


@slow
@pytest.mark.parametrize("status", ["pending", "settled"])
def test_a_reversal_gives_the_budget_and_the_use_back(
    made: Job, tmp_path: Path, status: str
) -> None:
    if status == "settled":
        settle_due(made)
    assert 0 == buy(made, tmp_path, "2")
    told = reverse(redemption(made), " goods returned ", made)
    assert {
        "redemption_id": redemption(made),
        "institution": "alder",
        "transaction_ref": "1",
        "offer_id": "A",
        "merchant_name": "bakery",
        "deducted": str(status == "settled"),
        "status": "reversed",
        "status_before": status,
        "reason": "goods returned",
        "merchant_funded_amount": "2.20",
        "institution_payout_amount": "2.00",
        "dry_run": "False",
    } == {
        name: str(value)
        for name, value in told.items()
        if name not in {"institution_id", "currency", "reversed_at"}
    }
    assert 1 == buy(made, tmp_path, "3")


def test_what_was_reversed_never_redeems_again(made: Job, tmp_path: Path) -> None:
    reverse(redemption(made), "returned", made)
    assert 0 == match_purchases(made, rematch=True).redeemed.considered
    assert 1 == buy(made, tmp_path, "2")


def test_a_reversal_is_final(made: Job) -> None:
    id_ = redemption(made)
    reverse(id_, "returned", made)
    before = kept(made)
    later = job(made.path, now=NOON + timedelta(days=1))
    with pytest.raises(Refused) as caught:
        reverse(id_, "again", later)
    assert "already_reversed" == caught.value.code
    assert before == kept(made)
    assert 0 == settle_due(later)["settled"]


@pytest.mark.parametrize(
    "id_", ["00000000-0000-4000-8000-000000000000", "no-id", "", "'; drop table redemptions; --"]
)
@one_in(3)
def test_an_unknown_redemption_is_not_found(made: Job, id_: str) -> None:
    with pytest.raises(NotFound) as caught:
        reverse(id_, "returned", made)
    assert "redemption_not_found" == caught.value.code


def test_a_reversal_needs_a_reason(made: Job) -> None:
    with pytest.raises(UsageError):
        reverse(redemption(made), "  ", made)


def test_a_dry_run_keeps_nothing(made: Job) -> None:
    before = kept(made)
    assert "reversed" == reverse(redemption(made), "returned", made, dry_run=True)["status"]
    assert before == kept(made)


@slow
def test_a_reversal_after_settling_comes_off_the_next_settlement(made: Job) -> None:
    first = settle_due(made)
    reverse(redemption(made), "returned", made)
    later = job(made.path, now=NOON + timedelta(days=1))
    second = settle_due(later)
    names = ("entries", "adjustments", "merchant_funded_amount", "commission_amount")
    assert [["1", "0", "2.20", "0.20"], ["0", "1", "-2.20", "-0.20"]] == [
        [str(told["settlements"][0][name]) for name in names] for told in (first, second)
    ]
    assert [] == settle_due(later)["settlements"]


def test_a_dry_settle_run_tells_the_same_and_keeps_nothing(made: Job) -> None:
    before = kept(made)
    dry = settle_due(made, dry_run=True)
    assert before == kept(made)
    wet = settle_due(made)
    assert (1, 1) == (dry["settled"], wet["settled"])
    assert dry["settlements"] == wet["settlements"]


# When a redemption was made and settled, hours and days apart, and when it is reversed -> the code.
MOMENTS = [
    ("pending", timedelta(microseconds=-1), "reversal_too_early"),
    ("pending", timedelta(0), None),
    ("settled", timedelta(days=1, microseconds=-1), "reversal_too_early"),
    ("settled", timedelta(days=1), None),
    ("settled", timedelta(days=2), None),
    ("settled", timedelta(days=2, microseconds=1), "reversal_in_future"),
    ("pending", timedelta(days=1, microseconds=1), "reversal_in_future"),
    ("pending", timedelta(days=365_000), "reversal_in_future"),
]


@slow
@pytest.mark.parametrize(("status", "after", "code"), MOMENTS)
@one_in(2)
def test_a_reversal_is_dated_after_what_it_reverses_and_not_in_the_future(
    made: Job, status: str, after: timedelta, code: str | None
) -> None:
    machine = NOON + timedelta(days=status == "settled")
    if status == "settled":
        settle_due(replace(made, now=NOON + timedelta(days=1)))
    before = kept(made)
    late = replace(made, now=NOON + after, machine=lambda _: machine)
    if code is None:
        assert "reversed" == reverse(redemption(made), "returned", late)["status"]
        return
    with pytest.raises(Refused) as caught:
        reverse(redemption(made), "returned", late)
    assert code == caught.value.code
    assert before == kept(made)


def test_the_clock_of_the_machine_is_never_the_future(made: Job) -> None:
    late = replace(made, now=NOON + timedelta(days=400))
    assert "reversed" == reverse(redemption(made), "returned", late)["status"]
