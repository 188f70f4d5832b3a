"""The offer feeds of cardholders (rules.md#feed).

`program_of` has what may be seen now, `readers` what some cardholders have added and used up; the
readings choose from it, `offers_shown` says what a feed says of the chosen, and `record` notes that
they were seen. Segment and hints are written nowhere. What is the same for all readers is
remembered while the store is open: a program until its next offer begins or ends.

In a personal order (rules.md#personal-order) every signal that holds for an offer adds its weight
to the score; equal scores stand in program order. Each weight is more than all later ones together,
so what the reader asks for comes before what the cardholder did, and that before what others do:
the order and the reasons tell one story.

| signal | weight | it holds when |
|---|---|---|
| preferred_merchant | 16 | a hint names the offer's merchant, by id or by name |
| preferred_category | 8 | a hint names the merchant's category |
| past_merchant | 4 | the cardholder bought from the merchant in the last 90 days |
| past_category | 2 | the cardholder bought from a merchant of the category then |
| popular | 1 | the offer is among the ten with most links of the institution's cardholders |

Hints are compared without regard to case, used in memory and kept nowhere.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.kernel.words.texts import first_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


WEIGHTS: Mapping[str, int] = {
    "preferred_merchant": 16,
    "preferred_category": 8,
    "past_merchant": 4,
    "past_category": 2,
    "popular": 1,
}
"""The weight of each signal, in the order in which they give the reason."""

PAST = timedelta(days=90)
MOST_POPULAR = 10
PROGRAM_ORDER = "program_order"


def reason(signals: Mapping[str, Any]) -> str:
    """Return the first signal that holds, else the program's order."""
    return next((signal for signal in WEIGHTS if signals[signal]), PROGRAM_ORDER)


def hints(text: str | None) -> tuple[str, ...]:
    """Return the hints of a comma-separated list."""
    return tuple(hint.strip() for hint in (text or "").split(",") if hint.strip())


if TYPE_CHECKING:
    Texts = Mapping[str, Mapping[str, str | None]]


class ChosenOffer(Record):
    """An offer that is to be shown, and why, if its order has reasons."""

    offer_no: int
    reason: str | None = if_any()


class FeedOffer(Record, sheet="* -reason -reward_type -cashback_percent"):
    """An offer as the contract shows it to a cardholder, who may have added it."""

    id: str
    title: str
    description: str = shown(gives_way=6)
    merchant_id: UUID = shown(gives_way=5)
    min_spend: Amount = shown("spend", gives_way=2)
    cashback_amount: Amount = shown("cashback")
    reward_type: Annotated[str | None, "percent; absent for a fixed amount."] = if_any()
    cashback_percent: Annotated[
        Decimal | None, "Of the purchase, which gives at most cashback_amount."
    ] = if_any()
    currency: str = shown(gives_way=3)
    starts_at: datetime = shown(gives_way=4)
    expires_at: datetime = shown(gives_way=1)
    added: Annotated[bool, "Whether the cardholder has added it."]
    reason: Annotated[str | None, "Only when personalize is true."] = if_any()


@dataclass(frozen=True, kw_only=True)
class FeedProgram:
    """What an institution shows from one moment to before another, None for no end."""

    from_at: datetime
    to_at: datetime | None
    parts: Sequence[tuple[frozenset[str] | None, Sequence[tuple[int, int]]]]
    """Turns and numbers of offers in their order, by the segments that they are limited to."""
    orders: dict[tuple[int, ...], list[int]] = field(default_factory=dict)

    def open_to(self, segment: str | None) -> Sequence[int]:
        """Return the offers that are shown to a segment, in the order of the program."""
        positions = tuple(
            position
            for position, (segments, _) in enumerate(self.parts)
            if segments is None or segment in segments
        )
        if positions not in self.orders:
            turns = sorted(chain.from_iterable(self.parts[position][1] for position in positions))
            self.orders[positions] = [offer_no for _, offer_no in turns]
        return self.orders[positions]


@dataclass(frozen=True, kw_only=True)
class Reader:
    """The offers that a cardholder has added, and those whose uses are spent."""

    added: set[int] = field(default_factory=set)
    spent: set[int] = field(default_factory=set)


STRANGER = Reader()
"""Who has no number has added nothing, and spent no uses."""


def program_of(store: Store, institution_id: UUID, now: datetime) -> FeedProgram:
    """Return the program of an institution as it is now."""
    addresses = ("offers/feed:program", "offers/feed:changes_at")
    of = {"institution_id": institution_id, "now": now}
    key = ("offers/feed:program", institution_id)

    def read() -> list[FeedProgram]:
        parts = [
            (
                None if row["segments"] is None else frozenset(row["segments"].split("|")),
                [*zip(row["turns"], row["offer_nos"], strict=True)],
            )
            for row in store.rows(addresses[0], **of)
        ]
        return [FeedProgram(from_at=now, to_at=store.value(addresses[1], **of), parts=parts)]

    (program,) = programs = store.memory.recall(key, addresses, read)
    if now < program.from_at or (program.to_at is not None and now >= program.to_at):
        (program,) = programs[:] = read()
    return program


def readers(
    store: Store, institution_id: UUID, cardholder_nos: Collection[int]
) -> Mapping[int, Reader]:
    """Return what some cardholders have to do with offers, by their numbers."""
    by_number: defaultdict[int, Reader] = defaultdict(Reader)
    if cardholder_nos:
        for row in store.rows(
            "offers/feed:readers",
            institution_id=institution_id,
            cardholder_nos=list(cardholder_nos),
        ):
            reader = by_number[row["cardholder_no"]]
            (reader.spent if row["is_spent"] else reader.added).add(row["offer_no"])
    return by_number


def by_affinity(
    store: Store,
    institution_id: UUID,
    cardholder_no: int | None,
    open_offers: Sequence[int],
    *,
    preferred: Mapping[str, Sequence[str]],
    now: datetime,
    limit: int,
) -> list[ChosenOffer]:
    """Choose from the open offers those that suit best, in order.

    `preferred` holds the hints by `merchants` and `categories`; a stranger has no number.
    """
    rows = store.rows(
        "offers/feed:by_affinity",
        institution_id=institution_id,
        cardholder_no=cardholder_no,
        offer_nos=list(open_offers),
        merchant_hints=[hint.lower() for hint in preferred["merchants"]],
        category_hints=[hint.lower() for hint in preferred["categories"]],
        past_from=now - PAST,
        now=now,
        most_popular=MOST_POPULAR,
        limit=limit,
        **WEIGHTS,
    )
    return [ChosenOffer(offer_no=row["offer_no"], reason=reason(row)) for row in rows]


def offers_shown(
    store: Store, reader: Reader, chosen: Sequence[ChosenOffer], languages: Sequence[str]
) -> list[FeedOffer]:
    """Return the chosen offers as the contract shows them, texts in the first language had."""
    texts = _told(store, [row.offer_no for row in chosen])
    return [
        texts[row.offer_no].shown(
            tuple(languages), added=row.offer_no in reader.added, why=row.reason
        )
        for row in chosen
    ]


def record(
    store: Store,
    institution_id: UUID,
    seen: Iterable[tuple[int, Sequence[ChosenOffer]]],
    now: datetime,
) -> None:
    """Note one widget view and one impression per offer shown (rules.md#engagement).

    `seen` are feeds, each behind the number of its cardholder.
    """
    rows = [
        (cardholder_no, offer_no)
        for cardholder_no, chosen in seen
        for offer_no in (None, *(row.offer_no for row in chosen))
    ]
    store.execute(
        "offers/feed:record",
        institution_id=institution_id,
        cardholder_nos=[cardholder_no for cardholder_no, _ in rows],
        offer_nos=[offer_no for _, offer_no in rows],
        now=now,
    )


@dataclass(frozen=True)
class _FeedText:
    """What is told of an offer: its row, its texts by language, and what was made of them."""

    row: Mapping[str, Any]
    texts: Texts
    made: dict[tuple[Any, ...], FeedOffer] = field(default_factory=dict)

    def shown(self, languages: tuple[str, ...], *, added: bool, why: str | None) -> FeedOffer:
        key = (languages, added, why)
        if key not in self.made:
            self.made[key] = FeedOffer.part(
                self.row,
                title=first_text(self.texts["title"], languages),
                description=first_text(self.texts["description"], languages),
                added=added,
                reason=why,
            )
        return self.made[key]


def _told(store: Store, numbers: Sequence[int]) -> Mapping[int, _FeedText]:
    """Return what is told of offers by their numbers, and perhaps of others."""
    addresses = ("offers/feed:offers", "offers/feed:texts")
    by_number: dict[int, _FeedText] = store.memory.recall(addresses[0], addresses, dict)
    if missing := [number for number in numbers if number not in by_number]:
        texts: dict[int, Any] = defaultdict(lambda: {"title": {}, "description": {}})
        for row in store.rows(addresses[1], offer_nos=missing):
            for part, in_languages in texts[row["offer_no"]].items():
                in_languages[row["language"]] = row[part]
        for row in store.rows(addresses[0], offer_nos=missing):
            by_number[row["offer_no"]] = _FeedText(row, texts[row["offer_no"]])
    return by_number
