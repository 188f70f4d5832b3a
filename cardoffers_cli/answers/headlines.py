"""One sentence that answers why a purchase did, or did not, redeem; for staff, in English."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from cardoffers_cli.credits.rules import document_text, story_text
from cardoffers_cli.events.deliver import delivery_text
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.money import money_text, quantize
from cardoffers_cli.kernel.words.sentences import listed
from cardoffers_cli.kernel.words.texts import texts_in
from cardoffers_cli.kernel.words.visible import shortened
from cardoffers_cli.refunds.texts import refund_answer, refund_sentence
from cardoffers_cli.river.outcomes import CHECK_OF, reward_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from decimal import Decimal

    Row = Mapping[str, Any]


def headline(row: Row) -> str:
    """Return the sentence for what `explanations.explain` found of one ref."""
    if row["status"].startswith("refund_"):
        return refund_sentence(row["refunds"][0])
    sentences = [_HEADLINES.get(row["status"], _not_redeemed)(row)]
    if documents := row.get("documents"):
        texts = [document_text(document) for document in documents]
        sentences.append(f"It stands on {listed(texts)}.")
    sentences += [refund_sentence(refund) for refund in row.get("refunds") or ()]
    return " ".join(sentences)


def place(row: Row) -> str:
    """Say where a row came from: `tx.csv, line 4`, or the call that brought it."""
    if row["file"] is None:
        return "an unknown source"
    if row["file_kind"] == "call":
        return f"call {row['import_id']}, item {row['line']}"
    return f"{shortened(row['file'])}, line {row['line']}"


def _redeemed(row: Row) -> str:
    redemption = row["redemption"]
    payout = money_text(redemption["institution_payout_amount"], redemption["currency"])
    offer = f"{redemption['offer_id']}{_at(row)}"
    story = story_text(redemption, (row.get("credit") or {}).get("verdict"))
    told = delivery_text(redemption)
    rewards = [check["detail"] for check in row["checks"] if check["check"] == "reward"]
    sentences = [f"It redeemed {offer}: {payout} for the cardholder, {story}; {told}."]
    return " ".join([*sentences, *(f"{reward}." for reward in rewards)])


def _not_redeemed(row: Row) -> str:
    if row["reason"] not in CHECK_OF:
        return f"It redeemed nothing: there is no offer{_at(row)} that the cardholder could have."
    (failed,) = (check for check in row["checks"] if check["check"] == CHECK_OF[row["reason"]])
    return f"It redeemed nothing: {failed['detail']} ({row['offer_id']}{_at(row)})."


def _unresolved(row: Row) -> str:
    purchase = row["purchase"]
    if purchase["sent_merchant_id"]:
        named = f" {purchase['sent_merchant_id']}"
    elif purchase["merchant_identifier"]:
        identifier = shortened(purchase["merchant_identifier"])
        named = f" {purchase['merchant_identifier_type']} {identifier}"
    else:
        return "It redeemed nothing: it came without a merchant, so it fits no offer."
    descriptor = purchase["merchant_descriptor"]
    beside = f" ({shortened(descriptor)})" if descriptor else ""
    return f"It waits: the merchant{named}{beside} is not in the catalogue yet."


def _rejected(row: Row) -> str:
    first = row["rejects"][0]
    return f"It was rejected: the {first['message']} ({place(first)})."


def _withdrawn(row: Row) -> str:
    item = row["withdrawn"][0]
    return (
        f"Its file {shortened(item['file'])} was taken back at"
        f" {format_minute(item['withdrawn_at'])} by {item['actor']} ({shortened(item['reason'])})."
    )


def _not_received(row: Row) -> str:
    others = row.get("received_from")
    if others:
        return (
            f"This institution did not send it; {listed(others)} sent a purchase of this reference."
        )
    return "Nothing with this reference was ever received."


def _at(row: Row) -> str:
    purchase = row["purchase"]
    name = purchase and purchase["merchant_name"]
    return f" at {shortened(name)}" if name else ""


_HEADLINES: dict[str, Callable[[Row], str]] = {
    "redeemed": _redeemed,
    "merchant_unresolved": _unresolved,
    "not_matched_yet": lambda row: (
        f"It was received at {format_minute(row['purchase']['received_at'])}"
        " and waits for the next match."
    ),
    "rejected": _rejected,
    "duplicate": lambda row: (
        f"It repeats a reference that was known already ({place(row['duplicates'][0])})."
    ),
    "withdrawn": _withdrawn,
    "not_received": _not_received,
}


# What a cardholder is told about a purchase.
#
# The texts (`texts.py`) are for pasting into a letter or a chat: no ids, no tokens, no words of
# ours. Each reason of `explanations.py` has one.


_POINTS = str.maketrans(",.", ".,")


def answer(row: Row, titles: dict[str, str], locale: str) -> str:
    """Return what the cardholder is told of what `explanations.explain` found.

    `titles` holds those of the nearest offer by language; one in English stands in for a missing,
    as a text in English does.
    """
    texts, redemption = texts_in(locale), row["redemption"]
    refunds = [
        refund_answer(refund, locale, money=_money, day=_day) for refund in row.get("refunds") or ()
    ]
    if row.get("status", "").startswith("refund_"):
        return refunds[0]
    if redemption:
        text = texts["stories"][redemption["story"]]["cardholder"]
        if reward := reward_text(row["nearest"] or {}, partial(_money, locale=locale)):
            refunds = [f"{reward}.", *refunds]
    else:
        is_unknown = row["reason"] in {"duplicate", "withdrawn"}
        text = texts["answers"]["not_received" if is_unknown else row["reason"]]
    sentence = text.format(**_purchase(row, locale), **_nearest(row, titles, locale))
    return " ".join([sentence, *refunds])


def _purchase(row: Row, locale: str) -> dict[str, str]:
    purchase, redemption = row["purchase"], row["redemption"]
    if purchase is None:
        return {}
    name, writing = purchase["merchant_name"], texts_in(locale)["writing"]
    values = {
        "amount": _money(purchase["amount"], purchase["currency"], locale),
        "at": writing["at"].format(name=shortened(name)) if name else "",
        "day": _day(purchase["transacted_at"], locale),
    }
    values["purchase"] = writing["purchase"].format(**values)
    if redemption:
        currency = redemption["currency"]
        values["payout"] = _money(redemption["institution_payout_amount"], currency, locale)
        values["when"] = _day(redemption["story_at"], locale)
    return values


def _nearest(row: Row, titles: dict[str, str], locale: str) -> dict[str, str]:
    nearest = row["nearest"]
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
    text: str = writing["day"].format(day=moment.day, month=month, year=moment.year)
    return text
