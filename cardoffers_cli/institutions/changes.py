"""Change settings of institutions, and write what was changed into both logs (rules.md#changes).

Every change is written where it is made (`catalogue/questions.py`), as text. A row that was new
changed nothing, and has no line here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.catalogue.questions import FieldChange
from cardoffers_cli.kernel.store import acts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store


_EVENTS = {
    "refund_window_days": "refund_policy_changed",
    "refund_auto_link": "refund_policy_changed",
    "clawback_days": "refund_policy_changed",
    "hold_short": "hold_short_changed",
    "time_zone": "time_zone_changed",
    "numbers": "numbers_declared",
    "shares_tokens_with": "token_sharing_changed",
    "approvals": "approval_policy_changed",
    "approval_limit": "approval_policy_changed",
}
"""The settings that the security log is told of too, and by which event."""


def change_settings(
    store: Store, institution: Institution, values: Mapping[str, Any], run: Run
) -> list[FieldChange]:
    """Change settings that the security log is told of, none to what it is; return each change."""
    before = {name: getattr(institution, name) for name in _EVENTS}
    if values:
        settings = {**before, **values}
        store.execute("institutions/changes:set", institution_id=institution.id, **settings)
    return [
        change
        for event in dict.fromkeys(_EVENTS.values())
        for change in record_changes(
            store,
            institution,
            {name: (before[name], values[name]) for name in values if _EVENTS[name] == event},
            run,
            event=event,
        )
    ]


def record_changes(
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
        store.execute("institutions/changes:record", **of, **run.by, **field)
    if fields and event:
        acts.append(
            store,
            event,
            run.by,
            subject=institution.slug,
            institution_id=institution.id,
            details={field.field: [field.old_value, field.new_value] for field in fields},
        )
    return fields


def change_watch(
    store: Store, institution: Institution, run: Run, *, is_on: bool
) -> list[FieldChange]:
    """Watch an institution, or do not, and write that into both logs; return the change."""
    if institution.is_watched == is_on:
        return []
    of = {"institution_id": institution.id}
    store.execute("institutions/changes:unwatch", **of)
    if is_on:
        store.execute("institutions/changes:watch", **of, now=run.as_of)
        # what was there before is not looked at
        store.execute("watch/abuse:keep_look", **of, run_no=run.run_no)
    words = {True: "on", False: "off"}
    changes = {"watch": (words[not is_on], words[is_on])}
    return record_changes(store, institution, changes, run, event="watch_changed")
