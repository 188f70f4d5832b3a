"""No SQL file reads a temporary table that it was not handed, and what it declares is true."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest

from cardoffers_cli.kernel.store import binding
from cardoffers_cli.kernel.store.binding import Table, TempTables, run
from flow import Block, blocks, by_name_alone, product
from sizes import slow
from test_sql_binds import made

if TYPE_CHECKING:
    from collections.abc import Iterator

ONE_NAME = re.compile(r"\b(from|join|into|update)\s+{}\b(?!\.)(?:\s+as\s+(\w+))?")


def test_no_file_reads_a_temporary_table_by_name_alone() -> None:
    found = by_name_alone(product())
    assert not found, "\n".join(["", *map(str, found)])


MAKER = "-- name: made\n-- makes: kept(line)\ncreate temp table kept as select 1 as line;\n"


@pytest.mark.parametrize(
    ("expected", "reader"),
    [
        (["kept"], "select line from kept"),
        (["kept"], "select one.line from other inner join kept as one on one.line = other.line"),
        (["kept"], "insert into kept select 1"),
        (["kept"], "update kept set line = 2"),
        (["kept"], "delete from kept"),
        (["kept"], "drop table kept"),
        (["kept"], "-- It reads kept(line), as the comment says.\nselect line from kept"),
        ([], "-- reads: kept(line)\nselect line from kept"),
        ([], "-- reads: other(a, b),\n--     kept(line)\nselect line from kept"),
        ([], "-- changes: kept(line)\ninsert into kept select 1"),
        ([], "with kept as (select 1 as line) select line from kept"),
        ([], "select 'from kept' as line -- from kept"),
        ([], "select kept.line from other as kept"),
    ],
)
def test_a_table_that_was_not_handed_over_is_found(expected: list[str], reader: str) -> None:
    listed = blocks("river/a", MAKER) + blocks("river/b", f"-- name: reads\n{reader};")
    assert expected == [reading.table for reading in by_name_alone(listed)]


def test_a_plan_makes_a_table_of_every_query() -> None:
    listed = blocks("river/plan/a", "-- name: kept\nselect 1 as line")
    listed += blocks("river/plan/b", "-- name: reads\nselect line from kept")
    assert ["kept: made by river/plan/a; read by river/plan/b"] == [
        *map(str, by_name_alone(listed))
    ]


def test_tables_of_the_schema_are_everybodys() -> None:
    listed = blocks("kernel/store/schema", "-- name: a\ncreate view kept as select 1 as line")
    listed += blocks("store/a", "-- name: b\ncreate or replace temp view kept as select 2 as line")
    assert [] == by_name_alone([*listed, *blocks("jobs/b", "-- name: c\nselect line from kept")])


@slow
def test_what_is_made_has_the_columns_that_are_declared() -> None:
    columns = made()
    declared = {
        f"{each.stem}:{each.name}": list(each.declares[each.makes])
        for each in product()
        if each.makes in each.declares
    }
    assert declared == {address: columns[address] for address in declared}
    handed = ("river/",)
    assert [] == [each for each in columns if each.startswith(handed) and each not in declared]


def untrue(block: Block) -> list[str]:
    """Return what a block declares and does not name, or names and does not declare."""
    found = []
    for table, columns in block.declares.items():
        if table == block.makes:
            continue
        places = re.findall(ONE_NAME.pattern.format(table), block.code)
        if not places:
            found.append(f"{table} is declared and not read")
        aliases = {alias or table for _, alias in places}
        named = {
            column
            for alias in aliases
            for column in re.findall(rf"(?<!\.)\b{alias}\.(\w+)", block.code)
        }
        found += [f"{table}.{column} is not declared" for column in sorted(named - {*columns})]
        if "into" not in {verb for verb, _ in places}:
            words = set(re.findall(r"\w+(?:-\w+)*", block.code))
            found += [
                f"{table}.{column} is not read" for column in columns if column.lower() not in words
            ]
    return found


def test_what_is_declared_is_what_is_read() -> None:
    problems = [f"{each.stem}:{each.name}: {it}" for each in product() for it in untrue(each)]
    assert not problems, "\n".join(["", *problems])


@pytest.mark.parametrize(
    ("expected", "reader"),
    [
        (["kept is declared and not read"], "-- reads: kept()\nselect 1"),
        (["kept.a is not declared"], "-- reads: kept(b)\nselect kept.a, kept.b from kept"),
        (["kept.a is not declared"], "-- reads: kept()\nselect k.a from other join kept as k on 1"),
        (["kept.b is not read"], "-- reads: kept(a, b)\nselect kept.a from kept"),
        ([], "-- reads: kept(a, b)\nselect a from kept where kept.b"),
    ],
)
def test_an_untrue_header_is_found(expected: list[str], reader: str) -> None:
    (block,) = blocks("river/b", f"-- name: reads\n{reader};")
    assert expected == untrue(block)


# The ledger


LEDGER = re.compile(
    r"\b(?:insert\s+into|update|delete\s+from)\s+"
    r"(redemptions|ledger_entries|ledger_moves|adjustments)\b"
)
WRITES_LEDGER = {
    "river/redeem",
    "river/settle",
    "kernel/store/card_numbers",
    "privacy/erasures",
    "river/redemptions",
    "river/withdrawals",
}
"""The files whose statements write what is owed: no other can, be it in a dry run."""


def writers(listed: list[Block]) -> set[str]:
    return {each.stem for each in listed if LEDGER.search(each.code)}


def test_only_these_files_write_into_the_ledger() -> None:
    assert WRITES_LEDGER == writers(product())


def test_a_read_that_writes_into_the_ledger_is_found() -> None:
    text = "-- name: give_back\n-- Gives it back.\nupdate ledger_entries\nset status = 'reversed';"
    assert {"answers/explanations"} == writers(blocks("answers/explanations", text))


# Binding


STATEMENTS = {
    "any/made": MAKER.partition("\n")[2],
    "any/read": "-- reads: kept(line)\nselect kept.line, 'from kept' as kept from kept;",
    "any/alias": "-- reads: kept(line)\nselect one.line from kept as one;",
    "any/compare": "-- reads: kept(line)\nselect 1 from kept where 1 is distinct from kept.line;",
    "any/write": "-- changes: kept(line)\ninsert into kept (line)\nselect 1;",
    "any/delete": "-- changes: kept(line)\ndelete from kept where kept.line = 1;",
    "any/none": "select line from kept;",
    "any/rows": "-- makes: kept(line)\ncreate temp table kept as select frame.line from frame;",
    "any/above": "-- makes: kept(line)\n"
    "create temp table kept as select cast($most as int) as line;",
    "any/next": "-- reads: kept(line)\n-- makes: later(line)\n"
    "create temp table later as select kept.line + 1 as line from kept;",
    "any/sum": "-- reads: later(line), kept(line)\n"
    "with two as (select later.line from later union all select kept.line from kept)\n"
    "select sum(two.line) as line from two;",
    "any/into": "-- reads: kept(line)\ninsert into lasting (line) "
    "with top as (select max(kept.line) as line from kept) select top.line from top;",
}


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> TempTables:
    monkeypatch.setattr(binding, "statement", STATEMENTS.__getitem__)
    binding.declared.cache_clear()
    return TempTables()


@pytest.mark.parametrize(
    ("expected", "name"),
    [
        ("select {}.line, 'from kept' as kept from {} as kept;", "any/read"),
        ("select one.line from {} as one;", "any/alias"),
        ("select 1 from {} as kept where 1 is distinct from kept.line;", "any/compare"),
        ("insert into {} (line)\nselect 1;", "any/write"),
        ("delete from {} as kept where kept.line = 1;", "any/delete"),
    ],
)
def test_a_name_is_bound_where_a_table_is_named(
    tables: TempTables, expected: str, name: str
) -> None:
    kept = tables.bind("any/made", []).made
    assert kept is not None
    sql = tables.bind(name, [kept]).sql
    assert (
        expected.format("kept" if ".line, " in expected else kept.identifier, kept.identifier)
        == sql
    )


def test_every_table_made_has_a_name_of_its_own(tables: TempTables) -> None:
    one, two = (tables.bind("any/made", []) for _ in range(2))
    assert one.made != two.made
    assert {one.made.columns, two.made.columns} == {("line",)} if one.made and two.made else False
    assert f"create temp table {one.made and one.made.identifier} as" in one.sql


def test_only_tables_of_this_connection_and_this_run_are_bound(tables: TempTables) -> None:
    kept = tables.bind("any/made", []).made
    assert kept is not None
    for handed, problem in (
        ([], "was not handed it"),
        ([TempTables().name("kept", ["line"])], "of another store"),
        ([Table(name="kept", identifier="kept; drop table runs", columns=("line",))], "run"),
        ([tables.name("kept", ["column"])], "which has no such"),
        ([kept, kept.called("more")], "which it does not declare"),
    ):
        with pytest.raises(LookupError, match=problem):
            tables.bind("any/read", handed)
    with pytest.raises(LookupError, match="which it does not declare"):
        tables.bind("any/none", [kept])
    tables.forget()
    with pytest.raises(LookupError, match="a run that is over"):
        tables.bind("any/read", [kept])


# Few rows


@pytest.fixture
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("create table lasting (line int)")
        yield connection


def asked(
    engine: duckdb.DuckDBPyConnection,
    tables: TempTables,
    address: str,
    *handed: Table,
    **given: int,
) -> list[tuple[int]]:
    """Return what a statement gives that reads these tables."""
    rows: list[tuple[int]] = run(
        engine, tables.runnable(tables.bind(address, handed), given)
    ).fetchall()
    return rows


def test_a_defined_table_is_computed_by_whoever_reads_it(
    engine: duckdb.DuckDBPyConnection, tables: TempTables
) -> None:
    kept = tables.defines(tables.bind("any/rows", ()), frame=pa.table({"line": [1, 2]}))
    then = tables.defines(tables.bind("any/next", [kept]))
    assert [(8,)] == asked(engine, tables, "any/sum", then, kept)
    asked(engine, tables, "any/into", kept)
    assert [(2,)] == engine.execute("from lasting").fetchall()
    assert (2, None, "") == (tables.height(kept), tables.height(then), tables.dropping())


def test_a_made_table_is_read_beside_defined_ones(
    engine: duckdb.DuckDBPyConnection, tables: TempTables
) -> None:
    bound = tables.bind("any/above", ())
    kept = tables.defines(bound, {"most": 5})
    assert not tables.are_few([])
    assert tables.are_few([kept])
    then = tables.bind("any/next", [kept])
    run(engine, tables.runnable(then, {}))
    assert then.made is not None
    assert not tables.are_few([kept, then.made])
    assert [(11,)] == asked(engine, tables, "any/sum", then.made, kept)


def test_one_parameter_has_one_value(tables: TempTables) -> None:
    kept = tables.defines(tables.bind("any/above", ()), {"most": 5})
    with pytest.raises(LookupError, match="with another"):
        tables.runnable(tables.bind("any/read", [kept]), {"most": 6})


def test_a_defined_table_is_not_read_after_its_run(tables: TempTables) -> None:
    kept = tables.defines(tables.bind("any/above", ()), {"most": 5})
    tables.forget()
    with pytest.raises(LookupError, match="over"):
        tables.bind("any/read", [kept])


def test_what_goes_is_what_others_are_defined_by(tables: TempTables) -> None:
    kept = tables.defines(tables.bind("any/above", ()), {"most": 5})
    then = tables.defines(tables.bind("any/next", [kept]))
    assert [then] == tables.readers([kept])
    assert [] == tables.readers([kept, then])
