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

END_TO_END = 35
"""Characters that banks pass on of what names a payment."""

_BIC = re.compile(r"[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?")
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
    def country(self) -> str:
        """The country of the bank, as two letters."""
        return self.number[:2] if self.is_iban else "US"

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
    from stdnum import exceptions, numdb  # noqa: PLC0415  50 ms, and few commands read accounts
    from stdnum import iban as ibans  # noqa: PLC0415  as above

    if not re.fullmatch("[A-Z]{2}[0-9]{2}[A-Z0-9]+", iban):
        return "an IBAN is two letters, two digits, then letters and digits"
    form = numdb.get("iban").info(iban)[0][1].get("bban")
    if form is None:
        return f"no country {iban[:2]} has IBANs"
    length = 4 + sum(map(int, re.findall("[0-9]+", form)))
    if len(iban) != length:
        return f"an IBAN of {iban[:2]} has {length} characters, and this has {len(iban)}"
    try:
        ibans.validate(iban)
    except exceptions.InvalidChecksum:
        return "the check digits of the IBAN do not fit: a character is wrong, or two are exchanged"
    except exceptions.ValidationError:
        return f"an IBAN of {iban[:2]} has letters and digits in other places"
    return None


def routing_fault(routing: str) -> str | None:
    """Say what is wrong with an American routing number, if anything is."""
    from stdnum.us import rtn  # noqa: PLC0415  as above

    if not re.fullmatch("[0-9]{9}", routing):
        return "a routing number has nine digits"
    if not rtn.is_valid(routing) or not int(routing):
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
    letters = "".join(letter for letter in folded if not unicodedata.combining(letter))
    return " ".join(re.sub(r"[^A-Za-z0-9/\-?:().,'+ ]", ".", letters).split())
