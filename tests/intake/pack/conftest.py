"""A page that is open: it takes some seconds, as Python starts in it, so one serves a module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from browser import browser
from cardoffers_cli.intake.pack.building import PageCheck
from packs import NO_NAMES, Opened, built, package, ready

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    package()  # skips before a browser is started
    with browser(NO_NAMES) as found:
        yield found


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("page"), PageCheck(institution="Larkmere <b>Bank</b>"))


@pytest.fixture(scope="module")
def used(opened: Any, path: Path) -> Iterator[Opened]:
    """Return a page that file after file is handed to."""
    with ready(opened, path, locale="en-GB") as page:
        yield page
