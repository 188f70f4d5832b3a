"""`cardoffers schema`: the format of a kind of files, for other tools and for people."""

from typing import Annotated

import typer

from cardoffers_cli.intake.file_options import Currency, currency_decimals
from cardoffers_cli.kernel.cli import show
from cardoffers_cli.kernel.cli.commands import Format, Options
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import option
from cardoffers_cli.kernel.words.errors import UsageError

_FOR_PEOPLE = {"markdown": Format.md, "html": Format.html}
_REPLACED = {"tableschema": "jsonschema", "csvw": "jsonschema"}
"""Forms of the version before, and what is typed in their place."""


def _kinds() -> list[str]:
    """Offer the kinds of files to a shell."""
    from cardoffers_cli.catalogue.formats import kinds

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
    from cardoffers_cli.catalogue.formats import format_of
    from cardoffers_cli.intake.page import format_page, format_sheets, headline
    from cardoffers_cli.intake.schemas.formats import json_schema

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
        raise UsageError.from_table("catalogue", "form_replaced", form=form, instead=instead)
    raise UsageError(
        f"There is no form {form!r}.", hint="The forms are jsonschema, markdown and html."
    )
