"""A store that paid, and was reconciled, before banks had verdicts: it answers the same then."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import duckdb

from banks import BERLIN, NUMBER, camt, entry
from cardoffers_cli.jobs.catalogue.accounts import GivenAccount
from cardoffers_cli.jobs.catalogue.institutions import set_institution
from cardoffers_cli.jobs.payouts.bank import import_bank_file
from cardoffers_cli.jobs.payouts.exporting import export_payout
from cardoffers_cli.jobs.payouts.reading import bank_entries, payouts
from cardoffers_cli.jobs.reconciliation.findings import finding_rows
from cardoffers_cli.jobs.reconciliation.reconcile import reconcile
from cardoffers_cli.jobs.statements.reading import show_statement, statement_rows
from cardoffers_cli.jobs.storage.stores import migrate
from cardoffers_cli.store.audits import offending
from cardoffers_cli.store.migrations import apply, migrations
from cardoffers_cli.store.opening import connected
from crediting import begin, redeem, row_of, send
from paying import AUDITS, BACK, ON, PAID, RUN_BY, close
from sizes import slow
from tables import NOON, select
from work import job, new_store, settings

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.jobs.context.job import Job

BEFORE = 26
"""The schema that had payouts and entries of banks, and no verdicts of them."""

SECOND = "ALDER-2026-000002"
RENT = entry("5.00", named="RENT", ref="B-7", on=ON)

COLUMNS = """
select table_name, list(column_name order by column_index)
from duckdb_columns()
where not internal
    and database_name = '{}'
    and table_name in (select table_name from duckdb_tables())
group by all
"""


def paid(folder: Path) -> Job:
    """Return a store that was reconciled once, then paid two statements, of which one came back."""
    made = replace(new_store(folder), settings=settings(**RUN_BY))
    redeemed = {"institution": "alder", "owed": 5, "event": None, "reversed_at": None, "at": NOON}
    with made.store() as store:
        begin(store)
        redeem(store, [redeemed] * 3)
        rows = [row_of("c5.00@7", 1, NOON), row_of("c4.00@7", 2, NOON)]
        send(store, [*rows, row_of("c1.25@7", None, NOON, institution="alder")], ["alder"] * 3)
    later = replace(made, now=NOON + timedelta(days=30))
    reconcile(later)
    set_institution(later, "alder", {}, account=GivenAccount(account=BERLIN, holder="Alder"))
    for number, amount in ((NUMBER, "1234.50"), (SECOND, "10")):
        close(made, number, amount)
        export_payout(later, number, "csv", folder / number)
    file = folder / "bank.xml"
    file.write_bytes(camt(PAID, BACK, entry("10.00", named=SECOND, ref="B-3"), RENT))
    import_bank_file(later, file)
    return later


def of_before(made: Job, folder: Path) -> Job:
    """Return a store of the schema before with the rows of another, as far as it had columns."""
    older = job(folder / "older.duckdb")
    later = [each.version for each in migrations() if each.version > BEFORE]
    with connected(older.path, older.settings) as store, store.transaction():
        apply(store, NOON, have=later)
    with duckdb.connect(str(older.path)) as engine:
        engine.execute(f"attach '{made.path}' as newer (read_only)")
        of_newer = dict(engine.execute(COLUMNS.format("newer")).fetchall())
        of_older = dict(engine.execute(COLUMNS.format("older")).fetchall())
        for name in of_older.keys() & of_newer.keys() - {"migrations"}:
            both = ", ".join(each for each in of_older[name] if each in of_newer[name])
            engine.execute(f"delete from {name}")  # noqa: S608 - names of tables
            engine.execute(f"insert into {name} ({both}) select {both} from newer.{name}")  # noqa: S608
    return replace(older, now=made.now, settings=made.settings)


def answers(made: Job) -> dict[str, Any]:
    """Return what `reconcile list`, `payout list`, `statement list` and `bank list` say."""
    return {
        "reconcile list": finding_rows(made, limit=99),
        "payout list": payouts(made, None),
        "statement list": statement_rows(made, None, limit=99),
        "statement show": show_statement(made, NUMBER),
        "bank list": sorted(map(repr, bank_entries(made, None))),
    }


@slow
def test_a_store_that_paid_before_answers_the_same(tmp_path: Path) -> None:
    """What was paid has its verdicts and findings then, from the next run on."""
    made = paid(tmp_path)
    expected = answers(made)
    older = of_before(made, tmp_path)
    assert BEFORE + 1 == int(migrate(older)["applied"][0].split()[0])
    assert expected == answers(older)
    assert {NUMBER: "returned", SECOND: "paid"} == {
        each.number: each.state for each in expected["payout list"]
    }
    assert (3, 2) == (expected["reconcile list"][1], expected["statement list"][1])
    with older.store() as store:
        numbers = select(store, "select entry_no from bank_entries order by 1")
        assert [(1,), (2,), (3,), (4,)] == numbers
        assert [0, 0, 0] == [offending(store, audit)[0] for audit in AUDITS]
    told, now = reconcile(older), reconcile(made)
    assert (now.verdicts, now.bank, now.control) == (told.verdicts, told.bank, told.control)
    assert {"paid", "returned", "bank_unknown"} == {each.code for each in told.bank or ()}
    assert 5 == told.open
    with older.store() as store:
        assert [0, 0, 0] == [offending(store, audit)[0] for audit in AUDITS]
