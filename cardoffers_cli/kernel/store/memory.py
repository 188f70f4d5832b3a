"""What was read of an open store, and stays true while nobody changes it.

As long as a store is open for writing, or locked for readers, only this connection can change what
was read. So an answer is remembered until a statement runs that changes a table it was read of, or
a transaction is rolled back that did, for what was read in it may never have been. The tables are
found in the packaged SQL: every word of the statements, and of the views and macros that they name,
that is the name of a table.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from cardoffers_cli.kernel.store.statements import VIEWS, statement, statements

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

Found = TypeVar("Found")

_COMMENT = re.compile(r"--[^\n]*")
_WORD = re.compile(r"\w+")
_CHANGES = re.compile(r"\b(insert\s+into|update|delete\s+from)\s+(\w+)")
_MOST = 10_000
"""Answers that are remembered; beyond, all are forgotten."""


class Memory:
    """Answers by what was asked, each until it may be another one."""

    def __init__(self) -> None:
        self._found: dict[Hashable, Any] = {}
        self._read_of: dict[Hashable, frozenset[str]] = {}
        self._grows: set[Hashable] = set()
        self._changed: set[str] = set()
        """The tables that were changed since a transaction began."""
        self._before: dict[Hashable, tuple[Any, frozenset[str]]] = {}
        """What was true of tables until these changed, with the tables that it was read of."""

    def recall(
        self,
        key: Hashable,
        addresses: tuple[str, ...],
        read: Callable[[], Found],
        *,
        grows: bool = False,
    ) -> Found:
        """Return what `read` returned, or returns now, by running statements at these addresses.

        What is returned is shared: nobody changes it but by adding what the same statements say. If
        it `grows`, rows that are added to the tables make none of it wrong.
        """
        if key not in self._found:
            value = read()
            if len(self._found) >= _MOST:
                self.forget()
            self._found[key] = value
            self._read_of[key] = frozenset[str]().union(*map(tables_read, addresses))
            if grows:
                self._grows.add(key)
        result: Found = self._found[key]
        return result

    def know(self, key: Hashable, addresses: tuple[str, ...], value: Any) -> None:
        """Remember what `recall` would read now, as its caller has just written it."""
        self._found.pop(key, None)
        self.recall(key, addresses, lambda: value)

    def note(self, address: str) -> None:
        """Forget what the statement at an address may change."""
        if not (changed := tables_changed(address)):
            return
        rewritten = tables_rewritten(address)
        for key, tables in [*self._read_of.items()]:
            if tables & (rewritten if key in self._grows else changed):
                if key not in self._grows and tables.isdisjoint(self._changed):
                    self._before[key] = self._found[key], tables
                self._forget(key)
        self._changed |= changed

    def begin(self) -> None:
        """Note that a transaction begins."""
        self._changed.clear()
        self._before.clear()

    def undo(self) -> None:
        """Forget what may tell of changes that are not kept, those since the transaction began.

        What they had made wrong is right again.
        """
        for key, tables in [*self._read_of.items()]:
            if tables & self._changed:
                self._forget(key)
        for key, (value, tables) in self._before.items():
            self._found[key], self._read_of[key] = value, tables

    def forget(self) -> None:
        """Forget everything."""
        self._found.clear()
        self._read_of.clear()
        self._grows.clear()

    def _forget(self, key: Hashable) -> None:
        self._found.pop(key, None)
        self._read_of.pop(key, None)
        self._grows.discard(key)


@cache
def tables_changed(address: str) -> frozenset[str]:
    """Return the tables that the statement at an address writes to."""
    code = _COMMENT.sub("", statement(address))
    return frozenset(table for _, table in _CHANGES.findall(code)) & _tables()


@cache
def tables_rewritten(address: str) -> frozenset[str]:
    """Return those whose rows the statement at an address does not only add to."""
    code = _COMMENT.sub("", statement(address))
    changes = _CHANGES.findall(code)
    return frozenset(table for verb, table in changes if not verb.startswith("insert")) & _tables()


@cache
def tables_read(address: str) -> frozenset[str]:
    """Return the tables that the statement at an address names, also by views and macros."""
    named, fresh = set[str](), set(_words(statement(address)))
    while fresh:
        named |= fresh
        fresh = {word for view in fresh & _views().keys() for word in _views()[view]} - named
    return frozenset(named) & _tables()


def _words(sql: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_COMMENT.sub("", sql)))


@cache
def _tables() -> frozenset[str]:
    return frozenset(statements("kernel/store/schema"))


@cache
def _views() -> Mapping[str, frozenset[str]]:
    """Return the words of each view and macro by its name."""
    return {name: _words(sql) for stem in VIEWS for name, sql in statements(stem).items()}
