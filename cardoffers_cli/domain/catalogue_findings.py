"""What can be wrong with a row of a catalogue file: the codes that only catalogues have.

Codes for broken lines and unfit tokens are those of `findings.py`; a code here that exists there
too is explained in a catalogue's words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.findings import CODES, Code

if TYPE_CHECKING:
    from collections.abc import Mapping

_CATALOGUE = (
    Code(
        "required_missing",
        "error",
        "a required column is empty",
        "fill the column",
    ),
    Code(
        "value_invalid",
        "error",
        "a value does not have the form of its column",
        "write the value as the message says",
    ),
    Code(
        "amount_precision",
        "error",
        "an amount has more decimals than its currency",
        "round the amount, or name the right currency",
    ),
    Code(
        "duplicate_key",
        "error",
        "an earlier row, or another record of the store, has the same key",
        "keep one row of each key; the first one was taken",
    ),
    Code(
        "reference_unknown",
        "error",
        "the row points to something neither the store nor this import has",
        "import the missing record first, or in the same folder, and correct the reference",
    ),
    Code(
        "currency_mismatch",
        "error",
        "the offer and the institution have different currencies",
        "put an offer only into programs of its own currency",
    ),
    Code(
        "currency_in_use",
        "error",
        "the currency cannot change any more",
        "make a new institution or offer with the other currency",
    ),
    Code(
        "id_conflict",
        "error",
        "the institution is known under another institution_id",
        "leave institution_id empty, or give the one that `cardoffers institution show` prints",
    ),
    Code(
        "webhook_url_refused",
        "error",
        "no event may be sent to the webhook_url",
        "give an https URL of a public host, as `cardoffers webhook set` takes it",
    ),
    Code(
        "effective_in_future",
        "error",
        "new terms are to count from a time that is still to come",
        "import them when they begin, or leave effective_at empty",
    ),
    Code(
        "budget_below_spent",
        "warning",
        "the new budget is less than what redemptions hold of it already",
        "nothing is taken back, and nothing more redeems; raise the budget if that is not meant",
    ),
    Code(
        "link_kept",
        "warning",
        "the link was made before with another time or card, and stays as it was",
        "nothing to do: links are never changed once made",
    ),
)

CATALOGUE_CODES: Mapping[str, Code] = {**CODES, **{code.code: code for code in _CATALOGUE}}
"""Every code a row of a catalogue file can be given."""
