"""`cardoffers statement` and `invoice`: what is owed and asked for a month, closed and verified."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.commands import Format, Options, group
from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.options import argument, option
from cardoffers_cli.kernel.cli.show import Sheet, Text, columns_of
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.moments import format_brief
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.sentences import amounts_text, counted

if TYPE_CHECKING:
    from cardoffers_cli.documents.kinds import DocumentKind

Period = Annotated[str, option("A month, such as 2026-10, or last-month.", metavar="PERIOD")]
Merchant = Annotated[
    str | None, option("Only of this one: its name, or its id.", "--merchant", metavar="MERCHANT")
]
FIRST = {
    "statement": ("number", "institution", "payable"),
    "invoice": ("number", "merchant_name", "amount"),
}
_SEALED = {Format.csv, Format.json, Format.html, Format.xlsx}
"""The forms of which a document makes the same bytes every time."""

app = group("Monthly statements to institutions: preview, close, export, verify.")
invoices = group("Monthly invoices to merchants, and credit notes.")


def kind_of(noun: str) -> "DocumentKind[Any]":
    """Return a kind of documents by its noun."""
    from cardoffers_cli.documents.kinds import INVOICE, STATEMENT

    kinds: Mapping[str, DocumentKind[Any]] = {"statement": STATEMENT, "invoice": INVOICE}
    return kinds[noun]


@app.command()
def preview(ctx: typer.Context, *, institution: options.Institution, period: Period) -> None:
    """Show what a statement would come to now; nothing is closed."""
    from cardoffers_cli.documents import closing

    context = CommandContext.of(ctx)
    sums = closing.preview(context.job, institution, period)
    context.show(sums, Sheet.of_fields("statement", sums), Text(list(_previewed(sums))))


@app.command()
def close(
    ctx: typer.Context,
    *,
    institution: options.AnyInstitution = None,
    every: Annotated[bool, option("Close it for every institution.", "--all")] = False,
    period: Period,
    dry_run: options.DryRun = False,
) -> None:
    """Close a month: what was settled by its end becomes a statement that never changes."""
    from cardoffers_cli.documents import closing
    from cardoffers_cli.documents.closing import CloseResult

    if every == (institution is not None):
        raise UsageError("Name one institution, or --all.", hint="Add -i INST, or --all.")
    context = CommandContext.of(ctx)
    if institution is None:
        rows = closing.close_all(context.job, period, dry_run=dry_run)
        refused = [row for row in rows if row.state == "refused"]
        hints = Text([f"{row.institution}: {row.hint}" for row in refused if row.hint])
        sheet = Sheet.of(CloseResult, "closed", rows)
        context.show(rows, sheet, hints, exit_code=WITH_FINDINGS if refused else 0)
        return
    statement = closing.close_statement(context.job, institution, period, dry_run=dry_run)
    payable = money_text(statement.payable, statement.currency)
    next_ = f"{payable} is payable. Next: `cardoffers statement export {statement.number} -o DIR`."
    if dry_run:
        next_ = f"{payable} would be payable. Nothing was written (--dry-run)."
    context.show(statement, Sheet.of_fields("statement", statement), Text([next_]))


@invoices.command("close")
def close_invoices_(ctx: typer.Context, *, period: Period, dry_run: options.DryRun = False) -> None:
    """Invoice all merchants for a month: what they fund of what was settled by its end."""
    from cardoffers_cli.documents.closing import close_invoices
    from cardoffers_cli.documents.kinds import InvoiceResult

    context = CommandContext.of(ctx)
    result = close_invoices(context.job, period, dry_run=dry_run)
    rows, by = result.documents, ("currency",)
    sheet = Sheet.of(InvoiceResult, "invoices", rows, first=FIRST["invoice"], totals_by=by)
    both = (
        f"{counted(result.invoices, 'invoice')} and {counted(result.credit_notes, 'credit note')}"
    )
    amounts = amounts_text(result.amount)
    next_ = f"{both} come to {amounts}. Next: `cardoffers invoice export NUMBER -o DIR`."
    if dry_run:
        next_ = f"{both} would come to {amounts}. Nothing was written (--dry-run)."
    context.show(result, sheet, Text([next_]))


def add_reading(
    app: typer.Typer, noun: str, number: Any, party: Any, says: Mapping[str, str]
) -> None:
    """Add the commands that list, show and export documents of a kind, as they are `says` to do."""

    def list_(
        ctx: typer.Context,
        *,
        party: party = None,
        limit: options.Limit = 100,
        all_rows: options.All = False,
        raw: options.Raw = False,
    ) -> None:
        from cardoffers_cli.documents.questions import document_rows

        context, kind = CommandContext.of(ctx), kind_of(noun)
        most = options.Extent(limit=limit, all_rows=all_rows).most
        rows, total = document_rows(context.job, kind, party, limit=most)
        by = ("currency",) if noun == "invoice" else ()
        sheet = Sheet.of(kind.result, f"{noun}s", rows, first=FIRST[noun], totals_by=by)
        context.show(rows, sheet, raw=raw)
        if total > len(rows):
            context.note(f"There are {counted(total, noun)}: --all for every one.")

    def show(ctx: typer.Context, number: number) -> None:
        from cardoffers_cli.documents.kinds import StatedSettlement
        from cardoffers_cli.documents.questions import show_document

        context = CommandContext.of(ctx)
        document = show_document(context.job, kind_of(noun), number)
        fields = {name: value for name, value in document.items() if name != "settlements"}
        sheets = [Sheet.of_fields(noun, fields)]
        if settlements := document.get("settlements"):
            sheets.append(
                Sheet.of(StatedSettlement, "settlements", settlements, title="Settlements")
            )
        context.show(document, *sheets)

    def export(ctx: typer.Context, number: number) -> None:
        _write_files(ctx, kind_of(noun), number)

    for name, command in (("list", list_), ("show", show), ("export", export)):
        app.command(name, help=says[name])(command)


add_reading(
    app,
    "statement",
    Annotated[str, argument("NUMBER", "The statement, such as LARKMERE-2026-000010.")],
    options.AnyInstitution,
    {
        "list": "List statements, newest period first.",
        "show": "Show a statement, and the settlements that it took.",
        "export": "Write a statement with all its lines: into the folder -o with its digest, or as"
        " one file.",
    },
)
add_reading(
    invoices,
    "invoice",
    Annotated[str, argument("NUMBER", "The invoice or credit note, such as INV-2026-000001.")],
    Merchant,
    {
        "list": "List invoices and credit notes, newest first.",
        "show": "Show an invoice or a credit note.",
        "export": "Write an invoice with all its lines: into the folder -o with its digest, or as"
        " one file.",
    },
)


@invoices.command("set")
def set_(
    ctx: typer.Context,
    number: Annotated[str, argument("NUMBER", "The invoice or credit note.")],
    *,
    legal_number: Annotated[
        str | None, option("Its number in the accounting system.", metavar="TEXT")
    ] = None,
    tax: Annotated[str | None, option("Its tax, zero or more.", metavar="AMOUNT")] = None,
    dry_run: options.DryRun = False,
) -> None:
    """Set the legal number and the tax of a closed invoice, as the accounting system has them."""
    from cardoffers_cli.documents.invoice_changes import set_invoice

    context = CommandContext.of(ctx)
    invoice = set_invoice(context.job, number, legal_number=legal_number, tax=tax, dry_run=dry_run)
    context.show(invoice, Sheet.of_fields("invoice", invoice))
    if not invoice.is_changed:
        context.note("Nothing changed: these values were set before.")


@invoices.command()
def settle(
    ctx: typer.Context,
    number: Annotated[str, argument("NUMBER", "The invoice.")],
    *,
    amount: Annotated[str, option("The part to settle, at most what is open.", metavar="AMOUNT")],
    settled_as: Annotated[
        Literal["set-off", "write-off", "dispute"], option("What it is settled by.", "--as")
    ],
    reason: Annotated[str, option("Why; kept with the invoice.", metavar="TEXT")],
    dry_run: options.DryRun = False,
) -> None:
    """Settle an invoice, or part of it, without a receipt: a set-off, a write-off or a dispute."""
    from cardoffers_cli.documents.invoice_changes import settle_elsewhere

    context = CommandContext.of(ctx)
    of = (number, amount, settled_as, reason)
    context.show(settle_elsewhere(context.job, *of, dry_run=dry_run))


@app.command()
def verify(
    ctx: typer.Context,
    number: Annotated[str | None, argument("[NUMBER]", "One statement [all of them].")] = None,
    *,
    institution: options.AnyInstitution = None,
) -> None:
    """Check statements against the ledger and the one before each: sums and digests."""
    if number is not None and institution is not None:
        raise UsageError("A number and -i exclude each other.", hint="Leave -i out.")
    _verify(ctx, "statement", number, institution)


@invoices.command("verify")
def verify_(
    ctx: typer.Context,
    number: Annotated[str | None, argument("[NUMBER]", "One of them [all of them].")] = None,
) -> None:
    """Check invoices and credit notes against the ledger and the one before each."""
    _verify(ctx, "invoice", number)


def _verify(
    ctx: typer.Context, noun: str, number: str | None, institution: str | None = None
) -> None:
    """Show what was verified; the exit code is that of findings where anything is wrong."""
    from cardoffers_cli.documents.verifying import VerifiedDocument, verify

    context = CommandContext.of(ctx)
    rows = verify(context.job, kind_of(noun), number, institution)
    whose = "merchant_name" if noun == "invoice" else "institution"
    columns = columns_of(VerifiedDocument, f"number {whose} period ok differences sha256")
    wrong = [row.number for row in rows if not row.ok]
    why = f"Wrong: {', '.join(wrong)}." if wrong else ""
    exit_code = WITH_FINDINGS if wrong else 0
    context.show(rows, Sheet("verified", columns, rows), exit_code=exit_code, why=why)


def _write_files(ctx: typer.Context, kind: "DocumentKind[Any]", number: str) -> None:
    """Write the files of a number into the folder -o with its digest, or one into a file."""
    from cardoffers_cli.documents import exporting

    folder = _folder(ctx)
    context = CommandContext.of(ctx)
    chosen = context.options.format
    if folder is not None:
        forms = exporting.FORMS if chosen is None else (_form(chosen),)
        with exporting.open_document(context.job, kind, number) as opened:
            context.writes({f"-o ({form})": folder / f"{opened.name}.{form}" for form in forms})
            written = exporting.export(opened, folder, forms, mode=context.settings.mode)
        context.note(f"Wrote {', '.join(output.file for output in written)} in {folder}")
        return
    form = context.format if chosen or context.output or context.is_terminal else Format.csv
    with exporting.open_document(context.job, kind, number) as opened:
        if form in _SEALED:
            with context.writing() as out:
                opened.write(form, out)
        else:
            context.show(opened.told(), opened.sheet())


def _form(chosen: Format) -> str:
    if chosen not in _SEALED:
        raise UsageError(
            f"Nothing is written into a folder as {chosen} here.",
            hint="Choose csv, json, html or xlsx, or name a file with -o.",
        )
    return chosen.value


def _folder(ctx: typer.Context) -> Path | None:
    """Take -o for a folder, where it is one."""
    options = ctx.ensure_object(Options)
    output = options.output
    if output is None or not output.is_dir():
        return None
    options.output = None
    return output


def _previewed(statement: Mapping[str, Any]) -> Iterator[str]:
    """Say what stands between a preview and its statement."""
    if statement["number"]:
        yield f"It is closed: `cardoffers statement show {statement['number']}`."
        return
    if statement["overdue_count"]:
        due = counted(statement["overdue_count"], "entry was", "entries were")
        yield (
            f"{due} due before {format_brief(statement['to'])} and not settled yet: "
            "`cardoffers settle` first, or they come onto the next statement."
        )
