"""Write payments as pain.001.001.09, the credit transfer of ISO 20022."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from cardoffers_cli.kernel.words.bank_accounts import plain_name
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.payouts.rails import rail_of

if TYPE_CHECKING:
    from datetime import date, datetime
    from decimal import Decimal

    from cardoffers_cli.kernel.words.bank_accounts import Account


_NAME = 70
"""Characters that every bank takes of a name, of the 140 that the form has room for."""

_EACH_ALONE = "\n      <BtchBookg>false</BtchBookg>"
_SERVICE = "\n      <PmtTpInf><SvcLvl><Cd>{level}</Cd></SvcLvl></PmtTpInf>"
_AGENT = "\n        <CdtrAgt><FinInstnId>{bank}</FinInstnId></CdtrAgt>"
_ADDRESS = "<PstlAdr><TwnNm>{town}</TwnNm><Ctry>{country}</Ctry></PstlAdr>"
_TOWN = 35
_UNKNOWN_BANK = "<Othr><Id>NOTPROVIDED</Id></Othr>"


def write_pain001(*payments: Payment) -> bytes:
    """Return the bytes of the message; they are valid by the schema of ISO 20022.

    Its payments are of one payer, day and rail. Of several the bank is asked to book each by
    itself, so that its statement names every one.
    """
    first = payments[0]
    rail = rail_of(first.currency, first.payer.account, first.payee.account)
    template = files(__package__).joinpath("pain001.xml").read_text("utf-8")
    head, transfer, tail = re.split(r"(?=      <CdtTrfTxInf>)|(?=    </PmtInf>)", template)
    message = head.format(
        message_id=escape(first.payment_id),
        made_at=first.made_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        payments=len(payments),
        amount=sum(payment.amount for payment in payments),
        payer=escape(first.payer.plain[:_NAME]),
        batch=_EACH_ALONE if len(payments) > 1 else "",
        service=_SERVICE.format(level=rail.service_level) if rail.service_level else "",
        due_on=first.due_on,
        payer_account=_account(first.payer.account),
        currency=first.currency,
        payer_bank=_bank(first.payer.account) or _UNKNOWN_BANK,
        charge_bearer=rail.charge_bearer,
    )
    return "".join([message, *(_transfer(transfer, each) for each in payments), tail]).encode()


def _transfer(template: str, payment: Payment) -> str:
    payee = payment.payee
    rail = rail_of(payment.currency, payment.payer.account, payee.account)
    bank = _bank(payee.account)
    town, country = payee.town_and_country
    address = _ADDRESS.format(town=escape(plain_name(town)[:_TOWN]), country=country)
    return template.format(
        payment_id=escape(payment.payment_id),
        currency=payment.currency,
        amount=payment.amount,
        payee_agent=_AGENT.format(bank=bank) if bank else "",
        payee=escape(payee.plain[:_NAME]),
        address=address if rail.needs_address and town else "",
        payee_account=_account(payee.account),
        statement=escape(payment.statement),
    )


def _account(account: Account) -> str:
    if account.is_iban:
        return f"<IBAN>{account.number}</IBAN>"
    return f"<Othr><Id>{account.number}</Id></Othr>"


def _bank(account: Account) -> str | None:
    """Return what names the bank of an account; None where its IBAN says it."""
    if account.is_iban:
        return f"<BICFI>{account.bank}</BICFI>" if account.bank else None
    routing = f"<ClrSysId><Cd>USABA</Cd></ClrSysId><MmbId>{account.bank}</MmbId>"
    return f"<ClrSysMmbId>{routing}</ClrSysMmbId>"


# What a payment is, and the forms in which a bank is told of it (rules.md#payouts).
#
# The payments of a file have the payer, the currency, the day and `made_at` in common. The same
# ones give the same bytes: nothing here asks for the time.


@dataclass(frozen=True, kw_only=True)
class Party:
    """Who pays or is paid. `account_id` is what a bank of NACHA knows the payer by.

    `address` is its town and country, as `London, GB`.
    """

    name: str
    account: Account
    account_id: str | None = None
    address: str | None = None

    @property
    def town_and_country(self) -> tuple[str, str]:
        """Both apart; empty where there is no address."""
        town, _, country = (self.address or "").rpartition(",")
        return town.strip(), country.strip()

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


COLUMNS = (
    *("payment_id", "statement", "amount", "currency", "due_on", "payer_name", "payer_account"),
    *("payee_name", "payee_account", "made_at", "payee_town", "payee_country"),
)


def write_listed(*payments: Payment) -> bytes:
    """Write payments as CSV: a header, and one line each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(
        (
            *(payment.payment_id, payment.statement, payment.amount, payment.currency),
            *(payment.due_on, payment.payer.plain, payment.payer.account.text),
            *(payment.payee.plain, payment.payee.account.text, format_moment(payment.made_at)),
            *payment.payee.town_and_country,
        )
        for payment in payments
    )
    return text.getvalue().encode()


def unfit(form: str, why: str, fix: str) -> Refused:
    """Return the refusal of a payment that cannot be written in a form."""
    return Refused(f"The payment cannot be written as {form}: {why}.", code="form_unfit", hint=fix)
