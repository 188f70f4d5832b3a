"""`cardoffers reconcile`: what was credited, held against what was redeemed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cardoffers_cli.credits.rules import FINDING_CODES, meaning_of
from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.options import argument, option
from cardoffers_cli.kernel.cli.show import Block, Column, Sheet, Text, columns_of
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from cardoffers_cli.credits.findings import FindingDetails
    from cardoffers_cli.credits.reconcile import ControlTotals
    from cardoffers_cli.credits.work import ReconcileResult

app = group("Compare credits with redemptions, and bank payments with statements.")

MEANING = Column("meaning", gives_way=3)

FindingArgument = Annotated[
    str, argument("FINDING", "The finding: its id, the beginning of that, or latest.")
]


@app.callback(invoke_without_command=True, no_args_is_help=False)
def reconcile(
    ctx: typer.Context,
    *,
    institution: options.AnyInstitution = None,
    dry_run: options.DryRun = False,
) -> None:
    """Hold what was credited against what was redeemed, and what banks paid against statements."""
    if command := ctx.invoked_subcommand:
        if institution or dry_run:
            raise UsageError(
                f"-i and --dry-run belong behind `{command}`.",
                hint=f"Write `cardoffers reconcile {command} … -i INST`.",
            )
        return
    from cardoffers_cli.credits.work import reconcile as run

    context = CommandContext.of(ctx)
    result = run(context.job, institution, dry_run=dry_run)
    context.show(result, *reconciled(result), exit_code=WITH_FINDINGS if result.open else 0)


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    institution: options.AnyInstitution = None,
    code: Annotated[
        str | None, option(f"Only of this verdict: {', '.join(FINDING_CODES)}.")
    ] = None,
    state: Annotated[
        Literal["open", "accepted", "resolved"] | None, option("Only in this state.")
    ] = None,
    limit: options.Limit = 100,
    all_rows: options.All = False,
    raw: options.Raw = False,
) -> None:
    """List findings of the reconciliation: open ones first, then the oldest."""
    from cardoffers_cli.credits.findings import FindingRow, finding_rows

    context = CommandContext.of(ctx)
    most = options.Extent(limit=limit, all_rows=all_rows).most
    rows, findings = finding_rows(context.job, institution, code=code, state=state, limit=most)
    context.show(rows, Sheet.of(FindingRow, "findings", rows, totals_by=("currency",)), raw=raw)
    if findings > len(rows):
        context.note(f"There are {counted(findings, 'finding')}: --all for every one.")


@app.command("show")
def show_(
    ctx: typer.Context, finding_id: FindingArgument, *, institution: options.AnyInstitution = None
) -> None:
    """Show a finding: what it means, what it is about, who accepted it, and what to do next."""
    from cardoffers_cli.credits.findings import show_finding

    context = CommandContext.of(ctx)
    finding = show_finding(context.job, finding_id, institution)
    context.show(finding, *_shown(finding))


@app.command()
def accept(
    ctx: typer.Context,
    finding_id: FindingArgument,
    *,
    reason: Annotated[str, option("Why; kept with the finding.")],
    institution: options.AnyInstitution = None,
    dry_run: options.DryRun = False,
) -> None:
    """Close a finding; it reopens if its amount or code changes."""
    from cardoffers_cli.credits.findings import accept_finding

    context = CommandContext.of(ctx)
    row = accept_finding(context.job, finding_id, reason, institution=institution, dry_run=dry_run)
    context.show(row)


def reconciled(run: "ReconcileResult") -> Iterator[Block]:
    """Show the verdicts, the totals of both sides, and what is open."""
    from cardoffers_cli.credits.reconcile import BankTotal, VerdictTotal

    rows = [{**verdict, "meaning": meaning_of(verdict.code).says} for verdict in run.verdicts]
    yield Sheet("verdicts", (*columns_of(VerdictTotal), MEANING), rows)
    if run.bank:
        bank = [{**total, "meaning": meaning_of(total.code).says} for total in run.bank]
        yield Sheet("bank", (*columns_of(BankTotal), MEANING), bank, title="Paid, as the bank says")
    if run.run_id is None:
        lines = ["No credited row came yet, so there is nothing to reconcile."]
        yield Text([*lines, "    -> cardoffers credit import FILE -i INST"])
        return
    lines = [
        *_controlled(run.control),
        f"Findings: {run.open:,} open, {run.accepted:,} accepted, {run.resolved:,} resolved.",
    ]
    if run.open and not run.dry_run:
        lines.append("    -> cardoffers reconcile list --state open")
    if run.dry_run:
        lines.append("Nothing was written (--dry-run).")
    yield Text(lines)


def _controlled(control: "ControlTotals") -> Iterator[str]:
    """Say how many verdicts there are of each side."""
    if control.redemptions or control.credited_rows or not control.bank_verdicts:
        yield (
            f"{counted(control.redemptions, 'redemption')} and "
            f"{counted(control.credited_rows, 'credited row')} have "
            f"{counted(control.verdicts, 'verdict')}, and both sides add up."
        )
    if control.bank_verdicts:
        yield (
            f"{counted(control.statements or 0, 'statement')} to be paid and "
            f"{counted(control.bank_entries or 0, 'entry', 'entries')} of the bank have "
            f"{counted(control.bank_verdicts, 'verdict')}, and both sides add up."
        )


def _shown(finding: "FindingDetails") -> Iterator[Block]:
    from cardoffers_cli.credits.questions import CreditedRow
    from cardoffers_cli.payouts.reading import ListedBankEntry

    left_out = {"rows", "bank", "subject", "subject_no", "findings"}
    fields = {name: value for name, value in finding.items() if name not in left_out}
    yield Sheet.of_fields("finding", fields)
    if finding.rows:
        yield Sheet.of(CreditedRow, "rows", finding.rows, title="Credited rows")
    if finding.bank:
        yield Sheet.of(ListedBankEntry, "bank", finding.bank, title="What the bank said")
