"""Every named query binds against the schema: tables, columns and types exist.

Queries meet in temporary tables, so those that make one are run on the empty store, and whoever
reads it is bound then. A `frame` is whatever a query asks of it.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import duckdb
import pytest

from cardoffers_cli.kernel.store.statements import sql_folder, statements
from work import fresh_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cardoffers_cli.kernel.store.store import Store


MAKES_A_TABLE = re.compile(r"(?:\s*--[^\n]*\n)*\s*create\s+(or\s+replace\s+)?temp")
MADE = re.compile(r"create\s+(?:or\s+replace\s+)?temp\s+(?:table|view)\s+(\w+)")
KINDS = """
select 'table' from duckdb_tables() where temporary and table_name = $1
union all select 'view' from duckdb_views() where temporary and view_name = $1
"""
NO_SUCH_COLUMN = re.compile(r'(?:column named|Referenced column) "([^"]+)"')
DEFINED = {"found", "rematch", "undecided"}  # plans that are named, not computed
WORD = re.compile(r"\w+")
PARAMETER = re.compile(r"\$([a-z_]\w*)")
ELSEWHERE = {
    "kernel/store/usage_journal",
    "kernel/store/copying",
    "kernel/store/instances",
    "kernel/store/too_old",
}
READS_FILES = re.compile(r"\$files?\b|\bgetvariable\(")


def queries() -> dict[str, str]:
    """Return every query by its address, but those of views, which have been run, and those about
    other files (of the usage journal, of archives, of copies, of stores that are too old), which
    their own tests run.
    """
    root = Path(str(sql_folder()))
    stems = [
        file.relative_to(root).as_posix().removesuffix(".sql")
        for file in sorted(root.glob("*/**/*.sql"))
        if file.name != "views.sql"
    ]
    return {
        f"{stem}:{name}": sql
        for stem in stems
        if stem not in ELSEWHERE
        for name, sql in statements(stem).items()
        if not READS_FILES.search(sql)
    }


class Binder:
    """Binds queries in the order in which what they read comes to be.

    Two queries may make one table in different forms, so every reader is tried before the next
    table is made. Who reads one of several forms beside a table that came later is tried again at
    the end, with each form in its turn.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, described: Iterable[str] = ()
    ) -> None:
        self.connection = connection
        self.described: dict[str, set[str]] = {each: set() for each in described}
        """The columns that these queries return."""
        self.errors: dict[str, str] = {}
        self.columns: dict[str, list[str]] = {}
        """The columns of every table made, by the query that makes it."""
        self.forms: dict[str, list[tuple[str, str]]] = {}
        """The queries that made each table, with their addresses."""

    def bind_all(self, waiting: dict[str, str]) -> dict[str, str]:
        """Return what does not bind, with the reason.

        After every table made it starts over, with those that read it by its name.
        """
        self.errors = {}
        while made := self._step(waiting):
            names = {made, *DEFINED}  # what is defined may read what was made
            for address in [*self.errors]:
                if not names.isdisjoint(WORD.findall(waiting[address])):
                    del self.errors[address]
        for reader in [*self.errors]:
            read = WORD.findall(waiting[reader])
            forms = [form for name in read for form in self.forms.get(name, [])]
            if any(self._remade(*form) and self._binds(reader, waiting[reader]) for form in forms):
                del self.errors[reader]
        return self.errors

    def _remade(self, address: str, making: str) -> bool:
        """Say whether a table could be made anew, in a form that it had."""
        binds = self._binds(address, making)  # which gives it its frame, too
        self.errors.pop(address, None)
        return binds and bool(self._make(address, making))

    def _step(self, waiting: dict[str, str]) -> str | None:
        """Bind what can be bound, up to the first that makes a table; return its name."""
        readers_first = sorted(waiting.items(), key=lambda query: table_made(*query) is not None)
        for address, sql in readers_first:
            if address in self.errors or not self._binds(address, sql):
                continue
            del waiting[address]
            if address in self.described:
                rows = self._run(f"describe {sql}").fetchall()
                self.described[address] = {column for column, *_ in rows}
            if making := table_made(address, sql):
                return self._make(address, making)
        return None

    def _make(self, address: str, making: str) -> str:
        name = MADE.findall(making)[0]
        for kind in self.connection.execute(KINDS, [name]).fetchall():
            self.connection.execute(f"drop {kind[0]} {name}")
        self._run(making)
        described = self.connection.execute(f"describe {name}").fetchall()
        self.columns[address] = [column for column, *_ in described]
        if (address, making) not in self.forms.setdefault(name, []):
            self.forms[name].append((address, making))
        return name

    def _binds(self, address: str, sql: str) -> bool:
        columns: list[str] = []
        filling = "nothing"
        while True:
            self._give_frame([*columns, filling])
            try:
                self._run(f"explain {sql}")
            except duckdb.Error as error:
                if filling == "nothing" and '"nothing"' in str(error):
                    filling = "line"  # of a frame that is taken whole, by name
                    continue
                missing = NO_SUCH_COLUMN.search(str(error)) if "frame" in sql else None
                if missing is None or missing[1] in columns:
                    self.errors[address] = str(error)
                    return False
                columns.append(missing[1])
            else:
                return True

    def _give_frame(self, columns: list[str]) -> None:
        fields = ", ".join(f'null as "{column}"' for column in dict.fromkeys(columns))
        self.connection.execute(f"create or replace temp view frame as select {fields}")

    def _run(self, sql: str) -> duckdb.DuckDBPyConnection:
        code = re.sub(r"--[^\n]*", "", sql)
        return self.connection.execute(code, dict.fromkeys(PARAMETER.findall(code)))


def table_made(address: str, sql: str) -> str | None:
    """Return the statement that makes a table out of this query, if anyone reads it as one."""
    *folders, stem, name = re.split(r"[/:]", address)
    if folders == ["river", "plan"]:
        kind = "view" if stem in DEFINED else "table"
        return f"create or replace temp {kind} {name} as {sql}"
    return sql if MAKES_A_TABLE.match(sql) else None


@contextmanager
def _empty_store() -> Iterator[Store]:
    with TemporaryDirectory() as folder, fresh_store(Path(folder)) as store:
        yield store


def made() -> dict[str, list[str]]:
    """Return the columns of every temporary table, by the query that makes it."""
    with _empty_store() as store:
        binder = Binder(store._connection)
        binder.bind_all(queries())
        return binder.columns


def returned(waiting: dict[str, str], addresses: Iterable[str]) -> dict[str, set[str]]:
    """Return the columns that these queries return, as they bind."""
    with _empty_store() as store:
        binder = Binder(store._connection, addresses)
        binder.bind_all(waiting)
        return binder.described


def unbound(waiting: dict[str, str]) -> dict[str, str]:
    with _empty_store() as store:
        return Binder(store._connection).bind_all(waiting)


def test_every_query_binds() -> None:
    errors = unbound(queries())
    assert not errors, "\n".join(f"{address}: {error}" for address, error in errors.items())


@pytest.mark.parametrize(
    ("expected", "sql"),
    [
        (True, "select slug from institutions where institution_id = $institution_id"),
        (True, "insert into currencies select frame.code, frame.digits from frame"),
        (False, "select slug from institution"),
        (False, "select slogan from institutions"),
        (False, "select slug + 1 from institutions where languages > 1.5"),
        (False, "insert into currencies (currency) select frame.a, frame.b from frame"),
        (False, "select frame.a, merchants.nobody from frame, merchants"),
    ],
)
def test_what_cannot_bind_is_found(expected: bool, sql: str) -> None:
    assert expected == ("services/any:one" not in unbound({"services/any:one": sql}))


def test_a_query_waits_for_the_table_it_reads() -> None:
    reader = "select a from made"
    maker = "-- Says why.\ncreate temp table made as select 1 as a"
    assert {} == unbound({"jobs/a:reader": reader, "jobs/b:maker": maker})
    assert {} == unbound({"jobs/a:reader": reader, "river/plan/b:made": "select 1 as a"})
    other = "create or replace temp table made as select 2 as b"
    assert {} == unbound({"jobs/a:maker": maker, "jobs/b:other": other, "jobs/c:reader": reader})
    assert {"jobs/a:reader"} == unbound({"jobs/a:reader": reader}).keys()
