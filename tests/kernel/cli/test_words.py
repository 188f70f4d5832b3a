"""The words that users read: those of the field, held over every help page and every message.

What is read is the reference of all commands, the topics of the help, the findings, and every text
of the program that is a phrase: a literal with a blank in it that is no docstring.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.main import get_command

from cardoffers_cli.demo.help_commands import KNOWN, LISTS, PAGES, page_text, reference
from cardoffers_cli.kernel.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[3] / "cardoffers_cli"

# a word that is not said, and what is said instead
WORDS = """
mend(s|ed|ing)?           fix
moments?                  time
nights?                   nightly run
desks?                    support
(needs|asks for) somebody needs attention
nobody knows              unknown, not in the catalogue
twin                      the same
river                     pipeline
call books?               usage journal
books of calls            usage journal
"""
UNSAID = {
    re.compile(rf"(?<![-/`.\w<]){word}(?![-/.]?\w|>)", re.IGNORECASE): instead
    for word, instead in (
        re.split(r" {2,}|(?<=body) (?=needs)", line) for line in WORDS.strip().splitlines()
    )
}


def unsaid(text: str) -> list[str]:
    """Return the words in a text that are not said, each with what is said instead."""
    return [
        f"{found[0]}: say {instead}"
        for word, instead in UNSAID.items()
        for found in word.finditer(text)
    ]


def phrases(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each literal that holds a blank, with its line; no docstrings, and no columns."""
    tree = ast.parse(path.read_text())
    parents = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(statement.value)
        for node in ast.walk(tree)
        if isinstance(node, (*parents, ast.If))
        for statement in node.body
        if isinstance(statement, ast.Expr)
    }
    names = {
        id(each.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for each in node.keywords
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in docstrings | names and " " in node.value.strip():
            yield node.lineno, node.value


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("folder", sorted({path.parent for path in MODULES}), ids=str)
def test_every_message_speaks_the_words_of_the_field(folder: Path) -> None:
    found = [
        f"{path.name}:{line}: {word}"
        for path in sorted(folder.glob("*.py"))
        for line, text in phrases(path)
        for word in unsaid(text)
    ]
    assert [] == found


@pytest.mark.parametrize("page", [*PAGES, "commands"])
def test_every_help_page_speaks_them(page: str) -> None:
    text = reference(get_command(app)) if page == "commands" else page_text(page)
    found = [
        f"{number}: {word}"
        for number, line in enumerate(text.splitlines(), 1)
        for word in unsaid(line)
    ]
    assert [] == found


def test_every_finding_speaks_them() -> None:
    told = {code: f"{each.summary}. {each.fix}. {each.why}" for code, each in KNOWN.items()}
    assert {} == {code: unsaid(text) for code, text in told.items() if unsaid(text)}
    assert [] == [word for about in {**LISTS, **PAGES}.values() for word in unsaid(about)]


def test_no_column_is_called_paid() -> None:
    """What this program knows to be settled, a bank may have paid or not."""
    titles = re.compile(r'Column\([^)]*"[^"]*\bpaid\b[^"]*"')
    assert [] == [path.name for path in MODULES if titles.search(path.read_text())]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("how to mend it", ["mend: say fix"]),
        ("It was mended at that moment.", ["mended: say fix", "moment: say time"]),
        ("Nights, newest first", ["Nights: say nightly run"]),
        ("the nightly run, overnight, nights.html, `.night`, <store>.night", []),
        ("something needs somebody", ["needs somebody: say needs attention"]),
        ("recommend an amendment", []),
    ],
)
def test_a_word_that_is_not_said_is_found(text: str, words: list[str]) -> None:
    assert words == unsaid(text)


def test_phrases_are_found_and_docstrings_are_not(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text('"""A moment of it."""\nX = "a moment"\nY = f"{X} no mend"\nZ = "moment"\n')
    assert [(2, "a moment"), (3, " no mend")] == list(phrases(path))
