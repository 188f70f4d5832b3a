"""What is read from a bank, in whichever form: one entry for each thing it says of a payment.

The values of an entry are read strictly; one that has another form is a finding with its place, and
is left out. A file that cannot be read to its end is refused whole, with the place where it ended.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Final, Literal

from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.findings import BANK_CODES
from cardoffers_cli.kernel.words.money import MINOR_UNITS, quantize

Direction = Literal["credit", "debit"]
EntryStatus = Literal["booked", "returned", "rejected", "accepted", "pending", "notice"]
Message = Literal["camt.053", "camt.054", "pain.002", "nacha", "csv"]
UNEXPLAINED: Final = "unexplained"
"""The status of what an entry has beyond its details, or they beyond it."""

_AMOUNT = re.compile(r"([0-9]{1,14})(\.([0-9]{1,5}))?")
_NONE = {"NOTPROVIDED", "NONREF"}
"""What banks write where there is no reference; NACHA has zeros."""
_REFERENCE = re.compile(r"[\x20-\x7e]{1,140}")


@dataclass(frozen=True, kw_only=True)
class BankEntry:
    """What a bank says of one payment, and where in the file.

    `booked` debits left the account; `returned` credits came back; `rejected` were not made;
    `accepted`, `pending` and `notice` moved no money. `payment_id` is the end-to-end id, `trace`
    the trace number of NACHA, `bank_ref` the bank's own reference, of a detail before that of its
    entry. `booked_at` is naive UTC.
    """

    message: Message
    place: str
    status: EntryStatus | Literal["unexplained"]
    direction: Direction
    payment_id: str | None
    trace: str | None = None
    amount: Decimal | None
    currency: str | None
    booked_at: datetime | None
    code: str | None = None
    bank_ref: str | None = None


@dataclass(frozen=True)
class BankFinding:
    """Something wrong with an entry, which is left out: where, and which rule (BANK_CODES)."""

    place: str
    code: str

    @property
    def message(self) -> str:
        """What is wrong, in a few words."""
        return BANK_CODES[self.code].summary

    @property
    def fix(self) -> str:
        """What to do about it."""
        return BANK_CODES[self.code].fix


Said = BankEntry | BankFinding


class BankValueError(Exception):
    """An entry has a value that is not of its form; the argument is the code of the finding."""


def amount_of(text: str | None, currency: str | None) -> Decimal:
    """Read an amount, without decimals its currency does not have; raise `BankValueError`."""
    if currency not in MINOR_UNITS:
        raise BankValueError("bank_currency_unknown")
    found = _AMOUNT.fullmatch((text or "").strip())
    if not found or len((found[3] or "").rstrip("0")) > MINOR_UNITS[currency]:
        raise BankValueError("bank_amount_invalid")
    return quantize(Decimal(found[0]), currency)


def moment_of(text: str | None) -> datetime:
    """Read a date or a time as naive UTC, one without an offset as UTC; raise `BankValueError`."""
    try:
        found = datetime.fromisoformat((text or "").strip())
    except ValueError:
        found = _dated((text or "").strip())
    if not 1970 <= found.year <= 2100:  # noqa: PLR2004
        raise BankValueError("bank_date_invalid")
    return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found


def reference_of(text: str | None) -> str | None:
    """Return a reference as it came; None where there is none, or none that we would write."""
    found = (text or "").strip()
    is_one = found.strip("0") and _REFERENCE.fullmatch(found) and found.upper() not in _NONE
    return found if is_one else None


def refused(code: str, message: str, hint: str) -> FileUnusable:
    """Return the error of a file that cannot be read."""
    return FileUnusable(message, code=code, hint=hint)


def _dated(text: str) -> datetime:
    """Read a date with an offset behind it, as XML allows."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)(Z|[+-]\d\d:\d\d)", text)
    try:
        if found:
            return datetime.combine(datetime.fromisoformat(found[1]), time(), UTC)
    except ValueError:
        pass
    raise BankValueError("bank_date_invalid")
