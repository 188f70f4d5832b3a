"""All SQL of the product as text, and the few lines that read it.

A file is a list of blocks, each a `-- name: <query>` line, comment lines that say what the
statement reads and writes, and one statement; a query is addressed as `slice/file:query`. One that
is the same for several tables, or columns, is told once: `-- for each: purchases, decisions` in its
header makes a statement of each, `<query>_<table>_<column>`, in which `{table}`, `{column}`,
`{kept}` (`recent_<table>` where that is archived) and lists of columns stand for what `schema.sql`
tells (`_each`). `-- for each: text columns` is every text column of it, but those that the head of
the file names behind `-- but:`. To add a statement, add a block to the file of its module.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from importlib.resources.abc import Traversable

VIEWS = (
    *("kernel/store/views", "river/views", "offers/views", "refunds/views", "events/views"),
    *("approvals/views", "credits/views", "documents/views", "payouts/views"),
    "accounting/views",
)
"""The files of views and macros; what one reads stands in it, or in one before it."""
_MARK = "-- name:"
_FOR_EACH = re.compile(r"-- for each: ((?:.+,\n--)*.+)\n")
_BUT = "-- but:"
_TEXT_COLUMNS = "text columns"
_COLUMN = re.compile(r"^    (\w+) (\w+(?:\(\d+, \d+\))?)", re.MULTILINE)


def sql_folder() -> Traversable:
    """Return the folder of the package, below which the SQL lies."""
    return files("cardoffers_cli")


@cache
def statements(stem: str) -> Mapping[str, str]:
    """Return the statements of one file by name, in their order (`stem` is `folder/file`)."""
    text = sql_folder().joinpath(f"{stem}.sql").read_text(encoding="utf-8")
    head, *parts = text.split(_MARK)
    blocks = (block.partition("\n") for block in parts)
    left_out = frozenset(re.findall(r"[\w.]+", head.partition(_BUT)[2]))
    return dict(
        entry for name, _, body in blocks for entry in _each(name.strip(), body.strip(), left_out)
    )


def statement(name: str) -> str:
    """Return one statement by its address `folder/file:query`."""
    stem, _, query = name.partition(":")
    return statements(stem)[query]


def text_columns(left_out: frozenset[str]) -> Iterator[str]:
    """Yield every text column of the schema as `table.column`, but those that are left out."""
    for stored, definition in statements("kernel/store/schema").items():
        table = stored.removeprefix("recent_")
        for column, kind in _COLUMN.findall(definition):
            name = f"{table}.{column}"
            if kind == "varchar" and left_out.isdisjoint((column, table, name)):
                yield name


def _each(name: str, body: str, left_out: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield a statement by its name, or those of each table, or column, that its header lists."""
    listed = _FOR_EACH.search(body)
    if listed is None:
        yield name, body
        return
    schema = statements("kernel/store/schema")
    is_text = listed[1].startswith(_TEXT_COLUMNS)
    for item in text_columns(left_out) if is_text else re.findall(r"[\w.]+", listed[1]):
        table, _, column = item.partition(".")
        stored = f"recent_{table}" if f"recent_{table}" in schema else table
        types = dict(_COLUMN.findall(schema[stored]))
        ids = [name for name, kind in types.items() if kind == "uuid"]
        filled = {
            "columns": ", ".join(types),
            "stored": _cast(types, ids, "varchar"),
            "restored": _cast(types, ids, "uuid"),
            "amount": "amount" if "amount" in types else "null",
            "institution_id": f"{stored}.institution_id" if "institution_id" in types else "null",
            "owner": "institution_id" if "institution_id" in types else "null",
            "number": next((key for key in types if key.endswith("_no")), "null"),
        }
        sql = body.format(table=table, column=column, kept=stored, **filled)
        yield f"{name}_{item.replace('.', '_')}", sql


def _cast(columns: Iterable[str], ids: list[str], kind: str) -> str:
    """Return a list of columns, those that are ids cast to another type."""
    return ", ".join(f"cast({c} as {kind}) as {c}" if c in ids else c for c in columns)
