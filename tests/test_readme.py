"""README and the pages are true: tours run and show what they say, tables are the program's own.

The commands of a tour run in order, on a terminal of 80 columns. In the output it shows, `…` stands
for anything on a line, and a line of `…` alone for any number of lines.
"""

from __future__ import annotations

import inspect
import os
import pty
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from shutil import copytree

import pytest

from cardoffers_cli import river
from cardoffers_cli.demo.help_commands import PAGES, page_text
from cardoffers_cli.http.contract.routes import ROUTES
from cardoffers_cli.kernel.cli.exits import EXIT_CODES
from cardoffers_cli.kernel.cli.main import COMMANDS
from cardoffers_cli.kernel.store.settings import Settings, read_settings
from commands import read_all
from sizes import at_the_gate, slow

CHECKOUT = Path(__file__).parents[1]
README = (CHECKOUT / "README.md").read_text("utf-8")
CONTRIBUTING = (CHECKOUT / ".github" / "CONTRIBUTING.md").read_text("utf-8")
MOST_LINES = 250
FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Typed:
    """A block of commands of the tour, and the output shown below it, if any."""

    commands: str
    shown: str | None


def section(title: str, page: str) -> str:
    """Return a section of a page, without its title, up to the next of the same level."""
    _, found, rest = page.partition(f"\n## {title}\n")
    assert found
    return rest.partition("\n## ")[0]


def blocks(text: str, kind: str) -> list[str]:
    return [body for language, body in FENCE.findall(text) if language == kind]


def tour(page: str) -> list[Typed]:
    found = FENCE.findall(page)
    following = [*found[1:], ("", "")]
    return [
        Typed(body, output if kind == "text" else None)
        for (language, body), (kind, output) in zip(found, following, strict=True)
        if language == "sh"
    ]


def on_a_terminal(commands: str, folder: Path, exit_code: int = 0) -> str:
    """Type commands at a shell whose output is a terminal; return output, then notes and errors."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "xterm"}
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        ["/bin/sh", "-c", commands],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
    ) as shell:
        os.close(theirs)
        output = b"".join(read_all(ours))
        notes = shell.stderr.read() if shell.stderr else b""
    os.close(ours)
    assert exit_code == shell.returncode, (commands, output, notes)
    return (output + notes).decode().replace("\r\n", "\n")


def pattern(shown: str) -> re.Pattern[str]:
    lines = [
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line).replace("…", ".*") + " *\n"
        for line in shown.splitlines()
    ]
    return re.compile("".join(lines))


TOURS = {"short": section("Three people", README), "long": page_text("tour")}


@slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(TOURS["short"], id="short"),
        pytest.param(TOURS["long"], id="long", marks=at_the_gate),
    ],
)
def test_a_tour_shows_what_it_says(page: str, tmp_path: Path) -> None:
    """Every command is a process of its own, as whoever types it has it: that takes its time."""
    copytree(CHECKOUT / "sample_data", tmp_path / "sample_data")
    for typed in tour(page):
        output = on_a_terminal(typed.commands, tmp_path)
        if typed.shown is not None:
            assert pattern(typed.shown).fullmatch(output), f"{typed.commands}\n{output}"


@pytest.mark.parametrize(("name", "blocks", "shown"), [("short", 4, 4), ("long", 20, 18)])
def test_a_tour_is_found(name: str, blocks: int, shown: int) -> None:
    typed = tour(TOURS[name])
    assert blocks <= len(typed)
    assert shown <= sum(each.shown is not None for each in typed)


def test_readme_is_a_screen_of_what_and_why() -> None:
    assert len(README.splitlines()) <= MOST_LINES


def test_readme_leads_to_every_page() -> None:
    rows = re.findall(
        r"^\| \[([\w-]+)\]\(cardoffers_cli/docs/([\w-]+)\.md\) \|", README, re.MULTILINE
    )
    assert {(name, name) for name in PAGES} == set(rows)


@pytest.mark.parametrize(
    ("expected", "shown", "output"),
    [
        (True, "a  b\n…\nz\n", "a  b\nany\nthing\nz\n"),
        (True, "run …, 2 rounds\n", "run 1f, 2 rounds   \n"),
        (False, "run …, 2 rounds\n", "run 1f, 3 rounds\n"),
        (False, "a\n", "a\nb\n"),
    ],
)
def test_a_difference_is_found(expected: bool, shown: str, output: str) -> None:
    assert expected == bool(pattern(shown).fullmatch(output))


def test_the_exit_codes_are_the_programs() -> None:
    rows = re.findall(
        r"^\| (\d+) \| ([^|]+) \|", section("Exit codes", page_text("operations")), re.MULTILINE
    )
    assert [(str(row.code), row.meaning) for row in EXIT_CODES] == rows


def test_the_map_of_the_code_is_the_codes() -> None:
    way = section("Find your way in the code", CONTRIBUTING)
    flow = [line for line in (inspect.getdoc(river) or "").splitlines() if "->" in line]
    assert flow
    assert [] == [line for line in flow if line.strip() not in way]
    package = CHECKOUT / "cardoffers_cli"
    rooms = {path.parent.name for path in package.glob("*/__init__.py")}
    assert rooms == set(re.findall(r"`(\w+)/`", way)) - {"tests"}


def test_the_configuration_is_one(tmp_path: Path) -> None:
    example, *_ = blocks(page_text("environment"), "toml")
    path = tmp_path / "cardoffers.toml"
    path.write_text(example)
    settings = read_settings({}, {}, path)
    assert tomllib.loads(example).keys() <= {each.name for each in fields(Settings)}
    assert settings.lock_wait_s == tomllib.loads(example)["lock_wait_s"]


def test_every_endpoint_is_named_with_its_scope() -> None:
    rows = re.findall(r"^\| `(\w+) (\S+)` \| (?:`(\w+)`)? ?\|", page_text("http"), re.MULTILINE)
    assert [(route.method, route.template, route.scope or "") for route in ROUTES] == rows


def test_every_command_is_named_and_no_other() -> None:
    pages = "\n".join([README, *map(page_text, PAGES)])
    named = re.findall(r"(?:^|`|run |\$\()cardoffers ([a-z]+)", pages, re.MULTILINE)
    assert {entry.name for entry in COMMANDS} == set(named)


@at_the_gate  # each time the short tour, and the nights of test_night.py
def test_the_night_can_be_run_as_it_is_shown(tmp_path: Path) -> None:
    (shown,) = [
        block
        for block in blocks(section("The nightly run", page_text("operations")), "sh")
        if "nightly" in block
    ]
    rehearsal, night, missed, runs = (line.partition("#")[0].strip() for line in shown.splitlines())
    copytree(CHECKOUT / "sample_data", tmp_path / "sample_data")
    on_a_terminal("cardoffers init; cardoffers catalog import sample_data/catalog", tmp_path)
    drop = tmp_path / "drop" / "larkmere"
    copytree(CHECKOUT / "sample_data" / "transactions", drop)
    (drop / "tarnhollow.csv").unlink()
    for file in sorted(drop.iterdir()):
        file.with_name(f"{file.name}.done").touch()

    assert "would come to this" in on_a_terminal(missed + " --dry-run", tmp_path, exit_code=3)
    assert "2 files taken" in on_a_terminal(missed, tmp_path, exit_code=3)
    assert [] == [path.name for path in drop.iterdir()]
    assert 2 == len([*(tmp_path / "processed" / "larkmere" / "done").glob("*.done")])
    assert "nothing new" in on_a_terminal(missed, tmp_path)
    assert "finished" in on_a_terminal(runs, tmp_path)
    assert rehearsal == f"{night} --dry-run"
