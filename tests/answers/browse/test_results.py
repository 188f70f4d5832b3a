"""The list of what was found, at every width, without colour, and with names that would do harm."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from hostile import ACTS, NAMES, offer_of
from screens import browse, held_to, seen
from sizes import one_in, slow

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job
    from screens import Person

WIDE, NARROW = (120, 40), (60, 20)


@slow
def test_a_resized_screen_is_one_of_that_size(made: Job) -> None:
    async def story(person: Person) -> None:
        await person.types("s*")
        await person.resizes(*NARROW)
        narrow = person.sees()
        await person.resizes(*WIDE)
        await person.resizes(*NARROW)
        assert narrow == person.sees()
        held_to("list-narrow", narrow)

    browse(made, story)


@slow
def test_what_is_highlighted_is_seen_without_colour(made: Job) -> None:
    shown = seen(made, "text:s*", "down", has_colour=False)
    assert ["▸ 2026-06-01  GBP 12.50"] == [
        line[:23] for line in shown.splitlines() if line.startswith("▸")
    ]


@slow
def test_no_line_of_the_list_acts(hostile: Job) -> None:
    shown = seen(hostile, query="day:2026-06-01", size=(200, 400))
    assert len(NAMES) < sum(bool(re.match(r"[▸ ] 2026-06-01", line)) for line in shown.splitlines())
    assert NAMES["html"] in shown
    assert [] == ACTS.findall(shown)


@slow
@pytest.mark.parametrize(
    "name", ["markup", "a cleared screen", "bidi override", "ten thousand wide letters"]
)
@one_in(3)
def test_a_hostile_name_is_shown_and_harmless(hostile: Job, name: str) -> None:
    offer = offer_of(NAMES[name])

    async def story(person: Person) -> None:
        for key in ("w", "t", "a"):
            await person.presses(key)
            assert f"Search  {offer}\n" in person.sees()
            assert [] == ACTS.findall(person.sees())
            assert {80} == {cell_len(line) for line in person.lines()}

    browse(hostile, story, query=offer)
