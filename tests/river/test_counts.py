"""What is kept is what is there: after every history, and where it is not, `doctor` says so."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.store.opening import scratch_store
from cardoffers_cli.kernel.store.statements import statements
from cardoffers_cli.river.counts import keep_counts, recount
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.redemptions import reverse_redemption
from cardoffers_cli.river.settle import settle
from cardoffers_cli.storage.doctor import offending
from sizes import FULL, slow, tries
from tables import NOON, given, put, select
from work import job, next_run, settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cardoffers_cli.kernel.store.store import Store

AUDITS = tuple(name for name in statements("river/audits") if "count" in name)
HOLDERS = ("ann", "bob", "cy", "dot")
OPEN = (
    "select cast(redemption_id as varchar) from redemptions join ledger_entries"
    " using (redemption_no) where status <> 'reversed' order by redemption_no"
)
KEPT = ("purchase_counts", "redemption_counts", "purchase_day_counts", "offer_counts")


def catalogue(store: Store) -> None:
    given(store, "institutions", "institution hold_days\nalder 0\nbrook 2")
    given(store, "merchants", "merchant\nbakery\ncinema")
    given(store, "offers", "offer merchant rate\nA bakery 0.1\nB bakery 0\nC cinema 0.2")
    pairs = [f"{holder} {offer}" for holder in HOLDERS[:3] for offer in "AC"]
    add(store, "\n".join(["cardholder offer", *pairs]), NOON)


def buy(store: Store, ref: str, chance: random.Random, now: datetime) -> None:
    """Take purchases in, of two days, some at a merchant that nobody knows."""
    put(
        store,
        "purchases",
        [
            {
                "ref": f"{ref}-{number}",
                "institution": chance.choice(["alder", "brook"]),
                "cardholder": chance.choice(HOLDERS),
                "amount": f"{chance.randrange(500, 9900)}.{chance.randrange(10)}0",
                "at": now - timedelta(hours=chance.randrange(48)),
                "merchant": chance.choice(["bakery", "cinema", None]),
            }
            for number in range(chance.randrange(1, 6))
        ],
    )


def link(store: Store, chance: random.Random, now: datetime) -> None:
    """Add an offer for somebody who has not added it, as a call does."""
    holder, offer = chance.choice(HOLDERS), chance.choice("ABC")
    institution = chance.choice(["alder", "brook"])
    add(store, f"institution cardholder offer\n{institution} {holder} {offer}", now)


def add(store: Store, links: str, now: datetime) -> None:
    given(store, "links", links)
    number = next_run(store, now)
    store.connection.execute("update links set run_no = $1 where run_no = 0", [number])


def reverse(store: Store, chance: random.Random, now: datetime) -> None:
    """Reverse a redemption, pending or settled, if there is one."""
    if found := select(store, OPEN):
        (redemption,) = chance.choice(found)
        given_back = {"reason": "returned", "now": now, "actor": "tester"}
        reverse_redemption(store, redemption, run_no=next_run(store, now), **given_back)


def step(store: Store, name: str, chance: random.Random, now: datetime) -> None:
    """Do one thing; a match keeps the counts itself, the others leave them to who comes next."""
    match name:
        case "buy":
            buy(store, f"{now:%d%H}", chance, now)
        case "match":
            decide(store, job(now=now))
        case "settle":
            settle(store, run_no=next_run(store, now), now=now, actor="tester")
        case "reverse":
            reverse(store, chance, now)
        case "link":
            link(store, chance, now)
        case "keep":
            keep_counts(store)
        case "count anew":
            recount(store)


STEPS = ["buy", "buy", "match", "settle", "reverse", "reverse", "link", "keep", "count anew"]


def loud(store: Store) -> list[str]:
    return [audit for audit in AUDITS if offending(store, audit)[0]]


@slow
@pytest.mark.parametrize("seed", range(60 if FULL else tries(3, 12)))
def test_what_is_kept_is_what_is_there(seed: int) -> None:
    """Count everything again after each step; so one history takes some seconds."""
    chance = random.Random(seed)  # noqa: S311 - a history, no secret
    with scratch_store(settings()) as store:
        catalogue(store)
        names = ["buy", "match", *chance.choices(STEPS, k=12)]
        for hour, name in enumerate(names):
            step(store, name, chance, NOON + timedelta(hours=hour))
            assert [] == loud(store), names[: hour + 1]
        before = totals(store)
        recount(store)
        assert before == totals(store)


def totals(store: Store) -> list[list[tuple[object, ...]]]:
    """Return what every view of counts says, summed."""
    return [
        select(store, "from purchase_totals order by all"),
        select(
            store,
            "select * exclude (redemptions, merchant_funded_amount, commission_amount,"
            " institution_payout_amount, purchase_amount), sum(redemptions) as n,"
            " sum(merchant_funded_amount), sum(commission_amount), sum(institution_payout_amount),"
            " sum(purchase_amount) from redemption_totals group by all having n > 0 order by all",
        ),
        select(
            store,
            "select * exclude (redemptions, institution_payout_amount), sum(redemptions) as n,"
            " sum(institution_payout_amount) from purchase_day_totals group by all"
            " having n > 0 order by all",
        ),
        select(store, "from offer_totals order by all"),
    ]


@pytest.fixture(scope="module")
def counted() -> Iterator[Store]:
    """Everything in every state, counted in several goes, and some of it not counted yet."""
    chance = random.Random(1)  # noqa: S311 - a history, no secret
    with scratch_store(settings()) as store:
        catalogue(store)
        for day in range(6):
            now = NOON + timedelta(days=day)
            for name in ("buy", "buy", "buy", "buy", "match", "settle", "reverse", "keep"):
                step(store, name, chance, now + timedelta(hours=len(name)))
        for name in ("buy", "reverse", "reverse"):
            step(store, name, chance, NOON + timedelta(days=9))
        yield store


@slow
def test_every_state_is_counted_and_something_is_not_yet(counted: Store) -> None:
    states = "select distinct status from redemption_counts order by all"
    assert [("pending",), ("reversed",), ("settled",)] == select(counted, states)
    assert [(True,)] == select(counted, "select count(*) > 0 from uncounted_entries")
    newest = "select max(purchase_no) > counted_purchase_no() from purchases"
    assert [(True,)] == select(counted, newest)
    assert [] == loud(counted)


@slow
@pytest.mark.parametrize("table", KEPT)
def test_counting_twice_changes_nothing(counted: Store, table: str) -> None:
    with counted.transaction(keep=False):
        keep_counts(counted)
        before = select(counted, f"from {table} order by all")
        keep_counts(counted)
        assert before == select(counted, f"from {table} order by all")


BREAKS = """
    update purchase_counts set purchases = purchases + 1                 | purchases
    update purchase_counts set amount = amount + 0.01                    | purchases
    update purchase_counts set last_purchase_at = '2030-01-01'           | purchases
    update purchase_counts set institution_id = uuid()                   | purchases
    delete from purchase_counts where rowid = 0                          | purchases
    insert into purchase_counts from purchase_counts limit 1             | purchases
    update redemption_counts set redemptions = redemptions + 1           | redemptions
    update redemption_counts set redemptions = -redemptions              | redemptions
    update redemption_counts set merchant_funded_amount = 0              | redemptions
    update redemption_counts set commission_amount = 7                   | redemptions
    update redemption_counts set institution_payout_amount = 0           | redemptions
    update redemption_counts set purchase_amount = purchase_amount + 1   | redemptions
    update redemption_counts set status = 'settled'                      | redemptions
    update redemption_counts set currency = 'EUR'                        | redemptions
    update redemption_counts set offer_no = offer_no + 1                 | redemptions
    update redemption_counts set merchant_id = uuid()                    | redemptions
    update redemption_counts set institution_id = uuid()                 | redemptions
    update redemption_counts set run_no = run_no + 1                     | redemptions
    update redemption_counts set run_no = null                           | redemptions
    update redemption_counts set created_at = '2026-01-01'               | redemptions
    delete from redemption_counts where status = 'reversed'              | redemptions
    delete from redemption_counts where redemptions < 0                  | redemptions
    insert into redemption_counts from redemption_counts limit 1         | redemptions
    update purchase_day_counts set purchased_on = '2026-01-01'           | purchase_days
    update purchase_day_counts set redemptions = redemptions + 1         | purchase_days
    update purchase_day_counts set institution_payout_amount = 0         | purchase_days
    update purchase_day_counts set status = 'pending'                    | purchase_days
    delete from purchase_day_counts where rowid = 0                      | purchase_days
    insert into purchase_day_counts from purchase_day_counts limit 1     | purchase_days
    update offer_counts set links = links + 1                            | offers
    update offer_counts set redemptions = redemptions - 1                | offers
    update offer_counts set merchant_funded_amount = 0                   | offers
    update offer_counts set offer_no = 9                                 | offers
    delete from offer_counts where offer_no = 101                         | offers
    insert into offer_counts from offer_counts limit 1                   | offers
    delete from counted_up_to                                            | purchases
    delete from counted_up_to                                            | redemptions
    delete from counted_up_to                                            | purchase_days
    delete from counted_up_to                                            | offers
    update counted_up_to set purchase_no = purchase_no - 1               | purchases
    update counted_up_to set purchase_no = purchase_no + 1               | purchases
    update counted_up_to set redemption_no = redemption_no - 1           | redemptions
    update counted_up_to set run_no = run_no + 1                         | redemptions
    update counted_up_to set run_no = 0                                  | redemptions
    update counted_up_to set purchase_no = purchase_no + 99              | end
    update counted_up_to set redemption_no = redemption_no + 1           | end
    update counted_up_to set run_no = run_no + 99                        | end
    update recent_purchases set amount = amount + 1                      | purchases
    update redemptions set purchase_amount = purchase_amount + 1         | redemptions
    update redemptions set purchased_at = '2026-01-01'                   | purchase_days
    delete from recent_purchases where purchase_no = 1                   | purchases
    update ledger_entries set status = 'pending'                         | redemptions
    update ledger_entries set commission_amount = 7                      | redemptions
    delete from ledger_entries where status = 'settled'                  | redemptions
    delete from ledger_moves where status = 'reversed'                   | redemptions
    delete from redemptions                                              | redemptions
    delete from links                                                    | offers
    insert into links from links                                         | offers
"""
"""What is done to what is kept, or to what was counted, and the audit that notices."""
NAMES = {
    **{name: f"{name}_are_counted" for name in ("purchases", "redemptions", "purchase_days")},
    "offers": "offers_are_counted",
    "end": "counts_end_with_what_is_there",
}


@pytest.mark.parametrize("row", BREAKS.strip().splitlines())
def test_a_count_that_is_wrong_is_noticed(counted: Store, row: str) -> None:
    harm, _, noticed = (each.strip() for each in row.partition("|"))
    with counted.transaction(keep=False):
        assert select(counted, harm) != [(0,)]
        assert NAMES[noticed] in loud(counted)
        recount(counted)  # which the counts themselves are mended by
        assert [] == loud(counted)


def test_every_audit_of_counts_is_broken_by_something() -> None:
    assert set(AUDITS) == set(NAMES.values())
    assert set(NAMES) == {row.partition("|")[2].strip() for row in BREAKS.strip().splitlines()}
