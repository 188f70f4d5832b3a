"""What was changed in catalogue and settings: old and new values, who, when (rules.md#changes).

Every change is written where it is made (`catalogue/questions.py`), as text. A row that was new
changed nothing, and has no line here.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from cardoffers_cli.catalogue.questions import FieldChange
from cardoffers_cli.kernel.store import security_log
from cardoffers_cli.kernel.words.money import quantize
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.runs import Run
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
    change = ValueChange.cut(row)
    if row.currency is None or row.field not in _AMOUNTS:
        return change
    old, new = (
        text and str(quantize(Decimal(text), row.currency))
        for text in (row.old_value, row.new_value)
    )
    return replace(change, old_value=old, new_value=new)


# Settings that the security log is told of too, when they change.


class ChangedSetting(Protocol):
    """A setting with its value before and after, as both are shown."""

    @property
    def field(self) -> str:
        """Its name."""

    @property
    def old_value(self) -> str | None:
        """Its value before."""

    @property
    def new_value(self) -> str | None:
        """Its value from now on."""


def log_changes(
    store: Store,
    event: str,
    institution: Institution,
    changed: Sequence[ChangedSetting],
    run: Run,
) -> list[FieldChange]:
    """Write an event of what was changed of an institution, if anything; return each change."""
    if changed:
        security_log.append(
            store,
            event,
            event_id=uuid4(),
            institution_id=institution.id,
            details={change.field: [change.old_value, change.new_value] for change in changed},
            now=run.as_of,
            actor=run.actor,
        )
    return [
        FieldChange(
            subject_id=institution.slug,
            field=change.field,
            old_value=change.old_value,
            new_value=change.new_value,
        )
        for change in changed
    ]
