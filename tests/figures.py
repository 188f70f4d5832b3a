"""How the inside of the house is: counted from its source, printed as a table.

    python tests/figures.py [--places]

`--places` lists below the table where each thing counted stands. `limits.toml` has the most that
each figure may come to. `test_figures.py` holds that no figure is above its limit, and that no
limit was ever raised: who needs more of one thing takes it away elsewhere.
"""
# ruff: noqa: T201  a table is what this prints

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "kit"))

from house import CHECKOUT, PRODUCT, House, read_house, rings
from statements import statements_of

RUN = 6
"""How many equal lines in a row are a repetition."""

LIMITS = "tests/limits.toml"
"""The most that each figure may come to, by its name; and what capabilities may add to that."""
BESIDES = ", for "
"""Between the name of a figure and the capability that may add to it."""

UNNAMED = re.compile(r"\bdict\[str, Any\]|\btuple\[Any|\bRow\b")
"""A type that says nothing of the columns of a row."""

HANDS_ON_ROWS = {
    *("kernel/sheets", "intake", "answers/browse/inquiry.py", "archive/archive.py"),
    *("http/contract/parameters.py:json_value", "http/contract/parameters.py:json_object"),
    *("reports/page.py", "river/judge.py", "river/outcomes.py", "storage/doctor.py:offending"),
    *("kernel/store/journal.py", "kernel/store/journal_file.py", "kernel/store/store.py"),
}
"""The rooms, modules and functions that hand rows of any kind on; others make rows of their own."""

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
    """Yield each public function of a slice that returns rows without a class."""
    for source in house.values():
        if source.is_command or {source.room, source.path} & HANDS_ON_ROWS:
            continue
        for node in ast.walk(source.tree):
            if (
                isinstance(node, ast.FunctionDef)
                and not node.name.startswith("_")
                and f"{source.path}:{node.name}" not in HANDS_ON_ROWS
                and node.returns
                and UNNAMED.search(ast.unparse(node.returns))
            ):
                yield f"{source.path}:{node.lineno}: {node.name}"


def repeated_runs(texts: Texts) -> Iterator[str]:
    """Yield each pair of places of the product at which the same `RUN` lines begin.

    Compared are the lines of Python and SQL without their indentation, character by character.
    Blank lines and the first lines of imports are left out before the lines are counted, and all of
    `kernel/store/migrations/`, which repeats the schema. A run that goes on for longer than `RUN`
    lines is one pair, a run at three places is three pairs, and a run does not repeat itself by
    overlapping itself. The limit is of this count: a change of what is counted is a new figure with
    a name of its own, beside this one.
    """
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
    count: Callable[[Texts, House], Iterable[str]]

    @property
    def most(self) -> int:
        limits = read_limits((CHECKOUT / LIMITS).read_text())
        return sum(most for what, most in limits.items() if what.partition(BESIDES)[0] == self.what)


NEW = {"cardholder_token": "new", "card_token": "new", "card_acceptor_id": "new"}

FIGURES = [
    Figure("lines of Python", lambda texts, _: python_lines(texts)),
    Figure("lines of SQL", lambda texts, _: sql_lines(texts)),
    Figure("class names of several classes", lambda _, house: shared_class_names(house)),
    Figure("rings of imports", lambda _, house: (", ".join(ring) for ring in sorted(rings(house)))),
    Figure("dict[str, Any]", lambda texts, _: untyped_dicts(texts)),
    Figure("public functions whose rows have no class", lambda _, house: unnamed_rows(house)),
    Figure(f"pairs of places with {RUN} equal lines", lambda texts, _: repeated_runs(texts)),
    Figure("statements of one POST", lambda *_: statements_of("")),
    Figure("statements of one POST of what is new", lambda *_: statements_of("", **NEW)),
    Figure("statements of one simulated event", lambda *_: statements_of("/simulate")),
    Figure(
        "statements of a simulated event of what is new",
        lambda *_: statements_of("/simulate", **NEW),
    ),
]


# The limits, and what they were


def read_limits(text: str) -> dict[str, int]:
    limits = tomllib.loads(text)
    added = limits.pop("added", {})
    return limits | {
        f"{what}{BESIDES}{name}": most for name, of in added.items() for what, most in of.items()
    }


def limits_before(repository: Path) -> list[dict[str, int]]:
    """Return the limits of every commit that changed them, the newest first.

    Raises `subprocess.CalledProcessError` where there is no history.
    """
    commits = git(repository, "log", "--format=%H", "HEAD", "--", LIMITS).split()
    return [read_limits(git(repository, "show", f"{commit}:{LIMITS}")) for commit in commits]


def git(repository: Path, *words: str) -> str:
    command = ["git", "-c", "safe.directory=*", "-C", str(repository), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def raised(limits: Mapping[str, int], before: Iterable[Mapping[str, int]]) -> Iterator[str]:
    """Yield each limit that was lower once, and each that is gone."""
    for earlier in before:
        for what, most in earlier.items():
            if what not in limits:
                yield f"{what}: {most:,} -> no limit"
            elif limits[what] > most:
                yield f"{what}: {most:,} -> {limits[what]:,}"


def main() -> None:
    """Print the table."""
    texts, house = read_texts(), read_house()
    counted = [(each, list(each.count(texts, house))) for each in FIGURES]
    print(f"{'':48}{'is':>8}{'most':>8}")
    for each, found in counted:
        print(f"{each.what:48}{len(found):>8,}{each.most:>8,}")
    if "--places" in sys.argv:
        for each, found in counted[2:]:
            print(f"\n{each.what}", *(f"  {place}" for place in found), sep="\n")


if __name__ == "__main__":
    main()
