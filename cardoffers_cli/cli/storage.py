"""`cardoffers init` and `cardoffers store`: the store file itself."""

import typer

from cardoffers_cli.cli.desk import Desk
from cardoffers_cli.cli.show import Column, Sheet, Text

app = typer.Typer(
    name="store",
    help="Look at, migrate and publish the store.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

TABLES = (Column("table_name", "table"), Column("row_count", "rows", kind="integer"))


def init(ctx: typer.Context) -> None:
    """Make a new, empty store.

    Try:

        cardoffers init --store service.duckdb
    """
    from cardoffers_cli.jobs.stores import init as make

    desk = Desk.of(ctx)
    desk.show(make(desk.job))
    desk.note("Next: `cardoffers catalog import DIR`, then `cardoffers import FILE -i INST`.")


@app.command()
def info(ctx: typer.Context) -> None:
    """Show what the store file is: its versions, its migrations, its tables.

    Try:

        cardoffers store info
    """
    from cardoffers_cli.jobs.stores import info as look

    desk = Desk.of(ctx)
    found = look(desk.job)
    said = (
        f"{found['store']}: {found['size_bytes']:,} bytes, schema {found['schema_version']}, "
        f"engine DuckDB {found['engine_version']}"
    )
    desk.show(found, Sheet("tables", TABLES, found["tables"]), Text([said]))


@app.command()
def migrate(ctx: typer.Context) -> None:
    """Bring an older store to this version, in one transaction. A current one stays as it is.

    Try:

        cardoffers store migrate
    """
    from cardoffers_cli.jobs.stores import migrate as bring

    desk = Desk.of(ctx)
    desk.show(bring(desk.job))


@app.command()
def publish(ctx: typer.Context) -> None:
    """Put a snapshot beside the store, which the service reads from while a long job runs.

    It replaces the one before. Revoking a key withdraws it; `nightly` takes a new one.

    Try:

        cardoffers store publish
    """
    from cardoffers_cli.jobs.publish import publish as take

    desk = Desk.of(ctx)
    desk.show(take(desk.job))
