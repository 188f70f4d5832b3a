"""The serial meaning of matching (rules.md#redeeming), as a plain loop.

Written for reading, one purchase after the other, to hold the set-based program against. Offers,
versions, links and purchases are the rows of `tables.put`, their cells as values. An offer is as it
is now, but for its terms, which are those of its first version; the later ones stand in `versions`,
in the order in which they came. The ids of institutions sort as their names do.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

Row = dict[str, Any]
CENT = Decimal("0.01")
TERMS = ("cashback", "rate", "uses", "min_spend")


@dataclass
class Service:
    """The catalogue, and what was decided so far; `match` decides more purchases."""

    offers: list[Row]
    links: list[Row]
    merchants: set[str]
    merchant_of: dict[str, str]
    versions: list[Row] = field(default_factory=list)
    spent: Counter[str] = field(default_factory=Counter)
    used: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    redemptions: dict[tuple[str, str], tuple[str, Decimal, Decimal, Decimal]] = field(
        default_factory=dict
    )
    outcomes: dict[tuple[str, str, str], str] = field(default_factory=dict)
    unresolved: set[tuple[str, str]] = field(default_factory=set)

    def match(self, purchases: list[Row]) -> None:
        for purchase in sorted(purchases, key=_turn):
            self._decide(purchase)

    def _decide(self, purchase: Row) -> None:
        key = (purchase["institution"], purchase["ref"])
        merchant = purchase["merchant"]
        if merchant not in self.merchants:
            merchant = self.merchant_of.get(purchase["identifier"])
        if merchant not in self.merchants:
            self.unresolved.add(key)
            return
        for offer in sorted(
            (self._then(each, purchase["at"]) for each in self.offers), key=_preference
        ):
            added_at = self._added_at(purchase, offer)
            if offer["merchant"] == merchant and added_at is not None:
                outcome = _fits(purchase, offer, added_at) or self._ask(purchase, offer, key)
                self.outcomes[(*key, offer["offer"])] = outcome

    def _then(self, offer: Row, at: Any) -> Row:
        """Return an offer with the terms of its newest version known at a moment."""
        terms = offer
        for version in self.versions:
            if version["offer"] == offer["offer"] and version["known_at"] <= at:
                terms = version
        return {**offer, **{name: terms[name] for name in TERMS}}

    def _added_at(self, purchase: Row, offer: Row) -> Any:
        for link in self.links:
            if all(link[name] == purchase[name] for name in ("institution", "cardholder")) and (
                link["offer"] == offer["offer"]
            ):
                return link["added_at"]
        return None

    def _ask(self, purchase: Row, offer: Row, key: tuple[str, str]) -> str:
        if key in self.redemptions:
            return "outranked"
        payout = offer["cashback"]
        commission = (payout * offer["rate"]).quantize(CENT, ROUND_HALF_UP)
        funded = payout + commission
        name, budget, uses = offer["offer"], offer["budget"], offer["uses"]
        link = (purchase["institution"], purchase["cardholder"], name)
        if budget is not None and self.spent[name] + funded > budget:
            return "budget_exhausted"
        if uses is not None and self.used[link] >= uses:
            return "redemption_limit_reached"
        self.spent[name] += funded
        self.used[link] += 1
        self.redemptions[key] = (name, funded, commission, payout)
        return "redeemed"


def _turn(purchase: Row) -> tuple[Any, ...]:
    return purchase["at"], purchase["institution"], purchase["ref"]


def _preference(offer: Row) -> tuple[Any, ...]:
    return -offer["cashback"], offer["expires_at"], offer["offer"]


def _fits(purchase: Row, offer: Row, added_at: Any) -> str | None:
    """Return why a purchase does not fit an offer; None if it does."""
    if added_at.replace(microsecond=0) > purchase["at"]:
        return "enrolled_after_purchase"
    if purchase["at"] < offer["starts_at"]:
        return "offer_not_started"
    if purchase["at"] >= offer["expires_at"]:
        return "offer_expired"
    if purchase["amount"] == 0:
        return "refunded"
    if purchase["amount"] < offer["min_spend"]:
        return "below_min_spend"
    return None
