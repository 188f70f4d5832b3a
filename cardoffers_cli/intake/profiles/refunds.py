"""The refunds among the rows of an institution's own file, in the columns of refunds.

A profile whose `negatives` are refunds says so of rows with negative amounts. Their amounts lose
the sign; the reference of the row is that of the refund, as such a file does not name the purchase
(rules.md#refunds-among-purchases). They are judged by the rules of refunds, as a file of them is.
Imports neither polars nor pydantic at its head, as both readings need it.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from cardoffers_cli.kernel.words.row_kinds import PURCHASES, REFUNDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cardoffers_cli.intake.layout_model import Profile


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


# A profile as plain values, for a place that has no pydantic, as a page in a browser has not.
#
# `settled` is done where the profile was read and proven; `profile_of` makes of it, elsewhere, what
# has the same attributes. Both are held together by a test over every attribute that is read.


_OF_TIMES = ("has_clock", "has_offset", "is_serial")


def settled(profile: Profile) -> Mapping[str, Any]:
    """Return a profile as JSON has it, with what follows from it: sources, header, clocks."""
    fields = {
        name: {
            **field.model_dump(mode="json"),
            "sources": list(field.sources),
            **{key: getattr(field, key) for key in _OF_TIMES if hasattr(field, key)},
        }
        for name, field in profile.fields.given().items()
    }
    return {**profile.model_dump(mode="json"), "header": profile.header, "fields": fields}


def profile_of(document: Mapping[str, Any]) -> Profile:
    """Return what was settled, to be read from as from the profile itself."""
    parts = json.loads(json.dumps(document), object_hook=lambda part: SimpleNamespace(**part))
    parts.fields = _Fields(**vars(parts.fields))
    return cast("Profile", parts)


class _Fields(SimpleNamespace):
    """The fields that are read; any other is None."""

    def given(self) -> Mapping[str, Any]:
        """Return the fields by name, in the order of our own layout."""
        return vars(self)

    def __getattr__(self, _name: str) -> None:
        return None
