"""What is said of a refund: one sentence for staff, and what a cardholder is told.

Both name the purchase and the refund with their amounts, the rule, and what moved
(rules.md#effects-of-refunds). The texts for cardholders have no ids and no words of ours.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.texts import texts_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from decimal import Decimal

    Row = Mapping[str, Any]

TEXTS = tomllib.loads(files(__package__).joinpath("texts.toml").read_text("utf-8"))


def refund_sentence(refund: Row) -> str:
    """Say what a refund was of, and what it moved."""
    currency = refund["currency"]
    begins = (
        f"The {refund['kind']} {refund['refund_ref']} of {money_text(refund['amount'], currency)}"
    )
    if refund["state"] == "dismissed":
        return f"{begins} was laid aside by {refund['actor']} ({refund['reason']})."
    if refund["outcome"] is None:
        named = refund["original_transaction_ref"]
        waits = f"it names {named}, and was not applied yet"
        return (
            f"{begins} waits: {waits if named else 'it names no purchase, and nobody linked it'}."
        )
    least = _money(refund["min_spend"], currency)
    rule = f"that is less than the {least} of the offer"
    outcome = TEXTS["outcomes"][refund["outcome"]].format(
        rule="nothing is left of the purchase" if refund["net_after"] == 0 else rule,
        payout=_money(refund["institution_payout_amount"], currency),
        least=least,
    )
    if refund["purchase_amount"] is None:
        return f"{begins} names {refund['original_transaction_ref']}: {outcome}."
    total, remainder = (_money(refund[name], currency) for name in ("purchase_amount", "net_after"))
    of = f"is of {refund['transaction_ref']}, {total}, of which {remainder} is left"
    return f"{begins} {of}: {outcome}."


def _money(amount: Decimal | None, currency: str) -> str:
    return "" if amount is None else money_text(amount, currency)


def refund_answer(
    refund: Row,
    locale: str,
    *,
    money: Callable[[Decimal, str, str], str],
    day: Callable[[datetime | None, str], str],
) -> str:
    """Return what the cardholder is told of a refund; amounts and days are written by these."""
    kind = refund["outcome"] if refund["state"] == "linked" else refund["state"]
    if kind == "reversed" and refund["net_after"] == 0:
        kind = "reversed_whole"
    elif kind == "dismissed":
        kind = "refused"
    amounts = {
        "refund": "amount",
        "amount": "purchase_amount",
        "left": "net_after",
        "least": "min_spend",
        "payout": "institution_payout_amount",
    }
    values = {
        name: "" if refund[column] is None else money(refund[column], refund["currency"], locale)
        for name, column in amounts.items()
    }
    texts = texts_in(locale)["refunds"]
    text: str = texts.get(kind) or texts.get(refund["state"]) or texts["linked"]
    return text.format(**values, day=day(refund["refunded_at"], locale))
