"""Who follows a recipe of CONTRIBUTING to the letter has a program of which everything works.

A recipe is `recipes/<name>.toml`: tables `[[edit]]`, each with a `file` and a `text`, which is put
`after` a line that the file has once, or is the whole of a new file. `run` is what is typed then.
Its `tests` are run beside `recipes/followed.py`, which asks the same of every recipe.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sizes import at_the_gate
from test_repository import CHECKOUT, repository

RECIPES = {
    path.stem: tomllib.loads(path.read_text("utf-8"))
    for path in sorted((CHECKOUT / "tests" / "recipes").glob("*.toml"))
}
CONTRIBUTING = (CHECKOUT / ".github" / "CONTRIBUTING.md").read_text("utf-8")


def follow(recipe: dict[str, Any], folder: Path) -> None:
    for edit in recipe["edit"]:
        path = folder / edit["file"]
        if "after" not in edit:
            assert not path.exists(), f"{edit['file']} is there already"
            path.write_text(edit["text"], "utf-8")
            continue
        lines = path.read_text("utf-8").splitlines(keepends=True)
        places = [n for n, line in enumerate(lines, start=1) if line == f"{edit['after']}\n"]
        assert 1 == len(places), f"{edit['file']} has not once {edit['after']!r}"
        lines.insert(places[0], edit["text"])
        path.write_text("".join(lines), "utf-8")


@at_the_gate
@pytest.mark.parametrize("name", RECIPES)
def test_everything_works_after_a_recipe_was_followed(name: str, tmp_path: Path) -> None:
    for each in repository():
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / each, tmp_path / each)
    follow(RECIPES[name], tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "CARDOFFERS_NOT_TRIED": ""}
    if line := RECIPES[name].get("run"):
        words, to = line.removeprefix("cardoffers ").split(" > ")
        typed = [sys.executable, "-m", "cardoffers_cli", *words.split()]
        with (tmp_path / to).open("wb") as out:
            subprocess.run(typed, stdout=out, cwd=tmp_path, env=environment, check=True)
    tests = ["tests/recipes/followed.py", *RECIPES[name]["tests"]]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--maxfail=5", "-p", "no:cacheprovider", *tests],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == ended.returncode, ended.stdout


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_in_contributing_with_all_its_files(name: str) -> None:
    (told,) = re.findall(
        rf"^- \*\*[^*]+\*\*[^\n]*`tests/recipes/{name}\.toml`.*?(?=^- \*\*|^## )",
        CONTRIBUTING,
        re.MULTILINE | re.DOTALL,
    )
    files = {edit["file"].removeprefix("cardoffers_cli/") for edit in RECIPES[name]["edit"]}
    assert set() == {
        file for file in files if file not in told and Path(file).parent.name not in told
    }
