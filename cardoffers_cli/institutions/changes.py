"""What was changed in catalogue and settings: old and new values, who, when (rules.md#changes).

Every change is written where it is made (`catalogue/questions.py`), as text. A row that was new
changed nothing, and has no line here.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.money import quantize
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store

_AMOUNTS = ("min_spend", "cashback_amount", "budget_amount")


class ValueChange(Record, sheet="* institution by_run run_id audit_no"):
    """One value that was changed, as text, by a run of somebody."""

    audit_no: int = shown("no", gives_way=5)
    happened_at: datetime
    actor: str = shown(gives_way=1)
    by_run: str | None = shown("by", gives_way=2)
    run_id: UUID | None = shown(kind="text", gives_way=4)
    institution: str | None = shown(gives_way=3)
    subject: str
    subject_id: str
    field: str
    old_value: str | None = shown("old")
    new_value: str | None = shown("new")


class ChangeOfOffer(ValueChange):
    """A change, and the currency of the offer that it is of."""

    currency: str | None


def list_changes(store: Store, **filters: Any) -> list[ValueChange]:
    """Return changes, the newest first; amounts have the decimals of the offer's currency.

    The filters are institution_id, subject, subject_id, field, from_at, to_at and limit, each None
    for any.
    """
    return [
        _shown(row) for row in store.records(ChangeOfOffer, "institutions/changes:list", **filters)
    ]


def _shown(row: ChangeOfOffer) -> ValueChange:
    shown = ValueChange.cut(row)
    if row.currency is None or row.field not in _AMOUNTS:
        return shown
    old, new = (
        text and str(quantize(Decimal(text), row.currency))
        for text in (row.old_value, row.new_value)
    )
    return replace(shown, old_value=old, new_value=new)
