"""`cardoffers sample`: realistic sample data of any size."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from cardoffers_cli.cli.kernel import show
from cardoffers_cli.cli.kernel.desk import Desk
from cardoffers_cli.cli.kernel.everywhere import moment
from cardoffers_cli.cli.kernel.options import DryRun

COLUMNS = show.read_columns("sample.columns")


def sample(
    ctx: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="Where to write; made if missing.")
    ] = Path("sample"),
    *,
    rows: Annotated[
        int, typer.Option(min=1, help="Transaction rows, all institutions together.")
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Same seed and options, same bytes.")] = 1,
    institutions: Annotated[int, typer.Option(min=1, max=64, help="GBP, GBP, MXN, BRL, …")] = 2,
    links: Annotated[
        int | None, typer.Option(min=0, help="Links to offers [half as many as rows].")
    ] = None,
    kind: Annotated[
        Literal["csv", "jsonl", "json"], typer.Option(help="The transaction files' form.")
    ] = "csv",
    gzip: Annotated[bool, typer.Option("--gzip", help="Compress the transaction files.")] = False,
    dirty: Annotated[
        bool, typer.Option("--dirty", help="Add a small file with every kind of faulty row.")
    ] = False,
    start: Annotated[
        str | None,
        typer.Option(metavar="DATE", callback=moment, help="First day [period ends 2026-09-30]."),
    ] = None,
    days: Annotated[int, typer.Option(min=1, help="Length of the period.")] = 90,
    files: Annotated[int, typer.Option(min=1, help="Files for each institution's rows.")] = 1,
    dry_run: DryRun = False,
) -> None:
    """Write realistic sample data: DIR/catalog and DIR/transactions.

    Merchants with a long tail, loyal cardholders, busy hours, budgets that run out, repeated and
    conflicting references. Files of the same names are replaced.

    Try:

        cardoffers sample
        cardoffers sample big --rows 1000000 --seed 7
    """
    from cardoffers_cli.files.samples.plan import Plan  # polars is heavy
    from cardoffers_cli.jobs.sample import sample as make

    desk = Desk.of(ctx)
    desk.writes({"DIR": folder})
    plan = Plan(
        rows=rows,
        seed=seed,
        institutions=institutions,
        links=links,
        kind=kind,
        gzip=gzip,
        dirty=dirty,
        start=start.date() if isinstance(start, datetime) else None,
        days=days,
        files=files,
    )
    made = []
    with desk.progress("Rows written") as progress:
        for file in make(folder, plan, dry_run=dry_run):
            made.append(file)
            progress.advance(file["rows"])
    desk.show(made, show.Sheet("files", COLUMNS, made))
