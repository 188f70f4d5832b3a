"""The state of everything, for `status`: per institution, in all, and what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

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


class StoreTotals(Record):
    """How much there is in all, and what waits: purchases, adjustments, refunds."""

    merchants: int
    offers: int
    cardholders: int
    links: int
    not_matched_yet: int
    merchant_unresolved: int
    open_adjustments: int
    refunds_waiting: int


class EntriesDue(Record):
    """Pending ledger entries: how many are due, and when the next one is."""

    due: int
    next_settles_at: datetime | None


class WebhookTotals(Record):
    """Webhooks by state. Those without anywhere to be sent to are `unset`, not due or later.

    `failed` are those that are tried again, also counted as due or later; `…_error` is the error
    that most of them ended in.
    """

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


class LastRun(Record, sheet="run_no kind as_of run_id"):
    """The newest run of a kind."""

    kind: str
    run_no: int = shown("run")
    run_id: UUID = shown(gives_way=1)
    as_of: datetime = shown(kind="text")


class InstitutionsStatus(Record):
    """The institutions, by slug."""

    institutions: list[InstitutionStatus]


class Overview(WebhookTotals, EntriesDue, StoreTotals, InstitutionsStatus):
    """Institutions, totals, what is due, and the last run of each kind, the newest first."""

    last_runs: list[LastRun]


def overview(store: Store, now: datetime) -> Overview:
    """Return the state of everything, and what is due at `now`."""
    (totals,) = store.records(StoreTotals, "storage/overview:totals")
    (entries,) = store.records(EntriesDue, "storage/overview:due", now=now)
    (webhooks,) = store.records(WebhookTotals, "storage/overview:webhooks", now=now)
    return Overview(
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
