"""What is said of verdicts: each of the rules has its words, and sentences end with them."""

from __future__ import annotations

import re
from pathlib import Path

import cardoffers_cli
from cardoffers_cli.credits.rules import FINDING_CODES, MEANINGS, meaning_of

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
