"""All SQL of the product as text, and the few lines that read it.

A file is a list of blocks, each a `-- name: <query>` line, comment lines that say what the
statement reads and writes, and one statement. A query is addressed as `folder/file:query`; folders
and files are named after the modules that use them. `schema.sql` tells the tables of today (read it
first), `migrations/` makes them, `views/` says once what many statements read, `plan/` holds the
portable SELECTs that an `engine` runs, `audits/` selects rows that must not exist. Imports nothing
of ours; `store` and `engine` read it. A statement that meets temporary tables of other files
declares them in its header (`binding.py`). To add a statement, add a block to the file of the
module that runs it.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

_MARK = "-- name:"


def sql_folder() -> Traversable:
    """Return the folder of the packaged SQL."""
    return files("cardoffers_cli") / "sql"


@cache
def statements(stem: str) -> Mapping[str, str]:
    """Return the statements of one file by name, in their order (`stem` is `folder/file`)."""
    text = sql_folder().joinpath(f"{stem}.sql").read_text(encoding="utf-8")
    blocks = text.split(_MARK)[1:]
    return {name.strip(): body.strip() for name, _, body in (b.partition("\n") for b in blocks)}


def statement(name: str) -> str:
    """Return one statement by its address `folder/file:query`."""
    stem, _, query = name.partition(":")
    return statements(stem)[query]
