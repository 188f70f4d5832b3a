"""`cardoffers bank`: take in what the bank says of payouts, and look at it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.options import All, AnyInstitution, DryRun, Limit, argument, option
from cardoffers_cli.kernel.cli.show import Block, Sheet, Text
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from cardoffers_cli.payouts.importing import BankImportResult

app = group("Import and list bank messages.")


@app.command("import")
def import_(
    ctx: typer.Context,
    file: Annotated[Path, argument("FILE", "camt, MT940, BAI2, pain.002, NACHA returns or CSV.")],
    *,
    dry_run: DryRun = False,
) -> None:
    """Import a bank file; its format is detected, and each entry counts once."""
    from cardoffers_cli.payouts.importing import import_bank_file

    context = CommandContext.of(ctx)
    context.writes({}, reads=[file])
    result = import_bank_file(context.job, file, dry_run=dry_run)
    errors = [row for row in result.findings if row.level == "error"]
    if not dry_run:
        context.note("Next: `cardoffers payout list` shows what is paid.")
    why = "\n".join(
        f"{result.file}: {row.code}, {row.message}: {', '.join(row.places)}" for row in errors
    )
    context.show(result, *_taken(result), exit_code=WITH_FINDINGS if errors else 0, why=why)


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    institution: AnyInstitution = None,
    statement: Annotated[
        str | None, option("Only of this statement: its number.", metavar="NUMBER")
    ] = None,
    unknown: Annotated[bool, option("Only what no payout explains.", "--unknown")] = False,
    limit: Limit = 100,
    all_rows: All = False,
) -> None:
    """List bank messages, newest first."""
    from cardoffers_cli.payouts.reading import ListedBankEntry, bank_entries

    context = CommandContext.of(ctx)
    rows = bank_entries(
        context.job,
        institution,
        number=statement,
        unknown=unknown,
        limit=None if all_rows else limit,
    )
    context.show(rows, Sheet.of(ListedBankEntry, "entries", rows))
    if rows and rows[0].entries > len(rows):
        context.note(
            f"There are {counted(rows[0].entries, 'entry', 'entries')}: --all for every one."
        )


@app.command()
def allocate(
    ctx: typer.Context,
    entry: Annotated[str, argument("ENTRY", "The id of the receipt, or how it begins.")],
    *,
    to: Annotated[
        list[str],
        option("An invoice and its part; `suspense` is for none.", "--to", metavar="NUMBER=AMOUNT"),
    ],
    reason: Annotated[str, option("Why; kept with the receipt.", metavar="TEXT")],
    dry_run: DryRun = False,
) -> None:
    """Allocate a receipt to invoices, in parts that add up to it; a new allocation replaces it."""
    from cardoffers_cli.payouts.allocating import allocate_receipt

    context = CommandContext.of(ctx)
    result = allocate_receipt(context.job, entry, to, reason, dry_run=dry_run)
    context.show(result)


def _taken(result: "BankImportResult") -> Iterator[Block]:
    """Say what was taken of a file, and what was left out."""
    from cardoffers_cli.payouts.importing import BankFindings

    fields = {name: value for name, value in result.items() if name not in {"statuses", "findings"}}
    yield Sheet.of_fields("file", {**fields, **result.statuses})
    if result.findings:
        rows = [{**finding, "places": ", ".join(finding.places)} for finding in result.findings]
        yield Sheet.of(BankFindings, "findings", rows, title="Left out")
    if result.dry_run:
        yield Text(["Nothing was written (--dry-run)."])
