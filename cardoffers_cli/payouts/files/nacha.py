"""Write payments as a NACHA file, CCD credits with their addenda, and read the returns of banks.

The addenda names the payment, as a segment of ANSI X12. The trace number is the payer's bank and
the number of the payment, so that no two payments have the same, and a return names ours. The batch
has that of its first, and the file a modifier by which the bank tells the files of a day apart.

Read are entries that came back (addenda 99) and notices of change (addenda 98). What a file says of
itself in its control records is held against its entries.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from string import ascii_uppercase, digits
from typing import TYPE_CHECKING

from cardoffers_cli.payouts.files.entries import BankEntry, BankFinding, reference_of, refused
from cardoffers_cli.payouts.files.pain001 import unfit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import BinaryIO

    from cardoffers_cli.payouts.files.entries import Said
    from cardoffers_cli.payouts.files.pain001 import Payment

RECORD = 94
BLOCK = 10
_MOST_CENTS = 10**10
_CREDITS_ONLY = "220"
_CHECKING_CREDIT = "22"
_TRACES = 10**7
_COMPANY_ID = 10
_MODIFIERS = ascii_uppercase + digits


def trace_of(routing: str, trace_no: int) -> str:
    """Return the trace number of a payment: its payer's bank, and the number in seven digits."""
    return f"{routing[:8]}{trace_no % _TRACES:07}"


def write_nacha(*payments: Payment) -> bytes:
    """Return the bytes of the file; raise `Refused` where a payment does not fit the form.

    Its payments are of one payer and day.
    """
    for payment in payments:
        _check(payment)
    records = list(_records(payments))
    records += ["9" * RECORD] * (-len(records) % BLOCK)
    return "".join(f"{record}\n" for record in records).encode("ascii")


def _check(payment: Payment) -> None:
    if payment.currency != "USD":
        fix = "Write --form pain.001."
        raise unfit("nacha", f"it is in {payment.currency}, and NACHA in USD alone", fix)
    if payment.payer.account.is_iban or payment.payee.account.is_iban:
        fix = "Set ROUTING/NUMBER, or write --form pain.001."
        raise unfit("nacha", "one of the accounts has no routing number", fix)
    if not payment.payer.account_id or len(payment.payer.account_id) > _COMPANY_ID:
        fix = "Set CARDOFFERS_PAYER_ID to what your bank gave you, at most ten characters."
        raise unfit("nacha", "the payer has no company identification", fix)
    if payment.amount * 100 >= _MOST_CENTS:
        fix = "Write --form pain.001."
        raise unfit("nacha", "an entry takes less than USD 100000000.00", fix)
    if payment.file_no >= len(_MODIFIERS):
        fix = "Write it tomorrow, or --form pain.001."
        raise unfit("nacha", f"a day has {len(_MODIFIERS)} files, which were written", fix)


def _records(payments: Sequence[Payment]) -> Iterator[str]:
    first = payments[0]
    payer = first.payer
    origin, company = payer.account.bank or "", payer.account_id or ""
    batch = trace_of(origin, first.trace_no)
    modifier = _MODIFIERS[first.file_no]
    day, due = f"{first.made_at:%y%m%d}", f"{first.due_on:%y%m%d}"
    name = payer.plain.upper()
    yield (
        f"101 {origin}{company:>10}{day}{first.made_at:%H%M}{modifier}094101{'':23}"
        f"{name[:23]:23}{'':8}"
    )
    yield (f"5{_CREDITS_ONLY}{name[:16]:16}{'':20}{company:>10}CCDCASHBACK  {day}{due}   1{batch}")
    for payment in payments:
        payee, trace = payment.payee, trace_of(origin, payment.trace_no)
        yield (
            f"6{_CHECKING_CREDIT}{payee.account.bank}{payee.account.number:17}"
            f"{int(payment.amount * 100):010}{payment.payment_id[-15:]:15}"
            f"{payee.plain.upper()[:22]:22}  1{trace}"
        )
        reference = f"RMR*IV*{payment.payment_id}\\"
        yield f"705{reference:80}{1:04}{trace[-7:]}"
    records = 2 * len(payments)
    hashed = sum(int((payment.payee.account.bank or "")[:8]) for payment in payments)
    cents = sum(int(payment.amount * 100) for payment in payments)
    sums = f"{hashed % _HASH_DIGITS:010}{0:012}{cents:012}"
    yield f"8{_CREDITS_ONLY}{records:06}{sums}{company:>10}{'':25}{batch}"
    yield f"9{1:06}{-(-(records + 4) // BLOCK):06}{records:08}{sums}{'':39}"


_RETURNED, _CHANGED = "799", "798"
_PADDING = "9" * RECORD
_HASH_DIGITS = 10**10
_CREDIT_CODES = {"0", "1", "2", "3", "4"}
"""The second digit of a transaction code of a credit; of a debit it is 5 to 9."""
_AGAIN = "Fetch the file again from the bank."


@dataclass(frozen=True)
class _Record:
    """One record of 94 characters, with its line."""

    line: int
    text: str

    def at(self, first: int, last: int) -> str:
        """Return the characters of some positions, which count from 1."""
        return self.text[first - 1 : last].strip()

    def number(self, first: int, last: int) -> int:
        """Return the number in some positions."""
        text = self.at(first, last)
        if not text.isdecimal() or not text.isascii():
            raise _broken(self.line, f"positions {first} to {last} hold no number")
        return int(text)


def read_returns(file: BinaryIO) -> Iterator[Said]:
    """Yield the returns of a file; raise `FileUnusable` where it is cut off or no such file."""
    returns = _Returns()
    for record in _read_records(file):
        yield from returns.take(record)
    if not returns.is_ended:
        raise refused("bank_nacha_invalid", "The file ends before its last record.", _AGAIN)


class _Returns:
    """What was read of a file by now: its day, its entry that has no addenda yet, its sums."""

    def __init__(self) -> None:
        self.is_ended = False
        self._made_on = self._day = ""
        self._entry: _Record | None = None
        self._found: Counter[str] = Counter()
        self._take = {
            "1": self._begin,
            "5": self._begin_batch,
            "6": self._take_entry,
            "7": self._take_addenda,
            "8": self._end_batch,
            "9": self._end,
        }

    def take(self, record: _Record) -> Iterable[Said]:
        """Read the next record; return what it says."""
        if self.is_ended:
            raise _broken(record.line, "there is more behind the end of the file")
        if (take := self._take.get(record.text[0])) is None:
            raise _broken(record.line, f"no record begins with {record.text[0]!a}")
        return take(record)

    def _begin(self, record: _Record) -> Iterable[Said]:
        self._made_on = record.at(24, 29)
        return ()

    def _begin_batch(self, record: _Record) -> Iterable[Said]:
        self._day = record.at(70, 75)
        return self._end_batch(record)

    def _take_entry(self, record: _Record) -> Iterable[Said]:
        before = self._end_batch(record)
        self._entry = record
        self._found["records"] += 1
        self._found["hash"] += record.number(4, 11)
        is_credit = record.text[2] in _CREDIT_CODES
        self._found["credit" if is_credit else "debit"] += record.number(30, 39)
        return before

    def _take_addenda(self, record: _Record) -> Iterable[Said]:
        self._found["records"] += 1
        entry = self._entry
        if record.text[:3] not in {_RETURNED, _CHANGED} or entry is None:
            return ()
        self._entry = None
        return (_returned(entry, record, _day(self._day) or _day(self._made_on)),)

    def _end_batch(self, _: _Record) -> Iterable[Said]:
        entry, self._entry = self._entry, None
        return (BankFinding(f"line {entry.line}", "bank_entry_forward"),) if entry else ()

    def _end(self, record: _Record) -> Iterable[Said]:
        before = self._end_batch(record)
        self.is_ended = True
        found = self._found
        said = [record.number(*place) for place in ((14, 21), (22, 31), (32, 43), (44, 55))]
        hash_ = found["hash"] % _HASH_DIGITS
        if said != [found["records"], hash_, found["debit"], found["credit"]]:
            return (*before, BankFinding(f"line {record.line}", "bank_total_differs"))
        return before


def _read_records(file: BinaryIO) -> Iterator[_Record]:
    """Yield the records of a file, whether each is a line or they follow each other."""
    line = 0
    while piece := file.readline(RECORD + 2):
        text = piece.decode("latin-1").rstrip("\r\n")
        if not text and piece:
            continue
        line += 1
        if len(text) > RECORD:  # no line ends: what is read too much belongs to the next
            file.seek(RECORD - len(piece), 1)
            text = text[:RECORD]
        if text == _PADDING[: len(text)] and len(text) > 1:
            continue
        yield _Record(line, text.ljust(RECORD))


def _returned(entry: _Record, addenda: _Record, booked_at: datetime | None) -> BankEntry:
    # what comes back by addenda 99 is ours whatever its transaction code: we send credits alone
    is_back = addenda.text[:3] == _RETURNED
    return BankEntry(
        message="nacha",
        place=f"line {addenda.line}",
        status="returned" if is_back else "notice",
        direction="credit" if is_back or entry.text[2] in _CREDIT_CODES else "debit",
        payment_id=reference_of(entry.at(40, 54)),
        trace=reference_of(addenda.at(7, 21)),
        amount=Decimal(entry.number(30, 39)).scaleb(-2),
        currency="USD",
        booked_at=booked_at,
        code=addenda.at(4, 6),
        bank_ref=reference_of(addenda.at(80, 94)),
    )


def _day(text: str) -> datetime | None:
    """Return a day of six digits as its midnight; None of what is none."""
    try:
        return datetime.strptime(text, "%y%m%d")  # noqa: DTZ007  moments are naive UTC
    except ValueError:
        return None


def _broken(line: int, why: str) -> Exception:
    return refused("bank_nacha_invalid", f"The file is no NACHA file: line {line}: {why}.", _AGAIN)
