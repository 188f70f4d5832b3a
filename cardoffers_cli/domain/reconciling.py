"""What a verdict of reconciliation means to people, and what to do next (rules.md#verdicts)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cardoffers_cli.domain.moments import format_minute
from cardoffers_cli.domain.money import money_text
from cardoffers_cli.domain.visible import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping


class Meaning(NamedTuple):
    """What a verdict says of a redemption or a credited row; what to do about it, if anything."""

    says: str
    then: str | None = None


MEANINGS = {
    "credited": Meaning("credited, just its cashback"),
    "credited_before_reversal": Meaning("credited, and reversed after that"),
    "not_owed": Meaning("reversed, and nothing is credited"),
    "credit_awaited": Meaning("not credited yet, and made less than 7 days ago"),
    "not_credited": Meaning(
        "not credited for 7 days or more, and no webhook told of it",
        "cardoffers webhook resend, or ask the institution to credit it",
    ),
    "webhook_only": Meaning(
        "its webhook was delivered, and it is not credited for 7 days or more",
        "ask the institution to credit it",
    ),
    "file_only": Meaning("credited, but its webhook was not delivered", "cardoffers webhook list"),
    "credit_failed": Meaning(
        "the institution tried to credit it, and failed", "ask the institution to try again"
    ),
    "amount_differs": Meaning(
        "another amount than its cashback is credited", "ask the institution to correct it"
    ),
    "credited_twice": Meaning(
        "credited more than once", "ask the institution to reverse one of them"
    ),
    "credited_after_reversal": Meaning(
        "credited although it had been reversed", "ask the institution to reverse it"
    ),
    "credited_unknown": Meaning(
        "credited for what is no redemption here", "ask the institution what it is of"
    ),
}
"""Verdict -> what it means. Others may be added: what is not here is told by its code."""

FINDING_CODES = tuple(code for code, meaning in MEANINGS.items() if meaning.then)
"""The verdicts that are findings."""


def meaning_of(code: str) -> Meaning:
    """Return what a verdict means."""
    return MEANINGS.get(code) or Meaning(code)


def with_credit(said: str, credit: Mapping[str, Any] | None) -> str:
    """Add to a sentence about a redemption what its institution credited, if that is known."""
    if credit is None:
        return said
    if credit["credited_at"] is None or not credit["credited_amount"]:
        return f"{said} Reconciliation: {meaning_of(credit['verdict']).says}."
    amount = money_text(credit["credited_amount"], credit["currency"])
    row = f"{format_minute(credit['credited_at'])} ({shortened(credit['credit_ref'])})"
    found = "" if credit["verdict"] == "credited" else f"; {meaning_of(credit['verdict']).says}"
    return f"{said} The institution credited {amount}, last at {row}{found}."
