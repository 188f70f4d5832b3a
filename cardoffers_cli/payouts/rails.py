"""Which way a payment takes, by its currency and the countries of both accounts (rules.md#payouts).

That decides the service level, who bears the charges, and on which days banks book it. Holidays are
those of the package `holidays`, an extra: without it only Saturdays and Sundays are known.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from cardoffers_cli.kernel.words.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Container
    from datetime import date

    from cardoffers_cli.kernel.words.bank_accounts import Account

SEPA = frozenset(
    "AD AT BE BG CH CY CZ DE DK EE ES FI FR GB GI GR HR HU IE IS IT LI LT LU LV MC MT NL NO PL PT"
    " RO SE SI SK SM VA".split()
)
"""Countries whose IBANs SEPA payments reach; territories have the IBANs of one of these."""

_SATURDAY = 5


class Rail(NamedTuple):
    """The service level that a bank is asked for, if any, and who bears the charges (ISO 20022).

    Across borders banks ask for town and country of who is paid, but for SEPA. `form` is the usual
    one of its files.
    """

    service_level: str | None
    charge_bearer: str
    needs_address: bool = False
    form: str = "pain.001"


def rail_of(currency: str, payer: Account, payee: Account) -> Rail:
    """Return SEPA for euros between accounts in SEPA; else each side bears its own charges.

    Dollars between routing numbers are paid by NACHA.
    """
    is_sepa = all(account.is_iban and account.number[:2] in SEPA for account in (payer, payee))
    if currency == "EUR" and is_sepa:
        return Rail("SEPA", "SLEV")
    is_nacha = currency == "USD" and not payer.is_iban and not payee.is_iban
    form = "nacha" if is_nacha else "pain.001"
    return Rail(None, "SHAR", payer.country != payee.country, form)


def due_day(today: date, wanted: date | None, currency: str) -> date:
    """Return the day a payment is to be booked: `wanted`, or the next business day after today.

    Raises `Refused` where the day that is wanted has passed, or banks are closed on it.
    """
    if wanted is None:
        return _business_day(today + timedelta(days=1), currency)
    following = _business_day(max(wanted, today), currency)
    if following != wanted:
        why = "has passed" if wanted < today else f"is no business day of {currency}"
        raise Refused(
            f"The day {wanted} {why}: no bank pays on it.",
            code="due_not_business_day",
            hint=f"Leave --due out, or name another day: the next one is {following}.",
        )
    return wanted


def _business_day(day: date, currency: str) -> date:
    """Return the first business day of a currency from this day on."""
    closed = _holidays(currency)
    while day.weekday() >= _SATURDAY or day in closed:
        day += timedelta(days=1)
    return day


def _holidays(currency: str) -> Container[date]:
    """Return the days, of any year, on which a currency's payment system or country is closed."""
    try:
        import holidays  # noqa: PLC0415  an extra, and only payments need it
    except ModuleNotFoundError:
        return ()
    if system := {"EUR": "ECB", "USD": "FED"}.get(currency):
        return holidays.financial_holidays(system)
    try:
        return holidays.country_holidays(currency[:2], "ENG" if currency == "GBP" else None)
    except NotImplementedError:  # a currency of several countries, or of one that is not known
        return ()
