"""`cardoffers offer`: what cardholders are shown and what they add."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import typer

from cardoffers_cli.kernel.cli import completing
from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, Institution, argument, option, typed
from cardoffers_cli.kernel.cli.show import Block, Column, Sheet, columns_of
from cardoffers_cli.kernel.words.sentences import counted

app = group("List, show and create offers, read a feed, add an offer.")

OfferId = Annotated[
    str,
    argument(
        "OFFER_ID",
        "The offer: its id, a beginning that only it has, or latest.",
        autocompletion=completing.offers,
    ),
]
Cardholder = Annotated[
    str, option("The cardholder's token; - reads it from standard input.", metavar="TOKEN")
]
Card = Annotated[str, option("The card's token; - reads it from standard input.", metavar="TOKEN")]
Segment = Annotated[str | None, option("The cardholder's segment; used now and kept nowhere.")]

TEXTS = (Column("language"), Column("title"), Column("description"))


@app.command("list")
def list_(ctx: typer.Context, *, institution: Institution) -> None:
    """List the offers of a program in its order, with their state and their budget."""
    from cardoffers_cli.offers.questions import ProgramOffer
    from cardoffers_cli.offers.work import program

    context = CommandContext.of(ctx)
    offers = program(institution, context.job)
    rows = [{**row, "segments": "|".join(row.segments)} for row in offers]
    sheet = Sheet.of(ProgramOffer, "offers", rows)
    context.show(offers, replace(sheet, columns=_with_percent(sheet.columns, rows)))


@app.command("show")
def show_(ctx: typer.Context, offer_id: OfferId) -> None:
    """Show one offer: its terms, texts, programs, and the terms it had before."""
    from cardoffers_cli.offers.work import show_offer

    context = CommandContext.of(ctx)
    offer = show_offer(offer_id, context.job)
    context.show(offer, *_sheets(offer))


@app.command()
def create(
    ctx: typer.Context,
    offer_id: Annotated[str, argument("OFFER_ID", "A new id: visible characters, no spaces.")],
    *,
    institution: Institution,
    merchant: Annotated[
        str, option("The merchant: its name, its id, the beginning of that, or latest.")
    ],
    title: Annotated[str, option("The title in English.")],
    min_spend: Annotated[str, option("What is to be spent.", metavar="AMOUNT")],
    cashback: Annotated[
        str | None, option("What comes back of every purchase.", metavar="AMOUNT")
    ] = None,
    percent: Annotated[
        str | None, option("What comes back of a purchase, in place of that.", metavar="PERCENT")
    ] = None,
    max_: Annotated[
        str | None, option("What a percent gives at most.", "--max", metavar="AMOUNT")
    ] = None,
    expires: Annotated[str, option("When it ends, excluded.", metavar="TIME")],
    starts: Annotated[str | None, option("When it begins [now].", metavar="TIME")] = None,
    description: Annotated[str | None, option("A description in English.")] = None,
    budget: Annotated[str | None, option("What it may cost [no limit].", metavar="AMOUNT")] = None,
    commission_rate: Annotated[
        str | None, option("Of the cashback, such as 0.10 [0].", metavar="SHARE")
    ] = None,
    commission_basis: Annotated[
        Literal["cashback", "spend"] | None, option("What the rate is of [cashback].")
    ] = None,
    max_commission: Annotated[
        str | None, option("The most that is commission [no limit].", metavar="AMOUNT")
    ] = None,
    max_redemptions: Annotated[int | None, option("For each cardholder [no limit].")] = None,
    segments: Annotated[str | None, option("Only for these [everybody].", metavar="A,B")] = None,
    dry_run: DryRun = False,
) -> None:
    """Create an offer at the end of an institution's program, in its currency."""
    from cardoffers_cli.offers.work import create_offer

    context = CommandContext.of(ctx)
    cells: dict[str, str | None] = {
        "offer_id": offer_id,
        "title_en": title,
        "description_en": description,
        "min_spend": min_spend,
        "cashback_amount": cashback,
        "reward_type": None if percent is None else "percent",
        "cashback_percent": percent,
        "max_cashback_amount": max_,
        "commission_rate": commission_rate,
        "commission_basis": commission_basis,
        "max_commission_amount": max_commission,
        "budget_amount": budget,
        "starts_at": starts,
        "expires_at": expires,
        "segments": segments and segments.replace(",", "|"),
        "max_redemptions_per_cardholder": None if max_redemptions is None else str(max_redemptions),
    }
    context.show(create_offer(context.job, institution, merchant, cells, dry_run=dry_run))


@app.command()
def feed(
    ctx: typer.Context,
    *,
    institution: Institution,
    cardholder: Cardholder,
    locale: Annotated[str | None, option("en, es or pt-BR.")] = None,
    segment: Segment = None,
    limit: Annotated[int | None, option("1 to 100, and at most what the widget shows.")] = None,
    personalize: Annotated[
        bool, option("Order by affinity, and say why.", "--personalize")
    ] = False,
    prefer_merchants: Annotated[
        str | None, option("Merchants by id or name; kept nowhere.", metavar="A,B")
    ] = None,
    prefer_categories: Annotated[
        str | None, option("Categories; kept nowhere.", metavar="A,B")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Read the feed of a cardholder, as the institution's app would; counts as a view."""
    from cardoffers_cli.offers.feed import FeedOffer, hints
    from cardoffers_cli.offers.work import FeedRequest, read_feed

    context = CommandContext.of(ctx)
    request = FeedRequest(
        cardholder_token=next(typed(cardholder)),
        locale=locale,
        segment=segment,
        limit=limit,
        personalize=personalize,
        prefer_merchants=hints(prefer_merchants),
        prefer_categories=hints(prefer_categories),
    )
    body = read_feed(institution, request, context.job, dry_run=dry_run)
    columns = _with_percent(columns_of(FeedOffer), body["offers"])
    columns = (*columns, Column("reason")) if personalize else columns
    if body["total"] > len(body["offers"]):
        context.note(f"Shown: {len(body['offers'])} of {counted(body['total'], 'offer')}.")
    context.show(_said(body, dry_run=dry_run), Sheet("offers", columns, body["offers"]))


@app.command()
def add(
    ctx: typer.Context,
    offer_id: OfferId,
    *,
    institution: Institution,
    cardholder: Cardholder,
    card: Card,
    segment: Segment = None,
    dry_run: DryRun = False,
) -> None:
    """Add an offer for a cardholder; purchases can redeem it from now on."""
    from cardoffers_cli.offers.work import AddRequest, add_offer

    context = CommandContext.of(ctx)
    cardholder_token, card_token = typed(cardholder, card)
    request = AddRequest(
        offer_id=offer_id, cardholder_token=cardholder_token, card_token=card_token, segment=segment
    )
    body = add_offer(institution, request, context.job, dry_run=dry_run)
    context.show(_said(body, dry_run=dry_run))


@app.command("link-list")
def link_list(ctx: typer.Context, *, institution: Institution, cardholder: Cardholder) -> None:
    """List the offers a cardholder has added, with state and uses."""
    from cardoffers_cli.offers.links import LinkRow
    from cardoffers_cli.offers.work import cardholder_links

    context = CommandContext.of(ctx)
    result = cardholder_links(institution, next(typed(cardholder)), context.job)
    most = result.max_active_offers
    limit = "" if most is None else f" of at most {most}"
    context.note(f"Active offers: {result.active}{limit}.")
    context.show(result, Sheet.of(LinkRow, "links", result.links))


def _said(body: Mapping[str, Any], *, dry_run: bool) -> Mapping[str, Any]:
    """Return a body of the HTTP contract, which knows no dry run."""
    return {**body, "dry_run": True} if dry_run else body


def _with_percent(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return the columns with one for what percent offers give, where there are any."""
    if not any(row.get("cashback_percent") for row in rows):
        return columns
    place = [column.name for column in columns].index("cashback_amount")
    percent = Column("cashback_percent", "percent, up to")
    return (*columns[:place], percent, *columns[place:])


def _sheets(offer: Mapping[str, Any]) -> Iterator[Block]:
    from cardoffers_cli.offers.questions import OfferUptake, OfferVersion

    lists = ("texts", "programs", "versions")
    terms = {name: value for name, value in offer.items() if name not in lists}
    yield Sheet.of_fields("offer", {**terms, "segments": "|".join(terms["segments"])})
    yield Sheet("texts", TEXTS, offer["texts"], title="Texts")
    for name, columns in (
        ("programs", columns_of(OfferUptake)),
        ("versions", columns_of(OfferVersion)),
    ):
        rows = [{**row, "currency": offer["currency"]} for row in offer[name]]
        yield Sheet(name, _with_percent(columns, rows), rows, title=name.capitalize())
