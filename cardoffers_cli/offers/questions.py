"""Offers as operators look at them: those of a program, or one with everything about it.

What an offer's state means stands in `offer_state` (`offers/views.sql`): expired, paused,
not_started, budget_spent or active, the first that holds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.money import quantize
from cardoffers_cli.kernel.words.nearest import did_you_mean, nearest
from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

    Row = Mapping[str, Any]


class ProgramOffer(
    Record,
    sheet="* segments starts_at expires_at -merchant_id -merchant_funded_amount -cashback_percent",
):
    """An offer of a program: its terms, its state and its uptake.

    The budget is the offer's in all programs: so much of it is reserved, and left (None: no
    budget). Segments are those that it is for, none for everybody.
    """

    position: int = shown("no")
    id: str
    title: str | None
    merchant_id: UUID
    merchant_name: str = shown(gives_way=5)
    state: str
    segments: Sequence[str] = shown(gives_way=5)
    currency: str = shown(gives_way=3)
    min_spend: Amount = shown(gives_way=4)
    cashback_amount: Amount = shown(gives_way=4)
    cashback_percent: Decimal | None = if_any()
    merchant_funded_amount: Amount | None
    budget_amount: Amount | None = shown("budget", gives_way=2)
    reserved_amount: Amount = shown("reserved", gives_way=2)
    left_amount: Amount | None = shown("left")
    redemptions: int = shown(gives_way=1)
    links: int = shown(gives_way=1)
    starts_at: datetime = shown(gives_way=6)
    expires_at: datetime = shown(gives_way=6)


class OfferText(Record):
    """What an offer is called in one language."""

    language: str
    title: str
    description: str | None


class OfferUptake(Record):
    """What came of an offer in one program; the amount is in the offer's currency."""

    institution: str
    position: int
    links: int
    redemptions: int
    reserved_amount: Decimal = shown(kind="money")


class OfferVersion(
    Record,
    sheet="* merchant_id -imported_at -run_id -cashback_percent -commission_basis"
    " -max_commission_amount",
):
    """Terms of an offer, as they count from `since`; amounts are in the offer's currency."""

    version: int
    since: datetime
    imported_at: datetime | None
    run_id: UUID | None
    merchant_id: UUID
    min_spend: Decimal = shown(kind="money")
    cashback_amount: Decimal = shown(kind="money")
    cashback_percent: Decimal | None = if_any("percent")
    commission_rate: Decimal
    commission_basis: str | None = if_any()
    max_commission_amount: Decimal | None = if_any(kind="money")
    budget_amount: Decimal | None = shown(kind="money")
    starts_at: datetime
    expires_at: datetime
    max_redemptions_per_cardholder: int | None


class Offer(Record):
    """An offer with its texts, its programs and the versions of its terms, the newest first."""

    id: str
    merchant_id: UUID
    merchant_name: str
    category: str | None
    state: str
    currency: str
    min_spend: Amount
    reward_type: str | None = if_any()
    cashback_percent: Decimal | None = if_any()
    cashback_amount: Amount
    commission_rate: Decimal
    commission_basis: str | None = if_any()
    max_commission_amount: Amount | None = if_any()
    commission_amount: Amount | None
    merchant_funded_amount: Amount | None
    budget_amount: Amount | None
    reserved_amount: Amount
    left_amount: Amount | None
    redemptions: int
    starts_at: datetime
    expires_at: datetime
    segments: Sequence[str]
    max_redemptions_per_cardholder: int | None
    paused: bool
    texts: Sequence[OfferText]
    programs: Sequence[OfferUptake]
    versions: Sequence[OfferVersion]


def offers_in_program(store: Store, institution_id: UUID, now: datetime) -> list[ProgramOffer]:
    """Return the offers of a program in its order, with their state at `now`."""
    rows = store.rows("offers/questions:in_program", institution_id=institution_id, now=now)
    return [ProgramOffer.of({**row, "segments": _segments(row)}) for row in rows]


def show_offer(store: Store, offer_id: str, now: datetime) -> Offer:
    """Return one offer; raise `NotFound` with the nearest ids."""
    terms = store.row("offers/questions:terms", offer_id=offer_id, now=now)
    if terms is None:
        ids = (row["offer_id"] for row in store.rows("offers/questions:ids"))
        raise offer_not_found(nearest(offer_id, ids))
    number = {"offer_no": terms.pop("offer_no")}
    currency = terms["currency"]
    programs = store.records(OfferUptake, "offers/questions:programs", offer_id=offer_id, **number)
    versions = store.records(OfferVersion, "offers/questions:versions", **number)
    return Offer.of(
        {
            **terms,
            "segments": _segments(terms),
            "texts": store.records(OfferText, "offers/questions:texts", offer_id=offer_id),
            "programs": [replace(row, **_exact(row, currency)) for row in programs],
            "versions": [replace(row, **_exact(row, currency)) for row in versions],
        }
    )


def standing(
    store: Store, institution_id: UUID, offer_id: str, now: datetime
) -> tuple[str, list[str]]:
    """Return the state of an offer of a program at `now`, and its segments (none: for everybody).

    Raises `NotFound` for an offer that is unknown, or not in the program.
    """
    row = store.row(
        "offers/questions:standing", institution_id=institution_id, offer_id=offer_id, now=now
    )
    if row is None:
        raise offer_not_found()
    return row["state"], _segments(row)


def offer_not_found(near: Sequence[str] = ()) -> NotFound:
    """Build the refusal of an offer id; it does not repeat the id, which may be anything."""
    advice = "`cardoffers offer list -i INST` shows the offers of a program."
    return NotFound(
        "There is no such offer.",
        code="offer_not_found",
        hint=did_you_mean(near) or advice,
    )


def _segments(row: Row) -> list[str]:
    segments: str | None = row["segments"]
    return segments.split("|") if segments else []


def _exact(row: Row, currency: str) -> Row:
    """Return the amounts of a row with the decimals of its offer's currency."""
    return {
        name: quantize(value, currency)
        for name, value in row.items()
        if value is not None and (name == "min_spend" or name.endswith("_amount"))
    }


def is_known(store: Store, offer_id: str) -> bool:
    """Whether an id is an offer's."""
    return bool(store.value("offers/questions:is_known", offer_id=offer_id))
