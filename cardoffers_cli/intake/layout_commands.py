"""`cardoffers pack` and `cardoffers schema`: the check of files as a page, and their format."""

from pathlib import Path
from typing import Annotated

import typer

from cardoffers_cli.intake import file_options
from cardoffers_cli.intake.file_options import Currency, currency_decimals, layout_of
from cardoffers_cli.kernel.cli import options, show
from cardoffers_cli.kernel.cli.commands import Format, Options, group, own_output
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import institution_option, option
from cardoffers_cli.kernel.words.errors import UsageError

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

    output = own_output(ctx)
    if output is None:
        raise UsageError("-o validator.html is missing.", hint="Name the file to write.")
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


# `cardoffers schema`: the format of a kind of files, for other tools and for people.


_FOR_PEOPLE = {"markdown": Format.md, "html": Format.html}
_REPLACED = {"tableschema": "jsonschema", "csvw": "jsonschema"}
"""Forms of the version before, and what is typed in their place."""


def _kinds() -> list[str]:
    """Offer the kinds of files to a shell."""
    from cardoffers_cli.intake.schemas.formats import kinds

    return [*kinds()]


def schema(
    ctx: typer.Context,
    *,
    kind: Annotated[
        str,
        option(
            "What they hold: purchases, refunds, credits, or a kind of catalogue file.",
            autocompletion=_kinds,
        ),
    ] = "purchases",
    form: Annotated[
        str | None,
        option(
            "jsonschema for other tools, markdown or html for people [the columns as data].",
            metavar="<jsonschema|markdown|html>",
            autocompletion=lambda: ["jsonschema", *_FOR_PEOPLE],
        ),
    ] = None,
    currency: Currency = None,
    columns: Annotated[
        str | None, option("Of a file with these columns alone, in their order.", metavar="A,B,…")
    ] = None,
) -> None:
    """Show the format of a kind of files: what each column holds and what can be wrong in it."""
    from cardoffers_cli.intake.page import format_page, format_sheets, headline
    from cardoffers_cli.intake.schemas.formats import format_of, json_schema

    options = ctx.ensure_object(Options)
    _check(form)
    if form is not None and options.format is not None:
        raise UsageError("--form and --format exclude each other.", hint="Leave one out.")
    if form is not None:
        options.format = _FOR_PEOPLE.get(form, Format.json)
    context = CommandContext.of(ctx)
    currency_decimals(currency)
    described = format_of(kind, currency, columns.split(",") if columns else None)
    if form == "jsonschema":
        context.show(json_schema(described))
    elif context.format is Format.html:
        context.show_page(format_page(described))
    else:
        sheets = format_sheets(described)
        names = {sheet.name: [*sheet.rows] for sheet in sheets}
        context.show({"kind": kind, **names}, *sheets, show.Text([headline(described)]))


def _check(form: str | None) -> None:
    """Raise `UsageError` for a form that is none, or is none any more."""
    if form is None or form == "jsonschema" or form in _FOR_PEOPLE:
        return
    if instead := _REPLACED.get(form):
        raise UsageError(
            f"`--form {form}` was replaced.",
            code="form_replaced",
            hint=f"Type `cardoffers schema --form {instead}`.",
        )
    raise UsageError(
        f"There is no form {form!r}.", hint="The forms are jsonschema, markdown and html."
    )
