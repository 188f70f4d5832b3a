"""Accounts that payouts go to: IBAN with BIC, or an American routing number with an account number.

What is wrong with one is found before it is kept (rules.md#accounts), and said without the number.
Elsewhere than in the payment file an account is shown masked.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from hashlib import sha256

from cardoffers_cli.kernel.words.errors import UsageError

_LENGTHS = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 "
    "DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 "
    "IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 "
    "MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 "
    "SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
)
IBAN_LENGTHS = {each[:2]: int(each[2:]) for each in _LENGTHS.split()}
"""How long an IBAN is, by its country (ISO 13616, the registry of 2024)."""

END_TO_END = 35
"""Characters that banks pass on of what names a payment."""

_BIC = re.compile(r"[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?")
_ROUTING_WEIGHTS = (3, 7, 1, 3, 7, 1, 3, 7, 1)
_HOW = (
    "Write IBAN/BIC, such as GB33BUKB20201555555555/BUKBGB22, an IBAN alone, or"
    " ROUTING/NUMBER, such as 021000021/123456789."
)


@dataclass(frozen=True, repr=False)
class Account:
    """One account: `bank` is the BIC of an IBAN, if it is known, or the routing number."""

    number: str
    bank: str | None
    is_iban: bool

    @property
    def text(self) -> str:
        """The account as it is given and kept."""
        if self.is_iban:
            return f"{self.number}/{self.bank}" if self.bank else self.number
        return f"{self.bank}/{self.number}"

    @property
    def masked(self) -> str:
        """The account as it is shown."""
        if self.is_iban:
            return f"{self.number[:4]}…{self.number[-4:]}"
        return f"{self.bank}/…{self.number[-4:] if len(self.number) > 6 else self.number[-2:]}"  # noqa: PLR2004


def parse_account(text: str) -> Account:
    """Read an account; raise `UsageError` account_invalid, which does not quote it."""
    compact = re.sub(r"[ \t-]", "", text).upper()
    first, _, second = compact.partition("/")
    if re.match("[A-Z]{2}", first):
        account = Account(first, second or None, is_iban=True)
        fault, is_fit = iban_fault(first), not second or _BIC.fullmatch(second)
        other = "a BIC has 8 or 11 characters, such as BUKBGB22"
    else:
        account = Account(second, first, is_iban=False)
        fault, is_fit = routing_fault(first), re.fullmatch("[A-Z0-9]{1,17}", second)
        other = "an account number of at most 17 letters and digits"
        other = f"behind the routing number stands {other}"
    if fault := fault or (None if is_fit else other):
        raise UsageError(
            f"The account cannot be right: {fault}.", code="account_invalid", hint=_HOW
        )
    return account


def iban_fault(iban: str) -> str | None:
    """Say what is wrong with an IBAN without spaces, if anything is."""
    if not re.fullmatch("[A-Z]{2}[0-9]{2}[A-Z0-9]+", iban):
        return "an IBAN is two letters, two digits, then letters and digits"
    length = IBAN_LENGTHS.get(iban[:2])
    if length is None:
        return f"no country {iban[:2]} has IBANs"
    if len(iban) != length:
        return f"an IBAN of {iban[:2]} has {length} characters, and this has {len(iban)}"
    digits = "".join(str(int(each, 36)) for each in iban[4:] + iban[:4])
    if int(digits) % 97 != 1:
        return "the check digits of the IBAN do not fit: a character is wrong, or two are exchanged"
    return None


def routing_fault(routing: str) -> str | None:
    """Say what is wrong with an American routing number, if anything is."""
    if not re.fullmatch("[0-9]{9}", routing):
        return "a routing number has nine digits"
    total = sum(int(each) * by for each, by in zip(routing, _ROUTING_WEIGHTS, strict=True))
    if total % 10 or not int(routing):
        return "the check digit of the routing number does not fit"
    return None


def payment_id(number: str, attempt: int = 1) -> str:
    """Return the end-to-end id of a payment of a statement: its number, with the attempt behind.

    The first has the number alone. Above 35 characters it is shortened: it ends as the number does,
    in year and place, behind a digest of the whole.
    """
    named = number if attempt == 1 else f"{number}-{attempt}"
    if len(named) <= END_TO_END:
        return named
    digest = sha256(number.encode()).hexdigest().upper()
    ending = named[len(number) - 14 :]
    return f"{digest[: END_TO_END - 1 - len(ending)]}{ending}"


def plain_name(name: str) -> str:
    """Write a name in the letters that every bank takes: without accents, others as a dot."""
    folded = unicodedata.normalize("NFKD", name.replace("&", "+"))
    letters = "".join(each for each in folded if not unicodedata.combining(each))
    return " ".join(re.sub(r"[^A-Za-z0-9/\-?:().,'+ ]", ".", letters).split())
