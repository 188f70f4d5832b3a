"""Legal holds (rules.md#legal-holds): what must be kept, whatever ages or requests say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.institutions.changes import record_changes
from cardoffers_cli.kernel.store import acts
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record, shown
from cardoffers_cli.offers.links import CardholderUnknown, find_cardholder

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.catalogue.questions import FieldChange
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
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
    return store.records(LegalHold, "privacy/holds:standing", institution_id=institution_id)


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


# Legal holds of single cardholders: set one, lift it, list what stands.


class HoldResult(Record):
    """A cardholder, by number, whose hold was set or lifted; `changed`: it was not so before."""

    institution: str
    cardholder_no: int
    on_hold: bool
    changed: bool
    reason: str
    set_at: datetime
    dry_run: bool


def hold_cardholder(
    job: Job,
    institution: str,
    token: str,
    reason: str,
    *,
    release: bool = False,
    dry_run: bool = False,
) -> HoldResult:
    """Set the hold of a cardholder, or lift it; raise `NotFound` for a stranger."""
    if not reason.strip() or token in reason:
        raise UsageError(
            "A hold needs a reason, without the token in it.",
            hint='Say why: --reason "case 2026-14".',
        )
    with job.store() as store, store.transaction(keep=not dry_run):
        owner = find_institution(store, institution)
        number = find_cardholder(store, owner.id, token)
        if number is None:
            raise CardholderUnknown(owner.slug)
        standing = {hold.cardholder_no for hold in standing_holds(store, owner.id)}
        changed = (number in standing) == release
        if changed:
            with run_record(store, kind="hold", now=job.now, actor=job.actor) as run:
                store.execute(
                    "privacy/holds:keep",
                    institution_id=owner.id,
                    cardholder_no=number,
                    is_on=not release,
                    reason=reason.strip(),
                    **run.by,
                )
                details = {"cardholder_no": number, "is_on": not release, "reason": reason.strip()}
                acts.append(
                    store,
                    "legal_hold_changed",
                    run.by,
                    subject=owner.slug,
                    institution_id=owner.id,
                    details=details,
                )
                run.counts["changed"] = 1
    return HoldResult(
        institution=owner.slug,
        cardholder_no=number,
        on_hold=not release,
        changed=changed,
        reason=reason.strip(),
        set_at=job.now,
        dry_run=dry_run,
    )


# The legal hold of an institution (rules.md#legal-holds): set and lifted by its settings.


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
        "privacy/holds:keep",
        institution_id=institution.id,
        cardholder_no=None,
        is_on=wanted == ON,
        reason=_REASON,
        **run.by,
    )
    changes = {"legal_hold": (before, wanted)}
    return record_changes(store, institution, changes, run, event="legal_hold_changed")
