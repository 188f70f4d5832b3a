"""The steps of a night, in their order: a table of names and functions.

A step is recorded with what it came to when it is done, most of them in the transaction of their
work. One that was broken off is done again, and each can be: it finds what is left to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.jobs.key_notices import give_in
from cardoffers_cli.jobs.match import decide
from cardoffers_cli.jobs.night.intake import import_files, rehearse_files
from cardoffers_cli.jobs.night.order import WITHOUT_CONSEQUENCE, Done, Work, finding, real_now
from cardoffers_cli.jobs.night.reports import write_reports
from cardoffers_cli.jobs.night.webhooks import send_webhooks
from cardoffers_cli.jobs.publish import publish as publish_snapshot
from cardoffers_cli.jobs.security import catch_up
from cardoffers_cli.jobs.settle import settle_in
from cardoffers_cli.pipeline.publish import publish
from cardoffers_cli.services import nights, security_log

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from cardoffers_cli.store.store import Store


@dataclass(frozen=True)
class Step:
    """One step. What is done `in_store` is committed together with the record of the step.

    A rehearsal does what is done in the store, and `rehearse` in place of what is done `alone`.
    """

    name: str
    alone: Callable[[Work], Done] | None = None
    in_store: Callable[[Work, Store], Done] | None = None
    rehearse: Callable[[Work, Store], Done] | None = None


def do(step: Step, position: int, work: Work) -> None:
    """Do a step and record it."""
    began_at = real_now()
    done = step.alone(work) if step.alone else None
    with work.job.store() as store, store.transaction():
        if step.in_store:
            done = step.in_store(work, store)
        if done:
            _record(store, work, _Doing(step.name, position, began_at), done)


def rehearse(step: Step, position: int, work: Work, store: Store) -> None:
    """Do what a step does to the store, in a transaction that will be undone."""
    began_at = real_now()
    if act := step.in_store or step.rehearse:
        _record(store, work, _Doing(step.name, position, began_at), act(work, store))


@dataclass(frozen=True)
class _Doing:
    """A step that was begun."""

    name: str
    position: int
    began_at: datetime


def _record(store: Store, work: Work, doing: _Doing, done: Done) -> None:
    nights.record_step(
        store,
        work.night,
        position=doing.position,
        name=doing.name,
        began_at=doing.began_at,
        ended_at=real_now(),
        counts=done.counts,
        findings=done.findings,
    )


def _match(work: Work, store: Store) -> Done:
    report = decide(store, work.job).document()
    counts = {name: report[name] for name in _MATCHED}
    findings = []
    if unknown := report["merchant_unresolved"]:
        message = f"{unknown:,} purchases wait, because nobody knows their merchant."
        findings.append(
            finding(
                "merchant_unresolved",
                message,
                level=WITHOUT_CONSEQUENCE,
                then="cardoffers report unresolved",
                count=unknown,
            )
        )
    return Done(counts=counts, findings=findings)


_MATCHED = (
    *("considered", "redeemed", "merchant_unresolved", "not_redeemed", "rounds"),
    *("merchant_funded_amount", "commission_amount", "institution_payout_amount"),
)


def _settle(work: Work, store: Store) -> Done:
    report = settle_in(store, work.job)
    names = ("settled", "still_pending", "next_settles_at")
    return Done(
        counts={
            **{name: report[name] for name in names},
            "settlements": len(report["settlements"]),
        }
    )


def _publish(work: Work, store: Store) -> Done:
    """Prove that every redemption has its event; write one that is missing, and say so."""
    found = nights.events(store, work.night)
    if not found["missing"]:
        return Done(counts=found)
    for run_no in nights.runs_without_events(store, work.night):
        publish(store, run_no=run_no)
    message = f"{found['missing']:,} redemptions had no event; they have one now."
    return Done(counts=found, findings=[finding("events_missing", message, level="warning")])


def _give_notices(work: Work, store: Store) -> Done:
    return Done(counts={"notices": len(give_in(store, work.job)["notices"])})


def _audit(work: Work) -> Done:
    """Take in what calls left, and keep the head of the security log for whoever checks later."""
    with work.job.store() as store:
        catch_up(store, work.job)
        head = security_log.head(store)
    return Done(counts={"security_log_head": head})


def _publish_snapshot(work: Work) -> Done:
    made = publish_snapshot(work.job)
    return Done(counts={"size_bytes": made["size_bytes"]})


STEPS: tuple[Step, ...] = (
    Step("import", alone=import_files, rehearse=rehearse_files),
    Step("match", in_store=_match),
    Step("settle", in_store=_settle),
    Step("publish", in_store=_publish),
    Step("key_notices", in_store=_give_notices),
    Step("webhooks", alone=send_webhooks),
    Step("reports", alone=write_reports),
    Step("audits", alone=_audit),
    Step("snapshot", alone=_publish_snapshot),
)


def told(row: dict[str, Any]) -> dict[str, Any]:
    """Return a step as the result tells it."""
    seconds = round((row["ended_at"] - row["began_at"]).total_seconds(), 3)
    return {
        "name": row["name"],
        "status": row["status"],
        "started_at": row["began_at"],
        "seconds": seconds,
        "counts": row["counts"],
    }
