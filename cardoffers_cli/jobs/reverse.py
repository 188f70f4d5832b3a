"""Reverse: take one redemption back, with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.errors import UsageError
from cardoffers_cli.domain.money import quantize
from cardoffers_cli.jobs.runs import finish_run, start_run
from cardoffers_cli.services.redemptions import reverse_redemption

if TYPE_CHECKING:
    from cardoffers_cli.jobs.job import Job


def reverse(redemption_id: str, reason: str, job: Job, *, dry_run: bool = False) -> dict[str, Any]:
    """Reverse in one transaction; return what was reversed and what it was before."""
    if not reason.strip():
        raise UsageError("A reversal needs a reason.", hint='Say why: --reason "returned goods".')
    with job.store() as store, store.transaction(keep=not dry_run):
        run = start_run(store, kind="reverse", now=job.now, actor=job.actor)
        before = reverse_redemption(
            store,
            redemption_id,
            reason=reason.strip(),
            run_no=run.run_no,
            now=job.now,
            actor=job.actor,
        )
        currency = before["currency"]
        report = {
            "redemption_id": before["redemption_id"],
            "institution_id": before["institution_id"],
            "status": "reversed",
            "status_before": before["status"],
            "currency": currency,
            "merchant_funded_amount": quantize(before["merchant_funded_amount"], currency),
            "institution_payout_amount": quantize(before["institution_payout_amount"], currency),
            "reversed_at": job.now,
            "reason": reason.strip(),
            "dry_run": dry_run,
        }
        finish_run(store, run, report)
    return report
