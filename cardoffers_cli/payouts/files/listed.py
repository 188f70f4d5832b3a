"""Read what a bank says as CSV, where it has no other form: one line for each payment.

Needed are `payment_id`, `status` and `amount`; `currency`, `direction`, `booked_at`, `code`,
`bank_ref` and `trace` may be there, and others are ignored.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, get_args

from cardoffers_cli.payouts.files.entries import (
    BankEntry,
    BankFinding,
    BankValueError,
    EntryStatus,
    amount_of,
    moment_of,
    reference_of,
    refused,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import BinaryIO

    from cardoffers_cli.payouts.files.entries import Direction, Said

NEEDED = ("payment_id", "status", "amount", "currency", "booked_at")
_LINE_BYTES = 64 << 10
_STATUSES: tuple[EntryStatus, ...] = get_args(EntryStatus)
_AGAIN = "Save it as CSV in UTF-8, one entry a line."


def read_listed(file: BinaryIO) -> Iterator[Said]:
    """Yield the entries of a list; raise `FileUnusable` where a line is none."""
    names: list[str] = []
    for line, cells in _lines(file):
        if not names:
            names = [each.strip() for each in cells]
            _check(names)
            continue
        if len(cells) != len(names):
            raise _broken(line, f"it has {len(cells)} fields, and the header {len(names)}")
        try:
            yield _entry(dict(zip(names, cells, strict=True)), f"line {line}")
        except BankValueError as unfit:
            yield BankFinding(f"line {line}", str(unfit))


def _entry(row: Mapping[str, str], place: str) -> BankEntry:
    status = next((each for each in _STATUSES if each == row["status"].strip()), None)
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
    missing = [each for each in NEEDED if names.count(each) != 1]
    if missing:
        raise refused(
            "bank_form_unknown",
            f"The file is no answer of a bank: its header lacks {', '.join(missing)}.",
            "`cardoffers help payments` tells which files of a bank are read.",
        )


def _broken(line: int, why: str) -> Exception:
    return refused("bank_list_invalid", f"The file cannot be read: line {line}: {why}.", _AGAIN)
