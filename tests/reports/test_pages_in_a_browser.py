"""Pages in a real browser: nothing loaded, nothing run, nothing cut off, nobody kept out.

Each page is opened in light and dark, narrow and wide, and on paper. Every name in it is one that
somebody could have sent to do harm.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from browser import browser, shown
from commands import in_a_pipe
from hostile import hostile_store
from sizes import one_in, slow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = slow

AS_OF = "2026-06-01T13:00:00Z"
PAGES = {
    "redemptions": "report redemptions --limit 20",
    "days": "report redemptions --by day",
    "offers": "report redemptions --by offer --all",
    "settlements": "report settlements --limit 20",
    "funnel": "report funnel -i alder --by offer",
    "unresolved": "report unresolved",
    "status": "status",
    "night": "nightly drop",
}
DIRTY = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at\nx\n"
WAYS = [(scheme, width) for scheme in ("light", "dark") for width in (400, 1280)]
PAPER = {".scroll:not(.across)": 680, ".across": 1009}
"""How many CSS pixels there are between the margins of A4, upright and across."""

TOO_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
OPENED = "() => document.querySelectorAll('details').forEach(each => { each.open = true })"
CUT_OFF = """(tables) => [...document.querySelectorAll(tables)]
    .filter(each => each.scrollWidth > each.clientWidth + 1)
    .map(each => each.innerText.slice(0, 80))"""
PAPER_COLOUR = "() => getComputedStyle(document.body).backgroundColor"
STRANGERS = """() => [...document.querySelectorAll("script, img, iframe, object, i, b, form")]
    .map(each => each.outerHTML.slice(0, 80))"""
FORMULAS = """() => [...document.querySelectorAll("th, td, dt, dd, h1, h2, p, li, caption, text")]
    .filter(each => !each.classList.contains("n") && /^[=+\\-@\\t\\r]/.test(each.textContent))
    .map(each => each.outerHTML.slice(0, 80))"""
STOPS = """() => [...document.querySelectorAll("a, summary, [tabindex='0']")]
    .filter(each => each.checkVisibility()).length"""
STOP = """() => {
    const at = document.activeElement
    if (at === document.body) return null
    at.dataset.stop ??= document.querySelectorAll("[data-stop]").length
    const style = getComputedStyle(at), box = at.getBoundingClientRect()
    const outline = style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth)
    return { stop: at.dataset.stop, seen: outline >= 2 && box.width > 0 && box.right > 0 }
}"""


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Make every page, of a store full of hostile names."""
    folder = tmp_path_factory.mktemp("pages")
    made = hostile_store(folder)
    (folder / "drop" / "alder").mkdir(parents=True)
    (folder / "drop" / "alder" / "<b>.csv").write_text(DIRTY)
    (folder / "drop" / "alder" / "<b>.csv.done").touch()
    for name, words in PAGES.items():
        given = words.replace("drop", str(folder / "drop")).split()
        out = folder / f"{name}.html"
        ended = in_a_pipe([*given, "--store", made.path, "--as-of", AS_OF, "-o", out])
        assert ended.exit_code in {0, 3}, ended
    (index,) = folder.glob("reports/*/index.html")
    shutil.copy(index, folder / "night.html")
    return {name: folder / f"{name}.html" for name in PAGES}


@one_in(4)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_for_nothing_and_stays_within_its_window(
    opened: Any, pages: dict[str, Path], name: str
) -> None:
    pictures = set()
    for scheme, width in WAYS:
        with shown(opened, pages[name], scheme=scheme, width=width) as seen:
            seen.page.evaluate(OPENED)
            assert [pages[name].as_uri()] == seen.asked
            assert [] == seen.wrong
            assert [] == seen.page.evaluate(STRANGERS)
            assert [] == seen.page.evaluate(FORMULAS)
            assert 0 == seen.page.evaluate(TOO_WIDE), (scheme, width)
            pictures.add(seen.page.screenshot())
    assert len(WAYS) == len(pictures)
    assert all(len(picture) > 5_000 for picture in pictures), "a page is blank"


@one_in(4)
@pytest.mark.parametrize("name", PAGES)
def test_no_page_keeps_anybody_out(opened: Any, pages: dict[str, Path], name: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    for scheme, width in (WAYS[0], WAYS[-1]):
        with shown(opened, pages[name], scheme=scheme, width=width) as seen:
            found = axe.Axe().run(seen.page)
            assert 0 == found.violations_count, f"{scheme} {width}: {found.generate_report()}"


@one_in(4)
@pytest.mark.parametrize("name", PAGES)
def test_the_keyboard_reaches_everything(opened: Any, pages: dict[str, Path], name: str) -> None:
    with shown(opened, pages[name]) as seen:
        expected = seen.page.evaluate(STOPS)
        stops = []
        for _ in range(expected):
            seen.page.keyboard.press("Tab")
            stops.append(seen.page.evaluate(STOP))
        assert None not in stops
        assert [str(number) for number in range(expected)] == [stop["stop"] for stop in stops]
        assert [] == [stop for stop in stops if not stop["seen"]]


@one_in(4)
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_cut_off_on_paper(opened: Any, pages: dict[str, Path], name: str) -> None:
    for tables, width in PAPER.items():
        with shown(opened, pages[name], scheme="dark", width=width, media="print") as seen:
            assert [] == seen.page.evaluate(CUT_OFF, tables)
            assert "rgb(255, 255, 255)" == seen.page.evaluate(PAPER_COLOUR)
            assert seen.page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


def test_pictures_take_their_colours_from_the_scheme(opened: Any, pages: dict[str, Path]) -> None:
    colour = "() => getComputedStyle(document.querySelector('svg rect[fill*=accent]')).fill"
    found = []
    for scheme in ("light", "dark"):
        with shown(opened, pages["offers"], scheme=scheme) as seen:
            found.append(seen.page.evaluate(colour))
    assert ["rgb(10, 92, 143)", "rgb(99, 177, 229)"] == found


def test_what_is_looked_for_is_found(opened: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    table = "<table><tr><td>=1+1</td><td class='n'>-1.00</td></tr></table>"
    page.write_text(f"<!DOCTYPE html><html lang='en'>{table}<p>+1</p><b>x</b></html>")
    with shown(opened, page) as seen:
        assert ["<td>=1+1</td>", "<p>+1</p>"] == seen.page.evaluate(FORMULAS)
        assert ["<b>x</b>"] == seen.page.evaluate(STRANGERS)
