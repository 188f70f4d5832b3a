"""`cardoffers status`: the state of everything on one screen, the last night first.

What a night does is not told to be typed by hand while one waits to be gone on with: `run resume`
does all of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from cardoffers_cli.kernel.cli.blocks import sparkline
from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.show import Block, Column, Sheet, Text, columns_of
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.night.screen import findings_lines
from cardoffers_cli.watch.observations import watch_meaning

if TYPE_CHECKING:
    from cardoffers_cli.arrivals.work import ArrivalCounts
    from cardoffers_cli.night.status import LastNight, StoreStatus


DAYS = (
    *(Column("institution"), Column("days", "a day"), Column("most", "most a day", "integer")),
    Column("redemptions", "in all", "integer"),
)
RESUME = "cardoffers run resume"
BY_A_NIGHT = {"cardoffers match", "cardoffers settle", "cardoffers webhook send"}
"""What a night does too, so that it is done by one that is gone on with."""
_FAILED = "cardoffers webhook list --state {}"
NEXT = (Column("count", kind="integer"), Column("waits"), Column("next"))


def status(ctx: typer.Context) -> None:
    """Show the state of everything: what came in, what it became, what waits, what to do next."""
    from cardoffers_cli.night.status import status as look

    context = CommandContext.of(ctx)
    state, days = look(context.job, by_day=context.format is Format.table)
    context.show(state, *_blocks(state, days))


def store_in_short(context: CommandContext) -> Iterator[str]:
    """Yield two lines: the store with its state, and what to do next; waits for no busy store."""
    from cardoffers_cli.night.status import status as look

    if not context.store_path.exists():
        yield "Store: none in this folder"
        yield "Next:  cardoffers demo, or cardoffers init"
        return
    job = replace(context.job, settings=replace(context.settings, lock_wait_s=0))
    try:
        state, _ = look(job)
    except CardoffersError as error:
        yield f"Store: {error.message}"
        yield f"Next:  {error.hint or 'cardoffers status'}"
        return
    facts = [context.store_path.name, counted(len(state.institutions), "institution")]
    facts += [f"nightly {state.last_night.night}"] if state.last_night else []
    findings = sum(
        row.findings for row in (*state.open_findings, *(state.open_watch_findings or ()))
    )
    facts += [counted(findings, "open finding")] if findings else []
    yield f"Store: {', '.join(facts)}"
    then = next((row["next"] for row in _waiting(state)), "nothing waits; cardoffers status")
    yield f"Next:  {then}"


def _blocks(state: "StoreStatus", days: dict[str, list[int]]) -> Iterator[Block]:
    from cardoffers_cli.night.status import LoopStatus
    from cardoffers_cli.storage.overview import InstitutionStatus

    if state.last_night:
        yield Text(list(_last_night(state, state.last_night)), title="The last nightly run")
    things = ("merchant", "offer", "cardholder", "link")
    counts = ", ".join(counted(state[f"{thing}s"], thing) for thing in things)
    yield Text([f"{state.store} at {format_minute(state.as_of)}: {counts}."])
    if state.arrivals:
        yield Text([_expected(state.arrivals)])
    if state.copy_fault:
        yield Text([state.copy_fault])
    yield Sheet.of(InstitutionStatus, "institutions", state.institutions, title="What came in")
    if state.institutions:
        yield Sheet(
            "money",
            columns_of(
                InstitutionStatus,
                "institution currency pending pending_payout_amount settled settled_payout_amount"
                " reversed",
            ),
            state.institutions,
            title="What it became: redemptions",
        )
    if state.money_loop:
        yield Sheet.of(
            LoopStatus, "money_loop", state.money_loop, title="What was credited, closed and paid"
        )
    if days:
        yield Sheet("days", DAYS, list(_days(days)), title="Redemptions of the last 30 days")
    waiting = list(_waiting(state))
    if waiting:
        yield Sheet("next", NEXT, waiting, title="What waits, and what to do next")
    else:
        yield Text(["Nothing waits."])


def _last_night(state: "StoreStatus", night: "LastNight") -> Iterator[str]:
    """Say what became of the last night, and which nights are not finished."""
    counts = [counted(night.files, "file")]
    counts += [f"{night.failed_files:,} of them failed"] if night.failed_files else []
    counts += [f"{counted(night.received, 'row')}, {night.invalid:,} of them rejected"]
    yield f"Nightly run of {night.night}: {night.state}; {'; '.join(counts)}."
    yield from findings_lines([finding for finding in night.findings if finding.level != "note"])
    for unfinished in state.left_nights:
        if unfinished.state == "broken off":
            yield f"warning: The nightly run of {unfinished.night} was broken off."
            yield f"    -> {RESUME}"
        else:
            yield f"note: The nightly run of {unfinished.night} is running."
    if night.page:
        yield f"Page: {night.page}"


def _expected(arrivals: "ArrivalCounts") -> str:
    """Say how expected files came of late, and when the next is due."""
    next_due = arrivals.next_due_at
    then = f"; the next is due by {format_minute(next_due)}" if next_due else ""
    return (
        f"Expected files of the last 14 days: {arrivals.on_time:,} in time, {arrivals.late:,} late,"
        f" {arrivals.missed:,} missed{then}."
    )


def _days(days: dict[str, list[int]]) -> Iterator[Mapping[str, Any]]:
    for slug, counts in days.items():
        line, most, in_all = sparkline(counts), max(counts), sum(counts)
        yield {"institution": slug, "days": line, "most": most, "redemptions": in_all}


def _waiting(state: "StoreStatus") -> Iterator[Mapping[str, Any]]:
    institutions = state.institutions
    if not institutions:
        yield {"waits": "the store is empty", "next": "cardoffers catalog import DIR"}
    elif not any(row.imports for row in institutions):
        slug = institutions[0].institution
        yield {"waits": "no transactions yet", "next": f"cardoffers import FILE -i {slug}"}
    is_left = any(night.state == "broken off" for night in state.left_nights)
    for count, waits, then in _counts(state):
        if count:
            by_night = is_left and then in BY_A_NIGHT
            yield {"count": count, "waits": waits, "next": RESUME if by_night else then}


def _counts(state: "StoreStatus") -> Iterator[tuple[int, str, str]]:
    """Yield what waits: how many, of what, and what to type."""
    on_hold = sum(row.pending for row in state.institutions) - state.due
    first_due = state.webhooks_due - state.webhooks_failed_due
    first_later = state.webhooks_later + state.webhooks_failed_due - state.webhooks_failed
    until = state.next_settles_at
    first_until = f", the first until {until:%Y-%m-%d}" if until else ""
    send = "cardoffers webhook send"
    yield from (
        (state.not_matched_yet, "purchases to match", "cardoffers match"),
        (state.due, "ledger entries due", "cardoffers settle"),
        (state.open_adjustments, "adjustments to deduct", "cardoffers settle"),
        (
            state.refunds_waiting,
            "refunds without their purchase",
            "cardoffers refund list --state waiting --all-institutions",
        ),
        *_open_findings(state),
        *_watch_findings(state),
        (
            state.merchant_unresolved,
            "purchases of unknown merchants",
            "cardoffers report unresolved",
        ),
        (
            state.approvals_pending or 0,
            "requests for an approval",
            "cardoffers approve list --state pending",
        ),
        (first_due, "webhooks to send", send),
        (first_later, "webhooks to send later", send),
        (state.webhooks_failed, f"webhooks failed{_again(state)}", _FAILED.format("failed")),
        (
            state.webhooks_unset,
            "redemptions without a webhook",
            "cardoffers webhook set -i INST --url URL",
        ),
        (state.webhooks_stopped, "webhooks stopped", _FAILED.format("stopped")),
        (
            state.webhooks_exhausted,
            f"webhooks failed for good{_cause(state.webhooks_exhausted_error)}",
            _FAILED.format("exhausted"),
        ),
        (state.misdated_acts or 0, "misdated acts in the log", "cardoffers audit list"),
        (state.clock_went_back_from is not None, "clock that went back", "set it"),
        (len(state.calls_put_aside), "damaged usage journals put aside", "cardoffers doctor"),
        (on_hold, f"ledger entries on hold{first_until}", "cardoffers settle"),
    )


def _open_findings(state: "StoreStatus") -> Iterator[tuple[int, str, str]]:
    """Yield the open findings of each verdict of reconciliation, and what they come to."""
    for row in state.open_findings:
        amount = money_text(row.amount, row.currency)
        then = f"cardoffers reconcile list --state open --code {row.code}"
        yield row.findings, f"findings of {row.code}, {amount} in all", then


def _watch_findings(state: "StoreStatus") -> Iterator[tuple[int, str, str]]:
    """Yield the open findings of the watch, of each institution and code."""
    for row in state.open_watch_findings or ():
        then = f"cardoffers watch list --state open -i {row.institution} --code {row.code}"
        yield row.findings, f"of {row.institution}: {watch_meaning(row.code).says}", then


def _again(state: "StoreStatus") -> str:
    """Say why webhooks failed, and when the next is tried again."""
    at = state.webhooks_next_attempt_at
    again = f", tried again from {format_minute(at)}" if at and at > state.as_of else ""
    return f"{_cause(state.webhooks_failed_error)}{again}"


def _cause(error: str | None) -> str:
    return f" ({error})" if error else ""
