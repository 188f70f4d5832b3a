"""`cardoffers merchant`: the merchants that offers are of, and what purchases call them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardoffers_cli.kernel.cli import show
from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, argument, option
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.merchants.answer_commands import accept, evidence, new, refuse, suggest, unlink

if TYPE_CHECKING:
    from cardoffers_cli.merchants import questions as merchants

app = group("List merchants, add and set one, and say what purchases call it.")

"""What is told where any merchant has it."""
CHANGES = (show.Column("field"), show.Column("old_value"), show.Column("new_value"))

Merchant = Annotated[
    str, argument("MERCHANT", "The merchant: its name, its id, the beginning of that, or latest.")
]
NetDays = Annotated[
    int | None, option("Within how many days it pays an invoice [30].", min=0, max=9999)
]
TaxId = Annotated[str | None, option("Its tax number, as its invoices are to say it; none.")]
TaxNote = Annotated[str | None, option("What its invoices are to say of tax, unchanged; none.")]
IdentifierType = Annotated[
    str,
    option("What kind it is: card_acceptor, pix_key, upi_vpa, codi, psp_merchant_id.", "--type"),
]


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """List the merchants with their identifiers."""
    from cardoffers_cli.merchants.questions import Merchant, list_merchants

    context = CommandContext.of(ctx)
    rows = list_merchants(context.job)
    terms = [
        column
        for column in show.columns_of(Merchant, "net_days tax_id tax_note")
        if any(row.get(column.name) is not None for row in rows)
    ]
    columns = (*show.columns_of(Merchant), *terms)
    context.show(rows, show.Sheet("merchants", columns, [_row(row) for row in rows]))


@app.command()
def add(
    ctx: typer.Context,
    name: Annotated[str, argument("NAME", "What cardholders call it.")],
    *,
    category: Annotated[str, option("What it sells; in feeds it is preferred by this.")],
    identifier: Annotated[
        str | None, option("What purchases call it, such as its card-acceptor id (field 42).")
    ] = None,
    identifier_type: IdentifierType = "card_acceptor",
    merchant_id: Annotated[
        str | None, option("Its id [a new one].", "--id", metavar="UUID")
    ] = None,
    net_days: NetDays = None,
    tax_id: TaxId = None,
    tax_note: TaxNote = None,
    dry_run: DryRun = False,
) -> None:
    """Add a merchant."""
    from cardoffers_cli.catalogue.rows import add_merchant

    context = CommandContext.of(ctx)
    named = _identifier(identifier, identifier_type) if identifier else None
    cells = _given(
        name=name, category=category, net_days=net_days, tax_id=tax_id, tax_note=tax_note
    )
    merchant = add_merchant(
        context.job, cells, merchant_id=merchant_id, identifier=named, dry_run=dry_run
    )
    _show(context, merchant)


@app.command("set")
def set_(
    ctx: typer.Context,
    merchant: Merchant,
    *,
    name: Annotated[str | None, option("What cardholders call it.")] = None,
    category: Annotated[str | None, option("What it sells.")] = None,
    net_days: NetDays = None,
    tax_id: TaxId = None,
    tax_note: TaxNote = None,
    dry_run: DryRun = False,
) -> None:
    """Change a merchant and its terms; the audit log keeps the old values."""
    from cardoffers_cli.catalogue.rows import set_merchant

    cells = _given(
        name=name, category=category, net_days=net_days, tax_id=tax_id, tax_note=tax_note
    )
    if not cells:
        raise UsageError("Nothing is given to set.", hint="Name a setting, such as --net-days 14.")
    context = CommandContext.of(ctx)
    result = set_merchant(context.job, merchant, cells, dry_run=dry_run)
    if not result.changes:
        context.note("Nothing changes.")
    context.show(result, show.Sheet("changes", CHANGES, result.changes))


@app.command()
def identify(
    ctx: typer.Context,
    merchant: Merchant,
    identifier: Annotated[str, argument("IDENTIFIER", "One more that purchases call it.")],
    *,
    identifier_type: IdentifierType = "card_acceptor",
    dry_run: DryRun = False,
) -> None:
    """Say what else purchases call a merchant; those that waited for it redeem with the next match."""  # noqa: E501  one line of help
    from cardoffers_cli.catalogue.rows import identify_merchant

    context = CommandContext.of(ctx)
    named = _identifier(identifier, identifier_type)
    _show(context, identify_merchant(context.job, merchant, named, dry_run=dry_run))
    context.note("Next: `cardoffers match` looks at the purchases that waited for it.")


def _given(**values: str | int | None) -> dict[str, str | None]:
    """Return what was given, as the cells of a catalogue file."""
    return {name: str(value) for name, value in values.items() if value is not None}


for command in (suggest, evidence, accept, refuse, new, unlink):
    app.command()(command)


def _identifier(identifier: str, identifier_type: str) -> dict[str, str | None]:
    return {"merchant_identifier": identifier, "merchant_identifier_type": identifier_type}


def _row(merchant: "merchants.Merchant") -> Mapping[str, Any]:
    return {**merchant, "identifiers": " ".join(merchant.identifiers or ())}


def _show(context: CommandContext, merchant: "merchants.Merchant") -> None:
    context.show(merchant, show.Sheet.of_fields("merchant", _row(merchant)))
