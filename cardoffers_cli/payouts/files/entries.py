"""What is read from a bank, in whichever form: one entry for each thing it says of a payment.

The values of an entry are read strictly; one that has another form is a finding with its place, and
is left out. A file that cannot be read to its end is refused whole, with the place where it ended.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.findings import BANK_CODES
from cardoffers_cli.kernel.words.money import MINOR_UNITS, quantize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import date
    from typing import BinaryIO


Direction = Literal["credit", "debit"]
EntryStatus = Literal["booked", "returned", "rejected", "accepted", "pending", "notice"]
Message = Literal["camt.052", "camt.053", "camt.054", "pain.002", "nacha", "csv", "mt940", "bai2"]
UNEXPLAINED: Final = "unexplained"
"""The status of what an entry has beyond its details, or they beyond it."""

_AMOUNT = re.compile(r"([0-9]{1,14})(\.([0-9]{1,5}))?")
_NONE = {"NOTPROVIDED", "NONREF"}
"""What banks write where there is no reference; NACHA has zeros."""
_REFERENCE = re.compile(r"[\x20-\x7e]{1,140}")
_NUMBER = re.compile(r"(?<![A-Z0-9-])[A-Z0-9-]+-[0-9]{4}-[0-9]{6,}")
"""How the number of a document looks, in the text of a payment."""
_ACCOUNT = 8


@dataclass(frozen=True, kw_only=True)
class BankEntry:
    """What a bank says of one payment, and where in the file.

    `booked` debits left the account; `returned` credits came back; `rejected` were not made;
    `accepted`, `pending` and `notice` moved no money. `payment_id` is the end-to-end id, `trace`
    the trace number of NACHA, `bank_ref` the bank's own reference, of a detail before that of its
    entry. `booked_at` is naive UTC; `account` is as `account_of` has it.
    `payer` is text with the name of who paid, of which nothing is kept but which merchant it is;
    `text` is what was written for who is paid, of which nothing is kept but which invoice it names.
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
    account: str | None = None
    payer: str | None = None
    text: str | None = None


@dataclass(frozen=True, kw_only=True)
class BankStatement:
    """A statement of an account, over days: it is proved where its entries come to its balances."""

    message: Message
    account: str | None = None
    currency: str | None = None
    from_on: date | None = None
    to_on: date | None = None
    opening: Decimal | None = None
    closing: Decimal | None = None
    is_proved: bool = False


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


Said = BankEntry | BankFinding | BankStatement


class Balance(NamedTuple):
    """What an account held on a day; it is negative where the account was overdrawn."""

    on: date
    amount: Decimal
    currency: str


@dataclass
class StatementProof:
    """What was read of a statement by now: its balances, and what its entries moved."""

    message: Message
    account: str | None = None
    opening: Balance | None = None
    closing: Balance | None = None
    moved: Decimal = Decimal(0)
    booked_on: set[date] = field(default_factory=set)

    def add(self, entry: BankEntry) -> None:
        """Count an entry, if it was booked."""
        if entry.status in {"booked", "returned"} and entry.amount is not None:
            self.moved += entry.amount if entry.direction == "credit" else -entry.amount
            self.booked_on |= {entry.booked_at.date()} if entry.booked_at else set()

    def end(self, place: str) -> Iterator[BankFinding | BankStatement]:
        """Yield the statement, behind a finding where its entries do not come to its balances."""
        opening, closing = self.opening, self.closing
        if opening is None or closing is None:
            yield BankStatement(message=self.message, account=self.account)
            return
        is_proved = (opening.amount + self.moved, opening.currency) == closing[1:]
        if not is_proved:
            yield BankFinding(place, "balance_differs")
        # many banks date the opening balance with the day before the first of the statement
        is_of_first = opening.on in self.booked_on
        yield BankStatement(
            message=self.message,
            account=self.account,
            currency=closing.currency,
            from_on=opening.on if is_of_first else min(opening.on + timedelta(days=1), closing.on),
            to_on=closing.on,
            opening=opening.amount,
            closing=closing.amount,
            is_proved=is_proved,
        )


class BankValueError(Exception):
    """An entry has a value that is not of its form; the argument is the code of the finding."""


def amount_of(text: str | None, currency: str | None) -> Decimal:
    """Read an amount, without decimals its currency does not have; raise `BankValueError`."""
    if currency not in MINOR_UNITS:
        raise BankValueError("bank_currency_unknown")
    match = _AMOUNT.fullmatch((text or "").strip())
    if not match or len((match[3] or "").rstrip("0")) > MINOR_UNITS[currency]:
        raise BankValueError("bank_amount_invalid")
    return quantize(Decimal(match[0]), currency)


def moment_of(text: str | None) -> datetime:
    """Read a date or a time as naive UTC, one without an offset as UTC; raise `BankValueError`."""
    try:
        moment = datetime.fromisoformat((text or "").strip())
    except ValueError:
        moment = _dated((text or "").strip())
    if not 1970 <= moment.year <= 2100:  # noqa: PLR2004
        raise BankValueError("bank_date_invalid")
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def reference_of(text: str | None) -> str | None:
    """Return a reference as it came; None where there is none, or none that we would write."""
    word = (text or "").strip()
    is_one = word.strip("0") and _REFERENCE.fullmatch(word) and word.upper() not in _NONE
    return word if is_one else None


def only_number(texts: Iterable[str]) -> str | None:
    """Return the number of a document in texts; None where there is none, or are several."""
    numbers = {number for text in texts for number in _NUMBER.findall(text)}
    return numbers.pop() if len(numbers) == 1 else None


def account_of(text: str | None) -> str | None:
    """Return how the number of an account ends: the same of its IBAN and of what is in that."""
    number = re.sub(r"[^A-Z0-9]", "", (text or "").upper())
    return re.sub(r"(?<=[0-9])[A-Z]{3}$", "", number)[-_ACCOUNT:].lstrip("0") or None


def refused(code: str, message: str, hint: str) -> FileUnusable:
    """Return the error of a file that cannot be read."""
    return FileUnusable(message, code=code, hint=hint)


def _dated(text: str) -> datetime:
    """Read a date with an offset behind it, as XML allows."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)(Z|[+-]\d\d:\d\d)", text)
    try:
        if match:
            return datetime.combine(datetime.fromisoformat(match[1]), time(), UTC)
    except ValueError:
        pass
    raise BankValueError("bank_date_invalid")


# Read what a bank says as CSV, where it has no other form: one line for each payment.
#
# Needed are `payment_id`, `status` and `amount`; `currency`, `direction`, `booked_at`, `code`,
# `bank_ref`, `trace` and `account` may be there, and others are ignored.


NEEDED = ("payment_id", "status", "amount", "currency", "booked_at")
_LINE_BYTES = 64 << 10
_STATUSES: tuple[EntryStatus, ...] = get_args(EntryStatus)
_AGAIN = "Save it as CSV in UTF-8, one entry a line."


def read_listed(file: BinaryIO) -> Iterator[Said]:
    """Yield the entries of a list; raise `FileUnusable` where a line is none."""
    names: list[str] = []
    for line, cells in _lines(file):
        if not names:
            names = [cell.strip() for cell in cells]
            _check(names)
            continue
        if len(cells) != len(names):
            raise _broken(line, f"it has {len(cells)} fields, and the header {len(names)}")
        try:
            yield _entry(dict(zip(names, cells, strict=True)), f"line {line}")
        except BankValueError as unfit:
            yield BankFinding(f"line {line}", str(unfit))


def _entry(row: Mapping[str, str], place: str) -> BankEntry:
    status = next((word for word in _STATUSES if word == row["status"].strip()), None)
    if status is None:
        raise BankValueError("bank_status_unknown")
    directions: Mapping[str, Direction] = {"credit": "credit", "debit": "debit"}
    usual = "credit" if status == "returned" else "debit"
    direction = directions.get(row.get("direction", "").strip() or usual)
    if direction is None:
        raise BankValueError("bank_direction_unknown")
    currency = row["currency"].strip()
    return BankEntry(
        message="csv",
        place=place,
        status=status,
        direction=direction,
        payment_id=reference_of(row["payment_id"]),
        trace=reference_of(row.get("trace")),
        amount=amount_of(row["amount"], currency),
        currency=currency,
        booked_at=moment_of(row["booked_at"]),
        code=reference_of(row.get("code")),
        bank_ref=reference_of(row.get("bank_ref")),
        account=account_of(row.get("account")),
    )


def _lines(file: BinaryIO) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that are not blank, with their numbers, as fields."""
    number = 0
    while piece := file.readline(_LINE_BYTES + 1):
        number += 1
        if len(piece) > _LINE_BYTES:
            raise _broken(number, "it is longer than 64 KiB")
        try:
            text = piece.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            if text.strip():
                yield number, next(csv.reader([text], strict=True))
        except UnicodeDecodeError:
            raise _broken(number, "it is not UTF-8") from None
        except csv.Error:
            raise _broken(number, "a quote is not closed, or stands inside a field") from None


def _check(names: list[str]) -> None:
    missing = [name for name in NEEDED if names.count(name) != 1]
    if missing:
        raise refused(
            "bank_form_unknown",
            f"The file is no answer of a bank: its header lacks {', '.join(missing)}.",
            "`cardoffers help payments` tells which files of a bank are read.",
        )


def _broken(line: int, why: str) -> Exception:
    return refused("bank_list_invalid", f"The file cannot be read: line {line}: {why}.", _AGAIN)
