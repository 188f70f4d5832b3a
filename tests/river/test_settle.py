from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.redemptions import reverse_redemption
from cardoffers_cli.river.settle import StillPending, settle
from sizes import slow
from tables import NOON, given, put, select
from work import job

if TYPE_CHECKING:
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


def redeemed(store: Store, *, hold_days: int = 0) -> None:
    """Redeem two purchases (1.00 + 0.10 pounds each), and one of another bank (100 + 8 yen)."""
    given(
        store,
        "institutions",
        f"""
        institution  currency  hold_days
        alder        GBP       {hold_days}
        brook        JPY       {hold_days}
        """,
    )
    given(store, "merchants", "merchant\nbakery\ncinema")
    given(
        store,
        "offers",
        """
        offer  merchant  cashback  rate   currency
        A      bakery    1.00      0.1    GBP
        B      cinema    100       0.075  JPY
        """,
    )
    given(store, "links", "institution offer\nalder A\nbrook B")
    given(
        store,
        "purchases",
        """
        ref  institution  merchant  amount  currency
        1    alder        bakery    20.00   GBP
        2    alder        bakery    20.00   GBP
        3    brook        cinema    2000    JPY
        """,
    )
    decide(store, job())


def settled(store: Store, *, now: datetime = NOON, run_no: int = 100) -> list[tuple[Any, ...]]:
    """Settle and return what each settlement came to."""
    made = settle(store, run_no=run_no, now=now, actor="tester")
    names = (
        "institution",
        "currency",
        "entries",
        "adjustments",
        "merchant_funded_amount",
        "commission_amount",
        "institution_payout_amount",
    )
    return [tuple(row[name] for name in names) for row in made]


def reverse(store: Store, ref: str, *, now: datetime = NOON, run_no: int = 200) -> None:
    reverse_redemption(
        store, str(redemption(store, ref)), reason="returned", run_no=run_no, now=now, actor="ada"
    )


def redemption(store: Store, ref: str) -> UUID:
    return dict(select(store, "select transaction_ref, redemption_id from redemptions"))[ref]


def moves(store: Store, ref: str) -> list[list[Any]]:
    found = select(
        store,
        "select transaction_ref, status, moved_at, actor, reason from ledger_moves"
        " join redemptions using (redemption_no)"
        " order by ledger_moves.run_no",
    )
    return [move for of, *move in found if of == ref]


POUNDS = ("alder", "GBP", 2, 0, Decimal("2.20"), Decimal("0.20"), Decimal("2.00"))
YEN = ("brook", "JPY", 1, 0, Decimal(108), Decimal(8), Decimal(100))


def pending(store: Store) -> StillPending | None:
    return store.record(StillPending, "river/settle:still_pending")


def test_one_settlement_for_each_institution_and_currency(store: Store) -> None:
    redeemed(store)
    assert [POUNDS, YEN] == settled(store)
    assert {"still_pending": 0, "next_settles_at": None} == pending(store)


def test_a_second_run_settles_nothing(store: Store) -> None:
    redeemed(store)
    settled(store)
    assert [] == settled(store, run_no=101)
    assert [] == settled(store, run_no=102, now=NOON + timedelta(days=9))
    assert [(2,)] == select(store, "select count(*) from settlements")


def test_an_entry_is_due_when_its_hold_ends_and_not_before(store: Store) -> None:
    redeemed(store, hold_days=3)
    assert [] == settled(store, now=NOON + timedelta(days=3, microseconds=-1))
    due_at = NOON + timedelta(days=3)
    assert {"still_pending": 3, "next_settles_at": due_at} == pending(store)
    assert [POUNDS, YEN] == settled(store, now=due_at, run_no=101)


def test_every_move_is_kept_with_its_time_actor_and_reason(store: Store) -> None:
    redeemed(store)
    later = NOON + timedelta(hours=1)
    settled(store, now=later)
    reverse(store, "1", now=later + timedelta(hours=1))
    assert [
        ["pending", NOON, "tester", "matched"],
        ["settled", later, "tester", "hold ended"],
        ["reversed", later + timedelta(hours=1), "ada", "returned"],
    ] == moves(store, "1")
    assert ["pending", "settled"] == [move[0] for move in moves(store, "2")]


def test_what_was_reversed_while_pending_is_never_settled(store: Store) -> None:
    redeemed(store)
    reverse(store, "1")
    one = ("alder", "GBP", 1, 0, Decimal("1.10"), Decimal("0.10"), Decimal("1.00"))
    assert [one, YEN] == settled(store)
    assert [] == settled(store, run_no=101)
    assert ["pending", "reversed"] == [move[0] for move in moves(store, "1")]


def test_what_was_reversed_after_settling_is_taken_off_the_next_settlement(store: Store) -> None:
    redeemed(store)
    settled(store)
    reverse(store, "1")
    put(store, "purchases", [{"ref": "4", "merchant": "bakery"}])
    decide(store, job())
    net = ("alder", "GBP", 1, 1, Decimal(0), Decimal(0), Decimal(0))
    assert [net] == settled(store, run_no=201)
    assert [] == settled(store, run_no=202)


@slow
def test_an_adjustment_is_of_the_settlement_in_its_currency(store: Store) -> None:
    redeemed(store)
    given(store, "offers", "offer merchant cashback currency\nC cinema 100 JPY")
    given(store, "links", "offer\nC")
    given(store, "purchases", "ref merchant currency\n4 cinema JPY")
    decide(store, job())
    settled(store)
    reverse(store, "1")
    reverse(store, "4", run_no=201)
    settled(store, run_no=202)
    assert [("GBP", "GBP"), ("JPY", "JPY")] == select(
        store,
        "select adjustments.currency, settlements.currency from adjustments"
        " join settlements using (settlement_no) order by all",
    )


def test_an_adjustment_alone_makes_a_settlement_too(store: Store) -> None:
    redeemed(store)
    settled(store)
    reverse(store, "1")
    alone = ("alder", "GBP", 0, 1, Decimal("-1.10"), Decimal("-0.10"), Decimal("-1.00"))
    assert [alone] == settled(store, run_no=201)
    assert [] == settled(store, run_no=202)


def test_settlements_add_up_to_their_entries_and_adjustments(store: Store) -> None:
    redeemed(store)
    settled(store)
    reverse(store, "1")
    put(store, "purchases", [{"ref": ref, "merchant": "bakery"} for ref in "456"])
    decide(store, job())
    settled(store, run_no=201)
    assert [] == select(
        store,
        """
        with parts as (
            select settlement_no, merchant_funded_amount as funded, commission_amount as commission,
                institution_payout_amount as payout
            from ledger_entries
            union all
            select settlement_no, merchant_funded_amount, commission_amount,
                institution_payout_amount
            from adjustments
        )
        select settlement_no
        from settlements join parts using (settlement_no)
        group by all
        having sum(funded) <> any_value(merchant_funded_amount)
            or sum(commission) <> any_value(commission_amount)
            or sum(payout) <> any_value(institution_payout_amount)
            or sum(funded) <> sum(commission) + sum(payout)
        """,
    )


def test_amounts_of_an_entry_are_never_edited(store: Store) -> None:
    redeemed(store)
    kept = (
        "select redemption_no, merchant_funded_amount, commission_amount,"
        " institution_payout_amount, settles_at from ledger_entries order by all"
    )
    before = select(store, kept)
    settled(store)
    reverse(store, "1")
    settled(store, run_no=201)
    assert before == select(store, kept)
