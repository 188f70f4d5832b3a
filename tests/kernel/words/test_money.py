from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.kernel.store.opening import scratch_store
from cardoffers_cli.kernel.words.money import MINOR_UNITS, commission_amount, minor_unit, quantize
from sizes import slow
from tables import put, select
from work import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.kernel.store.store import Store


@pytest.mark.parametrize(
    ("currency", "decimals"), [("JPY", 0), ("GBP", 2), ("MXN", 2), ("KWD", 3), ("CLF", 4)]
)
def test_a_currency_has_its_minor_unit(currency: str, decimals: int) -> None:
    assert decimals == minor_unit(currency)


def test_no_currency_is_made_up() -> None:
    with pytest.raises(KeyError):
        minor_unit("XXX")


@pytest.mark.parametrize(
    ("cashback", "rate", "currency", "commission"),
    [
        ("5.00", "0.1", "GBP", "0.50"),
        ("5.00", "0", "GBP", "0.00"),
        ("0.49", "0.01", "GBP", "0.00"),
        ("0.50", "0.01", "GBP", "0.01"),
        ("0.51", "0.01", "GBP", "0.01"),
        ("1.25", "0.02", "GBP", "0.03"),
        ("1.15", "0.1", "GBP", "0.12"),
        ("7.77", "0.333", "GBP", "2.59"),
        ("100", "0.075", "JPY", "8"),
        ("100", "0.074999", "JPY", "7"),
        ("1.000", "0.0005", "KWD", "0.001"),
        ("1.0000", "0.00005", "CLF", "0.0001"),
        ("999999999999.99", "0.999999", "GBP", "999998999999.99"),
    ],
)
def test_commission_is_rounded_half_up_to_the_minor_unit(
    cashback: str, rate: str, currency: str, commission: str
) -> None:
    assert commission == str(commission_amount(Decimal(cashback), Decimal(rate), currency))


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [("12.5", "GBP", "12.50"), ("12.0000", "JPY", "12"), ("12", "KWD", "12.000")],
)
def test_an_amount_is_written_with_the_decimals_of_its_currency(
    amount: str, currency: str, text: str
) -> None:
    assert text == str(quantize(Decimal(amount), currency))


# The formula stands twice, in Python for one offer and in SQL for all of them.

CASHBACK = {
    currency: st.decimals(
        Decimal(1).scaleb(-MINOR_UNITS[currency]),
        Decimal(999_999_999_999),
        places=MINOR_UNITS[currency],
    )
    for currency in ("JPY", "GBP", "KWD", "CLF")
}
OFFER = st.sampled_from(sorted(CASHBACK)).flatmap(
    lambda currency: st.fixed_dictionaries(
        {
            "currency": st.just(currency),
            "cashback": st.one_of(CASHBACK[currency], st.sampled_from([Decimal(1), Decimal(50)])),
            "rate": st.decimals(0, 1, places=6),
        }
    )
)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with scratch_store(settings()) as store:
        put(store, "merchants", [{"merchant": "bakery"}])
        yield store


@slow
@profile(max_examples=40, deadline=None)
@examples(offers=st.lists(OFFER, min_size=1, max_size=50))
def test_one_formula_in_two_languages(store: Store, offers: list[dict[str, object]]) -> None:
    rows = [{**offer, "offer": f"{n:02}", "merchant": "bakery"} for n, offer in enumerate(offers)]
    with store.transaction(keep=False):
        put(store, "offers", rows)
        found = select(
            store,
            "select commission_amount, merchant_funded_amount from offer_terms order by offer_id",
        )
    commissions = [commission_amount(o["cashback"], o["rate"], o["currency"]) for o in offers]
    funded = [o["cashback"] + commission for o, commission in zip(offers, commissions, strict=True)]
    assert list(zip(commissions, funded, strict=True)) == found
