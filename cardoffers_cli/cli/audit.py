"""`cardoffers audit`: the security log, and the proof that nobody has changed it."""

from typing import Annotated, Any

import typer

from cardoffers_cli.cli.desk import Desk
from cardoffers_cli.cli.options import AnyInstitution, From, Limit, To
from cardoffers_cli.cli.show import Column, Sheet

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

ENTRIES = (
    Column("entry_no", "no", kind="integer"),
    Column("happened_at", kind="moment"),
    Column("institution", gives_way=1),
    Column("event"),
    Column("actor", gives_way=2),
    Column("details", gives_way=3),
    Column("key_id", kind="id", gives_way=4),
    Column("event_id", kind="id", gives_way=5),
)
LOG = (Column("ok", kind="flag"), Column("entries", kind="integer"), Column("head"))
FAULTS = (Column("entry_no", "no", kind="integer"), Column("fault"), Column("message"))


@app.callback()
def audit() -> None:
    """List the security log, and verify it."""


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    institution: AnyInstitution = None,
    event: Annotated[
        str | None, typer.Option(help="Only this kind, such as key_revoked or key_refused.")
    ] = None,
    from_at: From = None,
    to_at: To = None,
    limit: Limit = 100,
) -> None:
    """List who made, used in vain and ended keys, the newest first.

    Try:

        cardoffers audit list -i larkmere --event key_refused
    """
    from cardoffers_cli.jobs.security import list_security

    desk = Desk.of(ctx)
    window: dict[str, Any] = {"from_at": from_at, "to_at": to_at}
    found = list_security(desk.job, institution, event=event, limit=limit, **window)
    desk.show(found, Sheet("entries", ENTRIES, found))


@app.command()
def verify(
    ctx: typer.Context,
    *,
    head: Annotated[
        str | None,
        typer.Option(metavar="N:HASH", help="A head that was kept: nothing up to it is missing."),
    ] = None,
) -> None:
    """Find entries that were changed, removed or moved, and print the head of the log.

    Keep the head somewhere else: with it, an end that is cut off is found too.

    Try:

        cardoffers audit verify
        cardoffers audit verify --head 12:9f2c...
    """
    from cardoffers_cli.jobs.security import verify_security

    desk = Desk.of(ctx)
    found = verify_security(desk.job, head)
    for fault in found["faults"][:1]:
        desk.note(fault["message"])
    summary = [{name: found[name] for name in ("ok", "entries", "head")}]
    desk.show(
        found,
        Sheet("log", LOG, summary),
        Sheet("faults", FAULTS, found["faults"], title="Faults"),
        exit_code=0 if found["ok"] else 3,
    )
