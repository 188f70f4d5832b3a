"""No figure of `figures.py` is above its limit, no limit is raised, and no count can sleep."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from figures import (
    BESIDES,
    FIGURES,
    LIMITS,
    Figure,
    git,
    limits_before,
    raised,
    read_limits,
    read_texts,
    repeated_runs,
    shared_class_names,
    unnamed_rows,
    untyped_dicts,
)
from house import CHECKOUT, House, module, read_house

REPOSITORY = Path(os.environ.get("CARDOFFERS_HISTORY") or CHECKOUT)
"""Where the history is: `.ci/run` tries a copy of the checkout that has none, and names it."""


@pytest.fixture(scope="module")
def house() -> House:
    return read_house()


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.what)
def test_no_figure_is_above_its_limit(figure: Figure, house: House) -> None:
    found = list(figure.count(read_texts(), house))
    assert len(found) <= figure.most, "\n".join(["", *found[:200]])


def test_no_limit_was_ever_lower() -> None:
    try:
        shallow = git(REPOSITORY, "rev-parse", "--is-shallow-repository")
    except (subprocess.CalledProcessError, FileNotFoundError):
        pytest.skip("no history: this is no clone of the repository, or git is not installed")
    if shallow.strip() == "true":
        pytest.skip("no history: this is a shallow clone")
    now = read_limits((CHECKOUT / LIMITS).read_text())
    assert [figure.what for figure in FIGURES] == [what for what in now if BESIDES not in what]
    assert [] == list(raised(now, limits_before(REPOSITORY)))


def test_a_limit_that_is_raised_or_gone_is_found(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "tests").mkdir()
    for text in ("pairs = 50\nrings = 3", "pairs = 40\nrings = 3", "pairs = 45\nrings = 2"):
        (tmp_path / LIMITS).write_text(text)
        git(tmp_path, "add", ".")
        git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x")
    before = limits_before(tmp_path)
    assert ["pairs: 40 -> 45"] == list(raised({"pairs": 45, "rings": 2}, before))
    assert [] == list(raised({"pairs": 40, "rings": 1}, before))
    assert "rings: 2 -> no limit" in list(raised({"pairs": 40}, before))


def test_a_class_name_of_two_classes_is_found() -> None:
    modules = [
        module("answers/why.py", "class Page: ..."),
        module("intake/paging.py", "class Page: ..."),
        module("intake/lines.py", "class Line: ..."),
    ]
    house = {each.dotted: each for each in modules}
    assert ["Page: answers/why.py, intake/paging.py"] == list(shared_class_names(house))


def test_an_untyped_dict_is_found() -> None:
    texts = {
        "answers/why.py": "a: dict[str, Any]\nb: dict[str, int]\n",
        "sql/a.sql": "dict[str, Any]",
    }
    assert ["answers/why.py:1"] == list(untyped_dicts(texts))


@pytest.mark.parametrize(
    ("found", "path", "text"),
    [
        (True, "answers/why.py", "def why() -> dict[str, Any]: ..."),
        (True, "kernel/identifiers.py", "def ids() -> list[tuple[Any, ...]]: ..."),
        (False, "answers/why.py", "def _why() -> dict[str, Any]: ..."),
        (False, "answers/why.py", "def why() -> Answer: ..."),
        (False, "answers/commands.py", "def why() -> dict[str, Any]: ..."),
    ],
)
def test_rows_without_a_class_are_found(found: bool, path: str, text: str) -> None:
    source = module(path, text)
    assert found == bool(list(unnamed_rows({source.dotted: source})))


def test_equal_lines_are_found_once_for_each_pair_of_places() -> None:
    run = "\n".join(f"line_{number} = {number}" for number in range(8))
    texts = {
        "jobs/a.py": f"first = 1\n{run}\nlast = 1\n",
        "jobs/b.py": f"import os\n\n{run}\n",
        "jobs/c.py": "\n".join(run.splitlines()[:5]),
    }
    assert ["jobs/a.py:2 ~ jobs/b.py:3"] == list(repeated_runs(texts))
