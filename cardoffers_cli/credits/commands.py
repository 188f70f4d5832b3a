"""`cardoffers credit`: what institutions say that they credited to their cardholders."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import argument, option
from cardoffers_cli.kernel.cli.show import Block, Sheet, Text
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.river.commands import import_credits

if TYPE_CHECKING:
    from cardoffers_cli.credits.questions import CreditDetails

app = group("Credits paid to cardholders: import, list, show.")
app.command("import")(import_credits)

StatusFilter = Annotated[
    Literal["credited", "failed", "reversed"] | None, option("Only with this status.")
]


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    institution: options.AskedInstitution = None,
    status: StatusFilter = None,
    from_at: options.From = None,
    to_at: options.To = None,
    all_institutions: options.AllInstitutions = False,
    limit: options.Limit = 100,
    all_rows: options.All = False,
    raw: options.Raw = False,
) -> None:
    """List credits as they were sent, newest first."""
    from cardoffers_cli.credits.work import ListedCredit, credit_rows

    context = CommandContext.of(ctx)
    most = options.Extent(limit=limit, all_rows=all_rows).most
    span: Mapping[str, Any] = {"from_at": from_at, "to_at": to_at}  # which are times by now
    rows, total = credit_rows(
        context.job, institution, status=status, limit=most, everywhere=all_institutions, **span
    )
    context.show(rows, Sheet.of(ListedCredit, "credits", rows), raw=raw)
    if total > len(rows):
        context.note(f"There are {counted(total, 'credited row')}: --all for every one.")


@app.command("show")
def show_(
    ctx: typer.Context,
    credit_ref: Annotated[str, argument("CREDIT_REF", "The institution's own name of the row.")],
    *,
    institution: options.AskedInstitution = None,
) -> None:
    """Show a credit: what was sent, and what its redemption owes."""
    from cardoffers_cli.credits.work import show_credit

    context = CommandContext.of(ctx)
    credit = show_credit(context.job, institution, credit_ref)
    context.show(credit, *_shown(credit))


def _shown(credit: "CreditDetails") -> Iterator[Block]:
    from cardoffers_cli.credits.questions import Credit

    fields = {name: value for name, value in credit.items() if name != "others"}
    yield Sheet.of_fields("credit", fields)
    if credit.owed_redemption_id is None:
        yield Text([f"{credit.institution} has no redemption of what it names."])
    if credit.others:
        yield Sheet.of(Credit, "others", credit.others, title="Also credited for this redemption")
