"""Every page, with no data, a day, a year and many rows, in a browser: what it must not show.

Each is opened at 400, 800 and 1280 px, light and dark, and on paper. The rules: an answer first; no
bare UUID, and no id before a name; no money out of sight; the field's words and no contract's; no
row of nothing; no picture of under three points, and no label over another. Each rule has a page
that breaks it, and is found.

Making the worlds takes most of the time: nights with all of their steps. `CARDOFFERS_TESTS=full`
makes the one of many rows a million's, and looks in all of them for what keeps people out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import worlds
from browser import WRONG_FIGURES, browser, rendered, shown
from sizes import FULL, GATE, at_the_gate, tries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from worlds import World

MANY = 1_000_000 if FULL else 20_000
WORLDS: dict[str, Any] = {
    "no data": worlds.no_data,
    "one day": worlds.one_day,
    "a year": worlds.a_year,
    "many rows": lambda folder: worlds.many(folder, MANY),
}
WAYS = [(scheme, width) for width in (400, 800, 1280) for scheme in ("light", "dark")]
TRIED = WAYS if GATE else WAYS[:1]
WHOLE = {"status", "nights by command"}
"""Pages of any list: they show the rows that the command has, those of nothing too."""
MOST_BYTES = 350_000
ON_PAPER = {".scroll:not(.across)": 680, ".across": 1009}

EVERYTHING = """() => {
    document.querySelectorAll("details").forEach(each => { each.open = true })
    return document.querySelectorAll("fieldset").length
}"""
ORDERS = """(order) => document.querySelectorAll(`input[value="${order}"]`)
    .forEach(each => { each.checked = true })"""
TOO_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"

OUT_OF_SIGHT = """() => [...document.querySelectorAll("td, th")]
    .filter(each => each.querySelector("small") && each.checkVisibility())
    .filter(each => {
        const box = each.getBoundingClientRect()
        return box.width && (box.right > innerWidth + 1 || box.left < -1)
    })
    .map(each => each.closest("table").caption.innerText + ": " + each.innerText)"""

UUIDS = """() => {
    const whole = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i
    const seen = (node) => {
        const style = getComputedStyle(node.parentElement)
        return parseFloat(style.fontSize) > 0 && style.display !== "none"
    }
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const found = []
    while (walker.nextNode()) {
        const node = walker.currentNode
        if (whole.test(node.data) && seen(node)) found.push(node.data.trim())
    }
    for (const row of document.querySelectorAll("tbody tr")) {
        const cells = [...row.cells].map(each => each.querySelector(".id") !== null)
        if (cells.lastIndexOf(false) > cells.indexOf(true) && cells.includes(true))
            found.push("an id before a name: " + row.innerText)
        if (cells[0]) found.push("an id leads: " + row.innerText)
    }
    return found
}"""

CONTRACT_WORDS = """() => {
    const words = /\\b[a-z]+(?:_[a-z0-9]+)+\\b/
    const shares = /(?<![\\d.,])0\\.\\d{4}(?!\\d)/
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const found = []
    while (walker.nextNode()) {
        const node = walker.currentNode
        if (node.parentElement.closest("code, style")) continue
        if (words.test(node.data) || shares.test(node.data)) found.push(node.data.trim())
    }
    return found
}"""

ROWS_OF_NOTHING = """() => [...document.querySelectorAll("tbody tr")].filter(row => {
    const [name, ...cells] = row.cells
    const numbers = cells.filter(each => each.classList.contains("n"))
    const texts = cells.filter(each => !each.classList.contains("n") && !each.querySelector(".id"))
    const counts = numbers.filter(each => /[1-9]/.test(each.textContent))
    return numbers.length && !counts.length && !texts.some(each => each.textContent.trim())
}).map(row => row.innerText)"""

THIN_PICTURES = """() => [...document.querySelectorAll("svg")].map(svg => {
    const drawn = [...svg.querySelectorAll("rect")]
        .filter(each => each.getAttribute("fill") !== "var(--track)")
        .filter(each => parseFloat(each.getAttribute("height")) > 0)
    const line = svg.querySelector("polyline")
    const bars = new Set([...svg.querySelectorAll("rect[fill='var(--track)']")])
    const points = line ? line.getAttribute("points").trim().split(" ").length
        : Math.max(drawn.length, bars.size)
    return [points, svg.querySelector("title").textContent]
}).filter(([points]) => points < 3)"""

WITHOUT_TABLE = """() => [...document.querySelectorAll("svg")]
    .filter(each => !each.querySelector("title").textContent.startsWith("Rows, by what"))
    .filter(each => !each.closest("section").querySelector("table"))
    .map(each => each.querySelector("title").textContent)"""

OVERLAPS = """() => [...document.querySelectorAll("svg")].flatMap(svg => {
    const texts = [...svg.querySelectorAll("text")].filter(each => each.checkVisibility())
    const boxes = texts.map(each => each.getBoundingClientRect())
    return texts.flatMap((text, one) => boxes.slice(0, one)
        .map((box, other) => [box, texts[other]])
        .filter(([box]) => box.right > boxes[one].left && box.left < boxes[one].right
            && box.bottom > boxes[one].top + 2 && box.top < boxes[one].bottom - 2)
        .map(([_, other]) => other.textContent + " and " + text.textContent))
})"""

FIRST_LINES = "() => document.querySelector('header').innerText.trim().split('\\n')"
CUT_OFF = """(tables) => [...document.querySelectorAll(tables)]
    .filter(each => each.scrollWidth > each.clientWidth + 1)
    .map(each => each.innerText.slice(0, 80))"""


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=() if name == "one day" else at_the_gate) for name in WORLDS],
)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, opened: Any
) -> World:
    assert opened
    made: World = WORLDS[request.param](tmp_path_factory.mktemp("world"))
    return made


def broken(seen: Any, *, is_whole: bool) -> dict[str, Any]:
    """Return what breaks a rule on an open page, in every order of its tables."""
    found: dict[str, Any] = {}
    orders = (1, 2, 3) if seen.page.evaluate(EVERYTHING) else (1,)
    for order in orders:
        seen.page.evaluate(ORDERS, order)
        if wide := seen.page.evaluate(TOO_WIDE):
            found["wider than the window"] = wide
        for name, rule in RULES.items():
            if is_whole and rule is ROWS_OF_NOTHING:
                continue
            if breaches := seen.page.evaluate(rule):
                found[name] = breaches
    return found


RULES = {
    "money out of sight": OUT_OF_SIGHT,
    "ids": UUIDS,
    "contract words": CONTRACT_WORDS,
    "rows of nothing": ROWS_OF_NOTHING,
    "thin pictures": THIN_PICTURES,
    "pictures without a table": WITHOUT_TABLE,
    "labels over labels": OVERLAPS,
}


@at_the_gate
def test_every_page_keeps_the_rules_at_every_width(opened: Any, world: World) -> None:
    for name, path in world.pages.items():
        with shown(opened, path) as seen:
            title, answer, *_ = filter(None, seen.page.evaluate(FIRST_LINES))
            assert title == seen.page.title()
            assert name == "status" or answer.endswith("."), (name, answer)
            for scheme, width in TRIED:
                seen.page.emulate_media(media="screen", color_scheme=scheme)
                seen.page.set_viewport_size({"width": width, "height": 900})
                found = broken(seen, is_whole=name in WHOLE)
                if width == 1280:
                    found.pop("money out of sight", None)  # a wide table may scroll there
                assert {} == found, (name, scheme, width)
            for tables, width in ON_PAPER.items():
                seen.page.emulate_media(media="print")
                seen.page.set_viewport_size({"width": width, "height": 900})
                assert [] == seen.page.evaluate(CUT_OFF, tables), (name, "paper", width)
            assert [] == seen.wrong


@at_the_gate
def test_a_page_becomes_paper(opened: Any, world: World) -> None:
    with shown(opened, world.pages["settlements"], media="print") as seen:
        assert seen.page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


@at_the_gate
def test_days_and_numbers_read_as_such_on_every_page(world: World) -> None:
    for name, path in world.pages.items():
        assert [] == WRONG_FIGURES.findall(rendered(path.read_text())), name


def test_no_page_is_large(world: World) -> None:
    sizes = {name: path.stat().st_size for name, path in world.pages.items()}
    assert {} == {name: size for name, size in sizes.items() if size > MOST_BYTES}


@at_the_gate
@pytest.mark.parametrize(
    "world", [*WORLDS] if FULL else ["a year"] if GATE else ["one day"], indirect=True
)
def test_no_page_keeps_anybody_out(opened: Any, world: World) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    some = [*world.pages.items()][:: tries(3, 1)]
    for place, (name, path) in enumerate(some):
        scheme, width = WAYS[place % len(WAYS)]
        with shown(opened, path, scheme=scheme, width=width) as seen:
            seen.page.evaluate(EVERYTHING)
            found = axe.Axe().run(seen.page)
            assert 0 == found.violations_count, (name, scheme, width, found.generate_report())


@at_the_gate
def test_an_order_is_chosen_with_the_keyboard(opened: Any, world: World) -> None:
    with shown(opened, world.pages["offers"]) as seen:
        if not seen.page.evaluate(EVERYTHING):
            return
        seen.page.focus("input[type=radio]")
        captions = []
        for _ in range(2):
            captions.append(seen.page.inner_text(".orders caption:visible >> nth=0"))
            seen.page.keyboard.press("ArrowRight")
        assert 2 == len(set(captions))


# Each rule finds what it is for

ROW = "<tr><th scope='row'>{}</th>{}</tr>"
BREACHES = {
    "money out of sight": (
        "<div style='width: 300px; overflow: auto'><table><caption>x</caption><tbody>"
        "<tr><th>bakery</th><td style='min-width: 500px'>x</td><td><small>GBP</small> 1</td></tr>"
        "</tbody></table></div>"
    ),
    "ids": (
        "<table><tbody><tr><th><span class='id'>6b0e1234</span></th><td>x</td></tr></tbody></table>"
    ),
    "contract words": "<p>widget_views</p>",
    "rows of nothing": "<table><tbody><tr><th>x</th><td class='n'>0.00</td></tr></tbody></table>",
    "thin pictures": (
        "<section><table></table><svg><title>x</title><rect height='9'/></svg></section>"
    ),
    "pictures without a table": (
        "<section><svg><title>x</title><polyline points='1,1 2,2 3,3'/></svg></section>"
    ),
    "labels over labels": (
        "<section><table></table><svg><title>x</title><polyline points='1,1 2,2 3,3'/>"
        "<text y='20'>31 Aug 2026</text><text x='50' y='20'>28 Sep 2026</text></svg></section>"
    ),
}
MORE = {
    "ids": "<p>6b0e1234-1111-4222-8333-444455556666</p>",
    "contract words": "<p>0.1494 of them</p>",
    "rows of nothing": "<table><tbody><tr><th>x</th><td class='n'>GBP 0</td></tr></tbody></table>",
}


@at_the_gate
@pytest.mark.parametrize(
    ("name", "body"), [*BREACHES.items(), *MORE.items()], ids=lambda each: each[:24]
)
def test_a_breach_of_a_rule_is_found(opened: Any, tmp_path: Path, name: str, body: str) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<!DOCTYPE html><html lang='en'><title>x</title><body>{body}</body></html>")
    with shown(opened, page, width=400) as seen:
        assert [name] == [*broken(seen, is_whole=False)]


@at_the_gate
def test_every_rule_has_a_breach() -> None:
    assert [*RULES] == [*BREACHES]
