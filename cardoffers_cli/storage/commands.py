"""`cardoffers init`, `cardoffers store` and `cardoffers doctor`: the store file itself."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cardoffers_cli.catalogue.commands import file_sheets
from cardoffers_cli.kernel.cli.commands import group, moment
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, ErasureFile, Yes, argument, option
from cardoffers_cli.kernel.cli.show import Column, Sheet, Text
from cardoffers_cli.kernel.words import json_text
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from cardoffers_cli.archive.export import Compacted, Exported
    from cardoffers_cli.copies.points import StorePoint
    from cardoffers_cli.copies.work import CopyResult
    from cardoffers_cli.storage.doctor import DoctorReport
    from cardoffers_cli.storage.drill import DrillResult
    from cardoffers_cli.storage.recover import Recovered
    from cardoffers_cli.storage.restore import Restored
    from cardoffers_cli.storage.stores import ArchiveInfo, LostCommits


app = group("Show, migrate, back up, restore and recover the store.")

MOVED = (Column("table_name", "table"), Column("row_count", "rows moved", kind="integer"))
LOSS = (Column("lost", "runs lost", kind="integer"), Column("accepted", kind="flag"))
PLACES = (Column("place"), Column("rows", kind="integer"))
POINTS = (
    *(Column("point"), Column("taken_at", kind="moment"), Column("run_no", "up to run", "integer")),
    *(Column("bytes", kind="integer"), Column("age_seconds", "age (s)", "integer")),
    Column("lineage"),
)
STEPS = (Column("name", "step"), Column("s", "seconds", "number"))
TABLES = (Column("table_name", "table"), Column("row_count", "rows", kind="integer"))


def init(
    ctx: typer.Context,
    *,
    example: Annotated[
        bool, option("Begin with an institution, a merchant, an offer.", "--example")
    ] = False,
    rehearsal: Annotated[
        bool, option("Make it a rehearsal for ever: --as-of alone counts.", "--rehearsal")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Make a new, empty store."""
    context = CommandContext.of(ctx)
    if example:
        from cardoffers_cli.storage.example import init_with_example

        result = init_with_example(context.job, rehearsal=rehearsal, dry_run=dry_run)
        context.show(result, *(file_sheets(result.example) if result.example else ()))
    else:
        from cardoffers_cli.storage.stores import init as make

        context.show(make(context.job, rehearsal=rehearsal, dry_run=dry_run))
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
    state = look(context.job)
    text = (
        f"{state.store}: {state.size_bytes:,} bytes, schema {state.schema_version}, "
        f"engine DuckDB {state.engine_version}"
    )
    context.show(state, Sheet("tables", TABLES, state.tables), *_parts(state.history), Text([text]))


@app.command()
def migrate(ctx: typer.Context, *, dry_run: DryRun = False) -> None:
    """Migrate an older store to this version, in one transaction."""
    from cardoffers_cli.storage.stores import migrate as bring

    context = CommandContext.of(ctx)
    context.show(bring(context.job, dry_run=dry_run))


@app.command()
def publish(ctx: typer.Context, *, dry_run: DryRun = False) -> None:
    """Write a snapshot, which readers see while a long job holds the store."""
    from cardoffers_cli.copies.work import publish as take

    context = CommandContext.of(ctx)
    _show_copy(context, take(context.job, dry_run=dry_run))


@app.command("mask-card-numbers")
def mask_card_numbers(ctx: typer.Context, *, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Mask the card numbers in a store, and rewrite the store without them."""
    from cardoffers_cli.archive.export import compact as write_anew
    from cardoffers_cli.privacy.card_numbers import mask_card_numbers as mask

    context = CommandContext.of(ctx)
    if not dry_run:
        context.confirm("Mask every card number of the store, for good?", yes=yes)
    result = mask(context.job, dry_run=dry_run)
    if result["masked"]:
        write_anew(context.job)
    remaining = result["left"]
    why = f"{remaining:,} are left: they lie in the history, whose files stay." if remaining else ""
    places = Sheet("places", PLACES, result["places"])
    context.show(result, places, exit_code=3 if remaining else 0, why=why)


@app.command()
def backup(
    ctx: typer.Context,
    target: Annotated[Path, argument("FILE|DIR", "Where to put the copy.")],
    *,
    dry_run: DryRun = False,
) -> None:
    """Copy the store into a new file, with its checksum and its small files beside it."""
    from cardoffers_cli.copies.work import backup as put

    context = CommandContext.of(ctx)
    with context.progress("Backing up"):
        result = put(context.job, target, dry_run=dry_run)
    _show_copy(context, result)


@app.command()
def copy(ctx: typer.Context, *, dry_run: DryRun = False) -> None:
    """Put a point of the store into the repository of copies."""
    from cardoffers_cli.copies import work

    context = CommandContext.of(ctx)
    is_first = work.last_copy(context.job.path) is None
    with context.progress("Copying"):
        result = work.copy(context.job, dry_run=dry_run)
    if is_first and not (dry_run or str(result.repository).startswith("plain:")):
        context.note(
            "Keep elsewhere the passphrase, and what `borg key export` writes: nothing in the "
            "repository can be read without."
        )
    _show_copy(context, result)


@app.command()
def points(ctx: typer.Context) -> None:
    """List the points that the repository has of the store, the newest last."""
    from cardoffers_cli.copies.work import POINT, entries, repository_of

    context = CommandContext.of(ctx)
    _show_points(context, entries(context.job, repository_of(context.job), POINT))


@app.command()
def verify(
    ctx: typer.Context,
    *,
    point: Annotated[str | None, option("Which is restored for trial [the newest].")] = None,
) -> None:
    """Read every byte of the repository, and restore a point for trial."""
    from cardoffers_cli.storage.drill import drill as restore_for_trial

    context = CommandContext.of(ctx)
    with context.progress("Verifying"):
        _show_drill(context, restore_for_trial(context.job, point))


@app.command()
def drill(ctx: typer.Context, *, dry_run: DryRun = False) -> None:
    """Restore the newest point for trial, and record what would be lost, and for how long."""
    from cardoffers_cli.storage.drill import drill as restore_for_trial

    context = CommandContext.of(ctx)
    with context.progress("Restoring for trial"):
        _show_drill(context, restore_for_trial(context.job, keeps=True, dry_run=dry_run))


def _show_drill(context: CommandContext, result: "DrillResult") -> None:
    from cardoffers_cli.storage.drill import DrillResult

    sheets = Sheet.of(DrillResult, "drill", [result]), Sheet("steps", STEPS, result.steps)
    lines = [*(f"{name} is not whole." for name in result.damaged), *_faults(result)]
    context.show(
        result, *sheets, Text([*lines, *_archive(result)]), exit_code=0 if result.ok else 3
    )


@app.command()
def prune(
    ctx: typer.Context,
    *,
    before: Annotated[str | None, option("Those taken before it too.", metavar="DAY")] = None,
    dry_run: DryRun = False,
) -> None:
    """Remove points that are older than is set, and list them."""
    from cardoffers_cli.copies.work import prune as remove

    context = CommandContext.of(ctx)
    points = remove(context.job, before=moment(before), dry_run=dry_run)
    _show_points(context, points, dry_run=dry_run)


def _show_copy(context: CommandContext, result: "CopyResult") -> None:
    from cardoffers_cli.copies.work import CopyResult

    lines = [*_written(result), *_archive(result)]
    context.show(result, Sheet.of(CopyResult, "copy", [result]), Text(lines))


def _show_points(context: CommandContext, points: "Sequence[StorePoint]", **more: object) -> None:
    rows = [
        {
            **{name: point[name] for name in ("point", "taken_at", "run_no", "lineage")},
            "bytes": point.size_bytes,
            "age_seconds": int((context.job.now - point.taken_at).total_seconds()),
            **more,
        }
        for point in points
    ]
    context.show(rows, Sheet("points", POINTS, rows))


@app.command()
def restore(
    ctx: typer.Context,
    file: Annotated[
        Path | None, argument("FILE", "A file of `store backup` [of the repository].")
    ] = None,
    *,
    point: Annotated[
        str | None, option("Its name, or a time at which it was the last [the newest].")
    ] = None,
    promote: Annotated[
        bool, option("Make it the store: the one that was copied is refused then.", "--promote")
    ] = False,
    erasures: ErasureFile = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Replace the store by a point; the old one is kept under another name."""
    from cardoffers_cli.storage import restore as restores
    from cardoffers_cli.storage.restore import Restored

    context = CommandContext.of(ctx)
    if promote and not dry_run:
        context.confirm("Has the store that this is a copy of stopped for good?", yes=yes)
    with context.progress("Restoring"):
        row = restores.restore(
            context.job,
            file,
            named=point,
            erasures=erasures,
            accept_loss=yes,
            promote=promote,
            dry_run=dry_run,
        )
    context.show(
        row,
        Sheet.of(Restored, "restored", [row]),
        *_lost(row),
        Text([*_erased(row), *_archive(row), *_secrets(row), *_faults(row)]),
        exit_code=3 if row.faults or row.secrets_missing or row.erasures_unknown_since else 0,
    )


@app.command()
def compact(ctx: typer.Context, *, dry_run: DryRun = False) -> None:
    """Rewrite the store without unused space, and its history in fewer parts."""
    from cardoffers_cli.archive import export as compacts
    from cardoffers_cli.archive.export import Compacted

    context = CommandContext.of(ctx)
    with context.progress("Compacting"):
        result = compacts.compact(context.job, dry_run=dry_run)
    lines = list(_written(result))
    context.show(result, Sheet.of(Compacted, "compacted", [result]), *_merged(result), Text(lines))


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
        result = move(context.job, to, dry_run=dry_run)
    context.show(
        result,
        Sheet("moved", MOVED, result.moved),
        *_merged(result),
        Text([*_written(result), *_exported(result)]),
    )
    if not dry_run:
        context.note("Next: `cardoffers store compact` gives the room back.")


@app.command()
def recover(ctx: typer.Context, *, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Recover a store that does not open after a power cut, by moving the engine's log away."""
    from cardoffers_cli.storage import recover as recovers
    from cardoffers_cli.storage.recover import Recovered

    context = CommandContext.of(ctx)

    def agree(recovery: "Recovered") -> None:
        without = f" and go on without {_runs(recovery)}" if recovery.lost else ""
        is_whole = recovery.log_bytes_used == recovery.log_bytes
        what = "Fix {store}" if is_whole else "Put the log of {store} aside"
        context.confirm(f"{what.format(**recovery)}{without}?", yes=yes)

    with context.progress("Recovering"):
        row = recovers.recover(context.job, agree=agree, dry_run=dry_run)
    note = ["Nothing was changed (--dry-run)."] if dry_run else []
    context.show(
        row,
        Sheet.of(Recovered, "recovered", [row]),
        *_lost(row),
        Text([*note, *(f"The log is kept: {log}" for log in row.kept_logs), *_faults(row)]),
        exit_code=3 if row.faults else 0,
    )


def _runs(recovery: "Recovered") -> str:
    first, last = recovery.lost_runs[0], recovery.lost_runs[-1]
    named = f"{first['run_no']} to {last['run_no']}" if recovery.lost > 1 else first["run_no"]
    return f"{counted(recovery.lost, 'run')} that were committed ({named})"


@app.command("accept-loss")
def accept_loss(ctx: typer.Context, *, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Accept that a store lost commits; list what was lost and what to run again."""
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
    document = {**loss, "dry_run": dry_run}
    context.show(document, Sheet("loss", LOSS, [document]), *_lost(loss))


def _written(result: "CopyResult | Compacted | Exported") -> Iterator[str]:
    if result.dry_run:
        yield "Nothing was written (--dry-run)."


def _lost(result: "Restored | Recovered | LostCommits") -> Iterator[Sheet | Text]:
    from cardoffers_cli.storage.overview import LastRun

    if result.lost_runs:
        yield Sheet.of(LastRun, "lost", result.lost_runs, title="Runs that were lost")
    if result.next:
        yield Text(
            result.next, title="Run again, with the files of that nightly run put back from done/"
        )


def _parts(history: "ArchiveInfo | None") -> Iterator[Sheet]:
    from cardoffers_cli.storage.stores import ArchivedTable

    if history:
        yield Sheet.of(
            ArchivedTable, "history", history.tables, title=f"The history in {history.root}"
        )


def _merged(result: "Compacted | Exported") -> Iterator[Sheet]:
    from cardoffers_cli.archive.export import MergeResult

    if result.merged:
        yield Sheet.of(MergeResult, "merged", result.merged, title="Parts of the history, merged")


def _exported(result: "Exported") -> Iterator[str]:
    yield f"The history is at {result.root}."
    if result.unmerged:
        yield f"Its small parts were left as they are: {result.unmerged}"


def _archive(result: "CopyResult | Restored | DrillResult") -> Iterator[str]:
    if result.history:
        yield f"The history is not in it: back up {result.history} where it is."


def _erased(row: "Restored") -> Iterator[str]:
    if row.erased_again:
        yield f"{counted(row.erased_again, 'cardholder')} erased since the backup: erased again."
    if row.get("is_scratch"):
        yield "It is for reading, until `cardoffers store restore --promote` makes it the store."
    if row.erasures_unknown_since:
        yield (
            f"Who was erased after {format_minute(row.erasures_unknown_since)} is not known here "
            "and may be back. Run `cardoffers privacy reapply --from FILE` with a newer list "
            "of erasures; if there is none, ask the institutions who was erased since, erase them "
            "again, then run `cardoffers privacy reapply --none-since --yes`."
        )


def _secrets(result: "Restored") -> Iterator[str]:
    for slug in result.secrets_missing:
        yield (
            f"The signing secret of {slug} is not beside the backup: its webhooks wait until "
            f"`cardoffers webhook rotate-secret -i {slug}` makes a new one."
        )


def _faults(result: "Restored | Recovered | DrillResult") -> list[str]:
    return [
        f"The audit {fault.name} found {counted(fault.rows, 'row')}: "
        "see `cardoffers doctor --strict`."
        for fault in result.faults
    ]


def doctor(
    ctx: typer.Context,
    *,
    strict: Annotated[
        bool, option("Every audit; without it the quick ones only.", "--strict")
    ] = False,
) -> None:
    """Check the store: sums, references, states, limits, card numbers, journal. Read only."""
    from cardoffers_cli.storage.doctor import Audit, names
    from cardoffers_cli.storage.doctor import doctor as look

    context = CommandContext.of(ctx)
    if strict and context.job.settings.audit_head_file is None:
        context.note(
            "No audit_head_file is set: the end of the security log may be cut off unseen."
        )
    with context.progress("Auditing", total=len(names(strict=strict))) as bar:
        check = look(context.job, strict=strict, tell=lambda _name: bar.advance())
    rows = [
        {**audit, "example": audit.example and json_text.dumps(audit.example)}
        for audit in check.audits
    ]
    context.show(
        check, Sheet.of(Audit, "audits", rows), Text([_said(check)]), exit_code=0 if check.ok else 3
    )


def _said(report: "DoctorReport") -> str:
    failed = [audit.name for audit in report.audits if not audit.ok]
    if not failed:
        told = [audit.example["message"] for audit in report.audits if audit.ok and audit.example]
        return " ".join([f"All {len(report.audits)} audits are clean.", *told])
    return (
        f"{len(failed)} of {len(report.audits)} audits found something: {', '.join(failed)}. "
        "Keep the store as it is, and look at the examples before anything else runs on it."
    )
