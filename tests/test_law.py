"""The law is in the house: what code, tests and pages cite is there, and every rule is cited."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from cardoffers_cli.demo.help_commands import reference
from cardoffers_cli.kernel.cli.main import app
from law import CHECKOUT, PAGES, absent, anchors, cited, complaints, prose, rules, slug
from test_repository import read, repository

commands = cache(lambda: reference(get_command(app)))
OURS = {"test_law.py", "law.py"}
"""What has citations that lead nowhere on purpose."""


@cache
def texts() -> dict[Path, str]:
    """Return the files whose words are held to what is there."""
    return {
        name: read(name)
        for name in repository()
        if name.suffix in {".py", ".sql", ".md"} and name.name not in OURS
    }


def test_everything_that_is_cited_is_there() -> None:
    assert [] == [each for name, text in texts().items() for each in complaints(name, text)]


def test_every_rule_is_cited() -> None:
    """A rule that no code and no test cites is one that nobody holds."""
    code = {name: text for name, text in texts().items() if name.suffix in {".py", ".sql"}}
    known = set().union(*(cited(name, text) for name, text in code.items()))
    assert [] == [rule for rule in rules() if rule not in known]


def test_every_rule_has_an_anchor_of_its_own() -> None:
    headings = re.findall(r"^#+ +(.+)$", read(Path("cardoffers_cli/docs/rules.md")), re.MULTILINE)
    assert len(headings) == len(anchors(PAGES / "rules.md"))
    assert 40 <= len(rules())


def test_every_word_of_the_glossary_has_what_carries_it() -> None:
    """A command of the reference, a class, or a file of the package."""
    page = read(PAGES / "glossary.md")
    words = re.findall(r"^- \*\*([\w -]+)\*\*: .+ `([^`]+)`$", page, re.MULTILINE)
    assert len(re.findall(r"^- ", page, re.MULTILINE)) == len(words) == len(dict(words))
    assert [] == [word for word, carrier in words if not is_there(carrier)]


def is_there(carrier: str) -> bool:
    if carrier.startswith("cardoffers "):
        return f"\n### {carrier}\n" in commands()
    if "/" in carrier:
        return (CHECKOUT / "cardoffers_cli" / carrier).is_file()
    product = (text for name, text in texts().items() if name.parts[0] == "cardoffers_cli")
    return any(re.search(rf"^class {carrier}\b", text, re.MULTILINE) for text in product)


@pytest.mark.parametrize(
    ("expected", "carrier"),
    [
        (True, "cardoffers offer feed"),
        (True, "Institution"),
        (True, "river/match.py"),
        (False, "cardoffers offer eat"),
        (False, "Institutio"),
        (False, "pipeline/mash.py"),
    ],
)
def test_a_carrier_that_is_not_there_is_found(expected: bool, carrier: str) -> None:
    assert expected == is_there(carrier)


# what is written, and the beginning of what is said of it
BREACHES = """
the serial meaning (rules.md#no-such-rule)  there is no rules.md#no-such-rule
see nowhere.md#budgets                      there is no nowhere.md#budgets
as nowhere.md says                          there is no page nowhere.md
the table of `jobs/nowhere.py`              there is no file jobs/nowhere.py
`river/plan/nowhere.sql` makes it             there is no file river/plan/nowhere.sql
`tests/test_nowhere.py::test_it` shows it   there is no file tests/test_nowhere.py
`tests/test_house.py::test_no` shows it     there is no test test_no in tests/test_house.py
the first one wins (decisions, Duplicates)  '(decisions, Duplicates)' cites no page
by the specification's page 6               "specification's" cites no page
half up (D6)                                '(D6)' cites no page
section § 4                                 '§ 4' cites no page
"""

FINE = """
the serial meaning (rules.md#redeeming)
as `river/decide.py` and match.py do
`tests/test_house.py::test_a_breach_is_found`
see docs/rules.md and README.md
decisions are kept, as RFC 9110, 10.2.3 has it
`-o files.md` writes it
"""


@pytest.mark.parametrize(
    ("text", "said"), [re.split(r" {2,}", line) for line in BREACHES.strip().splitlines()]
)
@pytest.mark.parametrize("written", ['"""{}"""', "x = 1  # {}", "-- {}\nselect 1;", "# x\n\n{}\n"])
def test_a_citation_of_what_is_not_there_is_found(text: str, said: str, written: str) -> None:
    path = Path("cardoffers_cli/jobs/match" + suffix_of(written))
    found = list(complaints(path, written.format(text)))
    assert 1 == len(found)
    assert said in found[0]


def suffix_of(written: str) -> str:
    return {"-": ".sql", "#": ".md"}.get(written[0], ".py")


@pytest.mark.parametrize("text", FINE.strip().splitlines())
def test_a_citation_of_what_is_there_is_left_alone(text: str) -> None:
    assert [] == list(complaints(Path("cardoffers_cli/river/decide.py"), f'"""{text}"""'))


@pytest.mark.parametrize(
    ("expected", "link"),
    [
        ([], "[rules](rules.md)"),
        ([], "[rules](rules.md#budgets)"),
        ([], "[here](#speed)"),
        ([], "[RFC](https://www.rfc-editor.org/rfc/rfc9457)"),
        (["there is no no.md"], "[no](no.md)"),
        (["there is no no in rules.md"], "[no](rules.md#no)"),
        (["there is no no in scale.md"], "[no](#no)"),
    ],
)
def test_a_link_that_leads_nowhere_is_found(expected: list[str], link: str) -> None:
    page = Path("cardoffers_cli/docs/scale.md")
    assert expected == [what for _, what in absent(page, link)]


def test_the_line_is_that_of_the_citation() -> None:
    text = '"""One.\n\nSee rules.md#nowhere.\n"""\n'
    assert ["a.py:3: there is no rules.md#nowhere"] == list(complaints(Path("a.py"), text))


def test_what_is_no_prose_is_not_read() -> None:
    assert [] == list(prose(Path("a.py"), 'x = "nowhere.md"\n'))
    assert [(1, "\n\n")] == [*prose(Path("a.md"), "```\nnowhere.md\n```")][:1]


def test_a_rule_that_is_cited_is_known() -> None:
    assert {"budgets"} == cited(
        Path("a.py"), "# rules.md#budgets, scale.md#speed\nx = 'rules.md#uses'"
    )
    assert "of-an-offer-s" != slug("Of an offer's")
