"""The page of all commands: it is the program's own, and nothing is left out of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

from cardoffers_cli.demo.help_commands import reference
from cardoffers_cli.kernel.cli.commands import help_pages
from cardoffers_cli.kernel.cli.main import COMMANDS, Entry, app, load

if TYPE_CHECKING:
    from collections.abc import Mapping

COPY = Path(__file__).parents[3] / ".github" / "COMMANDS.md"
PAGE = reference(get_command(app))
REGENERATE = f"run `cardoffers help commands > {COPY.parent.name}/{COPY.name}`, and commit it"


def test_the_copy_beside_the_code_is_what_the_commands_say() -> None:
    assert PAGE == COPY.read_text("utf-8"), REGENERATE


def test_the_page_is_data(cardoffers: Any) -> None:
    outcome = cardoffers("help", "commands")
    assert (0, PAGE, "") == (outcome.exit_code, outcome.stdout, outcome.stderr)


def headings() -> list[str]:
    return re.findall(r"^### cardoffers (.+)$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_every_command_and_subcommand_has_its_place(entry: Entry) -> None:
    children = getattr(load(entry), "commands", {})
    expected = [entry.name, *(f"{entry.name} {child}" for child in children)]
    assert expected == [each for each in headings() if each.split()[0] == entry.name]


EXAMPLE = "Try:\n\n    cardoffers "


def command_of(loaded: Mapping[str, Any], name: str) -> Any:
    group, _, child = name.partition(" ")
    return loaded[group].commands[child] if child else loaded[group]


def test_every_command_has_examples_and_every_page_is_of_a_command() -> None:
    loaded = {entry.name: load(entry) for entry in COMMANDS}
    groups = {name for name, each in loaded.items() if hasattr(each, "commands")}
    groups -= {name for name in groups if loaded[name].invoke_without_command}
    commands = [name for name in headings() if name not in groups]
    by_records = {name for name in commands if EXAMPLE in (command_of(loaded, name).help or "")}
    assert [name for name in commands if name not in by_records] == list(help_pages())
    assert [] == [name for name, page in help_pages().items() if EXAMPLE not in page]


def test_a_command_stands_there_with_its_options_and_its_examples() -> None:
    _, _, rest = PAGE.partition("### cardoffers offer show\n")
    expected = """
```text
cardoffers offer show [OPTIONS] {OFFER_ID}
```

Show one offer: its terms, texts, programs, and the terms it had before.

Try:

```sh
cardoffers offer show of-12
```

| Arguments | |
|---|---|
| `OFFER_ID <str>` | The offer: its id, a beginning that only it has, or latest. \\[required\\] |

"""
    assert expected == rest.partition("###")[0]
