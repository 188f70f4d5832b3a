"""Temporary tables as values: a statement reads those that it declares and is handed, and no other.

A block says in its header which temporary tables its statement meets, and by which columns:

    -- reads: staged(line, payer), payer_numbers(payer, cardholder_no)
    -- changes: staged_findings(line, code)
    -- makes: staged_duplicates(line, transaction_ref)

When it runs, every name is bound to the table of a handle, one that no other has. Where rows are
few a table need not be made: it stands for its SELECT, or for rows at hand (an Arrow table), as a
common table expression of the statement that reads it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.statements import statement, statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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
_MAKING = re.compile(r"create\s+temp\s+(?:table|view)\s+\w+\s+as\s+")
_MOST_FRAMES = 10
_MOST_TEXTS = 1_000
_WITH = re.compile(r"with\s")


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
    """A statement with the names of its tables, those that it reads, and the one that it makes."""

    sql: str
    made: Table | None = None
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Runnable:
    """A statement as it runs: the rows at hand that it reads are `frame_1`, `frame_2`, ..."""

    sql: str
    parameters: Mapping[str, Any]
    frames: tuple[Any, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Definition:
    """What a table that is not made stands for: a SELECT, which reads `frame` if rows are there."""

    table: Table
    select: str
    reads: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    frame: Any = None


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
    outputs: dict[str, tuple[str, ...]] = {}
    for verb, listed in _DECLARES.findall(comment):
        for name, columns in _TABLE.findall(listed):
            (outputs if verb == "makes" else handed)[name] = tuple(
                columns.replace(",", " ").split()
            )
    makes = next(iter(outputs), None)
    return Declared(handed=handed, makes=makes, columns=outputs[makes] if makes else ())


class TempTables:
    """The temporary tables of one connection: it names them, and puts their names into SQL."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self._defined: dict[str, _Definition] = {}
        self._rows: dict[str, list[Any]] = {}

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
        reads = tuple(identifiers.values())
        sql = _code(statement(address))
        output = None
        if says.makes:
            output = self._name(says.makes, says.columns, "view" if _VIEW.search(sql) else "table")
            identifiers[output.name] = output.identifier
        sql = _renamed(sql, identifiers) if identifiers else sql
        return Bound(sql=sql, made=output, reads=reads)

    def runnable(self, bound: Bound, parameters: Mapping[str, Any]) -> Runnable:
        """Return a statement as it runs, together with all that the tables it reads stand for."""
        needed: dict[str, _Definition] = {}
        for identifier in bound.reads:
            self._gather(identifier, needed)
        if not needed:
            return Runnable(sql=bound.sql, parameters=parameters)
        frames, parts, values = [], [], dict(parameters)
        for identifier, definition in needed.items():
            select = definition.select
            if definition.frame is not None:
                frames.append(definition.frame)
                select = _renamed(select, {"frame": f"frame_{len(frames)}"})
            parts.append(f"{identifier} as ({select})")
            for name, value in definition.parameters.items():
                if values.setdefault(name, value) != value:
                    raise LookupError(f"{identifier} was defined with another ${name}.")
        sql = _after(", ".join(parts), bound.sql)
        return Runnable(sql=sql, parameters=values, frames=tuple(frames))

    def defines(
        self, bound: Bound, parameters: Mapping[str, Any] | None = None, frame: Any = None
    ) -> Table:
        """Let the table that a statement makes stand for its SELECT, or what that makes of rows.

        Raises `LookupError` for a statement that makes no table.
        """
        if bound.made is None:
            raise LookupError("A statement that declares no table cannot define one.")
        self._kinds[bound.made.identifier] = ""
        self._defined[bound.made.identifier] = _Definition(
            table=bound.made,
            select=_select(bound.sql),
            reads=bound.reads,
            parameters=parameters or {},
            frame=frame,
        )
        return bound.made

    def adding(self, bound: Bound, table: Table) -> str:
        """Return a statement that adds to a table what a statement that made it makes."""
        if bound.made:
            self.forget([bound.made])
        return f"insert into {table.identifier} {_select(bound.sql)}"

    def are_few(self, tables: Iterable[Table]) -> bool:
        """Whether there are tables and none of them is made: then what they make need not be."""
        identifiers = {table.identifier for table in tables}
        return bool(identifiers) and identifiers <= self._defined.keys()

    def is_view_of_few(self, bound: Bound) -> bool:
        """Whether a statement makes a view of what is not made: it can hold no rows of anybody."""
        is_view = bound.made is not None and self._kinds.get(bound.made.identifier) == "view"
        return is_view and not self._defined.keys().isdisjoint(bound.reads)

    def is_made(self, table: Table) -> bool:
        """Whether a table is in the connection."""
        return table.identifier not in self._defined

    def height(self, table: Table) -> int | None:
        """Return how many rows a table stands for; None where they are not at hand."""
        frame = self.frame(table)
        return None if frame is None else int(frame.num_rows)

    def frame(self, table: Table) -> Any:
        """Return the Arrow table that a table stands for; None where its rows are not at hand."""
        definition = self._defined.get(table.identifier)
        return definition.frame if definition else None

    def at_hand(self, table: Table) -> Sequence[Mapping[str, Any]] | None:
        """Return the rows that a table stands for, to be read; None where they are not at hand.

        A column that its statement computes is not at hand.
        """
        if (height := self.height(table)) is None:
            return None
        if table.identifier not in self._rows:
            frame = self._defined[table.identifier].frame
            columns = [name for name in table.columns if name in frame.column_names]
            self._rows[table.identifier] = frame.select(columns).to_pylist() if height else []
        return self._rows[table.identifier]

    def reading(self, table: Table) -> Runnable:
        """Return a statement that reads all of a table."""
        sql = f"select {', '.join(table.columns)} from {table.identifier}"  # noqa: S608 - ours
        return self.runnable(Bound(sql=sql, reads=(table.identifier,)), {})

    def readers(self, tables: Iterable[Table]) -> list[Table]:
        """Return the tables that are defined by one of these, and not one of these themselves."""
        identifiers = {table.identifier for table in tables}
        return [
            definition.table
            for identifier, definition in self._defined.items()
            if identifier not in identifiers and not identifiers.isdisjoint(definition.reads)
        ]

    def compute(self, connection: Any, table: Table) -> int:
        """Let a table that stood for its SELECT stand for the rows of it; return how many."""
        rows = run(connection, self.reading(table), for_arrow=True).to_arrow_table()
        self._defined[table.identifier] = _Definition(
            table=table, select="select * from frame", frame=rows
        )
        return int(rows.num_rows)

    def _gather(self, identifier: str, needed: dict[str, _Definition]) -> None:
        """Add what a table stands for to what is needed, behind what that reads."""
        definition = self._defined.get(identifier)
        if definition is None or identifier in needed:
            return
        for source in definition.reads:
            self._gather(source, needed)
        needed[identifier] = definition

    def each_select(
        self, plan: str, tables: Iterable[Table], act: Callable[[Table, Bound], None]
    ) -> Mapping[str, Table]:
        """Let `act` make a table of every SELECT of `plan/<plan>`, and return them by name.

        Raises `LookupError` where the plan reads what it was not handed, or is handed what it does
        not read.
        """
        results: dict[str, Table] = {}
        at_hand = {table.name: table for table in tables}
        unread = set(at_hand)
        for query in statements(f"river/plan/{plan}"):
            address = f"river/plan/{plan}:{query}"
            bound = self.bind_any(address, {**at_hand, **results})
            if bound.made is None:
                raise LookupError(f"{address} declares no columns that it makes.")
            unread -= declared(address).handed.keys()
            act(bound.made, bound)
            results[query] = bound.made
        if unread:
            raise LookupError(
                f"river/plan/{plan} is handed {sorted(unread)}, which it does not declare."
            )
        return results

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
            if self._kinds.get(name)
        )

    def forget(self, tables: Iterable[Table] | None = None) -> None:
        """Bind these tables, or all that were named, no more."""
        for name in [*self._kinds] if tables is None else [table.identifier for table in tables]:
            self._kinds.pop(name, None)
            self._defined.pop(name, None)
            self._rows.pop(name, None)

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


def run(connection: Any, statement: Runnable, *, for_arrow: bool = False) -> Any:
    """Run a statement on a connection; return its result, or a relation that gives Arrow tables.

    The engine finds rows at hand as the variables of its caller that the statement names.
    """
    frames = (*statement.frames, *[None] * (_MOST_FRAMES - len(statement.frames)))
    frame_1, frame_2, frame_3, frame_4, frame_5, *others = frames  # noqa: RUF059 - as said
    frame_6, frame_7, frame_8, frame_9, frame_10 = others  # noqa: RUF059 - the same
    if for_arrow:  # what `execute` returns gives no frame; `sql` takes no empty set of parameters
        return connection.sql(statement.sql, params=statement.parameters or None)
    return connection.execute(statement.sql, statement.parameters)


def _begin(sql: str) -> int:
    """Return where the code of a statement begins, behind its header."""
    header = _HEADER.match(sql)
    start = header.end() if header else 0
    return start + len(sql[start:]) - len(sql[start:].lstrip())


def _select(sql: str) -> str:
    """Return the SELECT that a statement makes a table of."""
    code = sql[_begin(sql) :]
    making = _MAKING.match(code)
    return (code[making.end() :] if making else code).rstrip().removesuffix(";")


def _after(parts: str, sql: str) -> str:
    """Put common table expressions before a statement."""
    code = sql[_begin(sql) :]
    if making := _MAKING.match(code):
        return f"{making[0]}{_after(parts, code[making.end() :])}"
    if own := _WITH.match(code):
        return f"with {parts}, {code[own.end() :]}"
    return f"with {parts} {code}"


def _renamed(sql: str, identifiers: Mapping[str, str]) -> str:
    """Put identifiers in the place of declared names, wherever a table is named.

    Where the name is also what columns are qualified by, it stays as the alias.
    """
    places, tail = _places(sql)
    return (
        "".join(
            f"{before}{verb} {identifiers.get(name, name)}{alias if name in identifiers else own}"
            for before, verb, name, own, alias in places
        )
        + tail
    )


@lru_cache(maxsize=_MOST_TEXTS)
def _places(sql: str) -> tuple[list[tuple[str, ...]], str]:
    """Return the places where a statement names tables, and what comes behind the last.

    Of each place what comes before it, the verb, the name, its own alias, and that of another name.
    """
    places: list[tuple[str, ...]] = []
    at = 0
    for match in _PLACES.finditer(sql):
        if name := match["name"]:
            own = match["alias"] or ""
            alias = own or (f" as {name}" if match["verb"] in _TAKES_ALIAS else "")
            places.append((sql[at : match.start()], match["verb"], name, own, alias))
            at = match.end()
    return places, sql[at:]


@cache
def _code(sql: str) -> str:
    """Return a statement without its header."""
    return sql[_begin(sql) :]
