"""Read statements of accounts in MT940 and BAI2, by libraries that are an extra.

`mt-940` leaves out what it cannot read without a word, so nothing is taken of a file whose entries
do not come to its balances; `bai2` holds a file against its control totals
(rules.md#bank-entries). Both read a file as a whole.
"""

from __future__ import annotations

import io
import logging
import re
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from cardoffers_cli.kernel.words.errors import FileUnusable, UsageError
from cardoffers_cli.kernel.words.money import MINOR_UNITS
from cardoffers_cli.payouts.bank_codes import MEANINGS
from cardoffers_cli.payouts.files.entries import (
    Balance,
    BankEntry,
    BankValueError,
    StatementProof,
    account_of,
    amount_of,
    only_number,
    reference_of,
    refused,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from typing import BinaryIO

    from cardoffers_cli.payouts.files.entries import Direction, Said

MOST_BYTES = 64 << 20
"""Bytes that a file may have, which is read as a whole."""
_AGAIN = "Fetch the file again from the bank."

_OPENING = ("final_opening_balance", "intermediate_opening_balance", "opening_balance")
_CLOSING = ("final_closing_balance", "intermediate_closing_balance", "closing_balance")
_BEHIND = re.compile(r"(^:6[245][FM]?:[^\n]*\n):86:.*?(?=^:|\Z)", re.MULTILINE | re.DOTALL)
"""A text on a whole statement, which the library puts behind that of its last entry."""
_END_TO_END = re.compile(r"EREF[+/:] ?([^/+?\s]+?)(?=[A-Z]{4}[+]|[/+?\s]|$)")
_CODE = re.compile(r"\b[A-Z]{1,2}[0-9]{2}\b")
_RETURNS = {"RD", "NRTI", "159", *"252 257 258 261 266".split()}
"""What says that a credit came back: mark, type or code of MT940, and types of BAI2."""
_SIGNS = {"credit": 1, "debit": -1}


class _Line(NamedTuple):
    """A line of a statement; the amount of a debit is below zero."""

    day: date
    amount: Decimal
    kinds: set[str]
    text: str
    named: str | None
    bank_ref: str | None


def read_mt940(file: BinaryIO) -> Iterator[Said]:
    """Yield the entries and statements of a file; raise `FileUnusable`."""
    library, text = _library("mt940"), _BEHIND.sub(r"\1", _text(file))
    logging.getLogger("mt940").setLevel(logging.CRITICAL + 1)  # it would log what it cannot read
    how = {"processors": {"post_transaction_details": []}, "options": library.Options.all()}
    with _reading("MT940"):
        for place, told in enumerate(library.parse_statements(io.StringIO(text), **how), 1):
            proof = StatementProof("mt940", account_of(told.data["account_identification"]))
            proof.opening, proof.closing = (
                next(_balance(told.data[name]) for name in names if name in told.data)
                for names in (_OPENING, _CLOSING)
            )
            lines = []
            for of in (transaction.data for transaction in told):
                day, text = of.get("entry_date") or of["date"], of.get("transaction_details") or ""
                kinds = {of["status"].upper(), of["id"], text[:3]}
                refs = (of.get("customer_reference"), of.get("bank_reference"))
                lines.append(_Line(day, of["amount"].amount, kinds, text, *refs))
            yield from _statement(proof, told.currency, lines, place)


def _balance(held: Any) -> Balance:
    return Balance(held.date, held.amount.amount, held.amount.currency)


def read_bai2(file: BinaryIO) -> Iterator[Said]:
    """Yield the entries and statements of a file; raise `FileUnusable`."""
    parsers, helpers = _library("bai2.parsers"), _library("bai2.helpers")
    places = count(1)
    with _reading("BAI2"):
        for part in re.split(r"(?m)^(?=01,)", _text(file))[1:]:
            records = [line.strip() for line in part.splitlines() if line.strip()]
            # the library waits for a trailer for ever, and passes over what stands behind one
            if [record for record in records if record.startswith("99,")] != records[-1:]:
                raise BankValueError("it does not end with its file trailer")
            for group in parsers.Bai2FileParser(helpers.IteratorHelper(records)).parse().children:
                for account in group.children:
                    yield from _account(group.header, account, next(places))


def _account(head: Any, account: Any, place: int) -> Iterator[Said]:
    """Read an account on a day; what was reported before the end of one is not booked yet."""
    is_interim = "interim" in getattr(head.as_of_date_modifier, "name", "")
    if is_interim or head.group_status.name not in {"update", "correction"}:
        raise BankValueError("it is no report of a whole day that is to be booked")
    day, currency = head.as_of_date, account.header.currency or head.currency
    unit = Decimal(1).scaleb(-MINOR_UNITS[currency])
    proof = StatementProof("bai2", account_of(account.header.customer_account_number))
    held = {each.type_code.code: each.amount for each in account.header.summary_items}
    if held.get("010") is not None and held.get("015") is not None:
        proof.opening = Balance(day, held["010"] * unit, currency)
        proof.closing = Balance(day, held["015"] * unit, currency)
    lines = []
    for each in account.children:
        if not each.amount:  # a message, and no movement
            continue
        if (sign := _SIGNS.get(each.type_code.transaction.name)) is None:
            raise BankValueError("an entry is neither a credit nor a debit")
        amount = each.amount * unit * sign
        refs = (each.customer_reference, each.bank_reference)
        lines.append(_Line(day, amount, {each.type_code.code}, each.text or "", *refs))
    yield from _statement(proof, currency, lines, place)


def _statement(
    proof: StatementProof, currency: str, lines: list[_Line], place: int
) -> Iterator[Said]:
    """Yield a statement behind its entries; raise `FileUnusable` unless they come to it."""
    entries = []
    for number, line in enumerate(lines, 1):
        entries.append(_entry(proof, line, currency, f"entry {number} of statement {place}"))
        proof.add(entries[-1])
    *findings, statement = proof.end("")
    if findings:
        message = f"The entries of statement {place} do not come to its balances"
        raise refused("balance_differs", f"{message}: nothing was taken.", _AGAIN)
    yield from (*entries, statement)


def _entry(proof: StatementProof, line: _Line, currency: str, place: str) -> BankEntry:
    direction: Direction = "debit" if line.amount < 0 else "credit"
    is_back = direction == "credit" and bool(line.kinds & _RETURNS)
    # banks break the text anywhere, so that a number may go on in the next line
    apart, whole = (re.sub(r"\s*\n|\?2[0-9]|\?6[0-3]", by, line.text) for by in (" ", ""))
    end_to_end, found = _END_TO_END.search(whole), only_number([apart]) or only_number([whole])
    named = [end_to_end[1] if end_to_end else None, found, line.named]
    if direction == "credit" and not is_back:  # the end-to-end id is its payer's
        named.insert(0, found)
    return BankEntry(
        message=proof.message,
        place=place,
        status="returned" if is_back else "booked",
        direction=direction,
        payment_id=next(filter(None, map(reference_of, named)), None),
        amount=amount_of(str(abs(line.amount)), currency),
        currency=currency,
        booked_at=datetime(*line.day.timetuple()[:3]),  # noqa: DTZ001  moments are naive UTC
        code=next((word for word in _CODE.findall(apart) if is_back and word in MEANINGS), None),
        bank_ref=reference_of(line.bank_ref),
        account=proof.account,
        payer=whole,
        text=f"{apart} {whole}",
    )


def _text(file: BinaryIO) -> str:
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise refused("bank_entry_too_large", f"The file has over {MOST_BYTES >> 20} MiB.", _AGAIN)
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return content.decode("latin-1").replace("\r\n", "\n")


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise UsageError.from_table("payouts", "extra_missing") from None


@contextmanager
def _reading(form: str) -> Iterator[None]:
    """Refuse a file with what is wrong in it; what a library quotes of it is not said."""
    try:
        yield
    except FileUnusable:
        raise
    except Exception as fault:  # noqa: BLE001  whatever a library raises of a stranger's file
        is_said = isinstance(fault, BankValueError) or type(fault).__module__ == "bai2.exceptions"
        why = str(fault) if is_said else "a part of it has another form"
        message = f"The file cannot be read as {form}: {why}."
        raise refused("bank_statement_invalid", message, _AGAIN) from None
