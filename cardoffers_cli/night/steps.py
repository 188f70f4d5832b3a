"""The steps of a night, in their order: a table of names and functions.

A step is recorded with what it came to when it is done, most of them in the transaction of their
work. One that was broken off is done again, and each can be: it finds what is left to do.

Webhooks are sent in a thread of its own, so that an interruption of the night ends at once: an
attempt that is in flight then is recorded as unknown by the next sender, as after a crash.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from cardoffers_cli.archive.archive import archive_of
from cardoffers_cli.copies.work import copy, copy_fault, prune
from cardoffers_cli.copies.work import publish as publish_snapshot
from cardoffers_cli.credits.questions import open_findings
from cardoffers_cli.credits.reconcile import CONTROL_TOTALS_DIFFER, FindingStates
from cardoffers_cli.credits.rules import meaning_of
from cardoffers_cli.credits.work import reconcile_in
from cardoffers_cli.events.deliver import HELD_BECAUSE, HELD_NEXT
from cardoffers_cli.events.sending import send
from cardoffers_cli.kernel.store import acts
from cardoffers_cli.kernel.store.clock import Clock, Watch, real_now
from cardoffers_cli.kernel.store.runs import machine_at
from cardoffers_cli.kernel.store.signing_secrets import UNUSABLE
from cardoffers_cli.kernel.words.errors import CardoffersError, Refused, StoreBusy, StoreDamaged
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.moments import format_minute, format_moment
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.keys.notices import give_in
from cardoffers_cli.keys.security import catch_up
from cardoffers_cli.night import questions as night_audits
from cardoffers_cli.night.findings import changed_later, file_counts, file_findings
from cardoffers_cli.night.intake import import_files, rehearse_files, take_late_files
from cardoffers_cli.night.options import (
    WITHOUT_CONSEQUENCE,
    NightContext,
    StepResult,
    finding,
    told,
)
from cardoffers_cli.night.questions import NightStep, UnsentWebhooks
from cardoffers_cli.night.reports import write_reports
from cardoffers_cli.night.watching import look_at_all, watch
from cardoffers_cli.refunds.apply import RefundCounts, apply_in
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.engines import compute, keep
from cardoffers_cli.river.publish import publish
from cardoffers_cli.river.redeem import AMOUNTS
from cardoffers_cli.river.settlements import settle_in
from cardoffers_cli.storage.doctor import OF_STEPS, examine, examine_part, is_mostly_new, names
from cardoffers_cli.storage.file_changes import keep_looked, look_at, unanswered, watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.night.options import StepReport
    from cardoffers_cli.night.questions import NightFinding
    from cardoffers_cli.storage.doctor import Audit


_GRACE_S = 1.0
"""How long an interrupted night waits for what is in flight."""

_FAILURES = {
    True: ("failed", "warning", "will be tried again"),
    False: ("exhausted", "error", "will not be tried again"),
}
"""Whether events are tried again -> their state, the level of the finding, what it says."""


def send_webhooks(work: NightContext) -> StepResult:
    """Send what is due within the time the night has for it."""
    try:
        report = _within(work)
    except StoreBusy as busy:
        if busy.code != "sender_busy":
            raise
        busy_finding = finding(busy.code, busy.message, level=WITHOUT_CONSEQUENCE)
        return StepResult(counts={}, findings=[busy_finding])
    except (Refused, StoreDamaged) as error:
        if error.code not in UNUSABLE:
            raise
        return StepResult(counts={}, findings=[finding(error.code, error.message, then=error.hint)])
    with work.job.store(read_only=True) as store:
        counts, unsent = (
            store.rows("night/questions:sent", run_no=work.night.run_no)[0],
            store.records(UnsentWebhooks, "night/questions:unsent", run_no=work.night.run_no),
        )
    outlook = {name: report[name] for name in ("still_due", "next_attempt_at")}
    return StepResult(counts={**counts, **outlook}, findings=list(_findings(unsent, report)))


def _within(work: NightContext) -> Mapping[str, Any]:
    """Send until nothing is due or the time is over; what a thread raised is raised here."""
    stop, outcome = Event(), _Outcome()

    def tell(counts: Mapping[str, int], due: int) -> None:
        work.onlooker.moves("events", counts["attempted"], max(due, counts["attempted"]))

    watch = Watch(clock=Clock(max(work.clock, work.night.as_of)), stop=stop, tell=tell)

    def run() -> None:
        try:
            outcome.report = send(work.job, watch=watch)
        except BaseException as error:  # noqa: BLE001  raised below, in the night's own thread
            outcome.error = error

    thread = Thread(target=run, name="webhooks", daemon=True)
    thread.start()
    try:
        thread.join(work.order.webhook_time_s)
        stop.set()
        thread.join()
    except BaseException:
        stop.set()
        thread.join(_GRACE_S)
        raise
    if outcome.error is not None:
        raise outcome.error
    return outcome.report


class _Outcome:
    """What a thread came to."""

    def __init__(self) -> None:
        self.report: Mapping[str, Any] = {}
        self.error: BaseException | None = None


def _findings(
    unsent: Sequence[UnsentWebhooks], report: Mapping[str, Any]
) -> Iterator[NightFinding]:
    for item in unsent:
        state, level, outlook = _FAILURES[item.is_tried_again]
        yield finding(
            f"webhooks_{state}",
            f"{counted(item.failures, 'webhook')} of {item.institution} failed ({item.error}) and"
            f" {outlook}.",
            level=level,
            then=f"cardoffers webhook list --state {state} -i {item.institution}",
            institution=item.institution,
            count=item.failures,
        )
    for row in report["held"]:
        yield finding(
            "webhooks_held",
            f"{counted(row['events'], 'webhook')} of {row['institution']} cannot be sent "
            f"({HELD_BECAUSE[row['reason']]}).",
            level=WITHOUT_CONSEQUENCE,
            then=HELD_NEXT[row["reason"]].format(**row),
            institution=row["institution"],
            count=row["events"],
        )
    if report["still_due"]:
        at = report["next_attempt_at"]
        when = f", the next at {format_minute(at)}" if at else ""
        yield finding(
            "webhooks_due",
            f"Still to be sent: {counted(report['still_due'], 'webhook')}{when}.",
            level=WITHOUT_CONSEQUENCE,
            then="cardoffers webhook send",
            count=report["still_due"],
        )


@dataclass(frozen=True)
class Step:
    """One step. What is done `in_store` is committed together with the record of the step.

    What it needs to have done `before` that is done while the store is closed. A rehearsal does
    what is done in the store, and `rehearse` in place of what is done `alone`.
    """

    name: str
    before: Callable[[NightContext], None] | None = None
    alone: Callable[[NightContext], StepResult] | None = None
    in_store: Callable[[NightContext, Store], StepResult] | None = None
    rehearse: Callable[[NightContext, Store], StepResult] | None = None


def do(step: Step, position: int, work: NightContext) -> StepReport:
    """Do a step and record it; return it as the result tells it, with its findings."""
    began_at = real_now()
    if step.before:
        step.before(work)
    result = step.alone(work) if step.alone else None
    with work.job.store() as store, store.transaction():
        if step.in_store:
            result = step.in_store(work, store)
        over = _over(step, began_at, result or StepResult(counts={}), work)
        store.execute(
            "night/questions:record_step",
            **{**over, "counts": dumps(over.counts), "findings": dumps(list(over.findings))},
            night_no=work.night.night_no,
            position=position,
        )
    return replace(told(over), findings=over.findings)


def rehearse(step: Step, position: int, work: NightContext, store: Store) -> None:
    """Do what a step does to the store, in a transaction that will be undone."""
    began_at = real_now()
    if act := step.in_store or step.rehearse:
        over = _over(step, began_at, act(work, store), work)
        store.execute(
            "night/questions:record_step",
            **{**over, "counts": dumps(over.counts), "findings": dumps(list(over.findings))},
            night_no=work.night.night_no,
            position=position,
        )


def _over(step: Step, began_at: datetime, result: StepResult, work: NightContext) -> NightStep:
    findings = [*work.remarks, *result.findings]
    work.remarks.clear()  # the first step that is recorded tells them
    return NightStep(
        name=step.name,
        status="findings" if findings else "done",
        began_at=began_at,
        ended_at=real_now(),
        counts=result.counts,
        findings=findings,
    )


def _compute(work: NightContext) -> None:
    """Let the engine of the night, if it has one, compute what `_match` keeps."""
    if work.job.settings.engine:
        work.computed = compute(work.job)


def _match(work: NightContext, store: Store) -> StepResult:
    job, computed = work.job, work.computed
    report = (keep(store, job, computed) if computed else decide(store, job)).document()
    counts = {name: report[name] for name in _MATCHED}
    findings = []
    if computed and (error := computed.unmerged):
        findings.append(
            finding(
                "history_not_merged",
                f"The small parts of the history were left as they are. {error.message}",
                level="warning",
                then="cardoffers store compact",
            )
        )
    if unknown := report["merchant_unresolved"]:
        message = f"The merchant of {counted(unknown, 'purchase')} is not in the catalogue."
        findings.append(
            finding(
                "merchant_unresolved",
                message,
                level=WITHOUT_CONSEQUENCE,
                then="cardoffers report unresolved",
                count=unknown,
            )
        )
    return StepResult(counts=counts, findings=findings)


_MATCHED = (*("considered", "redeemed", "merchant_unresolved", "not_redeemed", "rounds"), *AMOUNTS)


def _refund(work: NightContext, store: Store) -> StepResult:
    report = apply_in(store, work.job)
    findings = []
    if refused := report.refused:
        message = f"{counted(refused, 'refund')} {'was' if refused == 1 else 'were'} refused."
        findings.append(
            finding(
                "refunds_refused",
                message,
                level="warning",
                then="cardoffers refund list --state refused --all-institutions",
                count=refused,
            )
        )
    amounts = {name: report[name] for name in AMOUNTS}
    return StepResult(counts={**RefundCounts.cut(report), **amounts}, findings=findings)


def _settle(work: NightContext, store: Store) -> StepResult:
    report = settle_in(store, work.job)
    names = ("settled", "still_pending", "next_settles_at")
    return StepResult(
        counts={**{name: report[name] for name in names}, "settlements": len(report["settlements"])}
    )


def _publish(work: NightContext, store: Store) -> StepResult:
    """Prove that every redemption has its event; write one that is missing, and say so."""
    counts = store.rows("night/questions:events", after_run_no=work.night.after_run_no)[0]
    if not counts["missing"]:
        return StepResult(counts=counts)
    publish(store, "redemptions", after_run_no=work.night.after_run_no)
    message = f"{counted(counts['missing'], 'redemption')} had no event, and got one."
    return StepResult(counts=counts, findings=[finding("events_missing", message, level="warning")])


def _look_again(work: NightContext) -> StepResult:
    """Take what was too young when the night began, and look again at what was taken before."""
    late_files = take_late_files(work)
    findings = [*file_findings(work.processed, late_files)]
    if late_files:
        findings += _process(work)
    with work.job.store(read_only=True) as store:
        files = watched(store)
    check = look_at(files)
    with work.job.store() as store, store.transaction():
        store.execute("night/questions:files_moved", night_no=work.night.night_no)
        changes = unanswered(store, check)
        keep_looked(store, check, changes, before_night=work.night.night_no)
    findings += [changed_later(change) for change in changes]
    of_late = file_counts(late_files)
    counts = {f"late_{name}": of_late[name] for name in ("files", "imported", "failed", "accepted")}
    counts |= {"taken_files": check.files, "changed_files": len(changes)}
    return StepResult(counts=counts, findings=findings)


def _process(work: NightContext) -> Iterator[NightFinding]:
    """Do with late files what was done with the others; yield findings that ask for somebody."""
    _compute(work)
    with work.job.store() as store, store.transaction():
        results = [act(work, store) for act in (_match, _refund, _settle, _publish)]
    results.append(send_webhooks(work))
    for result in results:
        yield from (one for one in result.findings if one.level != WITHOUT_CONSEQUENCE)


def _reconcile(work: NightContext) -> StepResult:
    """Hold what was credited against what was redeemed; what does not add up stops no night."""
    with work.job.store() as store:
        try:
            with store.transaction():
                return _reconcile_in(work, store)
        except StoreDamaged as error:
            if error.code != CONTROL_TOTALS_DIFFER:
                raise
            differs = finding(error.code, error.message, then="cardoffers doctor --strict")
            return StepResult(counts={}, findings=[differs])


def _reconcile_in(work: NightContext, store: Store) -> StepResult:
    report = reconcile_in(store, work.job)
    if report.run_id is None:
        return StepResult(counts={})
    counts = {**FindingStates.cut(report), **report.control}
    return StepResult(
        counts=counts,
        findings=[
            finding(
                row.code,
                f"Reconciliation: {counted(row.findings, 'open finding')}, "
                f"{money_text(row.amount, row.currency)} in all: {meaning_of(row.code).says}.",
                level="warning",
                then=f"cardoffers reconcile list --state open --code {row.code}",
                count=row.findings,
            )
            for row in open_findings(store)
        ],
    )


def _give_notices(work: NightContext, store: Store) -> StepResult:
    return StepResult(counts={"notices": len(give_in(store, work.job)["notices"])})


def _audit(work: NightContext) -> StepResult:
    """Ask the store for what must not be, and keep the head of the security log for later.

    Most nights ask about what came since the audits before (`night/questions.py`); those with
    an archive ask about everything.
    """
    night, total, numbers = work.night, len(names()) - len(OF_STEPS), count()

    def tell(name: str) -> None:
        work.onlooker.moves(name, next(numbers), total)

    with work.job.store() as store:
        catch_up(store, work.job)
        head = acts.head(store)
        up_to_run_no = night_audits.up_to(store, run_no=night.run_no, now=night.as_of)
        after_run_no = night_audits.audited_to(store, night_no=night.night_no, now=night.as_of)
        if after_run_no is None or archive_of(store) or is_mostly_new(store, after_run_no):
            after_run_no = None
            audits = examine(store, work.job.path, but=OF_STEPS, tell=tell)
        else:
            audits = examine_part(
                store, work.job.path, after_run_no=after_run_no, but=OF_STEPS, tell=tell
            )
        moment = machine_at(store, work.job.now)
        findings = _leave_head(work.job, head, moment)
        hours = work.job.settings.clock_tolerance_hours
        if went_back_from := store.value("night/status:clocks", moment=moment, hours=hours):
            text = f"The machine's clock went back: it was {format_minute(went_back_from)} before."
            findings.append(finding("clock_went_back", text, then="set the machine's clock"))
    faults = [audit for audit in audits if not audit.ok]
    counts = {"audits": len(audits), "faults": len(faults), "security_log_head": head}
    return StepResult(
        counts={**counts, "after_run_no": after_run_no, "up_to_run_no": up_to_run_no},
        findings=[*(_fault(audit) for audit in faults), *findings],
    )


def _leave_head(job: Job, head: str, moment: datetime) -> list[NightFinding]:
    """Append the head of the log where the store's user can take no line away again."""
    if job.settings.audit_head_file is None:
        return []
    line = f"{head.replace(':', ',')},{format_moment(moment)}\n"
    try:
        with job.settings.audit_head_file.open("a", encoding="utf-8") as out:
            out.write(line)
    except OSError as error:
        text = f"The head of the security log was not appended to its file: {error.strerror}."
        return [finding("audit_head_not_kept", text, then="cardoffers audit verify")]
    return []


def _fault(audit: Audit) -> NightFinding:
    words = audit.name.replace("_", " ")
    return finding(
        "audit_failed",
        f'The audit "{words}" found {counted(audit.rows, "fault")} in the store.',
        then="cardoffers doctor --strict",
        audit=audit.name,
        count=audit.rows,
    )


def _copy(work: NightContext) -> StepResult:
    """Take a point, which readers have as the snapshot, and put it into the repository."""
    job, findings = work.job, []
    try:
        result = copy(job) if job.settings.copies else publish_snapshot(job)
        if job.settings.copies:
            prune(job)
    except (CardoffersError, OSError) as error:
        if isinstance(error, Refused):
            raise
        text = f"The copy could not be put into the repository: {error}"
        findings.append(finding("copy_old", text, then="cardoffers store copy"))
        result = publish_snapshot(job)
    with job.store(read_only=True) as store:
        fault = copy_fault(job, store)
    if fault and not findings:
        level = WITHOUT_CONSEQUENCE if fault[0] == "copy_missing" else "error"
        findings.append(finding(*fault, level=level, then="cardoffers help operations"))
    counts = {"size_bytes": result.store_bytes, "added_bytes": result.added_bytes}
    return StepResult(counts=counts, findings=findings)


STEPS: tuple[Step, ...] = (
    Step("import", alone=import_files, rehearse=rehearse_files),
    Step("match", before=_compute, in_store=_match),
    Step("refund", in_store=_refund),
    Step("settle", in_store=_settle),
    Step("publish", in_store=_publish),
    Step("key_notices", in_store=_give_notices),
    Step("webhooks", alone=send_webhooks),
    Step("second_look", alone=_look_again),
    Step("reconcile", alone=_reconcile, rehearse=_reconcile_in),
    Step("watch", before=look_at_all, in_store=watch),
    Step("reports", alone=write_reports),
    Step("audits", alone=_audit),
    Step("copy", alone=_copy),
)
