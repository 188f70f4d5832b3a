"""Which SQL file reads a temporary table of another, and whether it was handed that table.

A statement is handed a temporary table where its header declares it (`-- reads: staged(line)`, or
`changes`, or `makes`): then it runs only with the handle that the table's maker returned. What a
statement reads undeclared is there by name alone, and no import shows it. Run this file to see the
list; `tests/test_flow.py` holds it at nothing, and shows it breaches.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.statements import statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SQL = Path(__file__).parents[1] / "cardoffers_cli"

_QUIET = re.compile(r"--[^\n]*|'(?:[^']|'')*'")
_MAKES = re.compile(r"\bcreate\s+(?:or\s+replace\s+)?temp\s+(?:table|view)\s+(\w+)")
_LASTS = re.compile(
    r"\bcreate\s+(?:or\s+replace\s+)?(?:table|view)\s+(?:if\s+not\s+exists\s+)?(\w+)"
)
_USES = re.compile(r"\b(?:from|join|into|update|table|view)\s+(\w+)\b(?!\.)")
_LOCAL = re.compile(r"\b(\w+)\s+as\s*\(\s*(?:with|select|from)\b")
_DECLARES = re.compile(r"\b(?:reads|changes|makes):\s*((?:\w+\([\w\s,-]*\),?\s*)+)")
_DECLARED = re.compile(r"(\w+)\(([\w\s,-]*)\)")


@dataclass(frozen=True)
class Block:
    """One statement: where it stands, what its header declares, what its SQL says."""

    stem: str
    name: str
    declares: Mapping[str, tuple[str, ...]]
    code: str

    @property
    def makes(self) -> str | None:
        if self.stem.startswith("river/plan/"):
            return self.name
        found = _MAKES.search(self.code)
        return found[1] if found else None

    def uses(self) -> set[str]:
        """Return the names at the places of tables, but for those of its own CTEs."""
        return set(_USES.findall(self.code)) - set(_LOCAL.findall(self.code))


def blocks(stem: str, text: str) -> list[Block]:
    """Return the statements of one SQL file."""
    found = []
    for block in re.split(r"^-- name:", text, flags=re.MULTILINE)[1:]:
        name, _, body = block.partition("\n")
        comment = " ".join(re.findall(r"^-- ?(.*)$", body, flags=re.MULTILINE))
        declares = {
            table: tuple(columns.replace(",", " ").split())
            for listed in _DECLARES.findall(comment)
            for table, columns in _DECLARED.findall(listed)
        }
        code = _QUIET.sub("''", body).lower()
        found.append(Block(stem, name.strip(), declares, code))
    return found


def product() -> list[Block]:
    """Return every statement of the product."""
    return [block for stem, text in files() for block in blocks(stem, text)]


def files() -> Iterator[tuple[str, str]]:
    """Yield every SQL file, `folder/file` and text; what stands for several is written out."""
    for file in sorted(SQL.rglob("*.sql")):
        stem, text = file.relative_to(SQL).with_suffix("").as_posix(), file.read_text("utf-8")
        if "-- for each:" in text:
            each = statements(stem).items()
            text = "\n\n".join(f"-- name: {name}\n{sql}" for name, sql in each)
        yield stem, text


@dataclass(frozen=True)
class Reading:
    """A temporary table, who makes it, and who reads it there by name alone."""

    table: str
    makers: list[str]
    readers: list[str]

    def __str__(self) -> str:
        return f"{self.table}: made by {', '.join(self.makers)}; read by {', '.join(self.readers)}"


def by_name_alone(all_blocks: Iterable[Block]) -> list[Reading]:
    """Return the temporary tables that files read which neither make them nor are handed them.

    Tables and views of the schema are not temporary, also where a view stands in their place for
    as long as a store is open.
    """
    listed = list(all_blocks)
    lasting = {
        name
        for each in listed
        if each.stem == "kernel/store/schema" or each.stem.endswith("/views")
        for name in _LASTS.findall(each.code)
    }
    own = {(each.stem, name) for each in listed for name in _LASTS.findall(each.code)}
    makers: defaultdict[str, set[str]] = defaultdict(set)
    for each in listed:
        if each.makes and each.makes not in lasting:
            makers[each.makes].add(each.stem)
    readers: defaultdict[str, set[str]] = defaultdict(set)
    for each in listed:
        for table in each.uses() & makers.keys() - each.declares.keys():
            if each.stem not in makers[table] and (each.stem, table) not in own:
                readers[table].add(each.stem)
    return [
        Reading(table, sorted(makers[table]), sorted(readers[table])) for table in sorted(readers)
    ]


if __name__ == "__main__":
    readings = by_name_alone(product())
    count = f"{len(readings)} temporary tables are read by a file that was not handed them."
    sys.stdout.write("\n".join([*map(str, readings), count, ""]))
