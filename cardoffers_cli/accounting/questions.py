"""What the journal says: the trial balance, and its lines for an accounting system."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.reading import read_rows
from cardoffers_cli.kernel.words.errors import FileUnusable, UsageError
from cardoffers_cli.kernel.words.money import quantize
from cardoffers_cli.kernel.words.periods import Period
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date
    from decimal import Decimal
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.words.records import Amount

BEANCOUNT = {
    "merchants:on_hold": "Assets:Merchants:OnHold",
    "merchants:unbilled": "Assets:Merchants:Unbilled",
    "merchants:billed": "Assets:Merchants:Billed",
    "institutions:on_hold": "Liabilities:Institutions:OnHold",
    "institutions:open": "Liabilities:Institutions:Open",
    "institutions:due": "Liabilities:Institutions:Due",
    "payments:under_way": "Liabilities:Payments:UnderWay",
    "commission:on_hold": "Liabilities:Commission:OnHold",
    "commission:revenue": "Income:Commission",
    "tax:passed_through": "Liabilities:Tax:PassedThrough",
    "settled_elsewhere": "Expenses:SettledElsewhere",
    "bank": "Assets:Bank",
    "suspense": "Assets:Suspense",
}
"""The accounts of the journal, and what Beancount calls each."""


class TrialBalanceRow(Record):
    """An account: opening and closing are positive where debits prevail.

    `party` is the institution or merchant whose account it is, where these were asked for.
    """

    account: str
    party: str | None
    currency: str
    opening: Amount
    debit: Amount
    credit: Amount
    closing: Amount


class Receivable(
    Record,
    sheet="number merchant currency due_on amount received_amount settled_amount open_amount state"
    " age",
):
    """An invoice with its credit notes: what was billed with its tax, received, and is open.

    `state` is open, part, paid, settled (elsewhere, or a part of it) or over; `age` is 0, 30, 60 or
    90, the days overdue that are over.
    """

    number: str
    legal_number: str | None
    merchant: str
    currency: str
    issued_on: date
    due_on: date
    amount: Amount
    received_amount: Amount
    settled_amount: Amount
    open_amount: Amount
    state: str
    days_overdue: int | None
    age: int | None


class PostedLine(Record):
    """A line of the journal; with codes, where an accountant has given an account some."""

    entry_no: int
    posting_date: date
    document: str | None
    account: str
    account_code: str | None
    tax_code: str | None
    party: str | None
    description: str
    debit: Amount
    credit: Amount
    currency: str


Codes = Mapping[str, tuple[str | None, str | None]]
"""What an accountant calls each account, and the tax code that goes with it."""


def trial_balance(job: Job, **asked: Any) -> list[TrialBalanceRow]:
    """Return the accounts by currency, of an `institution` or all, in a `period` or ever."""
    return read_rows(job, TrialBalanceRow, "accounting/questions:trial_balance", **asked)


def receivables(job: Job, institution: str | None) -> list[Receivable]:
    """Return the invoices, all or those with lines of an institution, the first due first."""
    asked = {"institution": institution, "now": job.now}
    return read_rows(job, Receivable, "accounting/questions:receivables", **asked)


def read_codes(path: Path) -> Codes:
    """Return the codes of a file, of each account, so that none is left out without a word.

    Raises `FileUnusable` where it is no such file, and `UsageError` where an account is missing.
    """
    try:
        codes = {
            account: (said, None) if isinstance(said, str) else (said["code"], said.get("tax_code"))
            for account, said in tomllib.loads(path.read_text(encoding="utf-8")).items()
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise FileUnusable.from_table(
            "accounting", "accounts_unreadable", path=path, error=error
        ) from error
    if missing := BEANCOUNT.keys() - codes.keys():
        raise UsageError(
            f"{path} has no code for {', '.join(sorted(missing))}.",
            code="account_unmapped",
            hint="Add a line for each account of the journal.",
        )
    return codes


def posted_lines(job: Job, period: str, accounts: Path | None = None) -> list[PostedLine]:
    """Return the lines that were posted in a month, with codes; raise as `read_codes` does."""
    lines = read_rows(job, PostedLine, "accounting/questions:lines", period=period)
    if accounts is None:
        return lines
    codes = read_codes(accounts)
    filled = [(line, *codes[line.account]) for line in lines]
    return [replace(line, account_code=code, tax_code=tax) for line, code, tax in filled]


def xero_rows(lines: Sequence[PostedLine]) -> list[Mapping[str, Any]]:
    """Return lines as Xero imports manual journals; a debit is positive."""
    return [
        {
            "Narration": f"Card-linked offers {line.entry_no}",
            "Date": line.posting_date,
            "Description": " ".join(filter(None, [line.description, line.party])),
            "AccountCode": line.account_code or line.account,
            "TaxRate": line.tax_code,
            "Amount": quantize(line.debit - line.credit, line.currency),
        }
        for line in lines
    ]


def beancount(job: Job, period: str) -> Iterator[str]:
    """Yield a month as Beancount reads it, between its opening and its closing balances."""
    month = Period.of(period, job.now)
    begin, end = month.from_at.date(), month.to_at.date()
    accounts = trial_balance(job, institution=None, period=period, by_party=False)
    for name in sorted({BEANCOUNT[row.account] for row in accounts}):
        yield f"{begin} open {name}\n"
    opened = [row for row in accounts if row.opening]
    yield f'\n{begin} * "Opening balances"\n' if opened else ""
    yield from (_posting(row.account, row.opening, row.currency) for row in opened)
    for entry_no, lines in groupby(posted_lines(job, period), lambda line: line.entry_no):
        for place, line in enumerate(lines):
            if not place:
                yield f'\n{line.posting_date} * "{line.description}"\n  entry: {entry_no}\n'
            yield _posting(line.account, line.debit - line.credit, line.currency)
            yield f'    party: "{line.party}"\n' if line.party else ""
    yield "\n"
    for row in accounts:
        amount = quantize(row.closing, row.currency)
        yield f"{end} balance {BEANCOUNT[row.account]}  {amount} {row.currency}\n"


def _posting(account: str, amount: Decimal, currency: str) -> str:
    return f"  {BEANCOUNT[account]}  {quantize(amount, currency)} {currency}\n"
