"""`cardoffers init` and `cardoffers store`: the store file itself."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cardoffers_cli.catalogue.commands import file_sheets
from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, ErasureFile, Yes, argument, option
from cardoffers_cli.kernel.cli.show import Column, Sheet, Text
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from cardoffers_cli.archive.export import Compacted, Exported
    from cardoffers_cli.storage.backup import BackupResult
    from cardoffers_cli.storage.recover import Recovered
    from cardoffers_cli.storage.restore import Restored
    from cardoffers_cli.storage.stores import ArchiveInfo, LostCommits

app = group("Look at, migrate, publish, export, back up, restore and recover the store.")

MOVED = (Column("table_name", "table"), Column("row_count", "rows moved", kind="integer"))
LOSS = (Column("lost", "runs lost", kind="integer"), Column("accepted", kind="flag"))
PLACES = (Column("place"), Column("rows", kind="integer"))
TABLES = (Column("table_name", "table"), Column("row_count", "rows", kind="integer"))


def init(
    ctx: typer.Context,
    *,
    example: Annotated[
        bool, option("Begin with an institution, a merchant, an offer.", "--example")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Make a new, empty store."""
    context = CommandContext.of(ctx)
    if example:
        from cardoffers_cli.storage.example import init_with_example

        made = init_with_example(context.job, dry_run=dry_run)
        context.show(made, *(file_sheets(made.example) if made.example else ()))
    else:
        from cardoffers_cli.storage.stores import init as make

        context.show(make(context.job, dry_run=dry_run))
    if not dry_run:
        context.note(
            "Next: `cardoffers institution list`, `cardoffers offer list -i example-bank`."
            if example
            else "Next: `cardoffers institution add`, or `cardoffers catalog template DIR` and "
            "`cardoffers catalog import DIR`."
        )


@app.command()
def info(ctx: typer.Context) -> None:
    """Show what the store file is: its versions, its migrations, its tables."""
    from cardoffers_cli.storage.stores import info as look

    context = CommandContext.of(ctx)
    found = look(context.job)
    said = (
        f"{found.store}: {found.size_bytes:,} bytes, schema {found.schema_version}, "
        f"engine DuckDB {found.engine_version}"
    )
    context.show(found, Sheet("tables", TABLES, found.tables), *_parts(found.history), Text([said]))


@app.command()
def migrate(ctx: typer.Context, *, dry_run: DryRun = False) -> None:
    """Bring an older store to this version, in one transaction. A current one stays as it is."""
    from cardoffers_cli.storage.stores import migrate as bring

    context = CommandContext.of(ctx)
    context.show(bring(context.job, dry_run=dry_run))


@app.command()
def publish(ctx: typer.Context, *, dry_run: DryRun = False) -> None:
    """Put a snapshot into the folder of the store, which is read while a long job holds it."""
    from cardoffers_cli.storage.publish import publish as take

    context = CommandContext.of(ctx)
    context.show(take(context.job, dry_run=dry_run))


@app.command("mask-card-numbers")
def mask_card_numbers(ctx: typer.Context, *, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Mask the card numbers that a store holds, and write the store anew without them."""
    from cardoffers_cli.archive.export import compact as write_anew
    from cardoffers_cli.privacy.card_numbers import mask_card_numbers as mask

    context = CommandContext.of(ctx)
    if not dry_run:
        context.confirm("Mask every card number of the store, for good?", yes=yes)
    found = mask(context.job, dry_run=dry_run)
    if found["masked"]:
        write_anew(context.job)
    left = found["left"]
    why = f"{left:,} are left: they lie in the history, whose files stay." if left else ""
    places = Sheet("places", PLACES, found["places"])
    context.show(found, places, exit_code=3 if left else 0, why=why)


@app.command()
def backup(
    ctx: typer.Context,
    target: Annotated[Path, argument("FILE|DIR", "Where to put the copy.")],
    *,
    dry_run: DryRun = False,
) -> None:
    """Copy the store into a new file, checked and audited, with its checksum beside it."""
    from cardoffers_cli.storage import backup as backups
    from cardoffers_cli.storage.backup import BackupResult

    context = CommandContext.of(ctx)
    with _steps(context, "Backing up", backups.STEPS) as tell:
        made = backups.backup(context.job, target, dry_run=dry_run, tell=tell)
    context.show(
        made,
        Sheet.of(BackupResult, "backup", [made]),
        Text([*_written(made), *_archive(made), *_kept(made), *_faults(made)]),
        exit_code=3 if made.faults else 0,
    )


@app.command()
def restore(
    ctx: typer.Context,
    file: Annotated[Path, argument("FILE", "A file of `store backup`.")],
    *,
    erasures: ErasureFile = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Put a backup in the place of the store, which is kept under another name."""
    from cardoffers_cli.storage import restore as restores
    from cardoffers_cli.storage.restore import Restored

    context = CommandContext.of(ctx)
    with _steps(context, "Restoring", restores.STEPS) as tell:
        done = restores.restore(
            context.job, file, erasures=erasures, accept_loss=yes, dry_run=dry_run, tell=tell
        )
    context.show(
        done,
        Sheet.of(Restored, "restored", [done]),
        *_lost(done),
        Text([*_erased(done), *_archive(done), *_secrets(done), *_faults(done)]),
        exit_code=3 if done.faults or done.secrets_missing or done.erasures_unknown_since else 0,
    )


@app.command()
def compact(ctx: typer.Context, *, dry_run: DryRun = False) -> None:
    """Write the store anew without the room that nothing uses, and its history in fewer parts."""
    from cardoffers_cli.archive import export as compacts
    from cardoffers_cli.archive.export import Compacted

    context = CommandContext.of(ctx)
    with _steps(context, "Compacting", compacts.STEPS) as tell:
        done = compacts.compact(context.job, dry_run=dry_run, tell=tell)
    said = list(_written(done))
    context.show(done, Sheet.of(Compacted, "compacted", [done]), *_merged(done), Text(said))


@app.command()
def export(
    ctx: typer.Context,
    *,
    to: Annotated[
        str | None, option("Where it begins, the first time: a folder or a URL.", metavar="ROOT")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Move purchases and decisions out of the store, into Parquet files that an engine can read."""
    from cardoffers_cli.archive.export import export as move

    context = CommandContext.of(ctx)
    with context.progress("Exporting"):
        done = move(context.job, to, dry_run=dry_run)
    context.show(
        done,
        Sheet("moved", MOVED, done.moved),
        *_merged(done),
        Text([*_written(done), *_exported(done)]),
    )
    if not dry_run:
        context.note("Next: `cardoffers store compact` gives the room back.")


@app.command()
def recover(ctx: typer.Context, *, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Go on with a store that does not open since the power went: put the engine's log aside."""
    from cardoffers_cli.storage import recover as recovers
    from cardoffers_cli.storage.recover import Recovered

    context = CommandContext.of(ctx)

    def agree(found: "Recovered") -> None:
        without = f" and go on without {_runs(found)}" if found.lost else ""
        is_whole = found.log_bytes_used == found.log_bytes
        what = "Fix {store}" if is_whole else "Put the log of {store} aside"
        context.confirm(f"{what.format(**found)}{without}?", yes=yes)

    with _steps(context, "Recovering", recovers.STEPS) as tell:
        done = recovers.recover(context.job, agree=agree, dry_run=dry_run, tell=tell)
    said = ["Nothing was changed (--dry-run)."] if dry_run else []
    context.show(
        done,
        Sheet.of(Recovered, "recovered", [done]),
        *_lost(done),
        Text([*said, *(f"The log is kept: {log}" for log in done.kept_logs), *_faults(done)]),
        exit_code=3 if done.faults else 0,
    )


def _runs(found: "Recovered") -> str:
    first, last = found.lost_runs[0], found.lost_runs[-1]
    named = f"{first['run_no']} to {last['run_no']}" if found.lost > 1 else first["run_no"]
    return f"{counted(found.lost, 'run')} that were committed ({named})"


@app.command("accept-loss")
def accept_loss(ctx: typer.Context, *, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Go on with a store that has lost commits; list what was lost and what to run again."""
    from cardoffers_cli.storage import stores

    context = CommandContext.of(ctx)
    loss = stores.lost_commits(context.job)
    if not dry_run:
        if loss.lost:
            context.confirm(
                f"Go on without {counted(loss.lost, 'run')} that were committed?", yes=yes
            )
        elif loss.replaced_by:
            context.confirm(f"Go on with this file beside {loss.replaced_by}?", yes=yes)
        loss = stores.accept_loss(context.job)
    shown = {**loss, "dry_run": dry_run}
    context.show(shown, Sheet("loss", LOSS, [shown]), *_lost(loss))


@contextmanager
def _steps(
    context: CommandContext, what: str, steps: Sequence[str]
) -> Iterator[Callable[[str], None]]:
    """Show how far work of a few steps is; yield what hears of each as it begins."""
    with context.progress(what, total=len(steps)) as bar:

        def tell(step: str) -> None:
            bar.describe(f"{what}: {step}")
            bar.update(steps.index(step), total=len(steps))

        yield tell


def _written(told: "BackupResult | Compacted | Exported") -> Iterator[str]:
    if told.dry_run:
        yield "Nothing was written (--dry-run)."


def _lost(told: "Restored | Recovered | LostCommits") -> Iterator[Sheet | Text]:
    from cardoffers_cli.storage.overview import LastRun

    if told.lost_runs:
        yield Sheet.of(LastRun, "lost", told.lost_runs, title="Runs that were lost")
    if told.next:
        yield Text(
            told.next, title="Run again, with the files of that nightly run put back from done/"
        )


def _parts(history: "ArchiveInfo | None") -> Iterator[Sheet]:
    from cardoffers_cli.storage.stores import ArchivedTable

    if history:
        yield Sheet.of(
            ArchivedTable, "history", history.tables, title=f"The history in {history.root}"
        )


def _merged(done: "Compacted | Exported") -> Iterator[Sheet]:
    from cardoffers_cli.archive.merging import MergeResult

    if done.merged:
        yield Sheet.of(MergeResult, "merged", done.merged, title="Parts of the history, merged")


def _exported(done: "Exported") -> Iterator[str]:
    yield f"The history is at {done.root}."
    if done.unmerged:
        yield f"Its small parts were left as they are: {done.unmerged}"


def _archive(told: "BackupResult | Restored") -> Iterator[str]:
    if told.history:
        yield f"The history is not in it: back up {told.history} where it is."


def _kept(made: "BackupResult") -> Iterator[str]:
    if made.secrets:
        yield f"The signing secrets are in {made.secrets}: keep it as safe as they are."
    if made.erasures:
        yield f"The list of erasures is in {made.erasures}: keep it beside the backup."


def _erased(done: "Restored") -> Iterator[str]:
    if done.erased_again:
        yield f"{counted(done.erased_again, 'cardholder')} erased since the backup: erased again."
    if done.erasures_unknown_since:
        yield (
            f"Who was erased after {format_minute(done.erasures_unknown_since)} is not known here "
            "and may be back. Run `cardoffers privacy reapply --erasures FILE` with a newer list "
            "of erasures; if there is none, ask the institutions who was erased since, erase them "
            "again, then run `cardoffers privacy reapply --none-since --yes`."
        )


def _secrets(done: "Restored") -> Iterator[str]:
    for slug in done.secrets_missing:
        yield (
            f"The signing secret of {slug} is not beside the backup: its webhooks wait until "
            f"`cardoffers webhook rotate-secret -i {slug}` makes a new one."
        )


def _faults(told: "BackupResult | Restored | Recovered") -> list[str]:
    return [
        f"The audit {fault.name} found {counted(fault.rows, 'row')}: "
        "see `cardoffers doctor --strict`."
        for fault in told.faults
    ]
