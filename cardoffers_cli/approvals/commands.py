"""`cardoffers approve`: what waits for a second person, and the answer."""

from typing import Annotated, Literal

import typer

from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import argument, option
from cardoffers_cli.kernel.cli.show import Sheet
from cardoffers_cli.kernel.words.approvals import ACTIONS

app = group("Requests for a second approver: list, show, give, refuse.")


ApprovalId = Annotated[
    str, argument("ID", "The request: its id, the beginning of that, or latest.")
]
StateFilter = Annotated[
    Literal["pending", "given", "refused", "expired", "used"] | None,
    option("Only in this state."),
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


@app.command()
def give(
    ctx: typer.Context,
    approval_id: ApprovalId,
    *,
    reason: Annotated[str | None, option("Why; kept with the answer.")] = None,
    yes: options.Yes = False,
    dry_run: options.DryRun = False,
) -> None:
    """Approve what somebody else asked for: the same command goes through once. This is final."""
    from cardoffers_cli.approvals import work as approvals

    context = CommandContext.of(ctx)
    if not dry_run:
        row = approvals.show_approval(context.job, approval_id)
        details = "; ".join(f"{name}: {value}" for name, value in row.details.items())
        about = f"{ACTIONS[row.action].title}: {row.institution}, {row.subject} ({details})."
        context.ask(f"{about} {row.maker} asked for it. Approve it?", yes=yes)
        approval_id = str(row.approval_id)
    answer = approvals.give(context.job, approval_id, reason=reason, dry_run=dry_run)
    if not dry_run:
        context.note(f"Next: {answer.maker} types the same command again.")
    context.show(answer)


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
