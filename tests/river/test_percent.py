"""What percent offers give, which offer is best, and when a budget closes: as the plain loop."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.imports import ImportOptions
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.simulate import simulate_file
from percents import Loop, program, write
from sizes import FULL, GATE, slow
from tables import put, select
from work import file_of, job, new_store, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store


def redeemed(store: Store) -> dict[str, tuple[Any, ...]]:
    found = select(
        store,
        "select transaction_ref, offer_id, institution_payout_amount, commission_amount,"
        " merchant_funded_amount from redemption_entries join offers using (offer_no)",
    )
    assert all(funded == payout + commission for _, _, payout, commission, funded in found)
    return {ref: tuple(rest[:3]) for ref, *rest in found}


def outcomes(store: Store) -> dict[tuple[str, str], str]:
    found = select(
        store,
        "select transaction_ref, offer_id, outcome from outcomes join purchases using (purchase_no)"
        " join offers using (offer_no) order by run_no",
    )
    return {(ref, offer): outcome for ref, offer, outcome in found}


@pytest.mark.parametrize("seed", range(40 if FULL else 2 if GATE else 1))
def test_a_match_is_the_plain_loop(store: Store, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - examples, not secrets
    made = program(chance, 2500 if FULL else 250 if GATE else 40)
    write(store, made)
    put(store, "versions", made.versions)
    loop = Loop(made.offers, made.versions)
    chance.shuffle(made.purchases)
    half = len(made.purchases) // 2
    for part in (made.purchases[:half], made.purchases[half:]):
        loop.match(part)
        put(store, "purchases", part)
        decide(store, job())
        assert loop.redemptions == redeemed(store)
        assert loop.outcomes == outcomes(store)
    assert {
        *("redeemed", "outranked", "budget_exhausted", "redemption_limit_reached"),
        *("below_min_spend", "reward_below_minor_unit"),
    } == {*loop.outcomes.values()}


@slow
def test_a_simulation_says_how_the_reward_was_computed(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    tell(
        made,
        institutions="institution percent\nalder yes",
        merchants="merchant\nbakery",
        identifiers="identifier merchant\nM1 bakery",
        offers="offer merchant percent cap\nten bakery 10 5.00",
        programs="offer\nten",
        links="offer cardholder\nten ann",
    )
    rows = "ref cardholder identifier amount at\n1 ann M1 62.15 2026-06-01T12:00:00Z"
    file = file_of(tmp_path / "tx.csv", rows)
    (item,) = simulate_file(
        str(file), "alder", made, ImportOptions(), outputs=Outputs()
    ).document()["items"]
    assert ("match", "5.00") == (item["outcome"], f"{item['institution_payout_amount']:.2f}")
    says = "10 % of GBP 62.15 is GBP 6.22; the offer gives at most GBP 5.00"
    assert [says] == [each["reward"] for each in item["evaluations"]]
