"""The kinds of rows that institutions send in files: what their fields are called.

A kind is a value: whatever reads, judges, stages or admits rows is handed one and asks it for
names, so every kind goes the same way. Each row has a reference, which its institution gives once
(rules.md#duplicates), a moment and an amount, under names of its own. Behind the rules of
`intake/rules.py`, rows of every kind have one shape, in which they are called `transaction_ref`,
`transacted_at` and `amount`, as those of a purchase.

To add a kind, add its value to `KINDS`; to `intake/rules.py` what holds of its fields alone; and to
`river/` the statements by which its rows are staged, found again and admitted, which are named
after it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LINE = "#line"
"""In the place of a column: the number of the row's line."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RowKind:
    """A kind of rows, by the word that `--kind` and `kind_of_rows` have for it.

    `noun` is one of its rows; `list_key` the field of a JSON object that holds them; `columns` are
    all fields, of which none of the `required` ones may be empty in a row. A header has those
    `in_header`, where `a|b` means one of them; `own` are names of columns by which it is known.
    `further` are fields that are kept beside those of every kind, each with what an empty one
    means; behind the rules some are `kept_as` another name, where theirs is taken. `command` takes
    its files.
    """

    name: str
    noun: str
    list_key: str
    reference: str
    moment: str
    columns: tuple[str, ...]
    required: tuple[str, ...]
    in_header: tuple[str, ...]
    own: tuple[str, ...]
    command: str
    further: Mapping[str, str | None] = field(default_factory=lambda: MappingProxyType({}))
    kept_as: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def has_tokens(self) -> bool:
        """Whether its rows name cardholders and merchants, or only what those did."""
        return not set(TOKENS).isdisjoint(self.columns)

    @property
    def further_names(self) -> Mapping[str, str]:
        """What each of the `further` fields is called behind the rules."""
        return {name: self.kept_as.get(name, name) for name in self.further}


TOKENS = ("cardholder_token", "card_token", "instrument_token")
IDENTIFIERS = ("card_acceptor_id", "merchant_identifier")
MERCHANTS = (*IDENTIFIERS, "merchant_id")
"""Fields that name a merchant."""
FREE_TEXTS = (
    "mcc",
    "merchant_descriptor",
    "network",
)
IDS = ("merchant_id", "redemption_id")
"""Fields that are UUIDs: small and capital letters are the same in them."""

PURCHASES = RowKind(
    name="purchases",
    noun="purchase",
    list_key="transactions",
    reference="transaction_ref",
    moment="transacted_at",
    columns=(
        *TOKENS,
        "instrument_type",
        *IDENTIFIERS,
        *FREE_TEXTS,
        *("merchant_identifier_type", "merchant_id"),
        *("amount", "currency", "transaction_ref", "transacted_at", "institution_id"),
    ),
    required=("cardholder_token", "amount", "transaction_ref", "transacted_at"),
    in_header=(
        "cardholder_token",
        "card_token|instrument_token",
        "amount",
        "transaction_ref",
        "transacted_at",
    ),
    own=("transaction_ref", "transacted_at"),
    command="import",
)
"""What cardholders bought (rules.md#columns)."""

REFUNDS = RowKind(
    name="refunds",
    noun="refund",
    list_key="refunds",
    reference="refund_ref",
    moment="refunded_at",
    columns=(
        *("refund_ref", "original_transaction_ref"),
        *TOKENS,
        *IDENTIFIERS,
        *("merchant_identifier_type", "merchant_id"),
        *("amount", "currency", "refunded_at", "kind", "institution_id"),
    ),
    required=("refund_ref", "amount", "refunded_at"),
    in_header=(
        "refund_ref",
        "original_transaction_ref|cardholder_token",
        "amount",
        "refunded_at",
    ),
    own=("refund_ref", "refunded_at"),
    command="refund import",
    further=MappingProxyType({"original_transaction_ref": None, "kind": "refund"}),
)
"""What went back, in amounts above zero (rules.md#refund-files)."""

CREDITS = RowKind(
    name="credits",
    noun="credited row",
    list_key="credits",
    reference="credit_ref",
    moment="credited_at",
    columns=(
        *("redemption_id", "transaction_ref", "amount", "currency"),
        *("status", "credited_at", "failure_code", "credit_ref", "institution_id"),
    ),
    required=("amount", "status", "credited_at", "credit_ref"),
    in_header=(
        "redemption_id|transaction_ref",
        "amount",
        "status",
        "credited_at",
        "credit_ref",
    ),
    own=("credit_ref", "credited_at"),
    command="credit import",
    further=MappingProxyType(
        dict.fromkeys(("redemption_id", "transaction_ref", "status", "failure_code"))
    ),
    kept_as=MappingProxyType({"transaction_ref": "redeemed_ref"}),
)
"""What was credited to cardholders for their redemptions (rules.md#credited-files)."""

KINDS = (PURCHASES, REFUNDS, CREDITS)
"""Every kind; what says nothing of itself is taken for the first."""

REFERENCES = (*(kind.reference for kind in KINDS), "original_transaction_ref")
"""What rows are called, and the purchases that they name."""

BY_NAME: Mapping[str, RowKind] = MappingProxyType({kind.name: kind for kind in KINDS})
