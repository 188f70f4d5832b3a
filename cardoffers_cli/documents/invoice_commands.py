"""`cardoffers invoice`: what merchants are asked for a month, and credit notes on it."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from cardoffers_cli.documents.commands import Period, show_verified, write_files
from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import All, DryRun, Extent, Limit, Raw, argument, option
from cardoffers_cli.kernel.cli.show import Sheet, Text
from cardoffers_cli.kernel.words.sentences import amounts_text, counted

app = group("Invoices: what merchants are asked for a month, and credit notes on it.")

Number = Annotated[str, argument("NUMBER", "The invoice or credit note, such as INV-2026-000001.")]
Merchant = Annotated[
    str | None, option("Only of this one: its name, or its id.", metavar="MERCHANT")
]

FIRST = ("number", "merchant_name", "amount")


@app.command()
def close(ctx: typer.Context, *, period: Period, dry_run: DryRun = False) -> None:
    """Invoice all merchants for a month: what they fund of what was settled by its end."""
    from cardoffers_cli.documents.invoicing import InvoiceResult, close_invoices

    context = CommandContext.of(ctx)
    result = close_invoices(context.job, period, dry_run=dry_run)
    sheet = Sheet.of(
        InvoiceResult, "invoices", result.documents, first=FIRST, totals_by=("currency",)
    )
    context.show(result, sheet, Text([_closed(result)]))


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    merchant: Merchant = None,
    limit: Limit = 100,
    all_rows: All = False,
    raw: Raw = False,
) -> None:
    """List invoices and credit notes, the newest first."""
    from cardoffers_cli.documents.invoicing import InvoiceResult
    from cardoffers_cli.documents.reading import invoice_rows

    context = CommandContext.of(ctx)
    most = Extent(limit=limit, all_rows=all_rows).most
    rows, total = invoice_rows(context.job, merchant, limit=most)
    sheet = Sheet.of(InvoiceResult, "invoices", rows, first=FIRST, totals_by=("currency",))
    context.show(rows, sheet, raw=raw)
    if total > len(rows):
        context.note(f"There are {counted(total, 'invoice')}: --all for every one.")


@app.command("show")
def show_(ctx: typer.Context, number: Number) -> None:
    """Show an invoice or a credit note."""
    from cardoffers_cli.documents.reading import show_invoice

    context = CommandContext.of(ctx)
    invoice = show_invoice(context.job, number)
    context.show(invoice, Sheet.of_fields("invoice", invoice))


@app.command()
def export(ctx: typer.Context, number: Number) -> None:
    """Write an invoice with all its lines: into the folder -o with its digest, or as one file."""
    from cardoffers_cli.documents.exporting import open_invoice

    write_files(ctx, number, open_invoice)


@app.command()
def verify(
    ctx: typer.Context,
    number: Annotated[str | None, argument("[NUMBER]", "One of them [all of them].")] = None,
) -> None:
    """Hold invoices and credit notes against the ledger, and against the one before each."""
    from cardoffers_cli.documents.verifying import verify_invoices

    context = CommandContext.of(ctx)
    rows = verify_invoices(context.job, number)
    show_verified(context, rows, "merchant_name")


def _closed(sums: Mapping[str, Any]) -> str:
    """Say what was closed, and what to do with it."""
    both = (
        f"{counted(sums['invoices'], 'invoice')} and {counted(sums['credit_notes'], 'credit note')}"
    )
    amounts = amounts_text(sums["amount"])
    if sums["dry_run"]:
        return f"{both} would come to {amounts}. Nothing was written (--dry-run)."
    return f"{both} come to {amounts}. Next: `cardoffers invoice export NUMBER -o DIR`."
