"""The refunds among the rows of an institution's own file, in the columns of refunds.

A profile whose `negatives` are refunds says so of rows with negative amounts. Their amounts lose
the sign; the reference of the row is that of the refund, as such a file does not name the purchase
(rules.md#refunds-among-purchases). They are judged by the rules of refunds, as a file of them is.
Imports neither polars nor pydantic at its head, as both readings need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.row_kinds import PURCHASES, REFUNDS

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES = {
    PURCHASES.reference: REFUNDS.reference,
    PURCHASES.moment: REFUNDS.moment,
}
"""What the fields of a purchase are called in a refund, where otherwise."""

BACK = {own: name for name, own in NAMES.items()}
"""What the fields of a refund are called in a purchase, where otherwise."""

FIRST = (
    *("refund_ref", "cardholder_token", "card_token", "card_acceptor_id"),
    *("amount", "refunded_at"),
)
"""The columns that a file of refunds begins with, as a file of purchases does."""


def with_refunds_labels(labels: Mapping[str, str]) -> Mapping[str, str]:
    """Return what a file calls the fields of purchases, and those of the refunds among them."""
    return {**labels, **{NAMES[name]: label for name, label in labels.items() if name in NAMES}}
