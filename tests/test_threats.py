"""The page of threats: each says what holds it, what shows that, and what does not hold it.

That whatever it names is there, `test_law.py` holds of this page as of every other.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cardoffers_cli.demo.help_commands import page_text

CHECKOUT = Path(__file__).parents[1]
PARTS = ("The threat", "What holds it", "Shown by", "What does not hold it")
SUBJECTS = (
    *("drop folder", "link", "bomb", "second name", "power cut", "kill", "full disk"),
    *("second operator", "receiver", "lead inside", "another institution", "stolen key"),
    *("snapshot", "backup", "changed", "spreadsheet", "terminal", "replayed", "smuggled"),
    *("certificate", "wrong keys", "insider", "clock", "dependenc", "card number", "same purchase"),
)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
MODULE = re.compile(r"`(cardoffers_cli/[\w/]+\.py)`")


def sections(page: str) -> dict[str, str]:
    """Return the threats of the page by their titles."""
    found = re.split(r"^## (.+)$", page, flags=re.MULTILINE)[1:]
    threats = dict(zip(found[::2], found[1::2], strict=True))
    return {title: text for title, text in threats.items() if title != "What guards what"}


def test_every_code_on_the_page_is_a_citation_or_a_word() -> None:
    cited = {match[0] for match in [*TEST.finditer(page_text("threats"))]}
    loose = re.findall(r"`(?:tests|cardoffers_cli)/[^`]*`", page_text("threats"))
    assert set() == {each for each in loose if each not in cited and not MODULE.fullmatch(each)}


@pytest.mark.parametrize("title", sections(page_text("threats")))
def test_a_threat_says_what_holds_it_what_shows_it_and_what_does_not(title: str) -> None:
    text = sections(page_text("threats"))[title]
    parts = re.findall(r"^- \*\*(.+?)\*\*: ", text, flags=re.MULTILINE)
    assert list(PARTS) == parts
    assert MODULE.search(text)
    assert TEST.search(text)
    assert len(text.partition("**What does not hold it**: ")[2].split()) > 4


@pytest.mark.parametrize("subject", SUBJECTS)
def test_nothing_that_was_thought_of_is_left_out(subject: str) -> None:
    assert any(subject in title.lower() for title in sections(page_text("threats")))


def test_readme_leads_there() -> None:
    readme = (CHECKOUT / "README.md").read_text("utf-8")
    assert "(cardoffers_cli/docs/threats.md)" in readme
    assert "`cardoffers help` shows these pages" in readme
