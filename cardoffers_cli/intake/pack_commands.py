"""`cardoffers pack`: the check of files as one page, which needs no installation."""

from pathlib import Path
from typing import Annotated

import typer

from cardoffers_cli.intake import file_options
from cardoffers_cli.intake.file_options import currency_decimals, layout_of
from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.commands import group, needed_output
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import institution_option, option

pack_app = group("Build the file validator as a page that needs no installation.")


@pack_app.command()
def build(
    ctx: typer.Context,
    *,
    institution: Annotated[
        str | None, institution_option(help="Whose files: its currency and its profile count.")
    ] = None,
    profile: file_options.LayoutProfile = None,
    currency: file_options.Currency = None,
    delimiter: file_options.Delimiter = ",",
    assume_timezone: file_options.Timezone = None,
    pyodide: Annotated[
        Path | None,
        option("The npm package of its runtime [CARDOFFERS_PYODIDE].", metavar="FILE.tgz"),
    ] = None,
    dry_run: options.DryRun = False,
) -> None:
    """Write a page that checks files in a browser, to the file that -o names."""
    from cardoffers_cli.intake.pack.building import FILE, BuiltInLayout, PageCheck, build_page

    output = needed_output(ctx, "validator.html")
    context = CommandContext.of(ctx)
    runtime = pyodide or context.settings.pyodide or context.store_path.with_name(FILE)
    context.writes({"-o": output}, reads=[runtime, *([profile] if profile else [])])
    currency_decimals(currency)
    file_layout = layout_of(profile, delimiter)
    layout = None
    if profile and file_layout:
        layout = BuiltInLayout(profile=file_layout, name=profile.name)
    check = PageCheck(
        currency=currency, delimiter=delimiter, assume_timezone=assume_timezone, layout=layout
    )
    built = build_page(
        context.job, check, runtime, output, institution=institution, dry_run=dry_run
    )
    context.show(built)
    if not dry_run:
        context.note(
            f"Wrote {output}. Open it in a browser, or send it to whoever makes the files."
        )
