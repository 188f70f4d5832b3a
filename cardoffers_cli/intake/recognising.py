"""Tell which kind of rows a file in our own layout holds: its names say it (rules.md#row-kinds)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cardoffers_cli.intake.headers import DELIMITERS, folded, parts_of
from cardoffers_cli.kernel.words.row_kinds import KINDS, PURCHASES

if TYPE_CHECKING:
    from collections.abc import Collection

    from cardoffers_cli.kernel.words.row_kinds import RowKind

_KEY = re.compile(rb'"([A-Za-z0-9_ -]{1,40})"[ \t\r\n]*:[ \t\r\n]*(\[)?')
"""A name in JSON, and whether a list stands behind it."""


def row_kind_of(head: bytes, otherwise: RowKind) -> RowKind:
    """Return the kind whose own names a file begins with; where it has none, `otherwise`.

    The list of a JSON object decides by its name. A file that has names of several kinds is of the
    one of which it lacks least, and of the first of these.
    """
    names, lists = _names_in(head)
    listed = [kind for kind in KINDS if kind.list_key in lists]
    named = [kind for kind in KINDS if not names.isdisjoint(map(folded, kind.own))]
    return min(listed or named, key=lambda kind: _missing(kind, names), default=otherwise)


def is_of_other_kind(head: bytes) -> bool:
    """Whether a file begins with all names of a kind that no profile describes: not purchases."""
    names, _ = _names_in(head)
    return any(_missing(kind, names) == 0 for kind in KINDS if kind is not PURCHASES)


def _missing(kind: RowKind, names: Collection[str]) -> int:
    wanted = (entry.split("|") for entry in kind.in_header)
    return sum(not any(folded(name) in names for name in alternatives) for alternatives in wanted)


def _names_in(head: bytes) -> tuple[set[str], set[str]]:
    """Return the names that a file begins with, and those among them that name a list."""
    start = head.lstrip()
    if start.startswith((b"{", b"[")):
        keys = _KEY.findall(start)
        return (
            {folded(name.decode()) for name, _ in keys},
            {name.decode() for name, is_list in keys if is_list},
        )
    line = start.splitlines()[0] if start else b""
    parts = (part for sign in DELIMITERS for part in parts_of(line, sign))
    return set(map(folded, parts)), set()
