"""`cardoffers sample`: realistic sample data of any size."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from cardoffers_cli.kernel.cli import show
from cardoffers_cli.kernel.cli.commands import moment
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, argument, option


def sample(
    ctx: typer.Context,
    folder: Annotated[Path, argument("[DIR]", "Where to write; made if missing.")] = Path("sample"),
    *,
    rows: Annotated[int, option("Transaction rows, all institutions together.", min=1)] = 1000,
    seed: Annotated[int, option("Same seed and options, same bytes.", min=0)] = 1,
    institutions: Annotated[int, option("GBP, GBP, MXN, BRL, …", min=1, max=64)] = 2,
    links: Annotated[int | None, option("Links to offers [half as many as rows].", min=0)] = None,
    refunds: Annotated[
        int | None, option("Refunds of purchases [one for every 50 rows].", min=0)
    ] = None,
    kind: Annotated[
        Literal["csv", "jsonl", "json"], option("The transaction files' form.")
    ] = "csv",
    gzip: Annotated[bool, option("Compress the transaction files.", "--gzip")] = False,
    dirty: Annotated[
        bool, option("Add a small file with every kind of faulty row.", "--dirty")
    ] = False,
    start: Annotated[
        str | None, option("First day [period ends 2026-09-30].", metavar="DATE", callback=moment)
    ] = None,
    days: Annotated[int, option("Length of the period.", min=1)] = 90,
    files: Annotated[int, option("Files for each institution's rows.", min=1)] = 1,
    unknown_merchants: Annotated[
        int, option("Identifiers not in the catalogue; whose they are is in DIR/truth.", min=0)
    ] = 0,
    dry_run: DryRun = False,
) -> None:
    """Write realistic sample data: DIR/catalog, DIR/transactions and DIR/refunds."""
    from cardoffers_cli.sample import work
    from cardoffers_cli.sample.plan import Plan

    context = CommandContext.of(ctx)
    context.writes({"DIR": folder})
    plan = Plan(
        rows=rows,
        seed=seed,
        institutions=institutions,
        links=links,
        refunds=refunds,
        kind=kind,
        gzip=gzip,
        dirty=dirty,
        start=start.date() if isinstance(start, datetime) else None,
        days=days,
        files=files,
        unknown_merchants=unknown_merchants,
    )
    outputs = []
    with context.progress("Rows written") as progress:
        for file in work.sample(folder, plan, dry_run=dry_run):
            outputs.append(file)
            progress.advance(file["rows"])
    context.show(outputs, show.Sheet.of(work.SampleOutput, "files", outputs))
