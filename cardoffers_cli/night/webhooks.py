"""Webhooks: send what is due, for as long as the night allows; the rest stays due.

Sending runs in a thread of its own, so that an interruption of the night ends at once: an attempt
that is in flight then is recorded as unknown by the next sender, as after a crash.
"""

from __future__ import annotations

from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from cardoffers_cli.events.attempts import HELD_BECAUSE, HELD_NEXT
from cardoffers_cli.events.sending import send
from cardoffers_cli.kernel.store.clock import Clock, Watch
from cardoffers_cli.kernel.store.signing_secrets import UNUSABLE
from cardoffers_cli.kernel.words.errors import Refused, StoreBusy, StoreDamaged
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.night.options import WITHOUT_CONSEQUENCE, StepResult, finding
from cardoffers_cli.night.questions import UnsentWebhooks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cardoffers_cli.night.options import NightContext
    from cardoffers_cli.night.questions import NightFinding

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
