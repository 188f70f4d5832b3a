"""Write a payment as a NACHA file: one CCD credit with its addenda.

The addenda names the payment, as a segment of ANSI X12. The trace number is the payer's bank and
the number of the payment, so that no two payments have the same, and a return names ours. The batch
has that number too, and the file a modifier by which the bank tells the files of a day apart.
"""

from __future__ import annotations

from string import ascii_uppercase, digits
from typing import TYPE_CHECKING

from cardoffers_cli.payouts.files.pain001 import unfit

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def write_nacha(payment: Payment) -> bytes:
    """Return the bytes of the file; raise `Refused` where a payment does not fit the form."""
    _check(payment)
    records = list(_records(payment))
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


def _records(payment: Payment) -> Iterator[str]:
    payer, payee = payment.payer, payment.payee
    origin, target = payer.account.bank or "", payee.account.bank or ""
    company = payer.account_id or ""
    trace = trace_of(origin, payment.trace_no)
    cents = int(payment.amount * 100)
    hashed = int(target[:8])
    batch = f"{origin[:8]}{payment.trace_no % _TRACES:07}"
    modifier = _MODIFIERS[payment.file_no]
    day, due = f"{payment.made_at:%y%m%d}", f"{payment.due_on:%y%m%d}"
    name = payer.plain.upper()
    yield (
        f"101 {origin}{company:>10}{day}{payment.made_at:%H%M}{modifier}094101{'':23}"
        f"{name[:23]:23}{'':8}"
    )
    yield (f"5{_CREDITS_ONLY}{name[:16]:16}{'':20}{company:>10}CCDCASHBACK  {day}{due}   1{batch}")
    yield (
        f"6{_CHECKING_CREDIT}{target}{payee.account.number:17}{cents:010}"
        f"{payment.payment_id[-15:]:15}{payee.plain.upper()[:22]:22}  1{trace}"
    )
    reference = f"RMR*IV*{payment.payment_id}\\"
    yield f"705{reference:80}{1:04}{trace[-7:]}"
    sums = f"{hashed:010}{0:012}{cents:012}"
    yield f"8{_CREDITS_ONLY}{2:06}{sums}{company:>10}{'':25}{batch}"
    yield f"9{1:06}{1:06}{2:08}{sums}{'':39}"
