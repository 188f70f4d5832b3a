"""What refunds leave of redemptions of percent offers, in any order and cut, as the plain loop."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.refunds.apply import apply_in
from cardoffers_cli.refunds.commands import applied
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.settlements import settle_in
from percents import INSTITUTIONS, Loop, amounts, program, write
from sizes import FULL, GATE, one_in
from tables import NOON, given, put, select
from work import job

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store

Row = dict[str, Any]
DAY = timedelta(days=1)


@dataclass
class Refunds:
    """What is left of purchases and of what they redeemed, one refund after the other."""

    loop: Loop
    left: dict[str, Decimal]
    reduced: Counter[str] = field(default_factory=Counter)
    reversed: set[str] = field(default_factory=set)
    outcomes: dict[str, str] = field(default_factory=dict)

    def apply(self, refunds: list[Row]) -> None:
        for refund in sorted(refunds, key=lambda row: (row["at"], row["ref"])):
            self.outcomes[refund["ref"]] = self._apply(refund)

    def _apply(self, refund: Row) -> str:
        ref = refund["original"]
        if refund["amount"] > self.left[ref]:
            return "refund_exceeds_purchase"
        before = self.left[ref]
        after = self.left[ref] = before - refund["amount"]
        if ref not in self.loop.redemptions:
            return "not_redeemed"
        if ref in self.reversed:
            return "already_reversed"
        terms = self.loop.terms[ref]
        if after == 0 or after < terms["min_spend"]:
            self.reversed.add(ref)
            return "reversed"
        back = sum(amounts(terms, before)) - sum(amounts(terms, after))
        self.reduced[ref] += back
        return "reduced" if back else "kept"

    def kept(self) -> dict[str, Decimal]:
        """Return what each redemption still costs its merchant, by its reference."""
        return {
            ref: reward + commission - self.reduced[ref]
            for ref, (_, reward, commission) in self.loop.redemptions.items()
            if ref not in self.reversed
        }


def drawn(chance: random.Random, purchases: list[Row]) -> list[Row]:
    """Draw up to three refunds of some purchases, of a part or of all that is left."""
    refunds = []
    for bought in chance.sample(purchases, len(purchases) * 2 // 3):
        for number in range(chance.randint(1, 3)):
            share = chance.choice([bought["amount"], *[Decimal(n) for n in (1, 2, 15)]])
            refunds.append(
                {
                    **{name: bought[name] for name in ("institution", "cardholder", "currency")},
                    "ref": f"r{chance.randint(10, 99)}-{number}-{bought['ref']}",
                    "original": bought["ref"],
                    "amount": min(share, bought["amount"]),
                    "at": NOON + DAY + timedelta(seconds=chance.randint(0, 9)),
                }
            )
    chance.shuffle(refunds)
    return refunds


def costs(store: Store) -> dict[str, Decimal]:
    """Return what each redemption costs, its adjustments with it."""
    return dict(
        select(
            store,
            "select transaction_ref, merchant_funded_amount + coalesce((select"
            " sum(merchant_funded_amount) from adjustments"
            " where redemption_no = entries.redemption_no), 0)"
            " from redemption_entries as entries where status <> 'reversed'",
        )
    )


BUDGETS = "select offer_id, reserved_amount from offer_budgets join offers using (offer_no)"
SETTLED = "select sum(merchant_funded_amount) from settlements"
ON_HOLD = """
select currency, sum(if(event in ('redeemed', 'reversed'), funded, -funded)) as held
from posted_events where event in ('redeemed', 'reversed', 'settled', 'deducted')
group by currency having held <> 0
"""


REDUCTIONS = "river/audits:reversals_are_given_back"
BREAKS = [
    "update adjustments set merchant_funded_amount = merchant_funded_amount - 1",
    "update adjustments set commission_amount = 0, institution_payout_amount = 0",
    "update refund_outcomes set net_after = 0 where outcome = 'reduced'",
    "update offer_versions set cashback_percent = cashback_percent + 1",
    "delete from refund_outcomes where outcome = 'reduced'",
]


@pytest.mark.parametrize("seed", range(60 if FULL else 2 if GATE else 1))
def test_refunds_reduce_as_the_plain_loop(store: Store, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - examples, not secrets
    made = program(chance, 400 if FULL else 100 if GATE else 25, purchases=10)
    write(store, made)
    put(store, "purchases", made.purchases)
    store.connection.execute("update institutions set settlement_hold_days = 2")
    loop = Loop(made.offers, [])
    loop.match(made.purchases)
    decide(store, job())
    assert loop.redemptions.keys() == costs(store).keys()
    meant = Refunds(loop, {row["ref"]: row["amount"] for row in made.purchases})
    refunds = drawn(chance, made.purchases)
    parts, days = chance.randint(2, 5), 1
    for part in range(parts):
        own = refunds[part::parts]
        put(store, "refunds", own)
        meant.apply(own)
        apply_in(store, job(now=NOON + days * DAY + timedelta(minutes=3)))
        assert meant.kept() == costs(store)
        if chance.random() < 0.6:
            days += 1
            settle_in(store, job(now=NOON + days * DAY + timedelta(minutes=2)))
    found = dict(select(store, "select refund_ref, outcome from refund_states"))
    assert meant.outcomes == found
    spent: Counter[str] = Counter()
    for ref, amount in meant.kept().items():
        spent[loop.redemptions[ref][0]] += amount
    held = dict(select(store, BUDGETS))
    assert {name: amount for name, amount in spent.items() if amount} == {
        name: amount for name, amount in held.items() if amount
    }
    settle_in(store, job(now=NOON + 9 * DAY))
    assert [(sum(meant.kept().values()),)] == select(store, SETTLED)
    assert [] == select(store, "from open_adjustments")
    assert [] == select(store, ON_HOLD)
    for audit in ("reversals_are_given_back", "settlements_add_up", "amounts_follow_their_version"):
        assert [] == store.rows(f"river/audits:{audit}")
    assert [] == store.rows(REDUCTIONS)
    assert {"reversed", "reduced", "kept", "already_reversed"} <= {*meant.outcomes.values()}
    assert {*INSTITUTIONS.values()} == {row["currency"] for row in made.purchases}


@pytest.mark.parametrize("change", BREAKS)
@one_in(5)
def test_an_audit_finds_another_reduction(store: Store, change: str) -> None:
    given(store, "institutions", "institution percent\nalder yes")
    given(store, "merchants", "merchant\nbakery")
    given(store, "offers", "offer merchant percent cap rate\nten bakery 10 5.00 0.10")
    given(store, "links", "offer cardholder\nten ann")
    given(store, "purchases", "ref merchant amount\n1 bakery 40.00")
    decide(store, job())
    given(store, "refunds", "ref original amount at\nr1 1 15.50 13:00:00")
    result = apply_in(store, job(now=NOON + DAY))
    assert (1, 0, Decimal("1.70")) == (
        *(result.reduced, result.reversed),
        result.merchant_funded_amount["GBP"],
    )
    told = next(applied(result)).rows
    assert {"reduced": 1, "reversed": 0} == {
        row["found"]: row["refunds"] for row in told if row["found"] in {"reduced", "reversed"}
    }
    assert [] == store.rows(REDUCTIONS)
    store.connection.execute(change)
    assert store.rows(REDUCTIONS)
