"""What was changed in catalogue and settings: old and new values, who, when (rules.md#changes).

Every change is written where it is made (`catalogue/questions.py`), as text. A row that was new
changed nothing, and has no line here.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from cardoffers_cli.catalogue.questions import FieldChange
from cardoffers_cli.kernel.store import security_log
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.money import quantize
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
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


_EVENTS = {
    "refund_window_days": "refund_policy_changed",
    "refund_auto_link": "refund_policy_changed",
    "clawback_days": "refund_policy_changed",
    "hold_short": "hold_short_changed",
    "numbers": "numbers_declared",
    "shares_tokens_with": "token_sharing_changed",
    "approvals": "approval_policy_changed",
    "approval_limit": "approval_policy_changed",
}
"""The settings that the security log is told of too, and by which event."""


def change_settings(
    store: Store, institution: Institution, values: Mapping[str, Any], run: Run
) -> list[FieldChange]:
    """Change settings that the security log is told of; return each change."""
    before = {name: getattr(institution, name) for name in _EVENTS}
    changes = {
        name: (before[name], value) for name, value in values.items() if value != before[name]
    }
    if changes:
        settings = {**before, **values}
        store.execute("institutions/changes:set", institution_id=institution.id, **settings)
    return [
        change
        for event in dict.fromkeys(_EVENTS.values())
        for change in keep_changes(
            store,
            institution,
            {name: pair for name, pair in changes.items() if _EVENTS[name] == event},
            run,
            event=event,
        )
    ]


def keep_changes(
    store: Store,
    institution: Institution,
    changes: Mapping[str, tuple[Any, Any]],
    run: Run,
    *,
    event: str | None = None,
) -> list[FieldChange]:
    """Write what was changed of an institution to the audit log; return each change, as text.

    `changes` has the value before and the value after of each setting. The security log is told of
    them too, where there are any, by `event`.
    """
    fields = [
        FieldChange(
            subject_id=institution.slug,
            field=field,
            old_value=None if old is None else str(old),
            new_value=None if new is None else str(new),
        )
        for field, (old, new) in changes.items()
    ]
    for field in fields:
        of = {"institution_id": institution.id}
        store.execute("institutions/changes:keep", **of, **run.by, **field)
    if fields and event:
        security_log.append(
            store,
            event,
            event_id=uuid4(),
            institution_id=institution.id,
            details={field.field: [field.old_value, field.new_value] for field in fields},
            now=run.as_of,
            actor=run.actor,
        )
    return fields
