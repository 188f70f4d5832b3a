"""What can be wrong with an entry of a file that came from a bank: the codes, and what mends them.

The entry is left out, whatever else the file has is taken; a file that is cut off, or not what it
says, is refused whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.findings import Code

if TYPE_CHECKING:
    from collections.abc import Mapping

_ASK = "ask the bank what the entry is; the others were taken"

_ALL = (
    Code("bank_amount_invalid", "error", "the amount of the entry is no amount of money", _ASK),
    Code("bank_currency_unknown", "error", "the currency is not one of ISO 4217", _ASK),
    Code("bank_date_invalid", "error", "the date of the entry is no date", _ASK),
    Code("bank_status_unknown", "error", "the status of the entry is not a known one", _ASK),
    Code("bank_direction_unknown", "error", "the entry is neither a credit nor a debit", _ASK),
    Code(
        "bank_reference_missing",
        "error",
        "the answer names no payment",
        "ask the bank which payment it is of",
    ),
    Code(
        "bank_entry_forward",
        "warning",
        "the entry is a payment, and no return of one",
        "nothing to do, if the file is meant: only returns say something of payouts",
    ),
    Code(
        "bank_total_differs",
        "error",
        "the entries do not come to the control totals of the file",
        "fetch the file again from the bank; the entries were taken",
    ),
)

BANK_CODES: Mapping[str, Code] = {code.code: code for code in _ALL}
"""Every code that is said of an entry of a bank's file."""
