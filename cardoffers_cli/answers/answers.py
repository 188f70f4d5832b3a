"""What a cardholder is told about a purchase.

The texts (`texts.py`) are for pasting into a letter or a chat: no ids, no tokens, no words of ours.
Each reason of `services.explanations` has one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.money import quantize
from cardoffers_cli.kernel.words.texts import texts_in
from cardoffers_cli.kernel.words.visible import shortened
from cardoffers_cli.refunds.texts import refund_answer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from decimal import Decimal

    Row = Mapping[str, Any]

_POINTS = str.maketrans(",.", ".,")

_EARNED = {
    ("pending", "no_webhook"): "to_settle",
    ("pending", "to_send"): "to_settle",
    ("pending", "delivered"): "pending",
    ("settled", "no_webhook"): "only_settled",
    ("settled", "to_send"): "only_settled",
    ("settled", "delivered"): "settled",
}
_CREDITED = {
    **dict.fromkeys(("credited", "file_only"), "credited"),
    **dict.fromkeys(
        ("amount_differs", "credited_twice", "reference_differs", "credited_too_early"),
        "credit_differs",
    ),
    **dict.fromkeys(("credit_failed", "not_credited", "webhook_only"), "not_passed_on"),
}
"""What is told by the verdict of the reconciliation, which says more than the webhook's state."""
_UNDELIVERED = {"to_retry": "to_pass_on", "failed": "not_passed_on", "stopped": "not_passed_on"}


def answer(found: Row, titles: dict[str, str], locale: str) -> str:
    """Return what the cardholder is told of what `services.explanations.explain` found.

    `titles` holds those of the nearest offer by language; one in English stands in for a missing,
    as a text in English does.
    """
    texts = texts_in(locale)["answers"]
    redemption = found["redemption"]
    refunds = [
        refund_answer(each, locale, money=_money, day=_day) for each in found.get("refunds") or ()
    ]
    if found.get("status", "").startswith("refund_"):
        return refunds[0]
    reason = _earned(redemption, found.get("credit")) if redemption else found["reason"]
    text = texts["not_received" if reason in {"duplicate", "withdrawn"} else reason]
    told = text.format(**_purchase(found, locale), **_nearest(found, titles, locale))
    return " ".join([told, *refunds])


def _earned(redemption: Row, credit: Row | None) -> str:
    """Return what is told of a redemption: never that it was passed on where it was not."""
    status, delivery = redemption["status"], redemption["delivery"]
    if status == "reversed":
        return "reversed"
    if credit and credit["verdict"] in _CREDITED:
        return _CREDITED[credit["verdict"]]
    told = _UNDELIVERED.get(delivery) or _EARNED[status, delivery]
    return "pending" if credit and told == "settled" else told


def _purchase(found: Row, locale: str) -> dict[str, str]:
    purchase, redemption = found["purchase"], found["redemption"]
    if purchase is None:
        return {}
    name, writing = purchase["merchant_name"], texts_in(locale)["writing"]
    told = {
        "amount": _money(purchase["amount"], purchase["currency"], locale),
        "at": writing["at"].format(name=shortened(name)) if name else "",
        "day": _day(purchase["transacted_at"], locale),
    }
    told["purchase"] = writing["purchase"].format(**told)
    if redemption:
        currency = redemption["currency"]
        told["payout"] = _money(redemption["institution_payout_amount"], currency, locale)
        for event in ("settles", "settled", "reversed"):
            told[event] = _day(redemption[f"{event}_at"], locale)
        credit = found.get("credit")
        told["credited"] = _day(credit["credited_at"] if credit else None, locale)
        both = (redemption["settled_at"], redemption["delivered_at"])
        told["passed_on"] = _day(max(both) if all(both) else None, locale)
    return told


def _nearest(found: Row, titles: dict[str, str], locale: str) -> dict[str, str]:
    nearest = found["nearest"]
    if nearest is None:
        return {}
    title = titles.get(locale) or titles.get("en") or next(iter(titles.values()), "…")
    currency, missing = nearest["currency"], nearest["min_spend"] - nearest["amount"]
    return {
        "offer": texts_in(locale)["writing"]["offer"].format(title=shortened(title)),
        "min_spend": _money(nearest["min_spend"], currency, locale),
        "missing": _money(missing, currency, locale),
        "expires": _day(nearest["expires_at"], locale),
        "starts": _day(nearest["starts_at"], locale),
        "added": _day(nearest["added_at"], locale),
        "uses": str(nearest["max_redemptions_per_cardholder"]),
    }


def _money(amount: Decimal, currency: str, locale: str) -> str:
    number, has_comma = f"{quantize(amount, currency):,}", texts_in(locale)["writing"]["comma"]
    return f"{currency} {number.translate(_POINTS) if has_comma else number}"


def _day(moment: datetime | None, locale: str) -> str:
    if moment is None:
        return ""
    writing = texts_in(locale)["writing"]
    month = writing["months"].split()[moment.month - 1]
    told: str = writing["day"].format(day=moment.day, month=month, year=moment.year)
    return told
