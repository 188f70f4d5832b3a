"""Which way a payment takes, and on which day it is booked."""

from __future__ import annotations

from datetime import date
from itertools import product
from string import ascii_uppercase

import pytest
from schwifty import IBAN

from banks import BERLIN, BOSTON, LONDON, NEW_YORK
from cardoffers_cli.kernel.words.bank_accounts import iban_fault, parse_account
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.payouts.rails import SEPA, Rail, due_day, rail_of
from tables import read

ACCOUNTS = {
    "GB": LONDON,
    "DE": BERLIN,
    "FR": "FR1420041010050500013M02606",
    "CH": "CH9300762011623852957",
    "TR": "TR330006100519786457841326",
    "BR": "BR1500000000000010932840814P2",
    "US": NEW_YORK,
    "US2": BOSTON,
}

RAILS = """
currency payer payee level bearer address
EUR      DE    FR    SEPA  SLEV   -
EUR      DE    GB    SEPA  SLEV   -
EUR      CH    DE    SEPA  SLEV   -
EUR      GB    GB    SEPA  SLEV   -
EUR      FR    CH    SEPA  SLEV   -
EUR      DE    TR    -     SHAR   yes
EUR      TR    DE    -     SHAR   yes
EUR      TR    TR    -     SHAR   -
EUR      DE    US    -     SHAR   yes
EUR      US    DE    -     SHAR   yes
EUR      BR    FR    -     SHAR   yes
GBP      GB    GB    -     SHAR   -
GBP      DE    GB    -     SHAR   yes
GBP      GB    FR    -     SHAR   yes
USD      US    US2   -     SHAR   -
USD      DE    US    -     SHAR   yes
USD      GB    DE    -     SHAR   yes
TRY      TR    TR    -     SHAR   -
BRL      BR    BR    -     SHAR   -
JPY      GB    DE    -     SHAR   yes
"""


@pytest.mark.parametrize("row", read(RAILS), ids=lambda row: "-".join(map(str, row.values())))
def test_the_currency_and_both_accounts_decide(row: dict[str, str | None]) -> None:
    """rules.md#payouts"""
    payer, payee = (parse_account(ACCOUNTS[str(row[side])]) for side in ("payer", "payee"))
    currency, form = str(row["currency"]), "pain.001"
    if (currency, row["payer"], row["payee"]) == ("USD", "US", "US2"):
        form = "nacha"
    expected = Rail(row["level"], str(row["bearer"]), row["address"] == "yes", form)
    assert expected == rail_of(currency, payer, payee)


def test_the_countries_of_sepa_are_those_of_another_library() -> None:
    """Of territories, which it has too, the IBANs begin as those of their country."""
    countries = {*map("".join, product(ascii_uppercase, repeat=2))}
    ours = {
        country for country in countries if "no country" not in str(iban_fault(f"{country}00A"))
    }
    assert 70 < len(ours)
    assert {country for country in ours if IBAN.random(country).in_sepa_zone} == SEPA


DAYS = """
currency today      due
EUR      2026-06-02 2026-06-03
EUR      2026-06-05 2026-06-08
EUR      2026-04-01 2026-04-02
EUR      2026-04-02 2026-04-07
EUR      2026-04-30 2026-05-04
EUR      2026-12-24 2026-12-28
EUR      2027-12-31 2028-01-03
GBP      2026-05-01 2026-05-05
GBP      2026-05-22 2026-05-26
GBP      2026-08-28 2026-09-01
GBP      2026-12-24 2026-12-29
GBP      2026-04-30 2026-05-01
GBP      2027-12-31 2028-01-04
USD      2027-06-17 2027-06-18
USD      2027-06-18 2027-06-21
USD      2026-11-25 2026-11-27
USD      2026-10-09 2026-10-13
USD      2027-07-02 2027-07-06
USD      2026-07-02 2026-07-03
USD      2026-12-31 2027-01-04
MXN      2026-09-15 2026-09-17
XOF      2026-06-05 2026-06-08
"""


@pytest.mark.parametrize("row", read(DAYS), ids=lambda row: "-".join(map(str, row.values())))
def test_a_payment_is_due_on_the_next_business_day(row: dict[str, str | None]) -> None:
    currency, today, due = str(row["currency"]), day(row["today"]), day(row["due"])
    assert due == due_day(today, None, currency)
    assert due == due_day(today, due, currency)


@pytest.mark.parametrize(
    ("wanted", "why", "following"),
    [
        ("2020-01-04", "has passed", "2026-06-02"),
        ("2026-06-01", "has passed", "2026-06-02"),
        ("2026-06-06", "is no business day of GBP", "2026-06-08"),
        ("2026-08-31", "is no business day of GBP", "2026-09-01"),
    ],
)
def test_another_day_is_refused_and_the_next_one_named(
    wanted: str, why: str, following: str
) -> None:
    with pytest.raises(Refused, match=f"The day {wanted} {why}") as error:
        due_day(date(2026, 6, 2), day(wanted), "GBP")
    assert "due_not_business_day" == error.value.code
    assert following in str(error.value.hint)


def day(text: str | None) -> date:
    return date.fromisoformat(str(text))
