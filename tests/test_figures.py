"""No figure of `figures.py` grows past what it was, and none of its counts can sleep."""

from __future__ import annotations

import pytest

from figures import (
    FIGURES,
    Figure,
    read_texts,
    repeated_runs,
    shared_class_names,
    unnamed_rows,
    untyped_dicts,
)
from house import House, module, read_house


@pytest.fixture(scope="module")
def house() -> House:
    return read_house()


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.what)
def test_no_figure_grows(figure: Figure, house: House) -> None:
    found = list(figure.count(read_texts(), house))
    assert len(found) <= figure.most, "\n".join(["", *found[:200]])


def test_a_class_name_of_two_classes_is_found() -> None:
    modules = [
        module("jobs/why.py", "class Page: ..."),
        module("files/pages.py", "class Page: ..."),
        module("files/lines.py", "class Line: ..."),
    ]
    house = {each.dotted: each for each in modules}
    assert ["Page: jobs/why.py, files/pages.py"] == list(shared_class_names(house))


def test_an_untyped_dict_is_found() -> None:
    texts = {"jobs/why.py": "a: dict[str, Any]\nb: dict[str, int]\n", "sql/a.sql": "dict[str, Any]"}
    assert ["jobs/why.py:1"] == list(untyped_dicts(texts))


@pytest.mark.parametrize(
    ("found", "path", "text"),
    [
        (True, "jobs/why.py", "def why() -> dict[str, Any]: ..."),
        (True, "services/ids.py", "def ids() -> list[tuple[Any, ...]]: ..."),
        (False, "jobs/why.py", "def _why() -> dict[str, Any]: ..."),
        (False, "jobs/why.py", "def why() -> Answer: ..."),
        (False, "cli/why.py", "def why() -> dict[str, Any]: ..."),
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
