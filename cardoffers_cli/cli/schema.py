"""`cardoffers schema`: the format of a kind of files, for other tools and for people."""

from typing import Annotated, Literal

import typer

from cardoffers_cli.cli.kernel import show
from cardoffers_cli.cli.kernel.commands import Format, Options
from cardoffers_cli.cli.kernel.desk import Desk
from cardoffers_cli.cli.kernel.options import Currency, currency_decimals, option
from cardoffers_cli.domain.errors import UsageError

_FOR_PEOPLE = {"markdown": Format.md, "html": Format.html}


def _kinds() -> list[str]:
    """Offer the kinds of files to a shell."""
    from cardoffers_cli.files.schemas.formats import kinds  # polars is heavy

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
        Literal["tableschema", "csvw", "jsonschema", "markdown", "html"] | None,
        option("For other tools, or a page for people [the columns as data]."),
    ] = None,
    currency: Currency = None,
    columns: Annotated[
        str | None, option("Of a file with these columns alone, in their order.", metavar="A,B,…")
    ] = None,
) -> None:
    """Show the format of a kind of files: what each column holds and what can be wrong in it."""
    from cardoffers_cli.files.html.format import format_page, format_sheets, headline
    from cardoffers_cli.files.schemas import documents
    from cardoffers_cli.files.schemas.formats import format_of

    options = ctx.ensure_object(Options)
    if form is not None and options.format is not None:
        raise UsageError("--form and --format exclude each other.", hint="Leave one out.")
    if form is not None:
        options.format = _FOR_PEOPLE.get(form, Format.json)
    desk = Desk.of(ctx)
    currency_decimals(currency)
    described = format_of(kind, currency, columns.split(",") if columns else None)
    writers = {
        "tableschema": documents.table_schema,
        "csvw": documents.csvw,
        "jsonschema": documents.json_schema,
    }
    if form in writers:
        desk.show(writers[form](described))
    elif desk.format is Format.html:
        desk.show_page(format_page(described))
    else:
        sheets = format_sheets(described)
        names = {sheet.name: [*sheet.rows] for sheet in sheets}
        desk.show({"kind": kind, **names}, *sheets, show.Text([headline(described)]))
