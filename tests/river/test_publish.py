from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from json import loads
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.archive.export import export
from cardoffers_cli.kernel.words.ids import mask
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.money import MINOR_UNITS, quantize
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.publish import publish
from sizes import slow
from tables import NOON, given, put, select, uid
from work import file_of, found, job, new_store, taken, tell, with_catalogue

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store


def redeem(
    store: Store, *, cardholder: str = "ch_0123456789", currency: str = "GBP", now: datetime = NOON
) -> None:
    """Redeem one purchase, worth 5 of a currency."""
    given(store, "institutions", f"institution currency\nalder {currency}")
    given(store, "merchants", "merchant\nbakery")
    given(store, "offers", f"offer merchant cashback currency\nA bakery 5 {currency}")
    given(store, "links", f"cardholder offer\n{cardholder} A")
    purchase = {"ref": "1", "cardholder": cardholder, "merchant": "bakery", "currency": currency}
    put(store, "purchases", [purchase])
    decide(store, job(now=now))


def body(store: Store) -> str:
    ((text,),) = select(store, "select body from outbox")
    return str(text)


def test_the_bytes_of_an_event_are_those_of_the_contract(store: Store) -> None:
    redeem(store, now=NOON + timedelta(microseconds=123_999))
    ((id_,),) = select(store, "select cast(redemption_id as varchar) from redemptions")
    expected = (
        '{"event":"redemption.completed"'
        f',"redemption_id":"{id_}"'
        f',"institution_id":"{uid("alder")}"'
        ',"offer_id":"A"'
        ',"cardholder_token":"ch_0123456789"'
        ',"cardholder_token_masked":"ch_0…6789"'
        ',"institution_payout_amount":5.00'
        ',"occurred_at":"2026-06-01T12:00:00.123Z"'
        ',"transaction_ref":"1","currency":"GBP"}'
    )
    assert expected == body(store)


@pytest.mark.parametrize("ref", ["tx-1", '"', "a\\b", "<&>"])
def test_a_reference_stands_as_it_came(store: Store, ref: str) -> None:
    redeem(store)
    select(store, "delete from outbox")
    store.connection.execute("update redemptions set transaction_ref = $1", [ref])
    publish(store, "redemptions", run_no=1)
    assert loads(body(store))["transaction_ref"] == ref


@slow
def test_an_event_knows_the_reference_of_a_purchase_that_is_in_the_history(tmp_path: Path) -> None:
    made = with_catalogue(tmp_path)
    taken(made, file_of(tmp_path / "tx.csv", "ref cardholder identifier\nr-1 c0 M0"))
    export(made, str(tmp_path / "history"))
    match_purchases(made)
    ((text,),) = found(made, "select body from outbox")
    assert ("r-1", "GBP") == (loads(text)["transaction_ref"], loads(text)["currency"])


@pytest.mark.parametrize("currency", ["JPY", "GBP", "KWD", "CLF"])
def test_the_amount_has_the_decimals_of_its_currency(store: Store, currency: str) -> None:
    redeem(store, currency=currency)
    amount = dumps(quantize(Decimal(5), currency))
    assert f'"institution_payout_amount":{amount},' in body(store)


def test_every_currency_has_a_form(store: Store) -> None:
    rows = select(store, "select currency, amount_text(12.5000, minor_unit) from currencies")
    halves = {currency: dumps(quantize(Decimal("12.5"), currency)) for currency in MINOR_UNITS}
    assert halves == dict(rows)


@pytest.mark.parametrize("token", ["a", "12345678", "123456789", 'a"b\\c/d<e>f', "x" * 256])
def test_a_token_stands_in_full_and_masked(store: Store, token: str) -> None:
    redeem(store, cardholder=token)
    expected = f'"cardholder_token":{dumps(token)},"cardholder_token_masked":{dumps(mask(token))},'
    assert expected in body(store)


def test_an_event_is_due_from_its_redemption_on_and_written_once(store: Store) -> None:
    redeem(store)
    state = "select state, attempts, failures, next_attempt_at, claimed_at from outbox"
    assert [("due", 0, 0, NOON, None)] == select(store, state)
    ((run_no,),) = select(store, "select run_no from redemptions")
    assert 0 == publish(store, "redemptions", run_no=run_no)
    assert 1 == len(select(store, state))


def test_what_does_not_redeem_has_no_event(store: Store) -> None:
    given(store, "institutions", "institution\nalder")
    given(store, "purchases", "ref\n1")
    decide(store, job())
    assert [] == select(store, "from outbox")


@slow
def test_a_dry_run_announces_nothing(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery",
        offers="offer merchant\nA bakery",
        links="offer\nA",
        purchases="ref merchant\n1 bakery",
    )
    assert 1 == match_purchases(made, dry_run=True).redeemed.redeemed
    assert [] == found(made, "from outbox")
    match_purchases(made)
    assert [(1,)] == found(made, "select count(*) from outbox")
