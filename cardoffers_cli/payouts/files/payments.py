"""What a payment is, and the forms in which a bank is told of it (rules.md#payouts).

One file holds one payment. The same payment gives the same bytes: nothing here asks for the time.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from datetime import datetime, time
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.bank_accounts import plain_name
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.moments import format_moment

if TYPE_CHECKING:
    from datetime import date
    from decimal import Decimal

    from cardoffers_cli.kernel.words.bank_accounts import Account


@dataclass(frozen=True, kw_only=True)
class Party:
    """Who pays or is paid. `account_id` is what a bank of NACHA knows the payer by."""

    name: str
    account: Account
    account_id: str | None = None

    @property
    def plain(self) -> str:
        """The name in the letters that every bank takes."""
        return plain_name(self.name)


@dataclass(frozen=True, kw_only=True)
class Payment:
    """One payment of a statement: `payment_id` comes back with what the bank says of it.

    `amount` is in `currency`, `made_at` naive UTC; `trace_no` tells payments of one payer apart,
    and `file_no`, from 0 on, the files of a day.
    """

    payment_id: str
    statement: str
    amount: Decimal
    currency: str
    payer: Party
    payee: Party
    trace_no: int
    made_at: datetime
    due_on: date
    file_no: int = 0

    def decided(self) -> Payment:
        """Return it without what only writing it decides: when, and its place among others."""
        return replace(self, trace_no=0, file_no=0, made_at=datetime.combine(self.due_on, time()))


COLUMNS = (
    *("payment_id", "statement", "amount", "currency", "due_on", "payer_name", "payer_account"),
    *("payee_name", "payee_account", "made_at"),
)


def write_listed(payment: Payment) -> bytes:
    """Write a payment as CSV: a header and one line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerow(
        (
            *(payment.payment_id, payment.statement, payment.amount, payment.currency),
            *(payment.due_on, payment.payer.plain, payment.payer.account.text),
            *(payment.payee.plain, payment.payee.account.text, format_moment(payment.made_at)),
        )
    )
    return text.getvalue().encode()


def unfit(form: str, why: str, fix: str) -> Refused:
    """Return the refusal of a payment that cannot be written in a form."""
    return Refused(f"The payment cannot be written as {form}: {why}.", code="form_unfit", hint=fix)
