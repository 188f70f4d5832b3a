"""Legal holds (rules.md#legal-holds): what must be kept, whatever ages or requests say.

That of an institution is set and lifted by its settings, those of cardholders in `privacy/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.institutions.changes import record_changes
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.catalogue.questions import FieldChange
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store


class LegalHold(Record, sheet="institution cardholder_no reason set_at actor"):
    """A hold that stands, of one cardholder, or where `cardholder_no` is None of the institution.

    `set_at` is naive UTC.
    """

    institution: str
    institution_id: UUID
    cardholder_no: int | None = shown("cardholder")
    reason: str = shown(gives_way=1)
    set_at: datetime = shown(gives_way=2)
    actor: str = shown(gives_way=3)


def standing_holds(store: Store, institution_id: UUID | None = None) -> list[LegalHold]:
    """Return the holds of one institution and its cardholders, or of all."""
    return store.records(LegalHold, "institutions/holds:standing", institution_id=institution_id)


def hold_on(
    store: Store, institution_id: UUID, cardholder_no: int | None = None
) -> LegalHold | None:
    """Return the hold of an institution, or one that a cardholder is under, if there is any."""
    return next(
        (
            hold
            for hold in standing_holds(store, institution_id)
            if hold.cardholder_no in {None, cardholder_no}
        ),
        None,
    )


ON, OFF = "on", "off"
_REASON = "set for the institution"


def shown_hold(store: Store, institution: Institution) -> str | None:
    """Return ON for an institution on hold, else None: without one nothing is shown."""
    return ON if hold_on(store, institution.id) else None


def change_hold(store: Store, institution: Institution, wanted: str, run: Run) -> list[FieldChange]:
    """Set or lift the hold, and write that into both logs; return the change, if it is one."""
    before = shown_hold(store, institution) or OFF
    if before == wanted:
        return []
    store.execute(
        "institutions/holds:keep",
        institution_id=institution.id,
        cardholder_no=None,
        is_on=wanted == ON,
        reason=_REASON,
        **run.by,
    )
    changes = {"legal_hold": (before, wanted)}
    return record_changes(store, institution, changes, run, event="legal_hold_changed")
