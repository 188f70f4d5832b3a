"""Temporary tables as values: a statement reads those that it declares and is handed, and no other.

A block says in its header which temporary tables its statement meets, and by which columns:

    -- reads: staged(line, payer), payer_numbers(payer, cardholder_no)
    -- changes: staged_findings(line, code)
    -- makes: staged_duplicates(line, transaction_ref)

In the SQL each stands by that name. When it runs, every name is bound to the table of a handle: one
that no other has, so that two runs on one connection never meet. Names come from the packaged files
and from a counter; a handle of another connection, or of a run that is over, is not bound.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import TYPE_CHECKING

from cardoffers_cli.sql import statement, statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_NUMBERS = count(1)
_DECLARES = re.compile(r"\b(reads|changes|makes):\s*((?:\w+\([\w\s,-]*\),?\s*)+)")
_TABLE = re.compile(r"(\w+)\(([\w\s,-]*)\)")
_HEADER = re.compile(r"(?:\s*--[^\n]*\n)*")
_PLACES = re.compile(
    r"'(?:[^']|'')*'|--[^\n]*"
    r"|\b(?P<verb>from|join|into|update|table|view)\s+(?P<name>\w+)\b(?!\.)(?P<alias>\s+as\s+\w+)?"
)
"""Texts and comments, which stay as they are, and the places where a table is named."""
_TAKES_ALIAS = {"from", "join", "update"}
_VIEW = re.compile(r"\bcreate\s+temp\s+view\b")


@dataclass(frozen=True, kw_only=True)
class Table:
    """A temporary table that a statement made.

    `name` is what statements call it, `identifier` what it is called in the connection.
    """

    name: str
    identifier: str
    columns: tuple[str, ...]

    def called(self, name: str) -> Table:
        """Return the same table, for statements that know it by another name."""
        return replace(self, name=name)


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A statement as it runs, and the table that it makes, if it makes one."""

    sql: str
    made: Table | None


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What the header of a block says: its temporary tables by name, each with its columns."""

    handed: Mapping[str, tuple[str, ...]]
    makes: str | None
    columns: tuple[str, ...]


@cache
def declared(address: str) -> Declared:
    """Return what the statement at `folder/file:query` declares."""
    header = _HEADER.match(statement(address) + "\n")
    comment = " ".join(re.findall(r"--(.*)", header[0] if header else ""))
    handed: dict[str, tuple[str, ...]] = {}
    made: dict[str, tuple[str, ...]] = {}
    for verb, listed in _DECLARES.findall(comment):
        for name, columns in _TABLE.findall(listed):
            (made if verb == "makes" else handed)[name] = tuple(columns.replace(",", " ").split())
    makes = next(iter(made), None)
    return Declared(handed=handed, makes=makes, columns=made[makes] if makes else ())


class TempTables:
    """The temporary tables of one connection: it names them, and puts their names into SQL."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}

    def bind(self, address: str, tables: Iterable[Table]) -> Bound:
        """Return a statement that reads these tables, of which each is one that it declares."""
        at_hand = {table.name: table for table in tables}
        if surplus := at_hand.keys() - declared(address).handed.keys():
            raise LookupError(f"{address} is handed {sorted(surplus)}, which it does not declare.")
        return self.bind_any(address, at_hand)

    def bind_any(self, address: str, at_hand: Mapping[str, Table]) -> Bound:
        """Return a statement that reads what it declares of the tables at hand."""
        says = declared(address)
        identifiers = {
            name: self._identifier(address, name, columns, at_hand)
            for name, columns in says.handed.items()
        }
        sql = statement(address)
        made = None
        if says.makes:
            made = self._name(says.makes, says.columns, "view" if _VIEW.search(sql) else "table")
            identifiers[made.name] = made.identifier
        return Bound(sql=_renamed(sql, identifiers) if identifiers else sql, made=made)

    def each_select(
        self, plan: str, tables: Iterable[Table], act: Callable[[Table, str], None]
    ) -> Mapping[str, Table]:
        """Let `act` make a table of every SELECT of `plan/<plan>`, and return them by name.

        Raises `LookupError` where the plan reads what it was not handed, or is handed what it does
        not read.
        """
        made: dict[str, Table] = {}
        at_hand = {table.name: table for table in tables}
        unread = set(at_hand)
        for query in statements(f"plan/{plan}"):
            address = f"plan/{plan}:{query}"
            bound = self.bind_any(address, {**at_hand, **made})
            if bound.made is None:
                raise LookupError(f"{address} declares no columns that it makes.")
            unread -= declared(address).handed.keys()
            act(bound.made, bound.sql)
            made[query] = bound.made
        if unread:
            raise LookupError(f"plan/{plan} is handed {sorted(unread)}, which it does not declare.")
        return made

    def name(self, name: str, columns: Iterable[str]) -> Table:
        """Return a handle for a table that its caller makes."""
        return self._name(name, tuple(columns), "table")

    def is_view(self, table: Table) -> None:
        """Let a table that was named be dropped as a view."""
        self._kinds[table.identifier] = "view"

    def dropping(self, tables: Iterable[Table] | None = None) -> str:
        """Return the statements that drop these tables, or all; empty where there are none."""
        names = [*self._kinds] if tables is None else [table.identifier for table in tables]
        return "; ".join(
            f"drop {self._kinds[name]} if exists {name}"
            for name in reversed(names)
            if name in self._kinds
        )

    def forget(self, tables: Iterable[Table] | None = None) -> None:
        """Bind these tables, or all that were named, no more."""
        for name in [*self._kinds] if tables is None else [each.identifier for each in tables]:
            self._kinds.pop(name, None)

    def _name(self, name: str, columns: tuple[str, ...], kind: str) -> Table:
        table = Table(name=name, identifier=f"{name}__{next(_NUMBERS)}", columns=columns)
        self._kinds[table.identifier] = kind
        return table

    def _identifier(
        self, address: str, name: str, columns: tuple[str, ...], at_hand: Mapping[str, Table]
    ) -> str:
        table = at_hand.get(name)
        if table is None:
            raise LookupError(f"{address} reads {name}, and was not handed it.")
        if table.identifier not in self._kinds:
            raise LookupError(f"{address} reads {name} of a run that is over, or of another store.")
        if missing := set(columns) - set(table.columns):
            raise LookupError(f"{address} reads {sorted(missing)} of {name}, which has no such.")
        return table.identifier


def _renamed(sql: str, identifiers: Mapping[str, str]) -> str:
    """Put identifiers in the place of declared names, wherever a table is named.

    Where the name is also what columns are qualified by, it stays as the alias.
    """

    def place(found: re.Match[str]) -> str:
        name, verb = found["name"], found["verb"]
        if name not in identifiers:
            return found[0]
        alias = found["alias"] or (f" as {name}" if verb in _TAKES_ALIAS else "")
        return f"{verb} {identifiers[name]}{alias}"

    return _PLACES.sub(place, sql)
