"""Files that were taken: list them, and take one back as if it had never come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.store.approval_requests import approvable, require_approval
from cardoffers_cli.kernel.store.institutions import institution_of
from cardoffers_cli.kernel.store.masking import without_cards
from cardoffers_cli.kernel.store.runs import finish_run, start_run
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.river.counts import recount
from cardoffers_cli.river.redemptions import reverse_all
from cardoffers_cli.river.withdrawals import (
    count_reversals,
    find_import,
    find_leaving,
    withdraw,
)

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.words.records import Amount


class FileUndoResult(Record):
    """A file that was withdrawn: the purchases that left, and the redemptions that were reversed.

    `approval` says how far the approval of a second person is, where it needs one.
    """

    import_id: UUID
    institution: str
    file: str
    imported_at: datetime
    purchases: int
    amount: Amount
    currency: str
    redemptions: int
    merchant_funded_amount: Amount
    state: str
    approval: str | None = if_any()
    withdrawn_at: datetime
    reason: str
    dry_run: bool


def undo_import(import_id: str, reason: str, job: Job, *, dry_run: bool = False) -> FileUndoResult:
    """Withdraw an import in one transaction (rules.md#withdrawn-files); return what that did.

    It is named by its id, or the beginning of that. Raises `Refused` where something rests on it,
    and `ApprovalNeeded` where reversing its redemptions needs that.
    """
    if not reason.strip():
        raise UsageError("An undo needs a reason.", hint='Say why: --reason "the wrong bank".')
    with approvable(job, dry_run=dry_run) as store:
        record = find_import(store, whole_id(store, "import", import_id))
        owner = institution_of(store, record.institution_id)
        run = start_run(store, kind="file_undo", now=job.now, actor=job.actor)
        leaving, earned = find_leaving(store, record)
        reversals = count_reversals(store, earned, record.currency)
        approval = None
        if reversals.redemptions:
            approval = require_approval(
                store,
                run,
                owner,
                action="file_undo",
                subject=str(record.import_id),
                amount=reversals.amount,
                currency=record.currency,
                details={"redemptions": reversals.redemptions, "reason": reason.strip()},
                dry_run=dry_run,
            )
        by: Any = {"run_no": run.run_no, "now": job.now, "actor": job.actor}
        by["reason"] = reason.strip()
        reverse_all(store, store.make("river/withdrawals:reversals", earned), **by)
        withdraw(store, record, leaving, earned, **by)
        recount(store)
        result = FileUndoResult(
            import_id=record.import_id,
            institution=owner.slug,
            file=record.file_name,
            imported_at=record.imported_at,
            purchases=record.accepted,
            amount=record.amount_accepted,
            currency=record.currency,
            redemptions=reversals.redemptions,
            merchant_funded_amount=reversals.amount,
            state="withdrawn",
            approval=approval,
            withdrawn_at=job.now,
            reason=reason.strip(),
            dry_run=dry_run,
        )
        finish_run(store, run, result)
    masked: FileUndoResult = without_cards(result)
    return masked
