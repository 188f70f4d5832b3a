"""Exact money: minor units, commission and the text of an amount.

Amounts are `decimal.Decimal` from end to end; nothing here divides and nothing passes through a
float (rules.md#exact-money). The set-based twin of `commission_amount` is the macro `commission_of`
(`kernel/store/views.sql`); a property test holds the two together.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from functools import cache

AMOUNT_DIGITS = 18
AMOUNT_SCALE = 4

# ISO 4217 (list one, 2024): the currencies whose minor unit is not 2 decimals.
_NO_DECIMALS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split()
_THREE_DECIMALS = "BHD IQD JOD KWD LYD OMR TND".split()
_FOUR_DECIMALS = "CLF UYW".split()
_TWO_DECIMALS = (
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN "
    "BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP "
    "GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP "
    "LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR "
    "NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN "
    "SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR "
    "ZMW ZWG"
).split()

MINOR_UNITS: dict[str, int] = {
    **dict.fromkeys(_NO_DECIMALS, 0),
    **dict.fromkeys(_TWO_DECIMALS, 2),
    **dict.fromkeys(_THREE_DECIMALS, 3),
    **dict.fromkeys(_FOUR_DECIMALS, 4),
}
"""Decimals of each ISO 4217 currency in use."""


def minor_unit(currency: str) -> int:
    """Return the number of decimals of an ISO 4217 currency; raise `KeyError` if it is unknown."""
    return MINOR_UNITS[currency]


def quantize(amount: Decimal, currency: str) -> Decimal:
    """Give an amount exactly its currency's decimals (`12.5` GBP is `12.50`), half up."""
    return amount.quantize(smallest(currency), rounding=ROUND_HALF_UP)


@cache
def smallest(currency: str) -> Decimal:
    """Return the smallest amount of a currency, as 0.01."""
    return Decimal(1).scaleb(-minor_unit(currency))


def money_text(amount: Decimal, currency: str) -> str:
    """Write an amount in a sentence: `GBP 7.50`."""
    return f"{currency} {quantize(amount, currency)}"


def commission_amount(cashback_amount: Decimal, rate: Decimal, currency: str) -> Decimal:
    """Return the service's commission on one redemption (rules.md#ledger-amounts): half up."""
    return quantize(cashback_amount * rate, currency)
