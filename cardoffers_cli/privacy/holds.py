"""Legal holds of single cardholders (rules.md#legal-holds): set one, lift it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.institutions.holds import standing_holds
from cardoffers_cli.kernel.store import acts
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.offers.links import CardholderUnknown, find_cardholder

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.kernel.store.job import Job


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
                    "institutions/holds:keep",
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
