"""The screen of `cardoffers browse` as a person meets it: keys in, letters out.

A story is an async function of a `Person`; `browse` runs it at a screen without a terminal.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardoffers_cli.answers.browse.app import Browser
from cardoffers_cli.answers.browse.inquiry import Inquiry
from cardoffers_cli.answers.browse.panels import SearchBox

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rich.segment import Segment
    from textual.pilot import Pilot

    from cardoffers_cli.kernel.store.job import Job

    Story = Callable[["Person"], Awaitable[Any]]

GOLDENS = Path(__file__).with_name("goldens")

NAMED = {"/": "slash", "?": "question_mark", "⏎": "enter", "↓": "down", "Esc": "escape"}
"""What keys are called on the screen, and what they are called here."""

QUIET = 2
"""How often in a row the screen must be found unchanged: one message may bring another."""


class Person:
    """Somebody at the screen, who waits for each answer if not told otherwise."""

    def __init__(self, pilot: Pilot[int]) -> None:
        self.pilot = pilot
        self.app = pilot.app

    async def types(self, text: str, *, waits: bool = True) -> None:
        """Write something into the search box in place of what is there, and press Enter."""
        box = self.app.screen.query_one(SearchBox)
        box.focus()
        box.value = text
        await self.presses("enter", waits=waits)

    async def hurries(self, text: str) -> None:
        """Write and send something, and not even wait until that is seen."""
        box = self.app.screen.query_one(SearchBox)
        box.value = text
        await box.action_submit()

    async def does(self, *keys: str) -> None:
        """Press keys; `text:` before something types it."""
        for key in keys:
            word, _, typed = key.partition(":")
            await (self.types(typed) if word == "text" else self.presses(key))

    async def presses(self, *keys: str, waits: bool = True) -> None:
        for key in keys:
            await self.pilot.press(NAMED.get(key, key))
            if waits:
                await self.settles()

    async def settles(self) -> None:
        """Wait until nothing is asked any more, and the screen has stopped changing."""
        quiet, before = 0, [""]
        while quiet < QUIET:
            await self.pilot.pause(0.01)
            if any(not worker.is_finished for worker in self.app.workers):
                quiet = 0
                continue
            now = self.lines()
            quiet, before = quiet + 1 if now == before else 0, now

    async def sees_at_last(self, text: str) -> None:
        """Wait until a text is seen."""
        async with asyncio.timeout(60):
            while text not in self.sees():
                await self.pilot.pause(0.01)

    async def resizes(self, columns: int, lines: int) -> None:
        await self.pilot.resize_terminal(columns, lines)
        await self.settles()

    def segments(self) -> list[list[Segment]]:
        return [list(strip) for strip in self.app.screen._compositor.render_strips()]

    def lines(self) -> list[str]:
        """Return the letters of each line of the screen, to its end."""
        return ["".join(segment.text for segment in line) for line in self.segments()]

    def sees(self) -> str:
        """Return the letters on the screen, line by line."""
        return "".join(f"{line.rstrip()}\n" for line in self.lines())


def browse(
    made: Job,
    story: Story,
    *,
    institution: str | None = "alder",
    query: str = "",
    size: tuple[int, int] = (80, 24),
    **looks: Any,
) -> None:
    """Have a person live a story at a screen of so many columns and lines."""

    async def live() -> None:
        inquiry = Inquiry(made, lambda: made.now, institution)
        async with Browser(inquiry, query, **looks).run_test(size=size) as pilot:
            person = Person(pilot)
            await person.settles()
            await story(person)

    asyncio.run(live())


def seen(made: Job, *keys: str, **options: Any) -> str:
    """Return what is seen after these keys, as `Person.does` takes them."""
    screens = []

    async def story(person: Person) -> None:
        await person.does(*keys)
        screens.append(person.sees())

    browse(made, story, **options)
    return screens[-1]


def held_to(name: str, shown: str) -> None:
    """Hold a screen against its golden; `UPDATE_GOLDENS=1` accepts it."""
    golden = GOLDENS / f"{name}.screen"
    if os.environ.get("UPDATE_GOLDENS"):
        golden.write_text(shown)
    assert golden.read_text() == shown
