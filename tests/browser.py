"""A headless browser, where there is one: pages as people meet them."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
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
