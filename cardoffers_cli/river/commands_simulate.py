"""`cardoffers simulate`: what a file would come to, with nothing written."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer

from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import argument, layout_for, layout_of
from cardoffers_cli.kernel.cli.show import Column, Sheet

REASONS = (Column("outcome"), Column("reason"), Column("purchases", kind="integer"))


def simulate(
    ctx: typer.Context,
    source: Annotated[str, argument("FILE", "A file; - is stdin.")],
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
) -> None:
    """Show what importing and matching a file would come to; nothing is written."""
    from cardoffers_cli.intake.report_commands import blocks, named
    from cardoffers_cli.kernel.words.errors import FileUnusable
    from cardoffers_cli.river.decisions import SimulatedPurchase
    from cardoffers_cli.river.imports import ImportOptions
    from cardoffers_cli.river.receiving import Outputs
    from cardoffers_cli.river.simulate import simulate_file

    context = CommandContext.of(ctx, engine=engine)
    context.writes({"--errors": errors, "--valid": valid, "--rejected": rejected}, reads=[source])
    layout = layout_of(profile, delimiter, sheet)
    is_other = no_profile or delimiter != "," or sheet is not None
    chosen = ImportOptions(
        delimiter=delimiter,
        assume_timezone=assume_timezone,
        allow_unterminated=allow_unterminated,
        is_own=yes_it_is,
        sheet=sheet,
        profile=layout_for(context, institution, layout, is_other=is_other),
    )
    outputs = Outputs(errors=errors, valid=valid, rejected=rejected, raw=raw_rejected)
    try:
        with context.progress(f"Simulating {source}") as bar:
            report = simulate_file(
                source, institution, context.job, chosen, outputs=outputs, progress=bar.update
            )
    except FileUnusable as error:
        raise named(source, error) from None
    found = report.taken.report
    context.show(
        report.document(),
        Sheet.of(SimulatedPurchase, "items", report.items, title="Purchases"),
        Sheet("reasons", REASONS, list(_reasons(report.items)), title="In all"),
        *blocks([found]),
        exit_code=0 if found.ok else 3,
    )


def _reasons(items: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    counted = Counter((item["outcome"], item["reason"]) for item in items)
    for (outcome, reason), purchases in counted.most_common():
        yield {"outcome": outcome, "reason": reason, "purchases": purchases}
