"""`cardoffers import` and its like for other kinds of rows: take files into the store.

To add a kind, make its command as those below and name it in its group.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardoffers_cli.intake.checking_commands import one_file_for
from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import argument, layout_for, layout_of
from cardoffers_cli.kernel.cli.show import Text
from cardoffers_cli.kernel.words.counting import counted
from cardoffers_cli.kernel.words.row_kinds import CREDITS, PURCHASES, REFUNDS
from cardoffers_cli.kernel.words.visible import shortened

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardoffers_cli.kernel.words.row_kinds import RowKind
    from cardoffers_cli.river.imports import ImportOptions, ImportReport
    from cardoffers_cli.river.receiving import Outputs


def import_command(kind: "RowKind", about: str) -> "Callable[..., None]":
    """Return the command that takes files of one kind of rows; `about` is its help."""

    def import_files(
        ctx: typer.Context,
        sources: Annotated[list[str], argument("FILE...", "Files; - is stdin.")],
        *,
        institution: options.Institution,
        delimiter: options.Delimiter = ",",
        sheet: options.SheetName = None,
        profile: options.LayoutProfile = None,
        no_profile: options.NoProfile = False,
        assume_timezone: options.Timezone = None,
        allow_unterminated: options.AllowUnterminated = False,
        errors: options.Errors = None,
        valid: options.Valid = None,
        rejected: options.Rejected = None,
        raw_rejected: options.RawRejected = False,
        engine: options.Engine = None,
        yes_it_is: options.YesItIs = False,
        yes_it_is_whole: options.YesItIsWhole = False,
        dry_run: options.DryRun = False,
    ) -> None:
        from cardoffers_cli.river.imports import ImportOptions
        from cardoffers_cli.river.receiving import Outputs

        context = CommandContext.of(ctx, engine=engine)
        written = {"--errors": errors, "--valid": valid, "--rejected": rejected}
        one_file_for(sources, *written.values())
        context.writes(written, reads=sources)
        is_other = no_profile or delimiter != "," or sheet is not None
        layout = layout_of(profile, delimiter, sheet)
        chosen = ImportOptions(
            delimiter=delimiter,
            assume_timezone=assume_timezone,
            allow_unterminated=allow_unterminated,
            profile=layout_for(context, institution, layout, is_other=is_other, to_write=True),
            sheet=sheet,
            dry_run=dry_run,
            is_own=yes_it_is,
            is_whole=yes_it_is_whole,
            kind=kind,
        )
        outputs = Outputs(errors=errors, valid=valid, rejected=rejected, raw=raw_rejected)
        _import(context, sources, institution, chosen, outputs)

    import_files.__doc__ = about
    return import_files


import_ = import_command(
    PURCHASES, "Take transaction files into the store, each as a whole or not at all."
)
import_refunds = import_command(
    REFUNDS, "Take files of refunds into the store, each as a whole or not at all."
)
import_credits = import_command(
    CREDITS, "Take credited files into the store, each as a whole or not at all."
)


def _import(
    context: CommandContext,
    sources: list[str],
    institution: str,
    chosen: "ImportOptions",
    outputs: "Outputs",
) -> None:
    """Import each file and show what came of it."""
    from cardoffers_cli.intake.report_commands import show_files
    from cardoffers_cli.kernel.words.errors import FileUnusable
    from cardoffers_cli.river.imports import HELD, import_file
    from cardoffers_cli.river.receiving import FileReport

    documents, reports, taken = [], list[FileReport](), list[str]()
    for source in sources:
        try:
            with context.progress(f"Importing {source}") as bar:
                made = import_file(
                    source, institution, context.job, chosen, outputs=outputs, progress=bar.update
                )
        except FileUnusable as error:
            reports.append(FileReport(file=source, file_error=error))
            told = {**reports[-1].document(), **_NOTHING_TAKEN, "held": error.code == HELD}
            documents.append({**told, "dry_run": chosen.dry_run})
        else:
            reports.append(made.report)
            documents.append({**made.document()})
            taken += map(taken_line, made.parts)
            if made.earlier:
                context.note(f"{shortened(source)} is {made.earlier.told()}.")
            for line in made.unusual:
                context.note(line)
    show_files(context, documents, reports, Text(taken))


_NOTHING_TAKEN: Mapping[str, Any] = {
    "import_id": None,
    "institution_id": None,
    "accepted": 0,
    "already_imported": None,
    "already_imported_as": None,
    "already_imported_at": None,
}


def taken_line(made: "ImportReport") -> str:
    """Say what an import took, or would take."""
    amount = made.document()["amount_accepted"]
    would_be = "would be " if made.dry_run else ""
    kind = made.report.row_kind or PURCHASES
    return (
        f"{made.report.file}: {counted(made.accepted, kind.noun)} {would_be}taken, "
        f"{amount:,} {made.institution.currency}."
    )
