"""Read what a bank says in messages of ISO 20022, every version of them alike.

camt.052, camt.053 and camt.054 tell of entries that it booked, pain.002 of payments that it took or
rejected. An entry is the sum of its details: what is not stays a line of its own
(rules.md#bank-entries).

A bank's message is a stranger's text: it may declare no entities and no document type, nest no
deeper than messages do, and have no entry of more than some megabytes (threats.md).
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast
from xml.etree.ElementTree import ParseError  # only what parsing raises

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

from cardoffers_cli.payouts.files import entries

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import BinaryIO
    from xml.etree.ElementTree import Element

    from cardoffers_cli.payouts.files.entries import Direction, EntryStatus, Message, Said

_ENTRY = "Ntry"
_OF_ACCOUNT = {"Stmt", "Rpt", "Ntfctn"}
"""What is of one account, in camt.053, camt.052 and camt.054: told when it begins."""
_HEADS = {"Acct", "Bal"}
_WANTED = {_ENTRY, "OrgnlGrpInfAndSts", "OrgnlPmtInfAndSts", "TxInfAndSts", *_HEADS}

_ENTRY_STATUS: Mapping[str, EntryStatus] = {
    "BOOK": "booked",
    "PDNG": "pending",
    "FUTR": "pending",
    "INFO": "notice",
}
_PAYMENT_STATUS: Mapping[str, EntryStatus] = {
    "RJCT": "rejected",
    "CANC": "rejected",
    **dict.fromkeys("RCVD PDNG PART PATC BLCK".split(), "pending"),
    **dict.fromkeys("ACTC ACCP ACSP ACWC ACWP ACFC ACSC ACCC PRES".split(), "accepted"),
}
_DIRECTIONS: Mapping[str, Direction] = {"CRDT": "credit", "DBIT": "debit"}

_AMOUNTS = ("Amt", "AmtDtls/TxAmt/Amt", "AmtDtls/InstdAmt/Amt")


def read_messages(file: BinaryIO) -> Iterator[Said]:
    """Yield what a message says, payment by payment; raise `FileUnusable`."""
    number = statements = 0
    proof = entries.StatementProof("pain.002")
    for element in read_elements(file, _WANTED):
        name = name_of(element)
        if name in _OF_ACCOUNT:
            yield from _end(proof, statements)
            proof = entries.StatementProof(message_of(element))
            statements += 1
        elif name in _HEADS:
            _begin(proof, element)
        else:
            number += 1
            if name == _ENTRY:
                _count(proof, element)
            for each in _said(element, f"entry {number}"):
                yield (
                    replace(each, account=proof.account)
                    if isinstance(each, entries.BankEntry)
                    else each
                )
    yield from _end(proof, statements)


def _said(element: Element, place: str) -> Iterator[Said]:
    try:
        yield from (_booked if name_of(element) == _ENTRY else _answered)(element, place)
    except entries.BankValueError as unfit:
        yield entries.BankFinding(place, str(unfit))


def _end(statement: entries.StatementProof, number: int) -> Iterator[Said]:
    if statement.message == "camt.053":
        yield from statement.end(f"statement {number}")


def _begin(statement: entries.StatementProof, head: Element) -> None:
    """Read the account of a statement, or a balance; one that cannot be read proves nothing."""
    if name_of(head) == "Acct":
        statement.account = entries.account_of(text_at(head, "Id/IBAN", "Id/Othr/Id"))
        return
    kind = text_at(head, "Tp/CdOrPrtry/Cd")
    currency = attribute_at(head, "Amt", "Ccy")
    try:
        amount = entries.amount_of(text_at(head, "Amt"), currency)
        day = entries.moment_of(text_at(head, "Dt/Dt", "Dt/DtTm")).date()
    except entries.BankValueError:
        return
    balance = entries.Balance(
        day, amount if text_at(head, "CdtDbtInd") == "CRDT" else -amount, currency
    )
    if kind in {"OPBD", "PRCD"}:
        statement.opening = balance
    elif kind == "CLBD":
        statement.closing = balance


def _count(statement: entries.StatementProof, entry: Element) -> None:
    """Count what an entry moved, as it says it itself, whatever its details come to."""
    try:
        statement.add(_payment(entry, entry, "", is_alone=True))
    except entries.BankValueError:
        statement.moved = Decimal("NaN")


def _booked(entry: Element, place: str) -> Iterator[Said]:
    """Yield the payments of an entry of an account, or the entry itself; what they leave over."""
    details = all_at(entry, "NtryDtls/TxDtls")
    if not details:
        yield _payment(entry, entry, place, is_alone=True)
        return
    read, unfit = [], set()
    for detail in details:
        try:
            read.append(_payment(entry, detail, place, is_alone=len(details) == 1))
        except entries.BankValueError as fault:
            unfit.add(str(fault))
    yield from read
    is_exchanged = any(name_of(element) == "CcyXchg" for element in entry.iter())
    if not is_exchanged and (read or len(details) > 1):
        try:
            yield from _left_over(entry, read, place)
        except entries.BankValueError as fault:
            unfit.add(str(fault))
    yield from (entries.BankFinding(place, code) for code in sorted(unfit))


def _left_over(entry: Element, details: list[entries.BankEntry], place: str) -> Iterator[Said]:
    """Yield what an entry has beyond its details or they beyond it, such as charges; a finding."""
    booking = replace(_payment(entry, entry, place, is_alone=True), payment_id=None, code=None)
    sums = [
        cast("Decimal", detail.amount) * (1 if detail.direction == booking.direction else -1)
        for detail in details
        if detail.currency == booking.currency
    ]
    over = cast("Decimal", booking.amount) - sum(sums, Decimal())
    if over and booking.status in {"booked", "returned"}:
        other: Mapping[Direction, Direction] = {"credit": "debit", "debit": "credit"}
        direction = booking.direction if over > 0 else other[booking.direction]
        yield entries.BankFinding(place, "entry_not_explained")
        yield replace(booking, status=entries.UNEXPLAINED, direction=direction, amount=abs(over))


def _payment(entry: Element, payment: Element, place: str, *, is_alone: bool) -> entries.BankEntry:
    status = _ENTRY_STATUS.get(text_at(entry, "Sts/Cd", "Sts") or "")
    direction = _DIRECTIONS.get(text_at(payment, "CdtDbtInd") or text_at(entry, "CdtDbtInd") or "")
    if status is None:
        raise entries.BankValueError("bank_status_unknown")
    if direction is None:
        raise entries.BankValueError("bank_direction_unknown")
    came_back = all_at(payment, "RtrInf") or text_at(entry, "RvslInd") in {"true", "1"}
    if status == "booked" and direction == "credit" and came_back:
        status = "returned"
    dated = text_at(entry, "BookgDt/DtTm", "BookgDt/Dt", "ValDt/DtTm", "ValDt/Dt")
    amount, currency = _amount(entry, payment, is_alone=is_alone)
    return entries.BankEntry(
        message=message_of(entry),
        place=place,
        status=status,
        direction=direction,
        payment_id=_payment_id(
            entry, payment, is_receipt=(status, direction) == ("booked", "credit")
        ),
        amount=amount,
        currency=currency,
        booked_at=entries.moment_of(dated) if dated else None,
        code=text_at(payment, "RtrInf/Rsn/Cd", "RtrInf/Rsn/Prtry"),
        bank_ref=entries.reference_of(text_at(payment, "Refs/AcctSvcrRef"))
        or entries.reference_of(text_at(entry, "AcctSvcrRef")),
        payer=text_at(payment, "RltdPties/Dbtr/Nm", "RltdPties/Dbtr/Pty/Nm", "RmtInf/Ustrd"),
        text=" ".join(_texts(payment)),
    )


def _amount(entry: Element, payment: Element, *, is_alone: bool) -> tuple[Decimal, str | None]:
    """Return the amount of a payment, that of its entry where it is the only one."""
    for within, paths in ((payment, _AMOUNTS), (entry, ("Amt",) if is_alone else ())):
        for path in paths:
            if text := text_at(within, path):
                currency = attribute_at(within, path, "Ccy")
                return entries.amount_of(text, currency), currency
    raise entries.BankValueError("bank_amount_invalid")


def _payment_id(entry: Element, payment: Element, *, is_receipt: bool) -> str | None:
    """Return what names a payment: its end-to-end id, else what else we wrote into it.

    The end-to-end id of a receipt is its payer's, so that the number of an invoice comes before it:
    the only one in its text, of which nothing else is kept.
    """
    number = entries.only_number(_texts(payment))
    if is_receipt and number:
        return number
    named = ((payment, "Refs/EndToEndId"), (payment, "Refs/PmtInfId"))
    for element, path in (*named, (entry, "NtryDtls/Btch/PmtInfId")):
        if reference := entries.reference_of(text_at(element, path)):
            return reference
    text = text_at(payment, "RmtInf/Ustrd") or ""
    return text if entries.only_number([text]) == text else None


def _texts(payment: Element) -> list[str]:
    """Return what was written for who is paid."""
    texts = [*all_at(payment, "RmtInf/Strd/CdtrRefInf/Ref"), *all_at(payment, "RmtInf/Ustrd")]
    return [text.text or "" for text in texts]


def _answered(answer: Element, place: str) -> Iterator[entries.BankEntry]:
    """Yield what pain.002 says of a payment, or of the file or batch that it alone is in."""
    status_code = text_at(answer, "TxSts", "PmtInfSts", "GrpSts")
    if status_code is None:
        return
    if (status := _PAYMENT_STATUS.get(status_code)) is None:
        raise entries.BankValueError("bank_status_unknown")
    named = text_at(answer, "OrgnlEndToEndId", "OrgnlPmtInfId", "OrgnlMsgId")
    if (payment_id := entries.reference_of(named)) is None:
        raise entries.BankValueError("bank_reference_missing")
    amount = currency = None
    if text := text_at(answer, "OrgnlTxRef/Amt/InstdAmt"):
        currency = attribute_at(answer, "OrgnlTxRef/Amt/InstdAmt", "Ccy")
        amount = entries.amount_of(text, currency)
    dated = text_at(answer, "AccptncDtTm")
    yield entries.BankEntry(
        message="pain.002",
        place=place,
        status=status,
        direction="debit",
        payment_id=payment_id,
        amount=amount,
        currency=currency,
        booked_at=entries.moment_of(dated) if dated else None,
        code=text_at(answer, "StsRsnInf/Rsn/Cd", "StsRsnInf/Rsn/Prtry"),
        bank_ref=entries.reference_of(text_at(answer, "AcctSvcrRef")),
    )


MOST_BYTES = 4 << 20
"""Bytes that an entry may have, and what stands between two."""
MOST_DEPTH = 40
"""How deep elements may nest; those of ISO 20022 nest some fifteen deep."""

_NAMESPACE = re.compile(r"\{([^}]*)\}Document")
_MESSAGE = re.compile(r"(camt\.05[234]|pain\.002)\.\d{3}\.\d{2}")
_ADDED = "SplmtryData"
_AGAIN = "Fetch the file again from the bank."


class _Metered:
    """A file of which only so much may be read until something of it was taken."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.since = 0

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self.since += len(piece)
        if self.since > MOST_BYTES:
            message = f"An entry of the file has over {MOST_BYTES >> 20} MiB."
            raise entries.refused("bank_entry_too_large", message, _AGAIN)
        return piece


def read_elements(file: BinaryIO, wanted: Collection[str]) -> Iterator[Element]:
    """Yield the elements of some names, each as it ends; what is of one account as it begins.

    Only elements of the message's own namespace count, of whichever version, and none of what a
    bank adds to it. Raises `FileUnusable` for what is not XML, is cut off, declares anything, or is
    another message.
    """
    metered = _Metered(file)
    try:
        yield from _read(metered, wanted)
    except ParseError as error:
        line, column = error.position
        message = f"The file is not whole XML: line {line}, column {column + 1}."
        raise entries.refused("bank_xml_invalid", message, _AGAIN) from None
    except DefusedXmlException:
        raise entries.refused(
            "bank_xml_forbidden",
            "The file declares a document type or entities, which no message of a bank has.",
            "Do not use it, and ask the bank whether it is theirs.",
        ) from None
    except (ValueError, LookupError):  # an encoding that the parser has not
        message = "The file names an encoding that cannot be read."
        raise entries.refused("bank_xml_invalid", message, _AGAIN) from None


def _read(metered: _Metered, wanted: Collection[str]) -> Iterator[Element]:
    above: list[Element] = []
    for event, element in iterparse(metered, ("start", "end"), forbid_dtd=True):
        if event == "start":
            if not above:
                _check_message(element)
            above.append(element)
            if len(above) > MOST_DEPTH:
                raise entries.refused(
                    "bank_xml_forbidden",
                    f"The file nests over {MOST_DEPTH} elements, which no message of a bank does.",
                    "Do not use it, and ask the bank whether it is theirs.",
                )
            if name_of(element) in _OF_ACCOUNT and _is_of_message(above, element):
                yield element
            continue
        above.pop()
        is_in_place = name_of(element) not in _HEADS or name_of(above[-1]) in _OF_ACCOUNT
        if name_of(element) in wanted and is_in_place and _is_of_message(above, element):
            yield element
            metered.since = 0
            # what stands before it goes out of memory too, unless that is still wanted
            if name_of(above[-1]) in wanted:
                above[-1].remove(element)
            else:
                above[-1].clear()


def _is_of_message(above: list[Element], element: Element) -> bool:
    """Whether an element is of the namespace of the root, and in nothing that was added to it."""
    own = _space(above[0])
    return all(_space(node) == own and name_of(node) != _ADDED for node in (*above, element))


def _check_message(root: Element) -> None:
    match = _NAMESPACE.fullmatch(root.tag)
    if not match or not _MESSAGE.search(match[1]):
        raise entries.refused(
            "bank_form_unknown",
            "The file is XML, and none of camt.052, camt.053, camt.054 and pain.002.",
            "`cardoffers help payments` tells which files of a bank are read.",
        )


def name_of(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def message_of(element: Element) -> Message:
    """Return which message an element is of, such as camt.053."""
    match = _MESSAGE.search(_space(element))
    return cast("Message", match[1] if match else "")


def _space(element: Element) -> str:
    return str(element.tag).rpartition("}")[0]


def all_at(element: Element, path: str) -> list[Element]:
    """Return the elements at a path of names below one, of its namespace."""
    elements = [element]
    for name in path.split("/"):
        tag = f"{_space(element)}}}{name}"
        elements = [child for parent in elements for child in parent if child.tag == tag]
    return elements


def text_at(element: Element, *paths: str) -> str | None:
    """Return the text of the first element at the first path that has one."""
    for path in paths:
        for child in all_at(element, path):
            if text := (child.text or "").strip():
                return text
    return None


def attribute_at(element: Element, path: str, name: str) -> Any:
    """Return an attribute of the first element at a path; None where it is not there."""
    return next((child.get(name) for child in all_at(element, path)), None)
