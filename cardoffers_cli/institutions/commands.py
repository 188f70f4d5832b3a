"""`cardoffers institution`: who takes part, and the settings of their programs."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from importlib.resources import files
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cardoffers_cli.kernel.cli import completing, show
from cardoffers_cli.kernel.cli.commands import declared, group, zone
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, argument, option
from cardoffers_cli.kernel.words.errors import UsageError

if TYPE_CHECKING:
    from cardoffers_cli.institutions.calendars import CalendarOptions
    from cardoffers_cli.institutions.work import InstitutionDetails, InstitutionLayout

app = group("List, show, add and set institutions.")

Slug = Annotated[
    str, argument("INST", "The institution: slug or id.", autocompletion=completing.institutions)
]

NONE = "none"


def days(value: str | None) -> int | str | None:
    """Read a number of days, or `none`."""
    if value is None or value == NONE:
        return value
    if re.fullmatch("[0-9]{1,6}", value):
        return int(value)
    raise typer.BadParameter("a number of days, such as 90, or none")


def limit(value: str | None) -> Decimal | str | None:
    """Read an amount from 0, or `none`."""
    if value is None or value == NONE:
        return value
    if re.fullmatch(r"[0-9]{1,14}(\.[0-9]{1,4})?", value):
        return Decimal(value)
    raise typer.BadParameter("an amount, such as 100 or 99.50, or none")


IF_ANY = (
    *("tax_id", "tax_note", "numbers", "account", "account_holder", "account_address"),
    *("address", "country", "time_zone", "accepts_percent", "watch", "expects", "holidays"),
    "legal_hold",
    "shares_tokens_with",
)
"""What is shown of one institution, where there is any."""
CHANGES = (show.Column("field"), show.Column("old_value"), show.Column("new_value"))


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """List the institutions, with the settings of their programs."""
    from cardoffers_cli.institutions.work import InstitutionDetails, all_institutions

    context = CommandContext.of(ctx)
    rows = all_institutions(context.job)
    context.show(rows, show.Sheet.of(InstitutionDetails, "institutions", _rows(rows)))


@app.command("show")
def show_(ctx: typer.Context, slug: Slug) -> None:
    """Show one institution."""
    from cardoffers_cli.institutions.work import show_institution

    context = CommandContext.of(ctx)
    institution = show_institution(context.job, slug)
    context.show(institution, _fields(institution))


@app.command()
def add(
    ctx: typer.Context,
    slug: Annotated[str, argument("SLUG", "Its short name: small letters, digits, hyphens.")],
    *,
    name: Annotated[str, option("Its name.")],
    currency: Annotated[str, option("The currency of its program, ISO 4217.")],
    plan: Annotated[str, option("starter, growth or enterprise.")] = "growth",
    languages: Annotated[str, option("The first is the default; such as en,es or 'en|es'.")] = "en",
    max_active_offers: Annotated[int, option("Links a cardholder may have at once.")] = 50,
    widget_limit: Annotated[int, option("Offers shown at most.")] = 20,
    settlement_hold_days: Annotated[int, option("Days from redemption to settlement.")] = 0,
    dry_run: DryRun = False,
) -> None:
    """Add an institution with its program, which has no offers yet."""
    from cardoffers_cli.institutions.work import add_institution

    context = CommandContext.of(ctx)
    cells: dict[str, str | None] = {
        "slug": slug,
        "name": name,
        "currency": currency,
        "plan": plan,
        "languages": languages.replace(",", "|"),
        "max_active_offers": str(max_active_offers),
        "widget_limit": str(widget_limit),
        "settlement_hold_days": str(settlement_hold_days),
    }
    institution = add_institution(context.job, cells, dry_run=dry_run)
    context.show(institution, _fields(institution))
    context.note("Next: `cardoffers merchant add`, then `cardoffers offer create`.")


def set_(ctx: typer.Context, slug: str, *, dry_run: bool, **given: Any) -> None:
    """Change settings of an institution; the audit log keeps the old values."""
    from cardoffers_cli.institutions.accounts import AccountOptions
    from cardoffers_cli.institutions.work import set_institution

    if given["languages"]:
        given["languages"] = given["languages"].replace(",", "|")
    for name in ("require_marker", "accepts_percent"):
        if given[name] is not None:
            given[name] = str(given[name]).lower()
    columns, policy = (
        {
            name: given[name]
            for name, setting in SETTINGS.items()
            if setting.get("kept") == kept and given[name] is not None
        }
        for kept in ("column", "policy")
    )
    layout = _layout(given["profile"], none=given["no_profile"])
    paid_to = AccountOptions(
        account=given["account"], holder=given["account_holder"], address=given["account_address"]
    )
    calendar = _calendar(given["expects"], given["holidays"])
    sharers, watch, legal_hold = (
        given[name] for name in ("shares_tokens_with", "watch", "legal_hold")
    )
    others = (layout, *vars(paid_to).values(), watch, calendar, legal_hold, given["numbers"])
    if not any((columns, policy, *others, sharers)):
        raise UsageError("Nothing is given to set.", hint="Name a setting, such as --plan growth.")
    context = CommandContext.of(ctx)
    result = set_institution(
        context.job,
        slug,
        {name: str(value) for name, value in columns.items()},
        settings={name: None if new == NONE else new for name, new in policy.items()},
        layout=layout,
        account=paid_to if any(vars(paid_to).values()) else None,
        watch=None if watch is None else watch == "on",
        calendar=calendar,
        legal_hold=legal_hold,
        numbers=given["numbers"] or (),
        token_sharers=sharers and [other for other in sharers if other != NONE],
        dry_run=dry_run,
    )
    if not result.changes:
        context.note("Nothing changes.")
    if result.approval and dry_run:
        context.note(f"A second person has to approve this: {result.approval}.")
    context.show(result, show.Sheet("changes", CHANGES, result.changes or ()))


SETTINGS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    files(__package__).joinpath("settings.toml").read_text("utf-8")
)
"""The settings of an institution, by name; the table says what each part of one is."""
_TYPES: Mapping[str, Any] = {
    "text": str | None,
    "whole": int | None,
    "flag": bool | None,
    "list": list[str] | None,
    "path": Path | None,
    "switch": bool,
}
_READ = {"days": days, "amount": limit, "zone": lambda text: text if text == NONE else zone(text)}


def _declared(name: str, setting: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return how the option of a setting is typed, and its default."""
    kind = setting.get("type", "text")
    of = _TYPES[kind] if isinstance(kind, str) else Literal[tuple(kind)] | None
    more = {part: setting[part] for part in ("metavar", "min", "max") if part in setting}
    if name == "shares_tokens_with":
        more["autocompletion"] = completing.institutions
    if kind == "flag":
        more["show_default"] = False
    typed = option(
        setting["says"],
        setting.get("option", f"--{name.replace('_', '-')}"),
        callback=_READ.get(setting.get("read", "")),
        **more,
    )
    return Annotated[of, typed], False if kind == "switch" else None


declared(
    set_,
    ctx=(typer.Context, Parameter.empty),
    slug=(Slug, Parameter.empty),
    **{name: _declared(name, setting) for name, setting in SETTINGS.items()},
    dry_run=(DryRun, False),
)
app.command("set")(set_)


def _layout(profile: Path | None, *, none: bool) -> "InstitutionLayout | None":
    from cardoffers_cli.institutions.work import InstitutionLayout
    from cardoffers_cli.intake.layout_model import parse_profile, profile_text, refuse_raw_keys

    if none:
        return InstitutionLayout(toml=None)
    if profile is None:
        return None
    text = profile_text(profile)
    refuse_raw_keys(parse_profile(text, str(profile)), profile)
    return InstitutionLayout(toml=text)


def _calendar(expects: list[str] | None, holidays: str | None) -> "CalendarOptions | None":
    from cardoffers_cli.institutions.calendars import CalendarOptions
    from cardoffers_cli.institutions.schedules import read_holidays

    if not expects and holidays is None:
        return None
    is_file = holidays is not None and holidays != NONE
    return CalendarOptions(
        expects=expects or None,
        holidays=read_holidays(Path(holidays)) if holidays and is_file else holidays,
        holidays_name=holidays or NONE,
    )


def _rows(institutions: Sequence["InstitutionDetails"]) -> Sequence[Mapping[str, Any]]:
    """Write languages as catalogue files do."""
    return [{**row, "languages": "|".join(row.languages)} for row in institutions]


def _fields(institution: "InstitutionDetails") -> show.Sheet:
    from cardoffers_cli.institutions.work import InstitutionDetails

    (row,) = _rows([institution])
    names = [*(column.name for column in show.columns_of(InstitutionDetails)), *IF_ANY]
    fields = {name: row[name] for name in names if name in row}
    return show.Sheet.of_fields("institution", fields)
