"""Tab: the values a shell offers, from a real store, in the words of each shell."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import work
from cardoffers_cli.demo.help_commands import KNOWN
from sizes import one_in, slow
from tables import uid

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

    Tab = Callable[..., str]

HOSTILE = 'b"`id`$(x)'

TABLES = {
    "institutions": """
        institution
        alder
        brook
        """,
    "merchants": """
        merchant
        mill
        cafe
        """,
    "offers": """
        offer   merchant
        bread   mill
        bread-2 mill
        coffee  cafe
        a$(id)  cafe
        """,
    "programs": """
        institution offer   position
        alder       bread   1
        brook       bread-2 1
        brook       coffee  2
        """,
    "keys": """
        key        institution revoked
        app        alder       -
        b"`id`$(x) brook       -
        gone       alder       2026-01-01
        """,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    made = work.new_store(tmp_path_factory.mktemp("completing"))
    work.tell(made, **TABLES)
    return made


def asked(line: str, shell: str = "bash") -> dict[str, str]:
    """Return the environment in which a shell asks what may follow a line."""
    return {
        "_CARDOFFERS_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }


@pytest.fixture
def tab(process: Any, made: Job) -> Tab:
    """Press Tab behind a line, in a place where the store is; nothing may be said beside."""

    def press(line: str, shell: str = "bash", **environment: str) -> str:
        known = {"CARDOFFERS_STORE": str(made.path), **environment}
        ended = process(env={**known, **asked(line, shell)})
        assert (0, "") == (ended.exit_code, ended.stderr)
        return str(ended.stdout).strip()

    return press


@pytest.mark.parametrize(
    ("expected", "line"),
    [
        ("alder brook", "cardoffers offer list -i "),
        ("brook", "cardoffers report redemptions --institution b"),
        ("alder brook", "cardoffers institution show "),
        ("", "cardoffers institution show x"),
        ("bread bread-2 coffee", "cardoffers offer show "),
        ("bread bread-2", "cardoffers offer show br"),
        ("bread-2", "cardoffers offer add -i brook br"),
        ("bread-2 coffee", f"cardoffers offer add -i {uid('brook')} "),
        ("", "cardoffers offer add -i nobody "),
        ("coffee", "cardoffers webhook list --offer c"),
        (f"{uid('app')} {uid(HOSTILE)}", "cardoffers key show "),
        ("formats findings files", "cardoffers help f"),
        (" ".join(code for code in KNOWN if code.startswith("a")), "cardoffers help findings a"),
        ("", "cardoffers help files a"),
    ],
)
@one_in(3)
def test_values_are_offered(tab: Tab, expected: str, line: str) -> None:
    assert sorted(expected.split()) == sorted(tab(line).split())


@slow
def test_every_shell_is_spoken_to_in_its_words(tab: Tab) -> None:
    line = f"cardoffers key revoke {str(uid('app'))[:6]}"
    assert str(uid("app")) == tab(line, "bash")
    assert f"""_arguments '*: :(("{uid("app")}":"alder app"))'""" == tab(line, "zsh")
    assert f"{uid('app')}\talder app" == tab(line, "fish")


@slow
def test_a_name_cannot_make_a_shell_do_anything(tab: Tab) -> None:
    line = f"cardoffers key revoke {str(uid(HOSTILE))[:6]}"
    assert f"""_arguments '*: :(("{uid(HOSTILE)}":"brook b  id   x "))'""" == tab(line, "zsh")
    assert f"{uid(HOSTILE)}\tbrook b  id   x" == tab(line, "fish")


def test_bash_completes_with_the_script_it_is_given(made: Job, tmp_path: Path) -> None:
    program = tmp_path / "cardoffers"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m cardoffers_cli "$@"\n')
    program.chmod(0o700)
    typed = """
        eval "$(_CARDOFFERS_COMPLETE=source_bash cardoffers)"
        COMP_WORDS=(cardoffers offer show bre) COMP_CWORD=3
        $(complete -p cardoffers | sed "s/.*-F //; s/ .*//") cardoffers
        echo "${COMPREPLY[@]}"
        """
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "CARDOFFERS_STORE": str(made.path),
    }
    ended = subprocess.run(
        ["/bin/bash", "-c", typed], capture_output=True, text=True, check=True, env=environment
    )
    assert ("bread bread-2\n", "") == (ended.stdout, ended.stderr)


@slow
def test_a_store_is_looked_for_where_the_line_says(tab: Tab, made: Job, tmp_path: Path) -> None:
    line = f"cardoffers --store {made.path} offer list -i a"
    assert "alder" == tab(line, CARDOFFERS_STORE=str(tmp_path / "none"))
    config = tmp_path / "c.toml"
    config.write_text(f'store = "{made.path}"\n')
    line = f"cardoffers offer list --config {config} -i a"
    assert "alder" == tab(line, CARDOFFERS_STORE="")


def test_without_a_store_nothing_is_offered_and_nothing_made(tab: Tab, tmp_path: Path) -> None:
    assert "" == tab("cardoffers offer show ", CARDOFFERS_STORE=str(tmp_path / "none"))
    assert [] == list(tmp_path.iterdir())


@slow
def test_what_is_wrong_is_not_told_at_the_prompt(tab: Tab, tmp_path: Path) -> None:
    torn = tmp_path / "torn.duckdb"
    torn.write_text("no store")
    assert "" == tab("cardoffers offer show ", CARDOFFERS_STORE=str(torn))
    assert "" == tab("cardoffers offer show ", CARDOFFERS_THREADS="many")


@slow
def test_a_busy_store_is_not_waited_for(tab: Tab, made: Job) -> None:
    with made.store():  # the process would wait a minute for it
        assert "" == tab("cardoffers offer show ")
    assert "coffee" == tab("cardoffers offer show c")
