"""What credited rows cost to reconcile, beside the bare load of their file, both in one run.

    python tests/benchmarks/reconcile.py [--rows 1000000] [--bank 10000] [--repeat 3] [--work …]

A store has so many redemptions, delivered, and as many credited rows, each of one of them: half
name it by its id, half by the reference of its purchase. Beside them stand so many statements
(`--bank`, a hundredth of the rows if not said), each paid once, and as many entries of the bank of
no payout. The baseline is a bare `create table … as from read_csv(path, all_varchar = true)` of a
file of the same rows into a database file. A later run has a hundredth of new rows to look at, and
one more has none. Each figure is the median of the turns, in CPU seconds of all threads, as other
programs do not change those, and in seconds.
"""
# ruff: noqa: T201  a table is what this prints

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import sys
import tempfile
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import duckdb

sys.path.insert(0, str(Path(__file__).parents[1] / "kit"))

from cardoffers_cli.credits.work import reconcile
from crediting import begin
from tables import NOON
from work import new_store, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

GOAL = 3.0  # times the bare load
FIRST, LATER, NOTHING = "first run", "a hundredth new", "nothing new"

REDEEMED = (
    """
    insert into recent_purchases by name
    select
        i as purchase_no, institution_id, 'ref-' || i as transaction_ref, 1 as cardholder_no,
        1 as instrument_no, 20 as amount, 'GBP' as currency, $noon as transacted_at,
        $noon as received_at
    from institutions cross join range(1, $rows + 1) as numbers(i)
    where slug = 'alder'
    """,
    """
    insert into purchase_refs
    select ref_hash(institution_id, transaction_ref), purchase_no from recent_purchases order by 1
    """,
    """
    insert into redemptions by name
    select
        purchase_no as redemption_no, derived_id(transaction_ref) as redemption_id, institution_id,
        purchase_no, cardholder_no, 1 as offer_no, 0 as run_no, received_at as created_at
    from recent_purchases
    """,
    """
    insert into ledger_entries by name
    select
        redemption_no, redemption_id as entry_id, institution_id, cardholder_no, offer_no,
        redemption_id as merchant_id, 'GBP' as currency, 1 as merchant_funded_amount,
        0 as commission_amount, 1 as institution_payout_amount, 'pending' as status, created_at,
        created_at as settles_at
    from redemptions
    """,
    """
    insert into outbox by name
    select
        redemption_no as event_no, 'redemption.completed' as kind, redemption_no, run_no,
        redemption_id as subject_id, institution_id, '' as body, created_at as occurred_at,
        'delivered' as state, 1 as attempts, 0 as failures
    from redemptions
    """,
)
CREDITED = """
insert into credits by name
select
    row_number() over (order by hash(redemption_no)) + $before as credit_no, institution_id,
    'cr-' || redemption_no as credit_ref, redemption_no as ref_hash,
    case when redemption_no % 2 = 0 then redemption_id end as redemption_id,
    'ref-' || purchase_no as transaction_ref, 'credited' as status, 1 as amount,
    'GBP' as currency, created_at as credited_at, created_at as received_at
from redemptions
where (redemption_no % 100 = 0) = $is_late
"""
PAID = (
    """
    insert into institution_accounts
    select institution_id, 'DE89370400440532013000', 'Alder', $noon, null, 'ann', $noon
    from institutions where slug = 'alder'
    """,
    """
    insert into statements by name
    select
        i as statement_no, institution_id, 'ALDER-' || i as number, 'ALDER' as series, 2026 as year,
        i as place, $noon as from_at, $noon as to_at, 'GBP' as currency, 1 as entry_count,
        0 as adjustment_count, 0 as carried_in, 5 as entries, 0 as adjustments, 0 as carried_out,
        5 as payable, 0 as pending_count, 0 as pending, '' as sha256, $noon as closed_at,
        0 as run_no, '' as actor
    from institutions cross join range(1, $entries + 1) as numbers(i)
    where slug = 'alder'
    """,
    """
    insert into payouts by name
    select
        statement_no as payout_no, institution_id, number, 1 as attempt, number as payment_id,
        payable as amount, currency, 'csv' as form, '' as account, '' as sha256,
        cast($noon as date) as due_on, $noon as made_at, $noon as exported_at, 0 as run_no,
        '' as actor
    from statements
    """,
    "insert into bank_files values (1, 'bank.xml', 'xml', '', $noon, 0)",
    """
    insert into bank_entries by name
    select
        derived_id('paid' || i) as entry_id, 1 as bank_file_no, 'entry ' || i as place,
        'booked' as status, 'debit' as direction, 'ALDER-' || i as payment_id, 5 as amount,
        'GBP' as currency, $noon as booked_at, i as entry_no
    from range(1, $entries + 1) as numbers(i)
    union all by name
    select
        derived_id('sale' || i) as entry_id, 1 as bank_file_no, 'sale ' || i as place,
        'booked' as status, 'credit' as direction, 'SALE-' || i as payment_id, 7 as amount,
        'GBP' as currency, $noon as booked_at, $entries + i as entry_no
    from range(1, $entries + 1) as numbers(i)
    """,
)
TO_FILE = """
copy (
    select credit_ref, redemption_id, transaction_ref, amount, status, credited_at from credits
) to '{to}' (header)
"""


@contextmanager
def taking(times: dict[str, list[tuple[float, float]]], what: str) -> Iterator[None]:
    """Note the CPU seconds and the seconds that a block takes."""
    cpu, began = sum(os.times()[:2]), perf_counter()
    yield
    times[what].append((sum(os.times()[:2]) - cpu, perf_counter() - began))


def execute(store: Store, sql: str, **parameters: object) -> None:
    """Run a statement of the benchmark in a store."""
    store.connection.execute(sql, parameters)


def filled(folder: Path, rows: int, entries: int) -> Job:
    """Make a store of so many redemptions, nearly all of them credited, and the file of that.

    So many statements are paid in it, and as many entries of the bank are of none.
    """
    made = replace(new_store(folder), settings=settings(threads=0, memory_limit="1GiB"))
    with made.store() as store:
        begin(store)
        execute(store, REDEEMED[0], noon=NOON, rows=rows)
        for sql in REDEEMED[1:]:
            execute(store, sql)
        execute(store, CREDITED, is_late=False, before=0)
        execute(store, TO_FILE.format(to=folder / "credits.csv"))
        for sql in PAID if entries else ():
            given = {"noon": NOON, "entries": entries}
            execute(store, sql, **{name: each for name, each in given.items() if f"${name}" in sql})
    return replace(made, now=NOON + timedelta(days=1))


def bare_load(folder: Path) -> None:
    """Load the file into a new database file, and close it."""
    with duckdb.connect(folder / "bare.duckdb") as engine:
        engine.execute(
            "create table bare as from read_csv($1, all_varchar = true)",
            [str(folder / "credits.csv")],
        )


def turn(made: Job, times: dict[str, list[tuple[float, float]]], rows: int, entries: int) -> None:
    """Take every measure once, on a copy of the store."""
    folder = made.path.parent
    (folder / "bare.duckdb").unlink(missing_ok=True)
    with taking(times, "bare load"):
        bare_load(folder)
    copy = replace(made, path=folder / "copy.duckdb")
    shutil.rmtree(f"{copy.path}.d", ignore_errors=True)
    shutil.copyfile(made.path, copy.path)
    with taking(times, FIRST):
        reconcile(copy)
    with copy.store() as store:
        execute(store, CREDITED, is_late=True, before=rows)
    for what in (LATER, NOTHING):
        with taking(times, what):
            told = reconcile(copy)
    counted = (entries, 2 * entries, 2 * entries) if entries else ()
    if (rows, rows, rows, *counted) != tuple(told.control.values()) or told.open:
        raise SystemExit(f"Not all was found to be credited: {dict(told.control)}")


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--bank", type=int)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--work", type=Path)
    asked = parser.parse_args()
    entries = asked.rows // 100 if asked.bank is None else asked.bank
    times: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory(dir=asked.work) as folder:
        made = filled(Path(folder), asked.rows, entries)
        for _ in range(asked.repeat):
            turn(made, times, asked.rows, entries)
    medians = {
        what: [statistics.median(each) for each in zip(*taken, strict=True)]
        for what, taken in times.items()
    }
    bare = medians["bare load"]
    print(f"{asked.rows:,} redemptions, as many credited rows; {entries:,} statements\n")
    print(f"{'':20}{'CPU s':>8}{'seconds':>9}{'x CPU':>8}{'x s':>8}")
    for what, (cpu, seconds) in medians.items():
        print(f"{what:20}{cpu:8.2f}{seconds:9.2f}{cpu / bare[0]:8.2f}{seconds / bare[1]:8.2f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"\ngoal of the first run: at most {GOAL} times the bare load; most memory {peak:,} MiB")


if __name__ == "__main__":
    main()
