"""What pages tell people to type: every command on them is run as it stands there.

Making the world takes most of the time: a night with all of its steps.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

import worlds
from commands import in_a_pipe
from sizes import at_the_gate, slow

if TYPE_CHECKING:
    from worlds import World

PRINTED = re.compile(r"<code>(cardoffers [^<]*)</code>")
URL = "https://bank.example/hook"
"""What stands for the URL that a reader is to fill in."""
ASKED = """
    redemptions --status pending --from 2026-09-01 --to 2026-10-01 --limit 1
    redemptions --by day --status pending -i larkmere
    redemptions --by merchant --limit 1
    settlements --status settled
    settlements --status pending -i tarnhollow --to 2026-10-01
    settlements --all --status reversed --from 2026-09-01
    offers -i larkmere --from 2026-09-01 --to 2026-10-01
    merchants --to 2026-10-01 --all
    funnel -i larkmere --from 2026-09-01 --to 2026-10-01
    funnel -i larkmere --by merchant
    unresolved -i larkmere --from 2026-09-01 --limit 1
"""
"""Reports that are restricted in each of the ways that they know."""
EXPECTED = {"help findings", "help operations", "report", "run list", "webhook list", "webhook set"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return worlds.one_day(tmp_path_factory.mktemp("world"))


def printed(page: str) -> list[str]:
    """Return the commands that stand on a page."""
    return [unescape(each) for each in PRINTED.findall(page)]


def ran(world: World, command: str) -> tuple[int, str]:
    """Run a command in the world, its files beside the store, and return how it ended."""
    words = command.replace(" URL", f" {URL}").split()[1:]
    if "-o" in words:
        words[-1] = str(world.folder / words[-1])
    ended = in_a_pipe([*words, "--store", world.folder / "store.duckdb", "--as-of", worlds.AS_OF])
    return ended.exit_code, ended.stderr


@at_the_gate
def test_every_command_on_a_page_is_accepted(world: World) -> None:
    pages = [page.read_text("utf-8") for page in world.pages.values()]
    store = ["--store", world.folder / "store.duckdb", "--as-of", worlds.AS_OF]
    for line in ASKED.strip().splitlines():
        ended = in_a_pipe(["report", *line.split(), *store, "--format", "html"])
        assert 0 == ended.exit_code, ended
        pages.append(ended.stdout)
    commands = sorted({command for page in pages for command in printed(page)})
    kinds = {next(kind for kind in EXPECTED if f" {kind} " in f"{each} ") for each in commands}
    assert kinds == EXPECTED
    refused = {each: how for each in commands if (how := ran(world, each))[0]}
    assert {} == refused


@slow
@pytest.mark.parametrize(
    "command",
    [
        "cardoffers report settlements --by settlement --status settled --all -o settlements.csv",
        "cardoffers report funnel --by day -i larkmere --all -o days.csv",
        "cardoffers report nothing",
    ],
)
def test_a_command_that_is_refused_is_found(world: World, command: str) -> None:
    assert [command] == printed(f"<p>All of them: <code>{command}</code></p>")
    assert 2 == ran(world, command)[0]
