"""The audits that are SQL: statements that select rows which must not be, from `sql/audits/`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from cardoffers_cli.sql import sql_folder, statements

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cardoffers_cli.store.store import Store

_FOLDER = "audits"


@cache
def audits() -> Mapping[str, str]:
    """Return the address of every audit by its name."""
    files = sorted(entry.name for entry in sql_folder().joinpath(_FOLDER).iterdir())
    stems = [f"{_FOLDER}/{name.removesuffix('.sql')}" for name in files if name.endswith(".sql")]
    return {name: f"{stem}:{name}" for stem in stems for name in statements(stem)}


def offending(store: Store, name: str) -> tuple[int, dict[str, Any] | None]:
    """Return how many rows offend against an audit, and the first of them."""
    rows, first = 0, None
    for page in store.pages(audits()[name]):
        first = first or page[0]
        rows += len(page)
    return rows, first
