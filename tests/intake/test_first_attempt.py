"""A new user with a bank's own export: what the first attempt says, and how far it is from there.

Nothing is looked up: each command is the one that the command before has named.
"""

from __future__ import annotations

import re
from pathlib import Path
from shlex import split
from typing import TYPE_CHECKING

import pytest

from commands import in_a_pipe
from foreign import EXPORTS, ROWS, Export
from sizes import slow

if TYPE_CHECKING:
    from commands import Ended

AS_OF = ("--as-of", "2026-10-10")
MOST_EDITS = 3
LAYOUT_FOLDER = Path(__file__).parents[3] / "shared" / "data" / "layouts"


def named_by(ended: Ended) -> list[str]:
    """Return the last command that was named, without the name of the program."""
    program, *words = split(re.findall("`([^`]+)`", ended.stderr)[-1])
    assert "cardoffers" == program
    return words


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.name)
def test_a_foreign_export_is_good_after_two_commands_and_three_edits(
    export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    export.write(tmp_path / export.name)
    first = in_a_pipe(["validate", export.name])
    assert 14 == first.exit_code
    assert "It seems to be an export in another layout" in first.stderr
    assert "amount in " in first.stderr
    made = in_a_pipe(named_by(first))
    assert 0 == made.exit_code
    profile = tmp_path / "layout.toml"
    text = profile.read_text("utf-8")
    for old, new in export.edits:
        assert old in text, text
        text = text.replace(old, new)
    assert len(export.edits) <= MOST_EDITS
    profile.write_text(text, "utf-8")
    checked = in_a_pipe(named_by(made))
    assert 0 == checked.exit_code
    last = named_by(checked)
    if export.is_raw:
        key = tmp_path / "token.key"
        key.write_text("0123456789abcdef" * 4)
        key.chmod(0o600)
    told = in_a_pipe([*last, *AS_OF, "--format", "json"]).document
    assert ("convert" in last) == export.is_raw
    assert (ROWS, ROWS, True) == (told["received"], told["valid"], told["ok"])
    assert export.refunds == told.get("refunds", {"valid": 0})["valid"]


PUBLISHED = (
    *("berka_1993", "birmingham_2019_11", "cpgf_br_2024", "fixed_width", "moj_2011"),
    *("nigrini_2010", "oxford_2017", "tabformer", "wakefield_2018_q2"),
)


@slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_first_attempt_at_a_published_export_names_the_next_command(
    name: str, tmp_path: Path
) -> None:
    folder = LAYOUT_FOLDER / name
    if not folder.is_dir():
        pytest.skip("the published exports are not here")
    (path,) = folder.glob("export.*")
    first = in_a_pipe(["validate", path])
    assert 14 == first.exit_code
    assert len(first.stderr.splitlines()) <= 24
    command = named_by(first)
    assert ["profile", "new", str(path), "-o", "layout.toml"] == command
    made = in_a_pipe([*command[:-1], tmp_path / "layout.toml"])
    assert 0 == made.exit_code
    assert ["profile", "check"] == named_by(made)[:2]
