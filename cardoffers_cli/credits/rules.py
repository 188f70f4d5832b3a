"""What a verdict of reconciliation means to people, what to do next, and what became of it all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.kernel.words.texts import ENGLISH, texts_in
from cardoffers_cli.kernel.words.visible import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping


class Meaning(NamedTuple):
    """What a verdict says of what it is about; what to do about it, if anything.

    NUMBER stands for the number of the statement, where it is of one.
    """

    says: str
    then: str | None = None

    def next_of(self, number: str | None) -> str | None:
        """Return what to do, of a statement with its number."""
        return self.then and self.then.replace("NUMBER", number or "NUMBER")


MEANINGS = {
    "credited": Meaning("credited, just its cashback"),
    "credited_before_reversal": Meaning("credited, and reversed after that"),
    "not_owed": Meaning("reversed, and nothing is credited"),
    "credit_awaited": Meaning("not credited yet, and made less than {days} ago"),
    "not_credited": Meaning(
        "not credited for {days} or more, and no webhook told of it",
        "cardoffers webhook resend, or ask the institution to credit it",
    ),
    "webhook_only": Meaning(
        "its webhook was delivered, and it is not credited for {days} or more",
        "ask the institution to credit it",
    ),
    "file_only": Meaning("credited, but its webhook was not delivered", "cardoffers webhook list"),
    "credit_failed": Meaning(
        "the institution tried to credit it, and failed", "ask the institution to try again"
    ),
    "amount_differs": Meaning(
        "another amount than its cashback is credited", "ask the institution to correct it"
    ),
    "reference_differs": Meaning(
        "credited, but a row names another purchase than that of its redemption_id",
        "ask the institution which of both it credited",
    ),
    "credited_too_early": Meaning(
        "credited, but with a date more than a day before it was made",
        "ask the institution which purchase it credited, and when",
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
    "paid": Meaning("paid, just what the statement says"),
    "unpaid": Meaning("the bank booked nothing of it", "cardoffers payout show NUMBER"),
    "paid_differs": Meaning(
        "the bank booked another sum, or another currency, than the statement says",
        "cardoffers payout show NUMBER, then settle the difference with the institution",
    ),
    "paid_twice": Meaning(
        "paid more than once, and too much",
        "cardoffers payout show NUMBER, then ask the institution to send one back",
    ),
    "returned": Meaning(
        "the payment came back, or was rejected",
        "cardoffers payout export --statement NUMBER --form FORM --again --reason TEXT -o FILE,"
        " once the cause is gone",
    ),
    "return_unbooked": Meaning(
        "paid, and the bank said too that a payment of it came back or was rejected",
        "cardoffers payout show NUMBER, then ask the bank whether the money came back",
    ),
    "return_differs": Meaning(
        "a payment came back with another sum than it had left with, such as less charges",
        "cardoffers payout show NUMBER, ask the bank what the rest is, and accept what is a charge",
    ),
    "withdrawn_told": Meaning(
        "the bank says something of a payment that was withdrawn",
        "cardoffers payout show NUMBER, then ask the bank whether it paid it",
    ),
    "entry_not_explained": Meaning(
        "an entry of the bank is not the sum of its details; this is the rest",
        "cardoffers bank list --unknown, then ask the bank what it is of",
    ),
    "not_in_book": Meaning(
        "a notice of money that the bank's statement of that day does not have: it does not count",
        "cardoffers bank list --unknown, then ask the bank whether it was booked",
    ),
    "bank_unknown": Meaning(
        "money left, or came back or was rejected, and no payout explains it",
        "cardoffers bank list --unknown, then ask the bank what it is of",
    ),
    "bank_other": Meaning("an entry of the bank that is of no payout, and asks for nothing"),
}
"""Verdict -> what it means. Others may be added: what is not here is told by its code."""

FINDING_CODES = tuple(code for code, meaning in MEANINGS.items() if meaning.then)
"""The verdicts that are findings."""


def meaning_of(code: str, credit_days: int | None = None) -> Meaning:
    """Return what a verdict means, to an institution of so many days or, else, to any."""
    meaning = MEANINGS.get(code) or Meaning(code)
    days = "`credit_days`" if credit_days is None else counted(credit_days, "day")
    return Meaning(meaning.says.format(days=days), meaning.then)


def story_text(redemption: Mapping[str, Any], verdict: str | None) -> str:
    """Say for staff what became of a redemption (rules.md#stories), as the end of a sentence."""
    text: str = texts_in(ENGLISH)["stories"][redemption["story"]]["staff"]
    return text.format(
        moment=format_minute(redemption["story_at"]),
        settles=format_minute(redemption["settles_at"]),
        reason=shortened(redemption["reversal_reason"] or "no reason given"),
        credited=money_text(redemption["story_amount"], redemption["currency"]),
        verdict=meaning_of(verdict or "").says,
    )


def document_text(line: Mapping[str, Any]) -> str:
    """Name what a line stands on: `statement LARKMERE-2026-000010 (paid on 2026-11-03)`."""
    notes = ["taken back"] if line["line"] == "adjustment" else []
    if state := line.get("bank_state"):
        booked = line.get("booked_at")
        notes.append(state.replace("_", " ") + (f" on {booked:%Y-%m-%d}" if booked else ""))
        notes += [line["bank_code"]] if line.get("bank_code") else []
    return f"{line['kind']} {line['number']}" + (f" ({', '.join(notes)})" if notes else "")
