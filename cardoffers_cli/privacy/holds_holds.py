"""The legal hold of an institution (rules.md#legal-holds): set and lifted by its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.institutions.logging_changes import log_changes
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.privacy.holds import hold_on, keep_hold, log_setting

if TYPE_CHECKING:
    from cardoffers_cli.catalogue.questions import FieldChange
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store

ON, OFF = "on", "off"
_REASON = "set for the institution"


class HoldChange(Record):
    """The hold of an institution before and after."""

    field: str
    old_value: str | None
    new_value: str | None


def shown_hold(store: Store, institution: Institution) -> str | None:
    """Return ON for an institution on hold, else None: without one nothing is shown."""
    return ON if hold_on(store, institution.id) else None


def change_hold(store: Store, institution: Institution, wanted: str, run: Run) -> list[FieldChange]:
    """Set or lift the hold, and write that into both logs; return the change, if it is one."""
    before = shown_hold(store, institution) or OFF
    if before == wanted:
        return []
    keep_hold(store, institution.id, None, is_on=wanted == ON, reason=_REASON, **run.by)
    change = HoldChange(field="legal_hold", old_value=before, new_value=wanted)
    log_setting(store, institution.id, institution.slug, change, **run.by)
    return log_changes(store, "legal_hold_changed", institution, [change], run)
