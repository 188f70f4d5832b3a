"""The state of everything, for `status`: per institution, in all, and what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


class InstitutionStatus(Record, sheet="institution plan links imports purchases last_import_at"):
    """What came in from an institution, and its redemptions by state; `amount` is of purchases."""

    institution: str
    plan: str
    currency: str
    imports: int
    purchases: int
    amount: Amount
    links: int
    pending: int
    settled: int
    reversed: int
    pending_payout_amount: Amount = shown("to settle")
    settled_payout_amount: Amount = shown("payout")
    last_import_at: datetime | None = shown("last import")
    last_purchase_at: datetime | None


class LastRun(Record, sheet="run_no kind as_of run_id"):
    """The newest run of a kind."""

    kind: str
    run_no: int = shown("run")
    run_id: UUID = shown(gives_way=1)
    as_of: datetime = shown(kind="text")


class Overview(Record):
    """What there is in a store at a moment (UTC), what waits, and the last run of each kind.

    `due` are pending ledger entries. Webhooks without anywhere to be sent to are `unset`, not due
    or later; `failed` are those that are tried again, also counted as due or later; `…_error` is
    the error that most of them ended in.
    """

    store: str
    as_of: datetime
    institutions: list[InstitutionStatus]
    merchants: int
    offers: int
    cardholders: int
    links: int
    not_matched_yet: int
    merchant_unresolved: int
    open_adjustments: int
    refunds_waiting: int
    due: int
    next_settles_at: datetime | None
    webhooks_delivered: int
    webhooks_due: int
    webhooks_later: int
    webhooks_exhausted: int
    webhooks_stopped: int
    webhooks_unset: int
    webhooks_failed: int
    webhooks_failed_due: int
    webhooks_next_attempt_at: datetime | None
    webhooks_failed_error: str | None
    webhooks_exhausted_error: str | None
    last_runs: list[LastRun]


def overview(store: Store, job: Job) -> Overview:
    """Return the state of everything, and what is due now."""
    (totals,) = store.rows("storage/overview:totals")
    (entries,) = store.rows("storage/overview:due", now=job.now)
    (webhooks,) = store.rows("storage/overview:webhooks", now=job.now)
    return Overview(
        store=str(job.path),
        as_of=job.now,
        institutions=store.records(InstitutionStatus, "storage/overview:institutions"),
        **totals,
        **entries,
        **webhooks,
        last_runs=store.records(LastRun, "storage/overview:last_runs"),
    )


def redemptions_by_day(store: Store, now: datetime) -> dict[str, list[int]]:
    """Return, by the slug of its institution, the redemptions of each of the 30 days up to `now`.

    Days are those of UTC, the oldest first, and the last is the one that `now` is in.
    """
    rows = store.rows("storage/overview:redemptions_by_day", now=now)
    return {row["institution"]: row["redemptions"] for row in rows}
