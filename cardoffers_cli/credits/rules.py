"""What a verdict of reconciliation means to people, what to do next, and what became of it all."""

from __future__ import annotations

import tomllib
from importlib.resources import files
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
    code: Meaning(**table)
    for code, table in tomllib.loads(
        files(__package__).joinpath("findings.toml").read_text("utf-8")
    ).items()
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
