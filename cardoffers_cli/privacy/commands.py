"""`cardoffers privacy`: what is kept of a cardholder: export it, hold it, erase it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cardoffers_cli.institutions.holds import LegalHold
from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, Institution, Yes, option, typed
from cardoffers_cli.kernel.cli.questions import question
from cardoffers_cli.kernel.cli.show import Block, Column, Sheet
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from cardoffers_cli.privacy.erase import Erased


app = group("Personal data of a cardholder: export, hold, erase.")

PLACES = (Column("place"), Column("rows", kind="integer"))
LISTS = ("places", "files")
WHY = {
    "holds_token": "The token stands in it; delete it, if it may go",
    "copy_of_before": "A copy of the store of before; delete it, if it may go",
}

Cardholder = Annotated[str, option("-: the token is the next line of stdin.", metavar="-")]
Reason = Annotated[str, option("Why; it is kept, so no token in it.")]


@app.command()
def export(
    ctx: typer.Context,
    folder: Annotated[Path, option("A new folder, which only its owner can read.", "--to")],
    *,
    institution: Institution,
    cardholder: Cardholder,
    dry_run: DryRun = False,
) -> None:
    """Write everything stored about one cardholder, as CSV and as JSON, tokens in full."""
    from cardoffers_cli.privacy.export import ExportedTable, export_cardholder

    context = CommandContext.of(ctx)
    context.writes({"--to": folder})
    token = _token(cardholder)
    result = export_cardholder(context.job, institution, token, folder, dry_run=dry_run)
    context.show(result, Sheet.of(ExportedTable, "tables", result.tables))


@app.command()
def hold(
    ctx: typer.Context,
    *,
    institution: Institution,
    cardholder: Cardholder,
    reason: Reason,
    release: Annotated[bool, option("Lift the hold.", "--release")] = False,
    dry_run: DryRun = False,
) -> None:
    """Put a cardholder on legal hold, who is not erased then; or lift that."""
    from cardoffers_cli.privacy.holds import hold_cardholder

    context = CommandContext.of(ctx)
    token = _token(cardholder)
    result = hold_cardholder(
        context.job, institution, token, reason, release=release, dry_run=dry_run
    )
    if not result.changed:
        context.note("Nothing changes.")
    context.show(result)


question(
    *(app, "holds", "institutions/holds:standing", LegalHold),
    says="List the legal holds that stand: of institutions, and of cardholders by number.",
    asks="institution",
    data=False,
)


@app.command()
def erase(
    ctx: typer.Context,
    *,
    institution: Institution,
    cardholder: Cardholder,
    reason: Reason,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Erase a cardholder: a tombstone takes the place of every token, for good; money stays."""
    from cardoffers_cli.archive.export import compact
    from cardoffers_cli.copies.work import last_copy, last_trace_on, put_erasures
    from cardoffers_cli.privacy.erase import erase_cardholder

    context = CommandContext.of(ctx)
    token = _token(cardholder)
    if not dry_run:
        context.ask(f"Erase this cardholder of {institution}, for good?", yes=yes)
    result = erase_cardholder(context.job, institution, token, reason, dry_run=dry_run)
    if not dry_run:
        compact(context.job)
        if result.was_erased:
            context.note("This cardholder was erased before; the store was written anew once more.")
    if result.approval and dry_run:
        context.note(f"A second person has to approve this: {result.approval}.")
    why = [
        f"The token stands still in {counted(place.rows, 'row')} of {place.place}."
        for place in result.places
    ]
    why += [f"{WHY[file.why]}: {file.file}" for file in result.files]
    if not dry_run and (failure := put_erasures(context.job)):
        why.append(f"erasure_not_copied: the list of erasures is not in the repository: {failure}")
    if (last := last_copy(context.job.path)) and not dry_run:
        context.note(
            f"Points of before, up to {last.point}, hold the token until they are pruned, at the "
            f"latest on {last_trace_on(context.job):%Y-%m-%d}; sooner by `cardoffers store prune "
            "--before DAY`. A restore of one erases it again."
        )
    context.show(result, *_erased(result), exit_code=3 if why else 0, why="\n".join(why))


@app.command()
def reapply(
    ctx: typer.Context,
    *,
    source: Annotated[
        str | None, option("A newer list: its file, or the repository.", "--from", "--erasures")
    ] = None,
    none_since: Annotated[
        bool, option("Say that nobody was erased whom the list does not name.", "--none-since")
    ] = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Repeat erasures that a list names and the store lacks, as after a restore."""
    from cardoffers_cli.archive.export import compact
    from cardoffers_cli.privacy.erase import reapply as again

    context = CommandContext.of(ctx)
    if none_since and not dry_run:
        context.confirm("Is nobody missing in the list of erasures?", yes=yes)
    row = again(context.job, source, none_since=none_since, dry_run=dry_run)
    if row.erasures and not dry_run:
        compact(context.job)
    why = ""
    if row.erasures_unknown_since:
        why = (
            f"Who was erased after {format_minute(row.erasures_unknown_since)} may be back: name "
            "a newer list with --from FILE, or say --none-since."
        )
    context.show(row, exit_code=3 if why else 0, why=why)


def _token(text: str) -> str:
    """Return the token of standard input; one that was typed is refused, as shells keep it."""
    if text != "-":
        raise UsageError.from_table("privacy", "token_typed")
    return next(typed(text))


def _erased(result: "Erased") -> Iterator[Block]:
    from cardoffers_cli.privacy.traces import Trace

    fields = {name: value for name, value in result.items() if name not in LISTS}
    yield Sheet.of_fields("erased", fields)
    if result.places:
        yield Sheet("places", PLACES, result.places, title="The token stands still in texts of")
    if result.files:
        yield Sheet.of(Trace, "files", result.files, title="Files that hold the token, or may")


# `cardoffers retention`: how long things are kept, and the end of what is old enough.


retention_app = group("Show retention periods; delete what is older.")


@retention_app.command()
def show(ctx: typer.Context) -> None:
    """Show what is kept and how long, what may be deleted now, and what keeps the rest."""
    from cardoffers_cli.privacy.retention import RetainedKind, show_retention

    context = CommandContext.of(ctx)
    kinds = show_retention(context.job)
    if all(kind.days is None for kind in kinds):
        context.note("Everything is kept for ever: no age is set in [retention].")
    context.show(kinds, Sheet.of(RetainedKind, "kinds", kinds))


@retention_app.command()
def run(ctx: typer.Context, *, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Delete files older than their retention period, unless something keeps them."""
    from cardoffers_cli.privacy.retention import RetainedKind, run_retention

    context = CommandContext.of(ctx)
    if not dry_run:
        planned = run_retention(context.job, dry_run=True)
        if planned.deleted:
            items = counted(planned.deleted, "item")
            context.ask(f"Delete {items}, {planned.bytes_deleted:,} bytes, for good?", yes=yes)
    result = run_retention(context.job, dry_run=dry_run)
    context.show(result, Sheet.of(RetainedKind, "kinds", result.kinds))
