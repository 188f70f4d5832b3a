"""`cardoffers audit`: who changed what, the security log, and the proof that it is whole."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal

import typer

from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import All, AnyInstitution, From, Limit, To, option
from cardoffers_cli.kernel.cli.show import Column, Sheet

app = group("List changes and the security log, and verify the log.")

LOG = (Column("ok", kind="flag"), Column("entries", kind="integer"), Column("head"))
FAULTS = (Column("entry_no", "no", kind="integer"), Column("fault"), Column("message"))


Subject = Literal["institution", "merchant", "merchant_identifier", "offer", "program_offer"]
"""What can be changed."""


@app.command()
def changes(
    ctx: typer.Context,
    *,
    institution: AnyInstitution = None,
    subject: Annotated[Subject | None, option("Only of this kind.")] = None,
    subject_id: Annotated[
        str | None, option("Only of this record, such as of-12 or larkmere.", "--id")
    ] = None,
    field: Annotated[str | None, option("Only this field, such as cashback_amount.")] = None,
    from_at: From = None,
    to_at: To = None,
    limit: Limit = 100,
    all_rows: All = False,
) -> None:
    """List changes of the catalogue and of settings, newest first."""
    from cardoffers_cli.institutions.history import ValueChange, list_changes

    context = CommandContext.of(ctx)
    filters: Mapping[str, Any] = {
        "subject": subject,
        "subject_id": subject_id,
        "field": field,
        "from_at": from_at,
        "to_at": to_at,
    }
    most = None if all_rows else limit + 1
    rows = list_changes(context.job, institution, **filters, limit=most)
    first_rows = rows if all_rows else rows[:limit]
    if len(first_rows) < len(rows):
        context.note(f"There are more than {limit}: --limit or --all shows them.")
    context.show(first_rows, Sheet.of(ValueChange, "changes", first_rows))


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    institution: AnyInstitution = None,
    event: Annotated[str | None, option("Only this kind, such as key_revoked or settled.")] = None,
    from_at: From = None,
    to_at: To = None,
    limit: Limit = 100,
) -> None:
    """List acts on keys, settings and money, newest first."""
    from cardoffers_cli.kernel.store.acts import SecurityEntry
    from cardoffers_cli.keys.security import list_security

    context = CommandContext.of(ctx)
    window: Mapping[str, Any] = {"from_at": from_at, "to_at": to_at}
    entries = list_security(context.job, institution, event=event, limit=limit, **window)
    context.show(entries, Sheet.of(SecurityEntry, "entries", entries))
    tolerance = timedelta(hours=context.settings.clock_tolerance_hours)
    apart = [
        str(entry.entry_no)
        for entry in entries
        if entry.recorded_at and abs(entry.recorded_at - entry.happened_at) > tolerance
    ]
    if apart:
        context.note(f"Not recorded when it is said to have happened: {', '.join(apart)}.")


@app.command()
def verify(
    ctx: typer.Context,
    *,
    head: Annotated[
        str | None,
        option("A head that was kept, or a file of them: none is missing.", metavar="N:HASH"),
    ] = None,
) -> None:
    """Find entries that were changed, removed or moved, and print the head of the log."""
    from cardoffers_cli.keys.security import verify_security

    context = CommandContext.of(ctx)
    result = verify_security(context.job, head)
    summary = [{name: result[name] for name in ("ok", "entries", "head")}]
    context.show(
        result,
        Sheet("log", LOG, summary),
        Sheet("faults", FAULTS, result["faults"], title="Faults"),
        exit_code=0 if result["ok"] else 3,
        why="".join(fault["message"] for fault in result["faults"][:1]),
    )
