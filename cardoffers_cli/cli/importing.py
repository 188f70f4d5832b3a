"""`cardoffers import`: take transaction files into the store."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardoffers_cli.cli.kernel.desk import Desk
from cardoffers_cli.cli.kernel.options import (
    AllowUnterminated,
    Delimiter,
    DryRun,
    Engine,
    Errors,
    Institution,
    LayoutProfile,
    RawRejected,
    Rejected,
    Timezone,
    Valid,
    argument,
    layout_of,
)
from cardoffers_cli.cli.kernel.show import Text
from cardoffers_cli.cli.validate import one_file_for
from cardoffers_cli.domain.counting import counted
from cardoffers_cli.domain.visible import shortened

if TYPE_CHECKING:
    from cardoffers_cli.jobs.river.imports import ImportReport


def import_(
    ctx: typer.Context,
    sources: Annotated[list[str], argument("FILE...", "Files; - is stdin.")],
    *,
    institution: Institution,
    delimiter: Delimiter = ",",
    profile: LayoutProfile = None,
    assume_timezone: Timezone = None,
    allow_unterminated: AllowUnterminated = False,
    errors: Errors = None,
    valid: Valid = None,
    rejected: Rejected = None,
    raw_rejected: RawRejected = False,
    engine: Engine = None,
    dry_run: DryRun = False,
) -> None:
    """Take transaction files into the store, each as a whole or not at all."""
    from cardoffers_cli.cli.file_reports import show_files
    from cardoffers_cli.domain.errors import FileUnusable
    from cardoffers_cli.jobs.river.imports import ImportOptions, import_file
    from cardoffers_cli.jobs.river.intake import FileReport, Outputs

    desk = Desk.of(ctx, engine=engine)
    one_file_for(sources, errors, valid, rejected)
    desk.writes({"--errors": errors, "--valid": valid, "--rejected": rejected}, reads=sources)
    options = ImportOptions(
        delimiter=delimiter,
        assume_timezone=assume_timezone,
        allow_unterminated=allow_unterminated,
        profile=layout_of(profile, delimiter),
        dry_run=dry_run,
    )
    outputs = Outputs(errors=errors, valid=valid, rejected=rejected, raw=raw_rejected)
    documents, reports, taken = [], [], []
    for source in sources:
        try:
            with desk.progress(f"Importing {source}") as bar:
                made = import_file(
                    source, institution, desk.job, options, outputs=outputs, progress=bar.update
                )
        except FileUnusable as error:
            reports.append(FileReport(file=source, file_error=error))
            documents.append({**reports[-1].document(), **_NOTHING_TAKEN, "dry_run": dry_run})
        else:
            reports.append(made.report)
            documents.append({**made.document()})
            taken.append(_taken(made))
            if made.earlier:
                desk.note(f"{shortened(source)} is {made.earlier.told()}.")
    show_files(desk, documents, reports, Text(taken))


_NOTHING_TAKEN: Mapping[str, Any] = {
    "import_id": None,
    "institution_id": None,
    "accepted": 0,
    "already_imported": None,
    "already_imported_as": None,
    "already_imported_at": None,
}


def _taken(made: "ImportReport") -> str:
    """Say what an import took, or would take."""
    amount = made.document()["amount_accepted"]
    would_be = "would be " if made.dry_run else ""
    return (
        f"{made.report.file}: {counted(made.accepted, 'purchase')} {would_be}taken, "
        f"{amount:,} {made.institution.currency}."
    )
