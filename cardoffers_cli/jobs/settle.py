"""Settle: move what is due into settlements, one per institution and currency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.money import quantize
from cardoffers_cli.jobs.runs import run_record
from cardoffers_cli.pipeline.settle import settle, still_pending

if TYPE_CHECKING:
    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.store.store import Store

_AMOUNTS = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")


def settle_due(job: Job, *, dry_run: bool = False) -> dict[str, Any]:
    """Settle in one transaction; return the shape of `settle --format json`."""
    with job.store() as store, store.transaction(keep=not dry_run):
        return settle_in(store, job, dry_run=dry_run)


def settle_in(store: Store, job: Job, *, dry_run: bool = False) -> dict[str, Any]:
    """Settle what is due in the caller's transaction, as one run."""
    with run_record(store, kind="settle", now=job.now, actor=job.actor) as run:
        made = settle(store, run_no=run.run_no, now=job.now, actor=job.actor)
        run.counts.update(
            run_id=run.run_id,
            settled=sum(settlement["entries"] for settlement in made),
            **still_pending(store),
            settlements=[_with_decimals(settlement) for settlement in made],
            dry_run=dry_run,
        )
    return run.counts


def _with_decimals(settlement: dict[str, Any]) -> dict[str, Any]:
    currency = settlement["currency"]
    amounts = {name: quantize(settlement[name], currency) for name in _AMOUNTS}
    return {**settlement, **amounts}
