"""The door opens at once: help and completion load nothing heavy, and every command is there."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import work
from cardoffers_cli.kernel.cli.main import COMMANDS, Entry, load

HEAVY = {
    *("aiohttp", "duckdb", "jinja2", "jiter", "polars", "pyarrow", "pydantic", "rich"),
    "xlsxwriter",
}

LOADED = """
import json, sys
from cardoffers_cli.kernel.cli.main import main
try:
    main()
finally:
    json.dump(sorted(sys.modules), sys.stderr)
"""


def loaded_by(*words: str, **environment: str) -> set[str]:
    """Return the modules that a command loads."""
    command = [sys.executable, "-c", LOADED, *words]
    ended = subprocess.run(command, capture_output=True, check=True, env=environment)
    return set(json.loads(ended.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "words", [("--help",), ("--version",), ("help", "--help"), ("--store", "x", "--help")]
)
def test_help_loads_nothing_heavy(words: tuple[str, ...]) -> None:
    assert set() == HEAVY & loaded_by(*words)


@pytest.mark.parametrize("line", ["cardoffers ", "cardoffers ma", "cardoffers --"])
def test_completion_loads_nothing_heavy(line: str) -> None:
    asked = {
        "_CARDOFFERS_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }
    assert set() == HEAVY & loaded_by(**asked)


def test_completing_values_loads_the_engine_and_little_else(tmp_path: Path) -> None:
    made = work.new_store(tmp_path)
    work.tell(made, institutions="institution\nalder")
    asked = {
        "_CARDOFFERS_COMPLETE": "complete_bash",
        "COMP_WORDS": "cardoffers key list -i ",
        "COMP_CWORD": "4",
        "CARDOFFERS_STORE": str(made.path),
    }
    assert {"duckdb"} == HEAVY & loaded_by(**asked)


@pytest.mark.parametrize("words", [("status",), ("run", "list")])
def test_a_question_loads_the_engine_and_not_what_a_night_does(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    made = work.new_store(tmp_path)
    assert {"duckdb"} == HEAVY & loaded_by(*words, CARDOFFERS_STORE=str(made.path))


def test_an_import_loads_nothing_that_makes_samples(tmp_path: Path) -> None:
    made = work.new_store(tmp_path)
    work.tell(made, institutions="institution\nalder")
    file = work.file_of(tmp_path / "tx.csv", "ref cardholder card identifier amount\nr c d M 9")
    loaded = loaded_by("import", str(file), "-i", "alder", CARDOFFERS_STORE=str(made.path))
    assert "cardoffers_cli.river.imports" in loaded
    assert [] == [name for name in sorted(loaded) if name.startswith("cardoffers_cli.sample")]


def test_completion_offers_commands_and_options(process: Any) -> None:
    asked = {"_CARDOFFERS_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
    offered = process(env={**asked, "COMP_WORDS": "cardoffers s"}).stdout.split()
    assert "sample schema serve settle simulate statement status store".split() == sorted(offered)
    assert "--store" in process(env={**asked, "COMP_WORDS": "cardoffers --s"}).stdout.split()


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_every_command_is_there_and_explains_itself(entry: Entry) -> None:
    command = load(entry)
    assert entry.name == command.name
    assert command.help


def test_the_version_is_data(process: Any) -> None:
    outcome = process("--version")
    assert (0, "") == (outcome.exit_code, outcome.stderr)
    assert outcome.stdout[0].isdigit()
