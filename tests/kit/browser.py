"""A headless browser, where there is one: pages as people meet them."""

from __future__ import annotations

import re
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)


@dataclass(frozen=True)
class Shown:
    """An open page, what it asked for, and what went wrong."""

    page: Any
    asked: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@contextmanager
def browser(*more: str) -> Iterator[Any]:
    """Start the browser of this machine, with more switches, or skip what asks for it."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no browser is installed, such as {NAMES[0]}")
    reason = "playwright is not installed"
    playwright = pytest.importorskip("playwright.sync_api", reason=reason)
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=found, args=[*QUIET, *more])
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def shown(
    opened: Any,
    path: Path,
    *,
    scheme: str = "light",
    width: int = 1280,
    media: str = "screen",
    **more: Any,
) -> Iterator[Shown]:
    """Open a page from its file; `more` is said of the context it is in."""
    size = {"width": width, "height": 900}
    context = opened.new_context(color_scheme=scheme, viewport=size, **more)
    try:
        seen = Shown(context.new_page())
        seen.page.on("request", lambda request: seen.asked.append(request.url))
        seen.page.on("console", lambda message: seen.wrong.append(message.text))
        seen.page.on("pageerror", lambda error: seen.wrong.append(str(error)))
        seen.page.emulate_media(media=media)
        seen.page.goto(path.as_uri())
        yield seen
    finally:
        context.close()


def rendered(page: str) -> str:
    """Return the text of a page as it is seen, with the commas that its style sets into numbers."""
    (rule,) = re.findall(r'^(.*) \{ content: ","; \}', page, re.MULTILINE)
    seen = _Seen({each.split()[0] for each in rule.split(",")})
    seen.feed(page.partition("</head>")[2])
    return " ".join("".join(seen.parts).split())


class _Seen(HTMLParser):
    """The text of a page; a `span` below what the style says so of begins with a comma."""

    def __init__(self, parted: set[str]) -> None:
        super().__init__()
        self._parted = parted
        self.parts: list[str] = []
        self._above: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {
            name
            for above, styles in self._above
            for name in (above, *(f".{each}" for each in styles.split()))
        }
        if tag == "span" and names & self._parted:
            self.parts.append(",")
        if tag not in {"br", "input"}:
            self._above.append((tag, dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        while self._above and self._above.pop()[0] != tag:
            pass
        self.parts.append("" if tag in {"span", "small"} else " ")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


WRONG_FIGURES = re.compile(
    r"\d,\d{3}-\d\d|\d\d-\d,\d|\d\.\d{5,}"
    r"|(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r" \d{1,2}?,\d{3}"
)
"""A year with a separator in it, and a number that nobody formatted."""
