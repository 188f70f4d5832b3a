"""What is said of verdicts: each of the rules has its words, and sentences end with them."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

import cardoffers_cli
from cardoffers_cli.credits.rules import FINDING_CODES, MEANINGS, meaning_of, with_credit
from tables import NOON

DOCS = Path(cardoffers_cli.__file__).parent / "docs"


def verdicts_of(page: str) -> dict[str, str]:
    """Return the verdicts of the table of a page, with what their last column says."""
    rows = re.findall(r"^\| `(\w+)` \|.*\| (.+) \|$", (DOCS / page).read_text(), re.MULTILINE)
    return dict(rows)


def test_every_verdict_of_the_rules_has_words_and_a_place_on_the_page() -> None:
    """rules.md#verdicts and rules.md#bank-verdicts say which are findings."""
    rules = verdicts_of("rules.md")
    assert {*MEANINGS} == {code for code in rules if rules[code] != "no verdict"}
    assert {*FINDING_CODES} == {code for code, says in rules.items() if says == "a finding"}
    assert {*MEANINGS} == {*verdicts_of("reconciliation.md")}


def test_a_verdict_that_nobody_has_words_for_is_told_by_its_code() -> None:
    assert ("unheard_of", None) == meaning_of("unheard_of")


SAID = [
    ("It redeemed.", None),
    (
        "It redeemed. The institution credited GBP 5.00, last at 2026-06-01 12:00 UTC (CR-1).",
        ("credited", "5.00", "CR-1"),
    ),
    (
        (
            "It redeemed. The institution credited GBP 9.00, last at 2026-06-01 12:00 UTC (CR-1);"
            f" {MEANINGS['credited_twice'].says}."
        ),
        ("credited_twice", "9.00", "CR-1"),
    ),
    (
        "It redeemed. Reconciliation: the institution tried to credit it, and failed.",
        ("credit_failed", "0.00", None),
    ),
]


@pytest.mark.parametrize(("expected", "credit"), SAID)
def test_what_is_said_of_a_redemption(
    expected: str, credit: tuple[str, str, str | None] | None
) -> None:
    known = credit and {
        "verdict": credit[0],
        "credited_amount": Decimal(credit[1]),
        "credit_ref": credit[2],
        "credited_at": NOON if credit[2] else None,
        "currency": "GBP",
    }
    assert expected == with_credit("It redeemed.", known)
