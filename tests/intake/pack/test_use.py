"""The page as people use it: with a mouse or the keys, in their language, on any screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from browser import shown
from cardoffers_cli import __version__
from cardoffers_cli.intake.schemas.formats import rules_digest
from languages import with_spanish
from packs import HEADER, READY_MS, ROW, TAKEN, TRANSACTIONS, Opened, built
from sizes import at_the_gate

if TYPE_CHECKING:
    from pathlib import Path

TOO_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
GOOD = HEADER + b"".join(ROW % number for number in range(3))


def assert_good(used: Opened, folder: Path) -> None:
    (folder / "good.csv").write_bytes(GOOD)
    used.check(folder / "good.csv")
    assert "good.csv is good: all 3 rows can be taken." == used.text("#answer")


def test_a_check_can_be_cancelled(used: Opened, tmp_path: Path) -> None:
    """The page answers while it works: a file that takes a minute is given up at once."""
    large = tmp_path / "large.csv"
    with large.open("wb") as out:
        out.write(HEADER)
        for number in range(300):
            out.write(b"".join(ROW % (number * 1000 + each) for each in range(1000)))
    used.give(large)
    used.page.locator("#read", has_text="rows checked").wait_for()
    assert used.page.locator("#file").is_disabled()
    assert "cancel" == used.page.evaluate("() => document.activeElement.id")
    used.page.keyboard.press("Enter")
    used.page.locator("#state", has_text="The check of large.csv was cancelled.").wait_for()
    assert used.page.locator("#verdict").is_hidden()
    assert_good(used, tmp_path)


def test_a_file_can_be_dropped_anywhere(used: Opened) -> None:
    content = GOOD.decode()
    dropped = used.page.evaluate_handle(
        "(text) => { const given = new DataTransfer();"
        " given.items.add(new File([text], 'dropped.csv')); return given }",
        content,
    )
    used.page.dispatch_event("h1", "drop", {"dataTransfer": dropped})
    used.page.locator("#answer", has_text="dropped.csv is good").wait_for()


def test_the_keyboard_alone_will_do(used: Opened, tmp_path: Path) -> None:
    # The browser is told first, and answers meanwhile: told and pressed at once, it may open a
    # chooser of its own.
    with used.page.expect_file_chooser() as chooser:
        used.page.focus(".skip")
        used.page.keyboard.press("Tab")
        assert "file" == used.page.evaluate("() => document.activeElement.id")
        used.page.keyboard.press("Enter")
    chooser.value.set_files(TRANSACTIONS / "larkmere-dirty.csv")
    used.page.locator("#files[aria-busy=false]").wait_for(timeout=READY_MS)
    assert "answer" == used.page.evaluate("() => document.activeElement.id")
    used.page.keyboard.press("Tab")
    used.page.keyboard.press("Tab")
    with used.page.expect_download() as download:
        used.page.keyboard.press("Enter")
    download.value.save_as(tmp_path / "errors.csv")
    assert "errors.csv" == download.value.suggested_filename
    kept = used.page.evaluate(TAKEN)["errors"]
    assert kept.encode("latin-1") == (tmp_path / "errors.csv").read_bytes()


STATES: dict[str, bytes] = {
    "ready": b"",
    "good": HEADER + ROW % 1,
    "unusable": b"Datum;Betrag\n",
    "bad": (TRANSACTIONS / "larkmere-dirty.csv").read_bytes(),
}


def test_what_cannot_be_said_is_not_shown(used: Opened, tmp_path: Path) -> None:
    """A file that cannot be read has no counts and no findings, and no rows to take away."""
    (tmp_path / "a.csv").write_bytes(STATES["unusable"])
    used.check(tmp_path / "a.csv")
    assert "a.csv cannot be read: the first line is not a header." == used.text("#answer")
    for each in ("#facts", "#findings", "#nothing", "#progress", "#cancel"):
        assert used.page.locator(each).is_hidden(), each
    assert ["verdict.json"] == used.page.locator("#files a:visible").all_inner_texts()


@pytest.mark.parametrize("state", STATES)
def test_nobody_is_kept_out_and_nothing_is_cut_off(
    used: Opened, tmp_path: Path, state: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    if STATES[state]:
        (tmp_path / "a.csv").write_bytes(STATES[state])
        used.check(tmp_path / "a.csv")
    try:
        for scheme, width in (("light", 1280), ("dark", 400), ("light", 800)):
            used.page.emulate_media(color_scheme=scheme)
            used.page.set_viewport_size({"width": width, "height": 900})
            assert 0 == used.page.evaluate(TOO_WIDE), (state, width)
            found = axe.Axe().run(used.page)
            assert 0 == found.violations_count, (state, scheme, found.generate_report())
        used.page.emulate_media(media="print")
        assert used.page.locator("#choose").is_hidden()
        assert used.page.pdf().startswith(b"%PDF")
    finally:
        used.page.emulate_media(media="screen", color_scheme="light")
        used.page.set_viewport_size({"width": 1280, "height": 900})
    assert [] == used.seen.wrong


def test_it_speaks_the_language_of_its_reader(used: Opened) -> None:
    """One language is not to be chosen, and there is one that is packaged."""
    assert "en" == used.page.evaluate("() => document.documentElement.lang")
    assert used.page.locator("#language").is_hidden()


@pytest.mark.parametrize(
    "lacking",
    ["delete globalThis.DecompressionStream", "delete globalThis.Worker"],
)
def test_a_browser_that_cannot_run_it_is_told_so(opened: Any, path: Path, lacking: str) -> None:
    with shown(opened, path) as seen:
        seen.page.add_init_script(lacking)
        seen.page.reload()
        seen.page.locator("#state", has_text="This browser cannot run the check.").wait_for()
        assert seen.page.locator("#file").is_disabled()


@at_the_gate
@pytest.mark.parametrize(
    ("language", "locale"), [("es", "es-MX"), ("en", "pt-PT"), ("en", "de-DE")]
)
def test_it_begins_in_the_language_of_the_browser_that_has_a_file(
    opened: Any, tmp_path: Path, language: str, locale: str
) -> None:
    with with_spanish(tmp_path):
        page = built(tmp_path)
    with shown(opened, page, locale=locale) as seen:
        assert language == seen.page.input_value("#language")
        assert language == seen.page.evaluate("() => document.documentElement.lang")


def test_the_page_says_what_it_is(used: Opened, path: Path) -> None:
    told = used.text("#about")
    assert rules_digest() in told
    assert f"cardoffers {__version__}" in told
    assert path.stat().st_size <= 14_000_000


# Nothing is shown, and nothing is run, that need not be


ATTEMPTS = {
    "fetch": "fetch('data:,x').then(done, refused)",
    "module": "import('data:text/javascript,').then(done, refused)",
    "image": """
        const image = new Image(), form = '<svg xmlns="http://www.w3.org/2000/svg"/>'
        image.onload = done
        image.onerror = refused
        image.src = URL.createObjectURL(new Blob([form], { type: 'image/svg+xml' }))""",
    "script": """
        const script = document.createElement('script')
        script.textContent = 'globalThis.ran = true'
        document.body.append(script)
        script.remove()
        globalThis.ran ? done() : refused()""",
    "frame": """
        const frame = document.createElement('iframe')
        frame.src = 'data:text/html,<script>parent.postMessage(1, "*")</script>'
        onmessage = done
        document.addEventListener('securitypolicyviolation', refused)
        document.body.append(frame)""",
    "worker": """
        const text = `const asked = new XMLHttpRequest()
            asked.onload = () => postMessage('done')
            asked.onerror = () => postMessage('refused')
            try { asked.open('GET', 'data:,x'); asked.send() } catch { postMessage('refused') }`
        const other = new Worker(URL.createObjectURL(new Blob([text])))
        other.onmessage = ({ data }) => data === 'done' ? done() : refused()""",
}
"""What a page could do to reach or to run something else; none of it needs a network."""


def attempted(page: Any, attempt: str) -> str:
    script = f"""() => new Promise((ends) => {{
        const done = () => ends('done'), refused = () => ends('refused')
        {ATTEMPTS[attempt]}
    }})"""
    return str(page.evaluate(script))


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_the_policy_refuses_all_else(used: Opened, attempt: str) -> None:
    assert "refused" == attempted(used.page, attempt)
    used.page.locator("iframe").evaluate_all("(frames) => frames.forEach((each) => each.remove())")
    used.seen.wrong.clear()


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_without_the_policy_it_would_be_done(opened: Any, tmp_path: Path, attempt: str) -> None:
    (tmp_path / "page.html").write_text("<!DOCTYPE html><title>no policy</title>")
    with shown(opened, tmp_path / "page.html") as seen:
        assert "done" == attempted(seen.page, attempt)


def test_an_error_of_the_page_shows_its_kind_only(used: Opened, tmp_path: Path) -> None:
    used.page.evaluate("() => check({ name: 'a.csv', size: 9, type: '4111111111111111' })")
    used.page.locator("#state", has_text="an error of this page: TypeError").wait_for()
    assert_good(used, tmp_path)


def test_no_value_of_a_row_is_shown(used: Opened) -> None:
    path = TRANSACTIONS / "larkmere-dirty.csv"
    used.check(path)
    header, *lines = path.read_text("utf-8", "replace").splitlines()
    cells = {cell.strip('" ') for line in lines for cell in line.split(",")}
    telling = {cell for cell in cells if len(cell) > SHORT} - set(header.split(","))
    assert len(telling) > len(lines)
    shown_text = used.text("body")
    assert [] == sorted(cell for cell in telling if cell in shown_text)


SHORT = 4
"""Letters of what stands in any text by chance."""


def test_names_of_others_are_shown_as_they_are(used: Opened, tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)>.csv"
    (tmp_path / name).write_bytes(HEADER + ROW % 1)
    used.check(tmp_path / name)
    assert f"{name} is good: its row can be taken." == used.text("#answer")
    assert "For Larkmere <b>Bank</b>." == used.text("#institution")
    assert 0 == used.page.locator("img, b").count()
    assert [] == used.seen.wrong
