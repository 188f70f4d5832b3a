"""`cardoffers webhook`: tell institutions what happened, and see that they hear it."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cardoffers_cli.events.deliver import HELD_NEXT
from cardoffers_cli.events.listen_commands import listen, verify
from cardoffers_cli.institutions.inbox import Message
from cardoffers_cli.kernel.cli import completing, options
from cardoffers_cli.kernel.cli.commands import group, moment
from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.exits import stop_on_signals
from cardoffers_cli.kernel.cli.options import DryRun, Institution, argument, option
from cardoffers_cli.kernel.cli.progress import Progress
from cardoffers_cli.kernel.cli.questions import question
from cardoffers_cli.kernel.cli.show import Block, Column, Sheet, Text
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.events import ANNOUNCEMENT, EVENTS, WORDS, events_of
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from cardoffers_cli.events.questions import EventTimeline
    from cardoffers_cli.events.sending import SendResult


app = group("Send events to institutions, and list deliveries.")


SENT = (Column("events", kind="integer"), Column("meaning"))
HELD = (Column("institution"), Column("events", kind="integer"), Column("reason"), Column("next"))

RedemptionId = Annotated[
    str,
    argument(
        "REDEMPTION_ID",
        "The redemption whose event is meant: its id, the beginning of that, its purchase's "
        "reference, or latest; of other events the number of the statement, or the payment's id.",
    ),
]
if TYPE_CHECKING:
    Kind = str
else:
    Kind = Literal[tuple(WORDS)]
Event = Annotated[Kind, option("Which event.", "--event")]
AnyEvent = Annotated[Kind | None, option("Only events of this kind.", "--event")]
SecretFile = Annotated[
    Path | None, option("Write the secret to a new file of yours; do not show it.", metavar="FILE")
]


Past = Literal["all", "now"]
"""What becomes of the events that wait when a webhook is set."""


@app.command("set")
def set_(
    ctx: typer.Context,
    *,
    institution: options.Institution,
    url: Annotated[
        str | None, option("Where to send events: https, a public address [as it is].")
    ] = None,
    events: Annotated[
        str | None,
        option(
            f"Some of {', '.join(WORDS)} [as it is, at first {ANNOUNCEMENT.word}].", metavar="LIST"
        ),
    ] = None,
    past: Annotated[
        Past | None,
        option(
            "Send the events that wait too, or from now on only [asked the first time; now].",
            "--from",
        ),
    ] = None,
    secret_file: SecretFile = None,
    dry_run: options.DryRun = False,
) -> None:
    """Set where an institution receives events, and which."""
    from cardoffers_cli.events.subscriptions import set_webhook

    if url is None and events is None and past is None:
        raise UsageError(
            "Nothing says what to set.",
            hint="Give --url, --events or --from; --help tells of them.",
        )
    context = CommandContext.of(ctx)
    context.writes({"--secret-file": secret_file})
    _warn(context)
    report = set_webhook(
        context.job,
        institution,
        url,
        events=None if events is None else [word.strip() for word in events.split(",")],
        past=_past(context, institution, past),
        secret_file=secret_file,
        dry_run=dry_run,
    )
    _tell_of_secret(context, report)
    if report["from"] and report["past_events"]:
        is_all = report["from"] == "all"
        what = "`cardoffers webhook send` sends them" if is_all else "held back until --from all"
        context.note(f"Events from before: {report['past_events']:,}; {what}.")
    for kind in events_of(report.events) if events else ():
        if kind.only_new:
            context.note(kind.only_new)
    context.show(report)


@app.command()
def send(
    ctx: typer.Context,
    *,
    wait: Annotated[
        bool, option("Stay until nothing is due within the schedule.", "--wait")
    ] = False,
    dry_run: options.DryRun = False,
) -> None:
    """Send what is due now. A failure is tried again by a later run, up to 8 times in two hours."""
    from cardoffers_cli.events.sending import send as send_due
    from cardoffers_cli.kernel.store.clock import Clock, Watch

    context = CommandContext.of(ctx)
    _warn(context)
    with stop_on_signals() as stop:
        with context.progress("Sending webhooks") as bar:
            watch = Watch(clock=Clock(context.now), stop=stop, tell=partial(_count, bar))
            report = send_due(context.job, wait=wait, dry_run=dry_run, watch=watch)
        failed = report.failed + report.exhausted
        why = f"Failed: {failed:,} of {counted(report.attempted, 'event')}." if failed else ""
        context.show(report, *_sent(report), exit_code=WITH_FINDINGS if failed else 0, why=why)


@app.command()
def retry(
    ctx: typer.Context,
    redemption_ids: Annotated[
        list[str] | None, argument("[REDEMPTION_ID]...", "These ones, as show takes them.")
    ] = None,
    *,
    failed: Annotated[bool, option("Every event that failed or is exhausted.", "--failed")] = False,
    since: Annotated[
        str | None, option("Whose last attempt was since then.", metavar="TIME", callback=moment)
    ] = None,
    institution: options.AnyInstitution = None,
    dry_run: options.DryRun = False,
) -> None:
    """Make failed and exhausted events due now, with the whole schedule before them again."""
    from cardoffers_cli.events.subscriptions import retry as make_due

    if not (redemption_ids or failed or since or institution):
        raise UsageError(
            "Nothing says which events to try again.",
            hint="Name redemptions, or choose with --failed, --since or --institution.",
        )
    context = CommandContext.of(ctx)
    chosen: Mapping[str, Any] = {"subjects": redemption_ids or (), "since": since}
    report = make_due(context.job, institution=institution, **chosen, dry_run=dry_run)
    context.show(report)
    if report.made_due:
        context.note("Next: `cardoffers webhook send`.")


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    institution: options.AnyInstitution = None,
    event: AnyEvent = None,
    state: Annotated[
        Literal["due", "delivered", "failed", "exhausted", "stopped"] | None,
        option("Only this state."),
    ] = None,
    offer: Annotated[
        str | None, option("Only this offer.", metavar="OFFER_ID", autocompletion=completing.offers)
    ] = None,
    from_at: options.From = None,
    to_at: options.To = None,
    limit: options.Limit = 100,
    all_rows: options.All = False,
) -> None:
    """List events with their delivery state, newest first."""
    from cardoffers_cli.events.questions import ListedEvent
    from cardoffers_cli.kernel.store.reading import read_rows

    context = CommandContext.of(ctx)
    filters: Mapping[str, Any] = {
        "institution": institution,
        "event": event and WORDS[event].name,
        "state": state,
        "offer_id": offer,
        "from_at": from_at,
        "to_at": to_at,
    }
    most = None if all_rows else limit + 1
    events = read_rows(context.job, ListedEvent, "events/questions:list", **filters, limit=most)
    rows = events if all_rows else events[:limit]
    if len(rows) < len(events):
        context.note(f"There are more than {limit}: --limit or --all shows them.")
    sheet = Sheet.of(ListedEvent, "events", rows)
    if not any(row.subject for row in rows):
        own = tuple(column for column in sheet.columns if column.name != "subject")
        sheet = replace(sheet, columns=own)
    context.show(rows, sheet)


@app.command("show")
def show_(
    ctx: typer.Context, redemption_id: RedemptionId, *, event: Event = ANNOUNCEMENT.word
) -> None:
    """Show the timeline of one event, and the headers its receiver should have seen."""
    from cardoffers_cli.events.subscriptions import show_event

    context = CommandContext.of(ctx)
    timeline = show_event(context.job, redemption_id, WORDS[event].name)
    other = EVENTS.get(timeline.other_event or "")
    if other and other.needs == timeline.event:
        context.note(
            f"There is an event {other.name} of it too: "
            f"`cardoffers webhook show {timeline.redemption_id} --event {other.word}`."
        )
    context.show(timeline, *_timeline(timeline))


@app.command()
def resend(
    ctx: typer.Context,
    redemption_id: RedemptionId,
    *,
    event: Event = ANNOUNCEMENT.word,
    dry_run: options.DryRun = False,
) -> None:
    """Send one event again now, whatever its state, as an attempt marked as made by hand."""
    from cardoffers_cli.events.sending import resend as send_again

    context = CommandContext.of(ctx)
    _warn(context)
    timeline = send_again(context.job, redemption_id, WORDS[event].name, dry_run=dry_run)
    failed = not dry_run and timeline.log[-1].error is not None
    why = f"Failed: {timeline.log[-1].error}" if failed else ""
    context.show(timeline, *_timeline(timeline), exit_code=WITH_FINDINGS if failed else 0, why=why)


@app.command("rotate-secret")
def rotate_secret(
    ctx: typer.Context,
    *,
    institution: options.Institution,
    activate_at: Annotated[
        str | None, option("Until then the old one signs.", metavar="TIME", callback=moment)
    ] = None,
    secret_file: SecretFile = None,
    dry_run: options.DryRun = False,
) -> None:
    """Make a new signing secret, and show it this once."""
    from cardoffers_cli.events.subscriptions import rotate_secret as rotate

    context = CommandContext.of(ctx)
    context.writes({"--secret-file": secret_file})
    when: Mapping[str, Any] = {"activate_at": activate_at}
    report = rotate(context.job, institution, **when, secret_file=secret_file, dry_run=dry_run)
    _tell_of_secret(context, report)
    context.show(report)


def _warn(context: CommandContext) -> None:
    if context.settings.allow_insecure_webhooks:
        context.note(
            "Insecure webhooks are allowed (allow_insecure_webhooks): events may go to http and to "
            "private addresses. This is for development only."
        )


app.command()(listen)
app.command()(verify)


def _tell_of_secret(context: CommandContext, report: Mapping[str, Any]) -> None:
    if "signing_secret" in report:
        context.note("The signing secret is shown this once: give it to the receiver, and keep it.")


def _past(context: CommandContext, institution: str, choice: Past | None) -> str | None:
    """Return what becomes of events from before a first webhook: as said, or as asked for."""
    from cardoffers_cli.events.subscriptions import past_events

    if choice is not None:
        return choice
    if not sys.stdin.isatty():
        return None
    waiting = past_events(context.job, institution)
    if not waiting:
        return None
    question = f"{counted(waiting, 'event')} from before wait for this webhook. Send them too?"
    return "all" if context.agrees(question) else "now"


def _count(bar: Progress, counts: Mapping[str, int], due: int) -> None:
    failed = counts["failed"] + counts["exhausted"]
    bar.describe(f"Sending webhooks: {counts['delivered']:,} delivered, {failed:,} failed")
    bar.update(counts["attempted"], max(due, counts["attempted"]))


_MEANINGS = {
    "delivered": "were delivered",
    "failed": "failed, and will be tried again",
    "exhausted": "failed for the last time: see `cardoffers webhook list --state exhausted`",
    "unknown": "had been cut off in an earlier run, and were tried again",
    "still_due": "are still to be delivered",
}


def _sent(report: "SendResult") -> Iterator[Block]:
    rows = [{"events": report[name], "meaning": text} for name, text in _MEANINGS.items()]
    yield Sheet("sent", SENT, rows)
    if report.held:
        items = [{**row, "next": HELD_NEXT[row["reason"]].format(**row)} for row in report.held]
        yield Sheet("held", HELD, items, title="What cannot be sent as things are")
    if report.next_attempt_at:
        yield Text([f"The next attempt is due at {format_minute(report.next_attempt_at)}."])
    if report.dry_run:
        yield Text([f"Nothing was sent (--dry-run); {report.attempted:,} would be."])


def _timeline(timeline: "EventTimeline") -> Sequence[Block]:
    from cardoffers_cli.events.questions import LoggedAttempt

    lists = {"log", "headers"}
    fields = {name: value for name, value in timeline.items() if name not in lists}
    return (
        Sheet.of(LoggedAttempt, "log", timeline.log, title="Attempts"),
        Sheet.of_fields("event", fields, "Event"),
        Sheet.of_fields("headers", timeline.headers or {}, "Headers of the last attempt"),
    )


# `cardoffers inbox`: what an institution's team was told.


inbox_app = group("List and read the messages to an institution's team.")


question(
    *(inbox_app, "list", "institutions/inbox:messages", Message),
    says="List the messages, newest first.",
    asks="one_institution unread_only",
    unread_only=(Annotated[bool, option("Only what nobody has read.", "--unread")], False),
    sheet="messages",
    data=False,
)


@inbox_app.command()
def read(
    ctx: typer.Context,
    message_id: Annotated[
        str | None, argument("MESSAGE_ID", "The message: its id, the beginning of that, or latest.")
    ] = None,
    *,
    institution: Institution,
    all_unread: Annotated[bool, option("Every message that is unread.", "--all")] = False,
    dry_run: DryRun = False,
) -> None:
    """Show a message, or all that are unread, and mark it as read; the first time counts."""
    from cardoffers_cli.institutions.inbox import read_messages

    if all_unread == (message_id is not None):
        raise UsageError("Name one message, or --all.", hint="`cardoffers inbox list` has the ids.")
    context = CommandContext.of(ctx)
    messages = read_messages(context.job, institution, message_id, dry_run=dry_run)
    context.show(messages, Sheet.of(Message, "messages", messages))
