"""How the inside of the house is: counted from its source, printed as a table.

    python tests/figures.py [--places]

`--places` lists below the table where each thing counted stands. `MOST` holds what
`test_figures.py` does not let grow; the goal is beside it, where it is not met yet.
"""
# ruff: noqa: T201  a table is what this prints

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product

from house import CHECKOUT, PRODUCT, House, read_house, rings
from statements import statements_of

RUN = 6
"""How many equal lines in a row are a repetition."""

UNNAMED = re.compile(r"\bdict\[str, Any\]|\btuple\[Any|\bRow\b")
"""A type that says nothing of the columns of a row."""

RETURNS_ROWS = {"services", "jobs"}
"""The rooms whose public functions hand rows to others."""

Texts = Mapping[str, str]
"""Path below the product -> text."""


@cache
def read_texts() -> Texts:
    """Return every source file of the product: Python, SQL, templates."""
    root = CHECKOUT / PRODUCT
    return {
        file.relative_to(root).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(root.rglob("*"))
        if file.suffix in {".py", ".sql"}
    }


# What is counted: each yields the places, one text for each thing


def python_lines(texts: Texts) -> Iterator[str]:
    yield from (line for path, text in texts.items() for line in lines_of(path, text, ".py"))


def sql_lines(texts: Texts) -> Iterator[str]:
    yield from (line for path, text in texts.items() for line in lines_of(path, text, ".sql"))


def lines_of(path: str, text: str, suffix: str) -> list[str]:
    return text.splitlines() if path.endswith(suffix) else []


def shared_class_names(house: House) -> Iterator[str]:
    paths = defaultdict(list)
    for source in house.values():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ClassDef):
                paths[node.name].append(source.path)
    yield from (
        f"{name}: {', '.join(where)}" for name, where in sorted(paths.items()) if len(where) > 1
    )


def untyped_dicts(texts: Texts) -> Iterator[str]:
    for path, text in texts.items():
        for number, line in enumerate(lines_of(path, text, ".py"), start=1):
            yield from [f"{path}:{number}"] * line.count("dict[str, Any]")


def unnamed_rows(house: House) -> Iterator[str]:
    """Yield each public function of `services/` and `jobs/` that returns rows without a class."""
    for source in house.values():
        if source.room not in RETURNS_ROWS:
            continue
        for node in ast.walk(source.tree):
            if (
                isinstance(node, ast.FunctionDef)
                and not node.name.startswith("_")
                and node.returns
                and UNNAMED.search(ast.unparse(node.returns))
            ):
                yield f"{source.path}:{node.lineno}: {node.name}"


def repeated_runs(texts: Texts) -> Iterator[str]:
    """Yield each pair of places that share a run of equal lines, blank ones left out."""
    files = {path: stripped(text) for path, text in texts.items() if "migrations/" not in path}
    places = defaultdict(list)
    for path, numbered in files.items():
        for start in range(len(numbered) - RUN + 1):
            window = tuple(line for _, line in numbered[start : start + RUN])
            places[window].append((path, start))
    shared = {
        (first, second) for found in places.values() for first, second in product(found, found)
    }
    for first, second in sorted(shared):
        begins = (before(first), before(second)) not in shared
        if first < second and begins and not overlap(first, second):
            yield " ~ ".join(f"{path}:{files[path][at][0]}" for path, at in (first, second))


def stripped(text: str) -> list[tuple[int, str]]:
    """Return (line number, line) of what says something; imports do not."""
    return [
        (number, line.strip())
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not re.match(r"from |import |if TYPE_CHECKING", line.strip())
    ]


def before(place: tuple[str, int]) -> tuple[str, int]:
    return place[0], place[1] - 1


def overlap(first: tuple[str, int], second: tuple[str, int]) -> bool:
    return first[0] == second[0] and abs(first[1] - second[1]) < RUN


# The table


@dataclass(frozen=True)
class Figure:
    what: str
    goal: int
    most: int
    count: Callable[[Texts, House], Iterable[str]]


NEW = {"cardholder_token": "new", "card_token": "new", "card_acceptor_id": "new"}

FIGURES = [
    Figure("lines of Python", 31_000, 81_000, lambda texts, _: python_lines(texts)),
    Figure("lines of SQL", 8_000, 21_100, lambda texts, _: sql_lines(texts)),
    Figure("class names of several classes", 0, 0, lambda _, house: shared_class_names(house)),
    Figure(
        "rings of imports",
        0,
        0,
        lambda _, house: (", ".join(ring) for ring in sorted(rings(house))),
    ),
    Figure("dict[str, Any]", 60, 50, lambda texts, _: untyped_dicts(texts)),
    Figure("public functions whose rows have no class", 0, 0, lambda _, house: unnamed_rows(house)),
    Figure(
        f"pairs of places with {RUN} equal lines", 110, 50, lambda texts, _: repeated_runs(texts)
    ),
    Figure("statements of one POST", 17, 7, lambda *_: statements_of("")),
    Figure("statements of one POST of what is new", 17, 12, lambda *_: statements_of("", **NEW)),
    Figure("statements of one simulated event", 19, 12, lambda *_: statements_of("/simulate")),
    Figure(
        "statements of a simulated event of what is new",
        19,
        17,
        lambda *_: statements_of("/simulate", **NEW),
    ),
]


def main() -> None:
    """Print the table."""
    texts, house = read_texts(), read_house()
    counted = [(each, list(each.count(texts, house))) for each in FIGURES]
    print(f"{'':44}{'is':>8}{'goal':>8}")
    for each, found in counted:
        print(f"{each.what:44}{len(found):>8,}{each.goal:>8,}")
    if "--places" in sys.argv:
        for each, found in counted[2:]:
            print(f"\n{each.what}", *(f"  {place}" for place in found), sep="\n")


if __name__ == "__main__":
    main()
