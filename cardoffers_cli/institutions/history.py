"""List what was changed in the catalogue and in settings: values before and after, who, when."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.money import quantize
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job

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


def list_changes(
    job: Job,
    institution: str | None = None,
    *,
    subject: str | None = None,
    subject_id: str | None = None,
    field: str | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    limit: int | None = None,
) -> list[ValueChange]:
    """Return changes, the newest first; None filters nothing. Raises `NotFound`.

    Of an institution these are its own, and those of the offers in its program. Amounts have the
    decimals of the offer's currency.
    """
    with reading(job) as source:
        owner = find_institution(source.store, institution) if institution else None
        rows = source.store.records(
            ChangeOfOffer,
            "institutions/changes:list",
            institution_id=owner.id if owner else None,
            subject=subject,
            subject_id=subject_id,
            field=field,
            from_at=from_at,
            to_at=to_at,
            limit=limit,
        )
    return [_shown(row) for row in rows]


def _shown(row: ChangeOfOffer) -> ValueChange:
    change = ValueChange.cut(row)
    if row.currency is None or row.field not in _AMOUNTS:
        return change
    old, new = (
        text and str(quantize(Decimal(text), row.currency))
        for text in (row.old_value, row.new_value)
    )
    return replace(change, old_value=old, new_value=new)
