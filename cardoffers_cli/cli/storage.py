"""`cardoffers init` and `cardoffers store`: the store file itself."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from cardoffers_cli.cli.desk import Desk
from cardoffers_cli.cli.options import DryRun, Yes
from cardoffers_cli.cli.show import Column, Sheet, Text
from cardoffers_cli.domain.counting import counted

app = typer.Typer(
    name="store",
    help="Look at, migrate, publish, export, back up and restore the store.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

RUNS = (
    Column("run_no", "run", kind="integer"),
    Column("kind"),
    Column("as_of"),
    Column("run_id", kind="id", gives_way=1),
)
BACKUP = (
    Column("backup"),
    Column("size_bytes", "bytes", kind="integer"),
    Column("run_no", "up to run", kind="integer"),
    Column("schema_version", "schema", kind="integer", gives_way=1),
    Column("sha256", gives_way=2),
)
RESTORED = (
    Column("store"),
    Column("backup"),
    Column("run_no", "at run", kind="integer"),
    Column("kept_aside", "before it"),
)
COMPACTED = (
    Column("store"),
    Column("size_bytes_before", "bytes before", kind="integer"),
    Column("size_bytes", "bytes", kind="integer"),
)
MERGED = (
    Column("table_name", "table"),
    Column("parts_before", "parts before", kind="integer"),
    Column("parts", kind="integer"),
    Column("row_count", "rows written", kind="integer", gives_way=1),
    Column("size_bytes_before", "bytes before", kind="integer", gives_way=2),
    Column("size_bytes", "bytes", kind="integer", gives_way=2),
)
MOVED = (Column("table_name", "table"), Column("row_count", "rows moved", kind="integer"))
PARTS = (
    Column("table_name", "table"),
    Column("parts", kind="integer"),
    Column("row_count", "rows", kind="integer"),
    Column("parts_left", "parts left", kind="integer", gives_way=1),
)
LOSS = (Column("lost", "runs lost", kind="integer"), Column("accepted", kind="flag"))
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
    desk.show(
        found, Sheet("tables", TABLES, found["tables"]), *_parts(found["history"]), Text([said])
    )


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
    """Put a snapshot beside the store, which is read while a long job holds it.

    It replaces the one before. Revoking a key withdraws it; `nightly` takes a new one.

    Try:

        cardoffers store publish
    """
    from cardoffers_cli.jobs.publish import publish as take

    desk = Desk.of(ctx)
    desk.show(take(desk.job))


@app.command()
def backup(
    ctx: typer.Context,
    target: Annotated[Path, typer.Argument(metavar="FILE|DIR", help="Where to put the copy.")],
) -> None:
    """Copy the store into a new file, checked and audited, with its checksum beside it.

    In a folder the file is named by the time. Nothing is ever overwritten. It holds every token
    that the store holds, and only its owner can read it. Ends with 3 if the store fails an audit.

    Try:

        cardoffers store backup /var/backups/cardoffers
    """
    from cardoffers_cli.jobs import backup as backups

    desk = Desk.of(ctx)
    with _steps(desk, "Backing up", backups.STEPS) as tell:
        made = backups.backup(desk.job, target, tell=tell)
    desk.show(
        made,
        Sheet("backup", BACKUP, [made]),
        Text([*_history(made), *_faults(made)]),
        exit_code=3 if made["faults"] else 0,
    )


@app.command()
def restore(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of `store backup`.")],
    *,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Put a backup in the place of the store, which is kept under another name.

    A backup that is older than what the store has had takes `--yes`: what is lost is listed, with
    the nights to run again.

    Try:

        cardoffers store restore backups/cardoffers-20261101T020000Z.duckdb
    """
    from cardoffers_cli.jobs import restore as restores

    desk = Desk.of(ctx)
    with _steps(desk, "Restoring", restores.STEPS) as tell:
        done = restores.restore(desk.job, file, accept_loss=yes, dry_run=dry_run, tell=tell)
    desk.show(
        done,
        Sheet("restored", RESTORED, [done]),
        *_lost(done),
        Text([*_history(done), *_faults(done)]),
        exit_code=3 if done["faults"] else 0,
    )


@app.command()
def compact(ctx: typer.Context, *, dry_run: DryRun = False) -> None:
    """Write the store anew without the room that nothing uses, and its history in fewer parts.

    It needs as much free space as the store has, and as the small parts of the history have, whose
    folders stay for a while (`history_keep_days`). Killed at any moment, the store is whole.

    Try:

        cardoffers store compact
    """
    from cardoffers_cli.jobs import compact as compacts

    desk = Desk.of(ctx)
    with _steps(desk, "Compacting", compacts.STEPS) as tell:
        done = compacts.compact(desk.job, dry_run=dry_run, tell=tell)
    said = ["Nothing was written (--dry-run)."] if dry_run else []
    desk.show(done, Sheet("compacted", COMPACTED, [done]), *_merged(done), Text(said))


@app.command()
def export(
    ctx: typer.Context,
    *,
    to: Annotated[
        str | None,
        typer.Option(metavar="ROOT", help="Where it begins, the first time: a folder or a URL."),
    ] = None,
) -> None:
    """Move purchases and decisions out of the store, into Parquet files that an engine can read.

    They are the history of the store, which every command goes on reading, so ROOT must stay where
    it is. What comes in later stays in the store until the next export. Backups do not hold it.

    Try:

        cardoffers store export --to /srv/cardoffers/history
        cardoffers store export --to s3://bucket/cardoffers
    """
    from cardoffers_cli.jobs.export import export as move

    desk = Desk.of(ctx)
    with desk.progress("Exporting"):
        done = move(desk.job, to)
    desk.show(
        done,
        Sheet("moved", MOVED, done["moved"]),
        *_merged(done),
        Text(list(_exported(done))),
    )
    desk.note("Next: `cardoffers store compact` gives the room back.")


@app.command("accept-loss")
def accept_loss(ctx: typer.Context, *, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Go on with a store that has lost commits; list what was lost and what to run again.

    Where a backup has the lost commits, restore that instead: `cardoffers store restore FILE`.

    Try:

        cardoffers store accept-loss --yes
    """
    from cardoffers_cli.jobs import stores

    desk = Desk.of(ctx)
    loss = stores.lost_commits(desk.job)
    if not dry_run:
        if loss["lost"]:
            desk.confirm(
                f"Go on without {counted(loss['lost'], 'run')} that were committed?", yes=yes
            )
        loss = stores.accept_loss(desk.job)
    desk.show(loss, Sheet("loss", LOSS, [loss]), *_lost(loss))


@contextmanager
def _steps(desk: Desk, what: str, steps: Sequence[str]) -> Iterator[Callable[[str], None]]:
    """Show how far work of a few steps is; yield what hears of each as it begins."""
    with desk.progress(what, total=len(steps)) as bar:

        def tell(step: str) -> None:
            bar.describe(f"{what}: {step}")
            bar.update(steps.index(step), total=len(steps))

        yield tell


def _lost(told: dict[str, Any]) -> Iterator[Sheet | Text]:
    if told["lost_runs"]:
        yield Sheet("lost", RUNS, told["lost_runs"], title="Runs that were lost")
    if told["next"]:
        yield Text(
            told["next"], title="Run again, with the files of that night put back from done/"
        )


def _parts(history: dict[str, Any] | None) -> Iterator[Sheet]:
    if history:
        yield Sheet("history", PARTS, history["tables"], title=f"The history in {history['root']}")


def _merged(done: dict[str, Any]) -> Iterator[Sheet]:
    if done["merged"]:
        yield Sheet("merged", MERGED, done["merged"], title="Parts of the history, merged")


def _exported(done: dict[str, Any]) -> Iterator[str]:
    yield f"The history is at {done['root']}."
    if done["unmerged"]:
        yield f"Its small parts were left as they are: {done['unmerged']}"


def _history(told: dict[str, Any]) -> Iterator[str]:
    if told["history"]:
        yield f"The history is not in it: back up {told['history']} where it is."


def _faults(told: dict[str, Any]) -> list[str]:
    return [
        f"The audit {fault['name']} found {counted(fault['rows'], 'row')}: "
        "see `cardoffers doctor --strict`."
        for fault in told["faults"]
    ]
