"""What texts cite, and what of it is not there: pages, anchors of pages, files.

Read are docstrings, comments, and literals that stand for themselves in Python, the comments of SQL
and whole pages of Markdown. A citation of a rule has one form, `rules.md#budgets`; a file is cited
by its path or the end of it, in backticks. `test_law.py` runs this over the repository.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from test_repository import repository

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = Path(__file__).parents[1]
PAGES = CHECKOUT / "cardoffers_cli" / "docs"

ANCHOR = re.compile(r"(?<!\]\()(?<![\w/.-])(?P<page>[\w./-]*\.md)#(?P<anchor>[\w-]+)")
PAGE = re.compile(r"(?<!\]\()(?<![\w/.*<-])(?P<page>(?:[\w.-]+/)*[\w-]+\.md)(?![\w#-])")
FILE = re.compile(
    r"`(?P<file>(?:[\w.-]+/)*[\w-]+\.(?:py|sql|toml|lock))(?:::(?P<test>\w+)|:[\w-]+)?`"
)
LINK = re.compile(r"\]\((?P<target>[^)#\s]+)?(?:#(?P<anchor>[\w-]+))?\)")
LOOSE = re.compile(
    r"\((?:the )?(?:decisions?|specification|house|contract's page)(?:,| [0-9§])[^)]*\)?"
    r"|(?:decisions|specification|house),? (?:section|page|§) ?[\d.]*"
    r"|(?-i:\([A-Z][0-9]{1,2}\))|§ ?[0-9]|\bspecification(?:'s)?\b",
    re.IGNORECASE,
)
"""Citations of pages that nobody can look up."""

MADE = {"folder/file.sql"}
"""Names that stand for a file."""


def prose(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yield what people read in a file, with the line where each piece begins."""
    if path.suffix == ".py":
        yield from _python(text)
    elif path.suffix == ".sql":
        blocks = re.finditer(r"(?:^ *--.*\n?)+", text, re.MULTILINE)
        yield from ((text.count("\n", 0, each.start()) + 1, each[0]) for each in blocks)
    elif path.suffix == ".md":
        yield 1, re.sub(r"^```.*?^```", _blank, text, flags=re.DOTALL | re.MULTILINE)


def _blank(block: re.Match[str]) -> str:
    return "\n" * block[0].count("\n")


def _python(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(words))):
                yield node.lineno, words
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page: the slugs of its headings."""
    text = next((text for _, text in prose(page, page.read_text("utf-8"))), "")
    return frozenset(map(slug, re.findall(r"^#+ +(.+)$", text, re.MULTILINE)))


def rules() -> list[str]:
    """Return the anchors of the rules, in their order."""
    page = (PAGES / "rules.md").read_text("utf-8")
    return [slug(title) for title in re.findall(r"^### +(.+)$", page, re.MULTILINE)]


def slug(title: str) -> str:
    """Return the anchor of a heading, as those who show Markdown make it."""
    return re.sub(r"[^\w -]", "", title.strip().lower()).replace(" ", "-")


def complaints(path: Path, text: str) -> Iterator[str]:
    """Yield what a file cites and is not there; `path` is relative to the checkout."""
    if path.suffix != ".md" and not any(each.search(text) for each in (ANCHOR, PAGE, FILE, LOOSE)):
        return  # which spares most files the reading
    for line, piece in prose(path, text):
        for found, cited in absent(path, piece):
            yield f"{path}:{line + piece.count(chr(10), 0, found)}: {cited}"


def absent(path: Path, piece: str) -> Iterator[tuple[int, str]]:
    """Yield (place, what) of each citation in a piece of text that leads nowhere."""
    for found in ANCHOR.finditer(piece):
        page = _page(path, found["page"])
        if page is None or found["anchor"] not in anchors(page):
            yield found.start(), f"there is no {found[0]}"
    for found in PAGE.finditer(piece):
        if _page(path, found["page"]) is None:
            yield found.start(), f"there is no page {found['page']}"
    for found in FILE.finditer(piece):
        known = _known_as(found["file"])
        if found["file"] not in MADE and not known:
            yield found.start(), f"there is no file {found['file']}"
        elif found["test"] and not any(_defines(each, found["test"]) for each in known):
            yield found.start(), f"there is no test {found['test']} in {found['file']}"
    for found in LOOSE.finditer(piece):
        yield found.start(), f"{found[0]!r} cites no page: write rules.md#the-rule, or nothing"
    if path.suffix == ".md":
        yield from _broken_links(path, piece)


def _broken_links(path: Path, piece: str) -> Iterator[tuple[int, str]]:
    for found in LINK.finditer(piece):
        target = found["target"] or path.name
        if "://" in target:
            continue
        page = (CHECKOUT / path).parent / target
        if not page.exists():
            yield found.start(), f"there is no {target}"
        elif found["anchor"] and found["anchor"] not in anchors(page):
            yield found.start(), f"there is no {found['anchor']} in {target}"


def _page(path: Path, name: str) -> Path | None:
    """Return the page that a name means: one of the pages, or another file of the repository."""
    places = (PAGES / name, (CHECKOUT / path).parent / name, *_known_as(name))
    return next((place for place in places if place.is_file()), None)


@cache
def _known_as(name: str) -> list[Path]:
    """Return the files of the repository whose path is, or ends in, a name."""
    wanted = tuple(name.split("/"))
    return [CHECKOUT / each for each in _files() if each.parts[-len(wanted) :] == wanted]


def _defines(path: Path, name: str) -> bool:
    return f"\ndef {name}(" in path.read_text("utf-8")


@cache
def _files() -> list[Path]:
    return repository()


def cited(path: Path, text: str) -> set[str]:
    """Return the anchors of rules that a file cites."""
    if "rules.md#" not in text:
        return set()
    pieces = (piece for _, piece in prose(path, text))
    found = (match for piece in pieces for match in ANCHOR.finditer(piece))
    return {match["anchor"] for match in found if match["page"] == "rules.md"}
