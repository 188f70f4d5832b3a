"""Offers to a cardholder: read the feed, add an offer; and what operators see of both.

A feed read notes that it was seen, so it writes, like an add, in one transaction under the store's
lock. That lock is also why two adds at once can neither make two links nor pass the limit. A
command opens the store for its one request (`read_feed`, `add_offer`); who has it open already
calls what these call (`show_feeds`, `make_link`) in a transaction of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from cardoffers_cli.catalogue.merchants import find_merchant
from cardoffers_cli.catalogue.rows import write_row
from cardoffers_cli.intake.chunks import check_token
from cardoffers_cli.kernel.identifiers import whole_offer_id
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import Refused, UsageError
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.kernel.words.texts import languages_to_try
from cardoffers_cli.offers import feed, links
from cardoffers_cli.offers import questions as offers
from cardoffers_cli.offers.links import (
    find_cardholder,
    find_cardholders,
    take_in_cardholders,
    take_in_payer,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cardoffers_cli.catalogue.rows import Cells
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

MOST_OFFERS = 100


@dataclass(frozen=True, kw_only=True)
class FeedRequest:
    """What is asked of a feed; who asks and how is shown by no message, so not by `repr` either."""

    cardholder_token: str = field(repr=False)
    locale: str | None = None
    segment: str | None = field(default=None, repr=False)
    limit: int | None = None
    personalize: bool = False
    prefer_merchants: tuple[str, ...] = field(default=(), repr=False)
    prefer_categories: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, kw_only=True)
class AddRequest:
    """What is asked of an add."""

    offer_id: str
    cardholder_token: str = field(repr=False)
    card_token: str = field(repr=False)
    segment: str | None = field(default=None, repr=False)


class FeedResult(Record):
    """The offers that a cardholder is shown, of so many in all (rules.md#feed)."""

    offers: Sequence[feed.FeedOffer]
    total: Annotated[int, "Offers the cardholder may see, before the limit."]
    personalized: bool


class AddedLink(Record):
    """What came of an add: `added`, or `already_added`, and the link."""

    status: str
    cardholder_offer_id: UUID


class CardholderLinks(Record):
    """The links of one cardholder, of which so many are active, and may be at most."""

    active: int
    max_active_offers: int | None
    links: Sequence[links.LinkRow]


def read_feed(
    institution: str, request: FeedRequest, job: Job, *, dry_run: bool = False
) -> FeedResult:
    """Return the feed of a cardholder, and note that it was seen.

    Raises `UsageError` for a limit or a token that will not do, and `NotFound`.
    """
    check_token("cardholder_token", request.cardholder_token)
    if request.limit is not None and not 1 <= request.limit <= MOST_OFFERS:
        raise UsageError.from_table("offers", "limit_invalid", most=MOST_OFFERS)
    with job.store(read_only=dry_run) as store, store.transaction(keep=not dry_run):
        owner = find_institution(store, institution)
        (result,) = show_feeds(store, owner, [request], job, dry_run=dry_run)
        return result


def show_feeds(
    store: Store,
    owner: Institution,
    requests: Sequence[FeedRequest],
    job: Job,
    *,
    dry_run: bool = False,
) -> list[FeedResult]:
    """Return feeds (rules.md#feed), and note in the caller's transaction who saw them.

    Tokens and limits must have been checked.
    """
    tokens = {request.cardholder_token for request in requests}
    numbers = find_cardholders(store, owner.id, tokens)
    program = feed.program_of(store, owner.id, job.now)
    readers = feed.readers(store, owner.id, {*numbers.values()})
    feeds, seen = [], []
    for request in requests:
        token = request.cardholder_token
        reader = readers[numbers[token]] if token in numbers else feed.STRANGER
        unspent = program.open_to(request.segment)
        if reader.spent:
            unspent = [number for number in unspent if number not in reader.spent]
        query = _FeedRequest(request=request, cardholder_no=numbers.get(token), unspent=unspent)
        chosen = _choose(store, owner, query, job)
        languages = languages_to_try(request.locale, owner.languages)
        rows = feed.offers_shown(store, reader, chosen, languages)
        total = len(unspent)
        feeds.append(FeedResult(offers=rows, total=total, personalized=request.personalize))
        seen.append((token, chosen))
    if not dry_run:
        numbers = take_in_cardholders(store, owner.id, tokens)
        noted = ((numbers[token], chosen) for token, chosen in seen)
        feed.record(store, owner.id, noted, job.now)
    return feeds


def add_offer(
    institution: str, request: AddRequest, job: Job, *, dry_run: bool = False
) -> AddedLink:
    """Add an offer for a cardholder.

    Raises what `make_link` raises, and before it `UsageError` for a token that will not do.
    """
    check_token("cardholder_token", request.cardholder_token)
    check_token("card_token", request.card_token)
    with job.store() as store, store.transaction(keep=not dry_run):
        wanted = replace(request, offer_id=whole_offer_id(store, request.offer_id))
        return make_link(store, find_institution(store, institution), wanted, job)


def make_link(store: Store, owner: Institution, request: AddRequest, job: Job) -> AddedLink:
    """Add an offer in the caller's transaction (rules.md#adding).

    A repeated add finds the link that is there, whatever became of the offer. Else raises, in this
    order: `NotFound` offer_not_found; `Refused` offer_not_available, segment_not_eligible,
    max_active_offers. The tokens must have been checked.
    """
    link_id = _link(store, owner, request)
    if link_id is not None:
        return AddedLink(status="already_added", cardholder_offer_id=link_id)
    state, segments = offers.standing(store, owner.id, request.offer_id, job.now)
    if state != "active":
        raise Refused(
            f"The offer cannot be added: it is {state.replace('_', ' ')}.",
            code="offer_not_available",
            hint="The feed shows the offers that can be added now.",
            state=state,
        )
    if segments and request.segment not in segments:
        raise Refused.from_table("offers", "segment_not_eligible")
    _must_have_room(store, owner, request, job)
    with run_record(store, kind="offer_add", now=job.now, actor=job.actor) as run:
        payer = take_in_payer(store, owner.id, request.cardholder_token, request.card_token)
        links.add_link(store, owner.id, payer, request.offer_id, now=job.now, run_no=run.run_no)
        run.counts["links"] = 1
    return AddedLink(status="added", cardholder_offer_id=_link(store, owner, request))


def program(institution: str, job: Job) -> list[offers.ProgramOffer]:
    """Return the offers of an institution's program, with their state and their money."""
    with reading(job) as source:
        owner = find_institution(source.store, institution)
        return offers.offers_in_program(source.store, owner.id, job.now)


def show_offer(offer_id: str, job: Job) -> offers.Offer:
    """Return one offer with everything about it; raise `NotFound`."""
    with reading(job) as source:
        return offers.show_offer(source.store, whole_offer_id(source.store, offer_id), job.now)


def cardholder_links(institution: str, cardholder_token: str, job: Job) -> CardholderLinks:
    """Return the links of one cardholder, masked."""
    check_token("cardholder_token", cardholder_token)
    with reading(job) as source:
        owner = find_institution(source.store, institution)
        number = find_cardholder(source.store, owner.id, cardholder_token)
        rows = links.links_of(source.store, owner.id, number, job.now)
    return CardholderLinks(
        active=sum(link.active for link in rows),
        max_active_offers=owner.max_active_offers,
        links=rows,
    )


@dataclass(frozen=True, kw_only=True)
class _FeedRequest:
    """One request, of a cardholder who may be a stranger, and the offers that may be shown."""

    request: FeedRequest
    cardholder_no: int | None
    unspent: Sequence[int]


def _choose(
    store: Store, owner: Institution, query: _FeedRequest, job: Job
) -> list[feed.ChosenOffer]:
    request = query.request
    limit = min(request.limit or MOST_OFFERS, owner.widget_limit, MOST_OFFERS)
    if not request.personalize:
        return [feed.ChosenOffer(offer_no=number, reason=None) for number in query.unspent[:limit]]
    return feed.by_affinity(
        store,
        owner.id,
        query.cardholder_no,
        query.unspent,
        preferred={"merchants": request.prefer_merchants, "categories": request.prefer_categories},
        now=job.now,
        limit=limit,
    )


def _link(store: Store, owner: Institution, request: AddRequest) -> Any:
    number = find_cardholder(store, owner.id, request.cardholder_token)
    return store.value(
        "offers/links:find",
        institution_id=owner.id,
        cardholder_no=number,
        offer_id=request.offer_id,
    )


def _must_have_room(store: Store, owner: Institution, request: AddRequest, job: Job) -> None:
    number = find_cardholder(store, owner.id, request.cardholder_token)
    rows = links.links_of(store, owner.id, number, job.now)
    most = owner.max_active_offers
    if most is not None and sum(link.active for link in rows) >= most:
        raise Refused.from_table("offers", "max_active_offers", most=most)


# Make an offer by hand: it is new; to change one import it.


class CreatedOffer(Record):
    """The row of an offer, as text, and its place in the program of an institution."""

    offer_id: str
    title_en: str | None = if_any()
    description_en: str | None = if_any()
    min_spend: str | None = if_any()
    cashback_amount: str | None = if_any()
    reward_type: str | None = if_any()
    cashback_percent: str | None = if_any()
    max_cashback_amount: str | None = if_any()
    commission_rate: str | None = if_any()
    commission_basis: str | None = if_any()
    max_commission_amount: str | None = if_any()
    budget_amount: str | None = if_any()
    starts_at: str
    expires_at: str | None = if_any()
    segments: str | None = if_any()
    max_redemptions_per_cardholder: str | None = if_any()
    merchant_id: str
    currency: str
    merchant_name: str
    institution: str
    position: int
    dry_run: bool


def create_offer(
    job: Job, institution: str, merchant: str, cells: Cells, *, dry_run: bool = False
) -> CreatedOffer:
    """Make an offer of a merchant, at the end of an institution's program; return its row.

    Its currency is the institution's. Without `starts_at` it starts now.
    """
    with job.store() as store, store.transaction(keep=not dry_run):
        owner = find_institution(store, institution)
        merchant_row = find_merchant(store, merchant)
        offer_id = cells["offer_id"] or ""
        if offers.is_known(store, offer_id):
            raise Refused.from_table("offers", "offer_exists", offer_id=offer_id)
        row: Cells = {
            **cells,
            "merchant_id": str(merchant_row.merchant_id),
            "currency": owner.currency,
            "starts_at": cells.get("starts_at") or format_moment(job.now),
        }
        with run_record(store, kind="offer_create", now=job.now, actor=job.actor) as run:
            write_row(store, "offers", row, run)
            of = {"institution_id": owner.id}
            position = int(store.value("offers/questions:next_position", **of))
            place = {"institution": owner.slug, "offer_id": offer_id, "position": str(position)}
            write_row(store, "program_offers", place, run)
            run.counts["offer_id"] = offer_id
    return CreatedOffer.part(
        row,
        merchant_name=merchant_row.name,
        institution=owner.slug,
        position=position,
        dry_run=dry_run,
    )
