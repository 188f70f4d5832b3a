"""The screen: what is seen after which keys, and that nothing and nobody can break it.

What is seen is held against the goldens beside this file, letter by letter. To accept a change:
`UPDATE_GOLDENS=1 pytest tests/answers/browse`, and read the difference.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from rich.color import Color

from cardoffers_cli.answers.browse import inquiry
from cardoffers_cli.answers.browse.app import Browser
from cardoffers_cli.answers.browse.inquiry import Inquiry
from cardoffers_cli.answers.browse.panels import SearchBox
from cardoffers_cli.copies.work import publish
from commands import cardoffers
from complaints import ANN, complaints
from grinding import DERIVING, ENDLESS, LOOKING, grind
from screens import Person, browse, held_to, seen
from sizes import slow
from tables import NOON
from work import file_of, found, held, job, new_store, settings, tell

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from cardoffers_cli.kernel.store.job import Job

WIDE, NARROW = (120, 40), (60, 20)


# what is typed and pressed, one after the other, and the golden of what is seen then
USUAL = """
    -                            start
    text:s*                      list
    text:won                     why-won
    t                            timeline
    a                            answer
    l l                          answer-titled-es
    w text:small                 why-small
    text:free                    why-rejected
    text:SETTLEMENT              why-settlement
    t                            timeline-settlement
    ?                            help
    Esc m                        merchants
    Esc text:tx-oo1o             near
    text:zebra~2026-06-01        nothing
    text:amount:much             misunderstood
    text:won i                   institutions
    down enter text:theirs       other-institution
"""
WIDE_TOO = """
    text:s* down                 list-wide
    enter t                      timeline-wide
    ?                            help-wide
"""
NARROW_TOO = """
    -                            start-narrow
    text:s*                      list-narrow
    text:won l                   answer-narrow
    ?                            help-narrow
"""


@slow
@pytest.mark.parametrize(
    ("story", "size"),
    [
        pytest.param(USUAL, (80, 24), id="usual"),
        pytest.param(WIDE_TOO, WIDE, id="wide"),
        pytest.param(NARROW_TOO, NARROW, id="narrow"),
    ],
)
def test_it_is_seen(made: Job, story: str, size: tuple[int, int]) -> None:
    settlement = settlement_of(made)

    async def live(person: Person) -> None:
        for line in story.strip().splitlines():
            *keys, golden = line.replace("SETTLEMENT", settlement).split()
            await person.does(*(key.replace("~", " ") for key in keys if key != "-"))
            held_to(golden, person.sees().replace(settlement, "…" * len(settlement)))

    browse(made, live, size=size)


@slow
def test_a_mistyped_institution_is_told(made: Job) -> None:
    assert "Did you mean alder?" in seen(made, query="won", institution="aldre")


def settlement_of(made: Job) -> str:
    """Return the id of alder's settlement, which is drawn."""
    query = """
        select settlement_id from settlements join institutions using (institution_id)
        where slug = 'alder'
    """
    ((settlement,),) = found(made, query)
    return str(settlement)


@slow
def test_no_colour_is_no_colour(made: Job) -> None:
    async def story(person: Person) -> None:
        for keys in [("down",), ("t",), ("?",)]:
            await person.presses(*keys)
            for segment in itertools.chain(*person.segments()):
                style = segment.style
                colours = {style.color, style.bgcolor} if style else set()
                assert colours <= {None, Color.default()}, segment

    browse(made, story, query="s*", has_colour=False)


@slow
def test_a_mouse_does_as_well(made: Job) -> None:
    async def story(person: Person) -> None:
        await person.pilot.click("#results", offset=(10, 1))
        await person.settles()
        await person.pilot.click("#answer")
        await person.settles()
        assert "Your purchase of GBP 12.50" in person.sees()

    browse(made, story, query="s*")


@slow
def test_the_answer_is_copied_alone(made: Job) -> None:
    async def story(person: Person) -> None:
        await person.presses("a", "c")
        assert (
            "Your purchase of GBP 20.00 at bakery on 1 June 2026 earned GBP 3.00 of cashback with "
            "the offer “Bread!”. It was settled on 3 June 2026."
        ) == person.app.clipboard

    browse(made, story, query="won")


def test_a_full_token_does_not_stay(made: Job) -> None:
    async def story(person: Person) -> None:
        await person.types(ANN)
        assert ANN not in person.sees()
        assert "ann-…b1a0" == person.app.query_one(SearchBox).value
        assert "3 found as a token" in person.sees()
        await person.types(f"bakery cardholder:{ANN}x")
        assert ANN not in person.sees()
        assert "bakery cardholder:ann-…1a0x" == person.app.query_one(SearchBox).value

    browse(made, story)


# The store is somebody else's too


@slow
def test_an_import_can_start_while_the_screen_is_open(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder")
    file = file_of(tmp_path / "tx.csv", "ref identifier\nlate M1")

    async def story(person: Person) -> None:
        assert "Nothing found" in person.sees()
        words = ("import", file, "-i", "alder", "--store", made.path, "--lock-wait", "0")
        await asyncio.to_thread(cardoffers, *words, "--as-of", f"{NOON.isoformat()}Z")
        await person.types("late")
        assert "1 found as a reference" in person.sees()

    browse(made, story, query="late")


@slow
def test_a_held_store_is_read_from_its_snapshot(tmp_path: Path) -> None:
    made = complaints(tmp_path)
    publish(job(made.path, now=made.now - timedelta(hours=3)))

    async def story(person: Person) -> None:
        with held(made.path):
            await person.types("won")
            shown = person.sees()
        await person.types("won")
        assert "SNAPSHOT" not in person.sees()
        held_to("snapshot", re.sub(r"process \d+ .* \(waited \d s\)", "…", shown))

    browse(made, story, size=(200, 24))  # wide enough for any host's name


def test_who_holds_the_store_is_named_where_no_snapshot_is(tmp_path: Path) -> None:
    made = new_store(tmp_path)

    async def story(person: Person) -> None:
        with held(made.path):
            await person.types("won")
            assert "The store is held by `import`" in person.sees()
        await person.types("won")
        assert "There is no institution 'alder'." in person.sees()

    browse(replace(made, settings=settings(lock_wait_s=0)), story)


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the screen wait for a held store for as long as a slow machine may need."""
    monkeypatch.setattr(inquiry, "PATIENCE_S", 60)


@pytest.fixture
def own(tmp_path: Path, patience: None) -> Job:  # noqa: ARG001 - it changes what is waited for
    """A job on a scene of the test's own, without a snapshot."""
    made = complaints(tmp_path)
    return replace(made, settings=settings(lock_wait_s=60))


@slow
def test_only_the_newest_question_is_answered(own: Job) -> None:
    async def story(person: Person) -> None:
        with held(own.path):
            await person.types("won", waits=False)
            await person.sees_at_last("looking…")
            await person.types("spent", waits=False)
            await person.types("small", waits=False)
        await person.settles()
        assert "1 found as a reference" in person.sees()
        assert ["small"] == [case.ref for case in person.app._cases]

    browse(own, story)


@slow
def test_nobody_has_to_wait_for_an_answer(own: Job) -> None:
    async def story(person: Person) -> None:
        with held(own.path):
            await person.types("won", waits=False)
            await person.sees_at_last("Esc Stop waiting")
            await person.presses("Esc")
            assert "Stopped waiting." in person.sees()
        await person.types("won")
        assert "2 found as a reference" in person.sees()

    browse(own, story)


@slow
def test_a_search_goes_on_while_somebody_looks_around(own: Job) -> None:
    async def story(person: Person) -> None:
        with held(own.path):
            await person.types("small", waits=False)
            await person.presses("↓", "t", waits=False)
        await person.settles()
        assert "1 found as a reference" in person.sees()

    browse(own, story, query="s*")


@slow
def test_going_back_to_the_search_box_stops_nothing(made: Job) -> None:
    async def story(person: Person) -> None:
        before = person.sees()
        await person.presses("/")
        assert before.splitlines()[:20] == person.sees().splitlines()[:20]
        await person.types("small")
        assert "1 found as a reference" in person.sees()

    browse(made, story, query="won")


# What runs is broken off: each of these stories would not end if it ran on


@slow
def test_a_person_stops_what_runs(own: Job) -> None:
    async def story(person: Person) -> None:
        await person.types(ENDLESS, waits=False)
        await person.sees_at_last("Esc Stop waiting")
        await person.presses("Esc")
        assert "Stopped waiting." in person.sees()
        await asyncio.to_thread(takes_the_store, own)
        await person.types("won")
        assert "2 found as a reference" in person.sees()

    browse(grind(own, DERIVING), story)


@slow
def test_a_newer_question_stops_what_runs(own: Job) -> None:
    async def story(person: Person) -> None:
        await person.types(ENDLESS, waits=False)
        await person.sees_at_last("looking…")
        await person.types("won")
        assert "2 found as a reference" in person.sees()

    browse(grind(own, DERIVING), story)


@slow
def test_a_newer_search_stops_a_look(own: Job) -> None:
    async def story(person: Person) -> None:
        await person.types("won", waits=False)
        await person.sees_at_last("looking…")
        await person.types("99999.00")
        assert "Nothing found" in person.sees()
        await asyncio.to_thread(takes_the_store, own)

    browse(grind(own, LOOKING), story)


@slow
def test_who_leaves_stops_what_runs(own: Job) -> None:
    screen = Browser(Inquiry(grind(own, DERIVING), lambda: own.now, "alder"), ENDLESS)

    async def leaves(pilot: Pilot[int]) -> None:
        await Person(pilot).sees_at_last("looking…")
        await pilot.press("ctrl+q")

    screen.run(headless=True, auto_pilot=leaves)
    assert screen.fault is None
    takes_the_store(own)


@slow
def test_however_fast_the_questions_come_the_newest_is_answered(own: Job) -> None:
    chance = random.Random(1)  # noqa: S311 - moments, not secrets

    async def story(person: Person) -> None:
        for _ in range(30):
            await person.hurries(chance.choice([ENDLESS, ENDLESS, "small", "s*"]))
            await asyncio.sleep(chance.uniform(0, 0.1))
        await person.types("won")
        assert "2 found as a reference" in person.sees()
        assert ["won", "won"] == [case.ref for case in person.app._cases]

    browse(grind(own, DERIVING), story)


def takes_the_store(made: Job) -> None:
    """Hold the store as somebody does who changes it, and waits no minute for it."""
    with held(made.path):
        pass


# Whatever is wrong, the screen lives on and says it


def test_a_missing_store_is_told(tmp_path: Path) -> None:
    shown = seen(job(tmp_path / "none.duckdb"), query="won")
    assert "There is no store at" in shown
    assert "Make one with `cardoffers init`" in shown


@slow
def test_a_store_that_comes_later_is_read(tmp_path: Path) -> None:
    made = job(tmp_path / "store.duckdb")

    async def story(person: Person) -> None:
        assert "There is no store at" in person.sees()
        complaints(tmp_path)
        await person.types("won")
        assert "2 found as a reference" in person.sees()

    browse(made, story, query="won")


def test_a_damaged_store_is_told(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    path.write_bytes(b"no store" * 2000)
    shown = " ".join(seen(job(path), query="won").split())  # the path decides where lines end
    assert "is not a store, or is damaged. Name the right file with --store" in shown


def test_an_unforeseen_error_tells_its_kind_alone(made: Job) -> None:
    async def story(person: Person) -> None:
        person.app.inquiry._clock = lambda: 1 / 0
        await person.types("won")
        assert "Unexpected error (ZeroDivisionError)." in person.sees()
        person.app.inquiry._clock = lambda: made.now
        await person.types("won")
        assert "2 found as a reference" in person.sees()

    browse(made, story)


def test_a_fault_shows_no_values(made: Job, capsys: pytest.CaptureFixture[str]) -> None:
    screen = Browser(Inquiry(made, lambda: made.now, "alder"))

    async def breaks(pilot: Pilot[int]) -> None:
        token = ANN

        def fails() -> None:
            raise ValueError(token)

        pilot.app.call_later(fails)
        await pilot.pause()

    screen.run(headless=True, auto_pilot=breaks)
    assert isinstance(screen.fault, ValueError)
    assert ("", "") == tuple(capsys.readouterr())
