"""One sentence that answers why a purchase did, or did not, redeem; for staff, in English."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.credits.rules import with_credit, with_documents
from cardoffers_cli.events.attempts import delivery_text
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.sentences import listed
from cardoffers_cli.kernel.words.visible import shortened
from cardoffers_cli.refunds.texts import refund_sentence, with_refunds
from cardoffers_cli.river.outcomes import CHECK_OF

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Row = Mapping[str, Any]


def headline(found: Row) -> str:
    """Return the sentence for what `services.explanations.explain` found of one ref."""
    if found["status"].startswith("refund_"):
        return refund_sentence(found["refunds"][0])
    said = _HEADLINES.get(found["status"], _not_redeemed)(found)
    credited = with_credit(said, found.get("credit"))
    return with_refunds(with_documents(credited, found.get("documents")), found.get("refunds"))


def place(row: Row) -> str:
    """Say where a row came from: `tx.csv, line 4`, or the call that brought it."""
    if row["file"] is None:
        return "an unknown source"
    if row["file_kind"] == "call":
        return f"call {row['import_id']}, item {row['line']}"
    return f"{shortened(row['file'])}, line {row['line']}"


def _redeemed(found: Row) -> str:
    redemption = found["redemption"]
    payout = money_text(redemption["institution_payout_amount"], redemption["currency"])
    offer = f"{redemption['offer_id']}{_at(found)}"
    return f"It redeemed {offer}: {payout} for the cardholder, {_state(redemption)}."


def _state(redemption: Row) -> str:
    match redemption["status"]:
        case "settled":
            settled = f"settled at {format_minute(redemption['settled_at'])}"
            return f"{settled}; {delivery_text(redemption)}"
        case "reversed":
            reason = shortened(redemption["reversal_reason"] or "no reason given")
            return f"but reversed at {format_minute(redemption['reversed_at'])} ({reason})"
        case _:
            pending = f"pending until {format_minute(redemption['settles_at'])}"
            return f"{pending}; {delivery_text(redemption)}"


def _not_redeemed(found: Row) -> str:
    if found["reason"] not in CHECK_OF:
        return f"It redeemed nothing: there is no offer{_at(found)} that the cardholder could have."
    (failed,) = (each for each in found["checks"] if each["check"] == CHECK_OF[found["reason"]])
    return f"It redeemed nothing: {failed['detail']} ({found['offer_id']}{_at(found)})."


def _unresolved(found: Row) -> str:
    purchase = found["purchase"]
    if purchase["sent_merchant_id"]:
        named = f" {purchase['sent_merchant_id']}"
    elif purchase["merchant_identifier"]:
        identifier = shortened(purchase["merchant_identifier"])
        named = f" {purchase['merchant_identifier_type']} {identifier}"
    else:
        return "It redeemed nothing: it came without a merchant, so it fits no offer."
    said = purchase["merchant_descriptor"]
    beside = f" ({shortened(said)})" if said else ""
    return f"It waits: the merchant{named}{beside} is not in the catalogue yet."


def _rejected(found: Row) -> str:
    first = found["rejects"][0]
    return f"It was rejected: the {first['message']} ({place(first)})."


def _withdrawn(found: Row) -> str:
    gone = found["withdrawn"][0]
    return (
        f"Its file {shortened(gone['file'])} was taken back at"
        f" {format_minute(gone['withdrawn_at'])} by {gone['actor']} ({shortened(gone['reason'])})."
    )


def _not_received(found: Row) -> str:
    others = found.get("received_from")
    if others:
        return (
            f"This institution did not send it; {listed(others)} sent a purchase of this reference."
        )
    return "Nothing with this reference was ever received."


def _at(found: Row) -> str:
    purchase = found["purchase"]
    name = purchase and purchase["merchant_name"]
    return f" at {shortened(name)}" if name else ""


_HEADLINES: dict[str, Callable[[Row], str]] = {
    "redeemed": _redeemed,
    "merchant_unresolved": _unresolved,
    "not_matched_yet": lambda found: (
        f"It was received at {format_minute(found['purchase']['received_at'])}"
        " and waits for the next match."
    ),
    "rejected": _rejected,
    "duplicate": lambda found: (
        f"It repeats a reference that was known already ({place(found['duplicates'][0])})."
    ),
    "withdrawn": _withdrawn,
    "not_received": _not_received,
}
