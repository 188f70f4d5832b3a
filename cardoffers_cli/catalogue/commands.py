"""`cardoffers catalog`: who takes part, offers, links and engagement, in and out."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cardoffers_cli.kernel.cli import show
from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, argument, option
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from cardoffers_cli.catalogue.importing import CatalogueImport

app = group("Import and export the catalogue.")

_SHOWN = 5
"""Messages of a code that a screen shows."""

WRITTEN = (show.Column("file"), show.Column("rows", kind="integer"))


@app.command("import")
def import_(
    ctx: typer.Context,
    path: Annotated[Path, argument("DIR|FILE", "Catalogue files, or one.")],
    *,
    errors: Annotated[
        Path | None, option("Write every finding, one a line, as CSV.", metavar="FILE")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Import the files of a catalogue, in the order of their references."""
    from cardoffers_cli.catalogue.importing import import_catalogue

    context = CommandContext.of(ctx)
    context.writes({"--errors": errors}, reads=[*path.iterdir()] if path.is_dir() else [path])
    with context.progress("Rows read") as progress:
        result = import_catalogue(
            context.job, path, dry_run=dry_run, errors=errors, advance=progress.advance
        )
    for file in result.files:
        for finding in file.findings:
            if finding.code == "budget_below_spent":
                for message in finding.messages:
                    context.note(f"{file.file}: {message}.")
        if file.waiting_purchases:
            concerned = counted(file.waiting_purchases, "purchase")
            context.note(f"{file.file}: its changes concern {concerned} that wait for a match.")
    why = "\n".join(
        f"{file.file}: {counted(file.rejected, 'row')} rejected."
        for file in result.files
        if file.rejected
    )
    context.show(result, *file_sheets(result), exit_code=3 if result.rejected else 0, why=why)


@app.command("export")
def export(
    ctx: typer.Context,
    folder: Annotated[Path, argument("DIR", "Where to write; made if missing.")],
    *,
    form: Annotated[Literal["csv", "json"], option("The form of the files.", "--as")] = "csv",
    links: Annotated[
        Literal["masked"] | None, option("Write links too, their tokens masked [left out].")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Write every catalogue file in the form that import reads; files of the same names go."""
    from cardoffers_cli.catalogue.files import KINDS
    from cardoffers_cli.catalogue.importing import export_catalogue

    context = CommandContext.of(ctx)
    kinds = (*KINDS, "links_masked")
    context.writes({f"{kind}.{form}": folder / f"{kind}.{form}" for kind in kinds})
    options: Mapping[str, Any] = {"suffix": form, "masked_links": links is not None}
    written = export_catalogue(context.job, folder, **options, dry_run=dry_run)
    if links is None:
        context.note("Links are left out: full tokens do not leave the store (--links masked).")
    context.show(written, show.Sheet("files", WRITTEN, written))


@app.command()
def template(
    ctx: typer.Context,
    folder: Annotated[Path, argument("DIR", "Where to write; made if missing.")],
    *,
    dry_run: DryRun = False,
) -> None:
    """Write a template of every catalogue file, with one line each, and of a transaction file."""
    from cardoffers_cli.catalogue.writing import CatalogueOutput, write_templates

    context = CommandContext.of(ctx)
    written = [
        CatalogueOutput(file=path.name, rows=1, dry_run=dry_run)
        for path in write_templates(folder, dry_run=dry_run)
    ]
    context.show(written, show.Sheet("files", WRITTEN, written))


def file_sheets(result: "CatalogueImport") -> list[show.Sheet]:
    """Return what an import of a catalogue came to, file by file, and its findings."""
    from cardoffers_cli.catalogue.importing import CatalogueFinding, FileImport

    rows = [
        {"file": file.file, **finding, "message": "; ".join(finding.messages[:_SHOWN])}
        for file in result.files
        for finding in file.findings
    ]
    sheets = [show.Sheet.of(FileImport, "files", result.files)]
    columns = (
        show.Column("file"),
        *show.columns_of(CatalogueFinding),
        show.Column("message"),
        *show.columns_of(CatalogueFinding, "fix"),
    )
    return [*sheets, show.Sheet("findings", columns, rows)] if rows else sheets
