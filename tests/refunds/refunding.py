"""The serial meaning of refunds (rules.md#turns-of-refunds), as a plain loop over `serial.Service`.

Written for reading, one refund after the other, to hold the set-based program against. Refunds and
purchases are the rows of `tables.put`, their cells as values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from serial import Service

Row = dict[str, Any]
Key = tuple[str, str]


@dataclass
class Ledger:
    """A service with what its refunds did; rows of `institutions` have the three settings."""

    service: Service
    institutions: dict[str, Row]
    bought: dict[Key, Row] = field(default_factory=dict)
    decided: set[Key] = field(default_factory=set)
    states: dict[Key, tuple[str, datetime]] = field(default_factory=dict)
    links: list[tuple[Row, Key, str]] = field(default_factory=list)
    waiting: list[Row] = field(default_factory=list)
    outcomes: dict[Key, tuple[str, str | None, Decimal | None]] = field(default_factory=dict)
    """State, outcome and what was left of the purchase, of each refund."""
    adjustments: Decimal = Decimal(0)

    def buy(self, purchases: list[Row]) -> None:
        for each in purchases:
            self.bought[each["institution"], each["ref"]] = each

    def come_back(self, refunds: list[Row]) -> None:
        self.waiting += refunds
        for each in refunds:
            self.outcomes[each["institution"], each["ref"]] = ("waiting", None, None)

    def match(self, now: datetime) -> None:
        undecided = [key for key in self.bought if key not in self.decided]
        self.service.match(
            [{**self.bought[key], "amount": self.left(key)} for key in undecided],
        )
        for key in undecided:
            purchase = self.bought[key]
            known = self.service.merchant_of.get(purchase["identifier"])
            if known in self.service.merchants or purchase["merchant"] in self.service.merchants:
                self.decided.add(key)
            if key in self.service.redemptions:
                self.states[key] = ("pending", now)

    def settle(self, now: datetime) -> None:
        for key, (state, _) in self.states.items():
            if state == "pending":
                self.states[key] = ("settled", now)

    def left(self, key: Key, *, but: str = "") -> Decimal:
        gone = [refund["amount"] for refund, of, how in self.links if of == key and how != but]
        return Decimal(self.bought[key]["amount"] - sum(gone))

    def apply(self) -> None:
        turns = sorted(
            self.waiting, key=lambda each: (each["at"], each["institution"], each["ref"])
        )
        for refund in turns:
            if refund["original"] is not None:
                self._by_reference(refund)
        chosen = {id(each): self._chosen(each) for each in turns if each["original"] is None}
        for refund in turns:
            key = chosen.get(id(refund))
            if key is not None and self.left(key) >= refund["amount"]:
                self._link(refund, key, "policy")
        self.waiting = [
            each
            for each in self.waiting
            if self.outcomes[each["institution"], each["ref"]][0] == "waiting"
        ]

    def _by_reference(self, refund: Row) -> None:
        key = (refund["institution"], refund["original"])
        purchase = self.bought.get(key)
        if purchase is None:
            self._say(refund, "waiting", "purchase_not_received", None)
        elif refund["cardholder"] not in {None, purchase["cardholder"]}:
            self._say(refund, "refused", "refund_of_other_cardholder", self.left(key))
        elif refund["at"] < purchase["at"]:
            self._say(refund, "refused", "refund_before_purchase", self.left(key))
        elif refund["amount"] > self.left(key):
            self._say(refund, "refused", "refund_exceeds_purchase", self.left(key))
        else:
            self._link(refund, key, "referenced")

    def _chosen(self, refund: Row) -> Key | None:
        """Return the one purchase of equal amount, if the policy takes it."""
        institution = self.institutions[refund["institution"]]
        if institution["auto_link"] == "never":
            return None
        window = timedelta(days=institution["window_days"])
        same = [
            key
            for key, each in self.bought.items()
            if all(each[name] == refund[name] for name in ("institution", "cardholder"))
            and each["identifier"] == refund["identifier"]
            and refund["at"] - window <= each["at"] <= refund["at"]
            and each["amount"] == refund["amount"]
            and self.left(key, but="policy") >= refund["amount"]
        ]
        (only,) = same if len(same) == 1 else (None,)
        if only is None or self.bought[only]["card"] != refund["card"]:
            return None
        return only

    def _link(self, refund: Row, key: Key, how: str) -> None:
        self.links.append((refund, key, how))
        self._say(refund, "linked", self._effect(refund, key), self.left(key))

    def _effect(self, refund: Row, key: Key) -> str:
        if key not in self.decided:
            return "not_matched_yet"
        if key not in self.states:
            return "not_redeemed"
        state, moved_at = self.states[key]
        offer, funded, _, payout = self.service.redemptions[key]
        asked = next(each for each in self.service.offers if each["offer"] == offer)["min_spend"]
        if state == "reversed":
            return "already_reversed"
        if self.left(key) > 0 and self.left(key) >= asked:
            return "kept"
        days = self.institutions[refund["institution"]]["clawback_days"]
        is_old = days is not None and refund["at"] > moved_at + timedelta(days=days)
        if state == "settled" and is_old:
            return "outside_clawback_window"
        self.service.spent[offer] -= funded
        self.service.used[key[0], self.bought[key]["cardholder"], offer] -= 1
        self.states[key] = ("reversed", moved_at)
        if state == "settled":
            self.adjustments -= payout
        return "reversed"

    def _say(self, refund: Row, state: str, outcome: str, left: Decimal | None) -> None:
        self.outcomes[refund["institution"], refund["ref"]] = (state, outcome, left)
