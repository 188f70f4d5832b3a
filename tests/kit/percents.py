"""Percent offers as a plain loop, one purchase after the other, and random programs of them.

Merchants share nothing, so a program of many merchants is as many instances in one match. Offers,
versions and purchases are the rows of `tables.put`, their cells as values.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

from tables import NOON, put

if TYPE_CHECKING:
    from random import Random

    from cardoffers_cli.kernel.store.store import Store

Row = dict[str, Any]
DECIMALS = {"JPY": 0, "GBP": 2, "KWD": 3}
INSTITUTIONS = {
    f"{currency.lower()}-{letter}": currency for currency in DECIMALS for letter in "ab"
}
"""Two institutions of each currency, by their names, which sort as their ids do."""
IDS = {name: f"00000000-0000-0000-0000-00000000000{n}" for n, name in enumerate(INSTITUTIONS, 1)}
TERMS = ("cashback", "percent", "cap", "rate", "basis", "most_commission", "uses", "min_spend")


def rounded(amount: Decimal, currency: str) -> Decimal:
    return amount.quantize(Decimal(1).scaleb(-DECIMALS[currency]), ROUND_HALF_UP)


def amounts(terms: Row, spent: Decimal) -> tuple[Decimal, Decimal]:
    """Return the cashback and the commission of a purchase of which so much is left."""
    currency = terms["currency"]
    reward = terms["cashback"]
    if terms["percent"] is not None:
        reward = min(terms["cap"], rounded(spent * terms["percent"] / 100, currency))
    of = spent if terms["basis"] == "spend" else reward
    commission = rounded(of * terms["rate"], currency)
    most = terms["most_commission"]
    return reward, commission if most is None else min(most, commission)


def largest(terms: Row) -> Decimal:
    """Return the most that one redemption can cost."""
    reward = terms["cap"] if terms["percent"] is not None else terms["cashback"]
    if terms["basis"] == "spend":
        return Decimal(reward + (terms["most_commission"] or 0))
    return Decimal(reward + amounts({**terms, "percent": None, "cashback": reward}, reward)[1])


@dataclass
class Loop:
    """What was decided so far of the offers of one merchant or of many."""

    offers: list[Row]
    versions: list[Row]
    spent: Counter[str] = field(default_factory=Counter)
    used: Counter[tuple[str, str]] = field(default_factory=Counter)
    redemptions: dict[str, tuple[str, Decimal, Decimal]] = field(default_factory=dict)
    terms: dict[str, Row] = field(default_factory=dict)
    outcomes: dict[tuple[str, str], str] = field(default_factory=dict)

    def match(self, purchases: list[Row]) -> None:
        by_merchant: dict[str, list[Row]] = {}
        for offer in self.offers:
            by_merchant.setdefault(offer["merchant"], []).append(offer)
        for bought in sorted(
            purchases, key=lambda row: (row["at"], row["institution"], row["ref"])
        ):
            offers = [self._then(offer, bought) for offer in by_merchant[bought["merchant"]]]
            for offer in sorted(
                offers, key=lambda row: (-row["reward"], row["expires_at"], row["offer"])
            ):
                self.outcomes[bought["ref"], offer["offer"]] = self._ask(offer, bought)

    def _then(self, offer: Row, bought: Row) -> Row:
        """Return an offer with its terms of then, and what it gives of the purchase."""
        at, terms = bought["at"], offer
        for version in self.versions:
            if version["offer"] == offer["offer"] and version["known_at"] <= at:
                terms = version
        then = {**offer, **{name: terms[name] for name in TERMS}}
        reward, commission = amounts(then, bought["amount"])
        return {**then, "reward": reward, "commission": commission}

    def _ask(self, offer: Row, bought: Row) -> str:
        name, link = offer["offer"], (offer["offer"], bought["institution"] + bought["cardholder"])
        if bought["amount"] < offer["min_spend"]:
            return "below_min_spend"
        if offer["reward"] == 0:
            return "reward_below_minor_unit"
        if bought["ref"] in self.redemptions:
            return "outranked"
        if offer["budget"] is not None and offer["budget"] - self.spent[name] < largest(offer):
            return "budget_exhausted"
        if offer["uses"] is not None and self.used[link] >= offer["uses"]:
            return "redemption_limit_reached"
        self.spent[name] += offer["reward"] + offer["commission"]
        self.used[link] += 1
        self.redemptions[bought["ref"]] = (name, offer["reward"], offer["commission"])
        self.terms[bought["ref"]] = offer
        return "redeemed"


@dataclass
class Program:
    """A random program of many merchants and what was bought there."""

    offers: list[Row] = field(default_factory=list)
    versions: list[Row] = field(default_factory=list)
    links: list[Row] = field(default_factory=list)
    purchases: list[Row] = field(default_factory=list)


def program(chance: Random, merchants: int, purchases: int = 16) -> Program:
    """Draw a program of so many merchants, each with up to so many purchases."""
    made = Program()
    for number in range(merchants):
        _add_merchant(made, chance, f"m{number:04}", purchases)
    return made


def _add_merchant(made: Program, chance: Random, merchant: str, purchases: int) -> None:
    currency = chance.choice([*DECIMALS])
    where = [name for name, of in INSTITUTIONS.items() if of == currency]
    ending = [NOON + timedelta(days=days) for days in (30, 30, 31)]
    names = [f"{merchant}-{letter}" for letter in "abcdef"[: chance.randint(1, 6)]]
    for name in names:
        budget = chance.choice([None, 0, 3, 7, 12, 20, 40, 80])
        of = {"offer": name, "merchant": merchant, "currency": currency}
        more = {"budget": budget, "expires_at": chance.choice(ending)}
        offer = {**of, **_terms(chance, currency, has_budget=budget is not None), **more}
        offer["budget"] = None if budget is None else _money(budget, currency, chance)
        made.offers.append(offer)
        if chance.random() < 0.3:
            terms = _terms(chance, currency, has_budget=budget is not None)
            known_at = NOON + timedelta(seconds=chance.randint(0, purchases))
            made.versions.append({**of, **terms, "known_at": known_at})
    for institution in where:
        for cardholder in ("ann", "ben"):
            holder = {"institution": institution, "cardholder": f"{cardholder}-{merchant}"}
            made.links += [{**holder, "offer": name} for name in names]
    for number in range(chance.randint(1, purchases)):
        made.purchases.append(
            {
                "ref": f"{chance.randint(10, 99)}-{merchant}-{number}",
                "institution": chance.choice(where),
                "cardholder": f"{chance.choice(('ann', 'ben'))}-{merchant}",
                "merchant": merchant,
                "amount": _money(chance.choice([1, 5, 20, 62, 100]), currency, chance),
                "currency": currency,
                "at": NOON + timedelta(seconds=chance.randint(0, purchases)),
            }
        )


def _money(about: int, currency: str, chance: Random) -> Decimal:
    unit = Decimal(1).scaleb(-DECIMALS[currency])
    return about + chance.choice([0, 1, 5, 10, 15, 50]) * unit


def _terms(chance: Random, currency: str, *, has_budget: bool) -> Row:
    unit = Decimal(1).scaleb(-DECIMALS[currency])
    is_percent = chance.random() < 0.6
    basis = chance.choice([None, None, "spend"])
    is_capped = chance.random() < 0.4 or (basis and has_budget)
    percents = ("0.01", "0.50", "2.50", "7.50", "10", "10", "33.33", "100")
    return {
        "cashback": None if is_percent else chance.choice([1, 2, 5]) + chance.choice([0, 7]) * unit,
        "percent": Decimal(chance.choice(percents)) if is_percent else None,
        "cap": chance.choice([1, 2, 5, 9]) + chance.choice([0, 3]) * unit if is_percent else None,
        "rate": Decimal(chance.choice(["0", "0.05", "0.125", "0.333333"])),
        "basis": basis,
        "most_commission": chance.choice([unit, 1, 2]) if is_capped else None,
        "uses": chance.choice([None, None, 1, 2, 3]),
        "min_spend": Decimal(chance.choice([0, 0, 0, 20])),
    }


def write(store: Store, made: Program) -> None:
    """Write a program without its purchases and its later versions."""
    rows = [
        {"institution": name, "institution_id": IDS[name], "currency": currency, "percent": "yes"}
        for name, currency in INSTITUTIONS.items()
    ]
    put(store, "institutions", rows)
    put(store, "merchants", [{"merchant": m} for m in sorted({o["merchant"] for o in made.offers})])
    put(store, "offers", made.offers)
    put(store, "links", made.links)
