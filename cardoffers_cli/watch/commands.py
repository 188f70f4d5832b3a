"""`cardoffers watch`: what came in strangely, or did not come, and what a person says of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import argument, option
from cardoffers_cli.kernel.cli.show import Sheet
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.watch.observations import figures_text, measured

if TYPE_CHECKING:
    from cardoffers_cli.watch.questions import WatchFinding

app = group("Findings about unusual files: list, show, accept.")

HIDDEN = ("institution_id", "subject", "import_id")
Named = Annotated[str, argument("FINDING", "The finding: its id, a beginning of that, or latest.")]


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    institution: options.AnyInstitution = None,
    code: Annotated[str | None, option("Only with this code.")] = None,
    state: Annotated[
        Literal["open", "accepted", "resolved"] | None, option("Only in this state.")
    ] = None,
    limit: options.Limit = 100,
    all_rows: options.All = False,
    raw: options.Raw = False,
) -> None:
    """List findings of the watch: open ones first, then the newest."""
    from cardoffers_cli.watch.questions import WatchFinding, watch_rows

    context = CommandContext.of(ctx)
    most = options.Extent(limit=limit, all_rows=all_rows).most
    rows, findings = watch_rows(context.job, institution, code=code, state=state, limit=most)
    sheet = Sheet.of(WatchFinding, "findings", [_row(row) for row in rows])
    context.show([_told(row) for row in rows], sheet, raw=raw)
    if findings > len(rows):
        context.note(f"There are {counted(findings, 'finding')}: --all for every one.")


@app.command("show")
def show_(
    ctx: typer.Context, finding_id: Named, *, institution: options.AnyInstitution = None
) -> None:
    """Show a finding: its figures, what it means, who accepted it, and what to do next."""
    from cardoffers_cli.watch.questions import show_watch_finding

    context = CommandContext.of(ctx)
    finding = show_watch_finding(context.job, finding_id, institution)
    context.show(_told(finding), Sheet.of_fields("finding", _row(finding)))


@app.command()
def accept(
    ctx: typer.Context,
    finding_id: Named,
    *,
    reason: Annotated[str, option("Why; kept with the finding.")],
    institution: options.AnyInstitution = None,
    dry_run: options.DryRun = False,
) -> None:
    """Close a finding."""
    from cardoffers_cli.watch.questions import accept_watch

    context = CommandContext.of(ctx)
    row = accept_watch(context.job, finding_id, reason, institution=institution, dry_run=dry_run)
    context.show(row, Sheet.of_fields("finding", _row(row)))


def _told(finding: "WatchFinding") -> Mapping[str, Any]:
    """Return a finding as JSON has it: its kind and what was measured in fields of their own."""
    return {**finding, "kind": finding.code, **measured(finding.figures)}


def _row(finding: "WatchFinding") -> Mapping[str, Any]:
    """Return a finding as it is shown: its figures in words, and its subject as people know it."""
    fields = {name: value for name, value in finding.items() if name not in HIDDEN}
    return {**fields, "figures": figures_text(finding.figures)}
