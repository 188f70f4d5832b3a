"""What was changed in catalogue and settings: old and new values, who, when (rules.md#changes).

Every change is written where it is made (`services/catalogue.py`), as text. A row that was new
changed nothing, and has no line here.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.money import quantize

if TYPE_CHECKING:
    from cardoffers_cli.store.store import Store

    Row = dict[str, Any]

_AMOUNTS = ("min_spend", "cashback_amount", "budget_amount")


def list_changes(store: Store, **filters: Any) -> list[Row]:
    """Return changes, the newest first; amounts have the decimals of the offer's currency.

    The filters are institution_id, subject, subject_id, field, from_at, to_at and limit, each None
    for any.
    """
    return [_shown(row) for row in store.rows("services/changes:list", **filters)]


def _shown(row: Row) -> Row:
    currency = row.pop("currency")
    if currency is None or row["field"] not in _AMOUNTS:
        return row
    values = {name: row[name] for name in ("old_value", "new_value") if row[name] is not None}
    return {
        **row,
        **{name: str(quantize(Decimal(text), currency)) for name, text in values.items()},
    }
