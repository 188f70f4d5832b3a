"""`cardoffers institution`: who takes part, and the settings of their programs."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cardoffers_cli.kernel.cli import completing, show
from cardoffers_cli.kernel.cli.commands import group
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
    *("watch", "expects"),
    *("holidays", "legal_hold", "shares_tokens_with"),
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


@app.command("set")
def set_(
    ctx: typer.Context,
    slug: Slug,
    *,
    name: Annotated[str | None, option("Its name.")] = None,
    plan: Annotated[str | None, option("starter, growth or enterprise.")] = None,
    languages: Annotated[
        str | None, option("The first is the default; such as en,es or 'en|es'.")
    ] = None,
    max_active_offers: Annotated[int | None, option("Links a cardholder may have at once.")] = None,
    widget_limit: Annotated[int | None, option("Offers shown at most.")] = None,
    settlement_hold_days: Annotated[
        int | None, option("Days from redemption to settlement.")
    ] = None,
    currency: Annotated[
        str | None, option("ISO 4217; only before it has offers or purchases.")
    ] = None,
    require_marker: Annotated[
        bool | None,
        option(
            "Take its files only with NAME.done or a manifest beside them.",
            "--require-marker/--no-require-marker",
            show_default=False,
        ),
    ] = None,
    credit_days: Annotated[
        int | None,
        option("Days from a redemption until it is expected to be credited.", min=0, max=9999),
    ] = None,
    tax_id: Annotated[
        str | None, option("Its tax number, as its statements are to say it; none.")
    ] = None,
    tax_note: Annotated[
        str | None, option("What its statements are to say of tax, unchanged; none.")
    ] = None,
    profile: Annotated[
        Path | None,
        option("The layout of its own files, by which nightly reads them.", metavar="P.toml"),
    ] = None,
    no_profile: Annotated[bool, option("Its files are in our own layout.", "--no-profile")] = False,
    refund_window_days: Annotated[
        int | None, option("Days from a purchase to a refund without a reference.", min=0)
    ] = None,
    refund_auto_link: Annotated[
        Literal["never", "unique_exact"] | None,
        option("Link a refund without a reference by itself, where one purchase alone fits."),
    ] = None,
    clawback_days: Annotated[
        str | None,
        option("Days from settlement until refunds take nothing back; none.", callback=days),
    ] = None,
    approvals: Annotated[
        Literal["on", "off"] | None,
        option("Let a second person approve reversals, payouts and more."),
    ] = None,
    approval_limit: Annotated[
        str | None,
        option(
            "The amount up to which reversals need no approval; none.",
            callback=limit,
            metavar="AMOUNT",
        ),
    ] = None,
    account: Annotated[
        str | None,
        option("Where it is paid: IBAN/BIC, an IBAN alone, or ROUTING/NUMBER; none."),
    ] = None,
    account_address: Annotated[
        str | None, option("Town and country of the holder, as 'London, GB'; for abroad.")
    ] = None,
    account_holder: Annotated[
        str | None, option("Whose account that is [the institution's name].")
    ] = None,
    watch: Annotated[
        Literal["on", "off"] | None,
        option("Look out for files that are unlike those before, and for abuse."),
    ] = None,
    expects: Annotated[
        list[str] | None,
        option(
            "A file that comes again and again: '*.csv by 01:00 Europe/London on weekdays'; none.",
            metavar="WHEN",
        ),
    ] = None,
    holidays: Annotated[
        str | None,
        option(
            "Days on which `except holidays` expects nothing, in place of before; none.",
            metavar="FILE",
        ),
    ] = None,
    numbers: Annotated[
        list[str] | None,
        option(
            "How long its own numbers of a field are, which are no card numbers; FIELD=none.",
            metavar="FIELD=DIGITS",
        ),
    ] = None,
    shares_tokens_with: Annotated[
        list[str] | None,
        option(
            "Another institution whose cardholders have the same tokens, in place of before; none.",
            metavar="INST",
            autocompletion=completing.institutions,
        ),
    ] = None,
    hold_short: Annotated[
        Literal["both", "on", "off"] | None,
        option("Hold files with too few rows: if they are cut off too (both), always, or never."),
    ] = None,
    legal_hold: Annotated[
        Literal["on", "off"] | None,
        option("Keep all of it: nothing ages away, and nobody is erased."),
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Change settings of an institution; the audit log keeps the old values."""
    from cardoffers_cli.institutions.accounts import AccountOptions
    from cardoffers_cli.institutions.work import set_institution

    settings = {
        "name": name,
        "plan": plan,
        "languages": languages and languages.replace(",", "|"),
        "max_active_offers": max_active_offers,
        "widget_limit": widget_limit,
        "settlement_hold_days": settlement_hold_days,
        "currency": currency,
        "require_marker": None if require_marker is None else str(require_marker).lower(),
        "credit_days": credit_days,
        "tax_id": tax_id,
        "tax_note": tax_note,
    }
    values = {field: str(value) for field, value in settings.items() if value is not None}
    layout = _layout(profile, none=no_profile)
    given = {
        "refund_window_days": refund_window_days,
        "refund_auto_link": refund_auto_link,
        "clawback_days": clawback_days,
        "hold_short": hold_short,
        "approvals": approvals,
        "approval_limit": approval_limit,
    }
    policy = {
        field: None if value == NONE else value
        for field, value in given.items()
        if value is not None
    }
    paid_to = None
    if account or account_holder or account_address:
        paid_to = AccountOptions(account=account, holder=account_holder, address=account_address)
    calendar = _calendar(expects, holidays)
    others = (layout, paid_to, watch, calendar, legal_hold, numbers, shares_tokens_with)
    if not values and not policy and not any(others):
        raise UsageError("Nothing is given to set.", hint="Name a setting, such as --plan growth.")
    context = CommandContext.of(ctx)
    result = set_institution(
        context.job,
        slug,
        values,
        settings=policy,
        layout=layout,
        account=paid_to,
        watch=None if watch is None else watch == "on",
        calendar=calendar,
        legal_hold=legal_hold,
        numbers=numbers or (),
        token_sharers=shares_tokens_with
        and [other for other in shares_tokens_with if other != NONE],
        dry_run=dry_run,
    )
    if not result.changes:
        context.note("Nothing changes.")
    if result.approval and dry_run:
        context.note(f"A second person has to approve this: {result.approval}.")
    context.show(result, show.Sheet("changes", CHANGES, result.changes or ()))


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
