"""Offers: a cardholder's feed, and the adding of an offer (rules.md#feed).

Both write: the feeds of calls that wait in one transaction, an add in one of its own. Segment and
hints are used for the call alone and written nowhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.http.contract.messages import Answer
from cardoffers_cli.http.contract.parameters import (
    flag,
    json_object,
    read_fields,
    read_query,
    text,
    token,
    whole,
)
from cardoffers_cli.offers.feed import hints
from cardoffers_cli.offers.work import MOST_OFFERS, AddRequest, FeedRequest, make_link, show_feeds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.http.contract.gate import Caller
    from cardoffers_cli.http.contract.messages import Call
    from cardoffers_cli.http.contract.routes import Route
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.offers.work import FeedResult

_CARDHOLDER = token(
    "cardholder_token", "The cardholder's opaque, stable token; never personal data."
)
_LONGEST_WORD = 200
_LONGEST_LIST = 2000

FEED = (
    _CARDHOLDER,
    text(
        "locale",
        "en, es or pt-BR. Another one counts as the first language of the program.",
        _LONGEST_WORD,
    ),
    text(
        "segment",
        "The cardholder's segment: offers limited to others are left out. It is not stored.",
        _LONGEST_WORD,
    ),
    whole("limit", "How many offers at most; the program's widget may show fewer.", MOST_OFFERS),
    flag("personalize", "Order the offers by affinity, and give a reason with each."),
    text(
        "prefer_merchants",
        "Merchants to put first, by id or name, separated by commas. They are not stored.",
        _LONGEST_LIST,
    ),
    text(
        "prefer_categories",
        "Categories to put first, separated by commas. They are not stored.",
        _LONGEST_LIST,
    ),
)
"""The parameters of a feed."""

ADD = (
    _CARDHOLDER,
    token("card_token", "The card's opaque token; never a card number."),
    text(
        "segment",
        "The segment that the feed was read with, for offers that are limited to segments.",
        _LONGEST_WORD,
    ),
)
"""The fields of the body of an add."""


def ask_feed(_route: Route, _caller: Caller, call: Call) -> FeedRequest:
    """Return what a call asks of a feed; raise `Problem` where it will not do."""
    query = read_query(call.query, FEED)
    return FeedRequest(
        **{
            **query,
            "prefer_merchants": hints(query["prefer_merchants"]),
            "prefer_categories": hints(query["prefer_categories"]),
        }
    )


def read_feeds(
    store: Store, owner: Institution, requests: Sequence[FeedRequest], job: Job
) -> list[FeedResult]:
    """Read feeds of an institution's cardholders, and note that they were seen."""
    with store.transaction():
        return show_feeds(store, owner, requests, job)


def add(
    store: Store, caller: Caller, call: Call, parameters: Mapping[str, str], job: Job
) -> Answer:
    """Answer 201 for a link that was made, 200 for one that was there."""
    body = json_object(call)
    request = AddRequest(offer_id=parameters["id"], **read_fields(body, ADD))
    with store.transaction():
        link = make_link(store, caller.institution, request, job)
    unknown = len(body.keys() - {parameter.name for parameter in ADD})
    return Answer.of(201 if link["status"] == "added" else 200, link, unknown_fields=unknown)
