"""`cardoffers institution`: who takes part, and the settings of their programs."""

from typing import Annotated, Any

import typer

from cardoffers_cli.cli import completing, show
from cardoffers_cli.cli.desk import Desk
from cardoffers_cli.cli.options import DryRun
from cardoffers_cli.domain.errors import UsageError

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Slug = Annotated[
    str,
    typer.Argument(
        metavar="INST", help="The institution: slug or id.", autocompletion=completing.institutions
    ),
]

COLUMNS = (
    show.Column("slug"),
    show.Column("institution_id", kind="id"),
    show.Column("name"),
    show.Column("plan"),
    show.Column("currency"),
    show.Column("languages"),
    show.Column("max_active_offers", kind="integer"),
    show.Column("widget_limit", kind="integer"),
    show.Column("settlement_hold_days", kind="integer"),
    show.Column("webhook_url"),
)
CHANGES = (show.Column("field"), show.Column("old_value"), show.Column("new_value"))


@app.callback()
def institution() -> None:
    """List, show and set institutions."""


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """List the institutions, with the settings of their programs.

    Try:

        cardoffers institution list
    """
    from cardoffers_cli.jobs.institutions import all_institutions  # polars is heavy

    desk = Desk.of(ctx)
    found = all_institutions(desk.job)
    desk.show(found, show.Sheet("institutions", COLUMNS, _rows(found)))


@app.command("show")
def show_(ctx: typer.Context, slug: Slug) -> None:
    """Show one institution.

    Try:

        cardoffers institution show larkmere
    """
    from cardoffers_cli.jobs.institutions import show_institution  # polars is heavy

    desk = Desk.of(ctx)
    found = show_institution(desk.job, slug)
    desk.show(found, _fields(found))


@app.command("set")
def set_(
    ctx: typer.Context,
    slug: Slug,
    *,
    name: Annotated[str | None, typer.Option(help="Its name.")] = None,
    plan: Annotated[str | None, typer.Option(help="starter, growth or enterprise.")] = None,
    languages: Annotated[
        str | None, typer.Option(help="The first is the default; such as en,es or 'en|es'.")
    ] = None,
    max_active_offers: Annotated[
        int | None, typer.Option(help="Links a cardholder may have at once.")
    ] = None,
    widget_limit: Annotated[int | None, typer.Option(help="Offers shown at most.")] = None,
    settlement_hold_days: Annotated[
        int | None, typer.Option(help="Days from redemption to settlement.")
    ] = None,
    currency: Annotated[
        str | None, typer.Option(help="ISO 4217; only before it has offers or purchases.")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Change settings of an institution; the audit log keeps the old values.

    Try:

        cardoffers institution set larkmere --plan enterprise --settlement-hold-days 7
    """
    from cardoffers_cli.jobs.institutions import set_institution  # polars is heavy

    given = {
        "name": name,
        "plan": plan,
        "languages": languages and languages.replace(",", "|"),
        "max_active_offers": max_active_offers,
        "widget_limit": widget_limit,
        "settlement_hold_days": settlement_hold_days,
        "currency": currency,
    }
    values = {field: str(value) for field, value in given.items() if value is not None}
    if not values:
        raise UsageError("Nothing is given to set.", hint="Name a setting, such as --plan growth.")
    desk = Desk.of(ctx)
    result = set_institution(desk.job, slug, values, dry_run=dry_run)
    if not result["changes"]:
        desk.note("Nothing changes.")
    desk.show(result, show.Sheet("changes", CHANGES, result["changes"]))


def _rows(institutions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Write languages as catalogue files do."""
    return [{**each, "languages": "|".join(each["languages"])} for each in institutions]


def _fields(institution: dict[str, Any]) -> show.Sheet:
    (row,) = _rows([institution])
    fields = [{"field": column.name, "value": row[column.name]} for column in COLUMNS]
    return show.Sheet("institution", (show.Column("field"), show.Column("value")), fields)
