"""`cardoffers approve` and `approver`: what waits for a second person, and who may sign it."""

import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cardoffers_cli.institutions.commands import NONE, limit
from cardoffers_cli.kernel.cli import options, show
from cardoffers_cli.kernel.cli.commands import group, own_output
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import argument, option
from cardoffers_cli.kernel.cli.questions import question
from cardoffers_cli.kernel.cli.show import Sheet
from cardoffers_cli.kernel.store.approvers import Approver
from cardoffers_cli.kernel.words.approvals import ACTIONS
from cardoffers_cli.kernel.words.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cardoffers_cli.kernel.store.approval_requests import Approval

app = group("Requests for a second approver: list, show, sign, refuse.")


def _action(value: str | None) -> str | None:
    if value and value not in ACTIONS:
        raise typer.BadParameter(f"one of {', '.join(ACTIONS)}")
    return value


def _approver(value: str) -> str:
    if re.fullmatch(r"[\w.@-]{1,64}", value, re.ASCII):
        return value
    raise typer.BadParameter("up to 64 letters, digits and .@-_")


ApprovalId = Annotated[
    str, argument("ID", "The request: its id, the beginning of that, or latest.")
]
StateFilter = Annotated[
    Literal["pending", "given", "refused", "expired", "used"] | None, option("Only in this state.")
]


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    institution: options.AnyInstitution = None,
    state: StateFilter = None,
    limit: options.Limit = 100,
    all_rows: options.All = False,
) -> None:
    """List requests with requester and state, newest first."""
    from cardoffers_cli.approvals.work import list_approvals
    from cardoffers_cli.kernel.store.approval_requests import Approval

    context = CommandContext.of(ctx)
    most = None if all_rows else limit + 1
    approvals = list_approvals(context.job, institution, state=state, limit=most)
    rows = approvals if all_rows else approvals[:limit]
    if len(rows) < len(approvals):
        context.note(f"There are more than {limit}: --limit or --all shows them.")
    context.show(rows, Sheet.of(Approval, "approvals", rows, is_list=True))


@app.command("show")
def show_(ctx: typer.Context, approval_id: ApprovalId) -> None:
    """Show a request with all that is to be approved, its answer and its use."""
    from cardoffers_cli.approvals.work import show_approval

    context = CommandContext.of(ctx)
    context.show(show_approval(context.job, approval_id))


ApprovalIds = Annotated[
    list[str] | None,
    argument("ID...", "The requests: their ids, the beginnings of these, or latest."),
]
Every = Annotated[bool, option("All that wait, and that this key may sign.", "--all")]
Kind = Annotated[
    str | None, option("Of all, only those of this action.", metavar="ACTION", callback=_action)
]


def _asked(
    context: CommandContext, ids: list[str] | None, *, every: bool, kind: str | None
) -> "list[Approval]":
    from cardoffers_cli.approvals.work import waiting

    if bool(ids) == every or (kind and not every):
        raise UsageError(
            "Name requests, or all of them.", hint="Write their ids, or --all and perhaps --kind."
        )
    return waiting(context.job, ids or (), every=every, action=kind)


@app.command()
def document(
    ctx: typer.Context, approval_ids: ApprovalIds = None, *, every: Every = False, kind: Kind = None
) -> None:
    """Write what is signed to approve requests, for a key that lies on another machine."""
    from cardoffers_cli.kernel.store.approvers import document_of

    output = own_output(ctx)
    context = CommandContext.of(ctx)
    context.writes({"-o": output})
    requests = _asked(context, approval_ids, every=every, kind=kind)
    show.write(document_of(requests), output, mode=context.settings.mode)


def _lines(details: "Mapping[str, Any]") -> "Iterator[str]":
    """Yield what is approved as people read it; a list of several stands one below the other."""
    for name, value in details.items():
        if isinstance(value, dict):
            yield f"{name}:" + "".join(f"\n  {part}: {text}" for part, text in value.items())
        else:
            yield f"{name}: {', '.join(map(str, value)) if isinstance(value, list) else value}"


@app.command()
def give(
    ctx: typer.Context,
    approval_ids: ApprovalIds = None,
    *,
    every: Every = False,
    kind: Kind = None,
    key: Annotated[
        Path | None, option("The SSH key to sign with [approver_key].", metavar="FILE")
    ] = None,
    signature: Annotated[
        Path | None,
        option("A signature of `approve document`, made elsewhere.", metavar="FILE", exists=True),
    ] = None,
    reason: Annotated[str | None, option("Why; kept with the answer.")] = None,
    yes: options.Yes = False,
    dry_run: options.DryRun = False,
) -> None:
    """Sign requests with an SSH key: the second approver's signature lets each through once."""
    from cardoffers_cli.approvals import work as approvals
    from cardoffers_cli.kernel.store.approval_requests import Approval

    context = CommandContext.of(ctx)
    key = None if signature else key or context.settings.approver_key
    if key is None and signature is None:
        raise UsageError.from_table("approvals", "key_missing")
    requests, about = _asked(context, approval_ids, every=every, kind=kind), ""
    for row in requests:
        about += f"{ACTIONS[row.action].title}: {row.institution}, {row.subject}"
        about += f" ({'; '.join(_lines(row.details))})."
        about += f" {row.signed_by or row.maker} asked for it.\n"
    if requests and not dry_run:
        context.ask(f"{about}Approve {'it' if len(requests) == 1 else 'them'}?", yes=yes)
    answers = approvals.give(
        context.job,
        requests,
        key=key,
        signature=signature.read_text("utf-8", "replace") if signature else "",
        leave_others=every,
        reason=reason,
        dry_run=dry_run,
    )
    if not answers:
        context.note("No request waits for this approver.")
    for answer in answers if not dry_run else ():
        signed = f"{answer.maker} types the same command again"
        waits = f"an approver other than {answer.signed_by} signs {answer.approval_id}"
        context.note(f"Next: {signed if answer.state == 'given' else waits}.")
    if every or len(answers) != 1:
        context.show(answers, Sheet.of(Approval, "approvals", answers))
    else:
        context.show(answers[0])


@app.command()
def refuse(
    ctx: typer.Context,
    approval_id: ApprovalId,
    *,
    reason: Annotated[str, option("Why; whoever asked is told.")],
    dry_run: options.DryRun = False,
) -> None:
    """Refuse what was asked for, or take back what one asked for oneself. This is final."""
    from cardoffers_cli.approvals import work as approvals

    context = CommandContext.of(ctx)
    context.show(approvals.refuse(context.job, approval_id, reason, dry_run=dry_run))


approvers = group("Who may sign approvals, by SSH key: add, list, remove.")
Name = Annotated[str, argument("NAME", "Letters, digits and .@-_.", callback=_approver)]


@approvers.command("add")
def add_approver(
    ctx: typer.Context,
    name: Name,
    *,
    key: Annotated[Path, option("Their public SSH key.", metavar="FILE.pub")],
    institution: options.AnyInstitution = None,
    most: Annotated[
        str | None, option("Up to which amount; none.", "--limit", metavar="AMOUNT", callback=limit)
    ] = None,
    dry_run: options.DryRun = False,
) -> None:
    """Add an approver; from the third on this needs an approval itself."""
    from cardoffers_cli.approvals import work as approvals

    amount = None if most in {None, NONE} else Decimal(most)
    job = CommandContext.of(ctx).job
    added = approvals.add_approver(job, name, key, institution, limit=amount, dry_run=dry_run)
    CommandContext.of(ctx).show(added)


question(
    *(approvers, "list", "kernel/store/approval_requests:approvers", Approver),
    asks="removed",
    says="List who may sign, for which institution and up to which amount.",
    sheet="approvers",
    data=False,
    removed=(Annotated[bool, option("Those who were removed too.", "--all")], False),
)


@approvers.command("remove")
def remove_approver(ctx: typer.Context, name: Name, *, dry_run: options.DryRun = False) -> None:
    """Remove an approver; what they signed stays approved. This needs an approval itself."""
    from cardoffers_cli.approvals import work as approvals

    context = CommandContext.of(ctx)
    context.show(approvals.remove_approver(context.job, name, dry_run=dry_run))
