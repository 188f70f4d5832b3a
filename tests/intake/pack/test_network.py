"""The page asks nothing of any network, as the browser's own log has it.

Each test starts a browser of its own, which writes the log when it ends.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from browser import browser, shown
from packs import NO_NAMES, TRANSACTIONS, built, package, ready
from sizes import slow

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def network(opened_pages: Callable[[Any], None], log: Path) -> list[str]:
    """Return the URLs that pages asked for, as the browser's own log has them."""
    with browser(NO_NAMES, f"--log-net-log={log}") as found:
        opened_pages(found)
    told = json.loads(log.read_text())
    kind = told["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    asked = [each.get("params", {}) for each in told["events"] if each["type"] == kind]
    return [each["url"] for each in asked if each.get("initiator", BY_BROWSER) != BY_BROWSER]


BY_BROWSER = "not an origin"
"""What the log has in the place of a page where the browser asks for itself."""


def test_nothing_is_asked_of_any_network(tmp_path: Path) -> None:
    package()
    path = built(tmp_path)

    def use(found: Any) -> None:
        with ready(found, path) as page:
            page.check(TRANSACTIONS / "larkmere-dirty.csv")
            assert [path.as_uri()] == [each for each in page.seen.asked if each[:5] != "blob:"]

    assert [] == network(use, tmp_path / "net.json")


@slow
def test_what_a_page_asks_for_is_found(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<img src='http://127.0.0.1:9/a.png'>")

    def use(found: Any) -> None:
        with shown(found, tmp_path / "page.html") as seen:
            seen.page.locator("img").wait_for(state="attached")

    assert ["http://127.0.0.1:9/a.png"] == network(use, tmp_path / "net.json")
