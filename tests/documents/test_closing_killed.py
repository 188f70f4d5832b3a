"""Closing and paying, killed at any moment: numbers without a gap, whole documents, one payment."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from banks import BERLIN, NUMBER, pain002
from cardoffers_cli.documents.kinds import INVOICE, STATEMENT
from cardoffers_cli.documents.verifying import verify
from cardoffers_cli.institutions.accounts import AccountOptions
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.words.errors import StoreDamaged
from cardoffers_cli.river.settlements import settle_due
from cardoffers_cli.storage.doctor import audits, offending
from cardoffers_cli.storage.recover import recover
from killing import killed_at_any_moment
from paying import RUN_BY, exported, payable, taken
from settled import redeem_in
from sizes import FULL, one_in, slow, tries
from tables import read
from work import found, job, new_store, once, settings, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

KILLS = 200 if FULL else tries(1, 5)

BEGIN = """
from datetime import datetime
from cardoffers_cli.payouts.exporting import export_payout
from cardoffers_cli.documents import closing
from paying import RUN_BY
from work import job
def of(folder):
    return job(folder / "store.duckdb", now=datetime(2026, 12, 31), **RUN_BY)
"""
STATEMENTS = f"""{BEGIN}
def work(folder):
    for month in (6, 7, 8):
        closing.close_statement(of(folder), "alder", f"2026-0{{month}}")
"""
INVOICES = f"""{BEGIN}
def work(folder):
    for month in (6, 7, 8):
        closing.close_invoices(of(folder), f"2026-0{{month}}")
"""
PAYOUTS = f"""{BEGIN}
def work(folder):
    export_payout(of(folder), "{NUMBER}", "pain.001", folder / "payment")
"""
PAYOUTS_AGAIN = f"""{BEGIN}
def work(folder):
    export_payout(of(folder), "{NUMBER}", "pain.001", folder / "payment", again="closed")
"""


@once
def earned(folder: Path) -> Job:
    """Return a store with entries of three months that are settled and on no document yet."""
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery\nbutcher",
        offers="offer merchant cashback\nO1 bakery 1.00\nO3 butcher 3.00",
        links="cardholder offer\nann O1\nann O3",
    )
    for month in ("06", "07", "08"):
        with made.store() as store:
            redeem_in(store, datetime.fromisoformat(f"2026-{month}-02"), read("offer\nO1\nO1\nO3"))
        settle_due(replace(made, now=datetime.fromisoformat(f"2026-{month}-10")))
    return made


def to_pay(folder: Path) -> Job:
    """Return a store with a statement that was not paid yet."""
    made = replace(payable(folder), settings=settings(**RUN_BY))
    account = AccountOptions(account=BERLIN, holder="Alder plc", address="Berlin, DE")
    set_institution(made, "alder", {}, account=account)
    return made


def to_pay_again(folder: Path) -> Job:
    """Return a store with a statement whose payment was rejected."""
    made = to_pay(folder)
    exported(made)
    taken(made, pain002((NUMBER, "RJCT", "AC04")))
    return made


DOCUMENTS = {
    "statement close": (earned, STATEMENTS, "statements", "number", STATEMENT),
    "invoice close": (earned, INVOICES, "invoices", "number", INVOICE),
    "payout export": (to_pay, PAYOUTS, "payouts", "payment_id", None),
    "payout export --again": (to_pay_again, PAYOUTS_AGAIN, "payouts", "payment_id", None),
}


@slow
@pytest.mark.parametrize("command", DOCUMENTS)
@one_in(2)
def test_killed_at_any_moment_it_is_whole_and_done_again_the_same(
    tmp_path: Path, command: str
) -> None:
    """rules.md#statements, rules.md#payouts: 200 kills of each at full size, one each time."""
    begin, work, table, number, kind = DOCUMENTS[command]
    template = tmp_path / "template"
    template.mkdir()
    begin(template)
    names: dict[str, Any] = {}
    exec(work, names)  # noqa: S102 - of ours
    query = f"select {number}, sha256 from {table} order by {number}"  # noqa: S608 - of ours

    def checked(folder: Path) -> list[Any]:
        made = job(folder / "store.duckdb")
        with made.store(read_only=True) as store:
            of_table = [name for name in audits() if name.startswith(f"{table}_")]
            assert dict.fromkeys(of_table, 0) == {
                name: offending(store, name)[0] for name in of_table
            }
        assert kind is None or all(each.ok for each in verify(made, kind))
        return found(made, query)

    whole, left = killed_at_any_moment(template, tmp_path / "killed", work, KILLS, len(command))
    expected = checked(whole)
    assert KILLS == len(left)
    for folder in left:
        open_again(folder)
        before = checked(folder)
        assert expected[: len(before)] == before, "what is there stays so, without a gap"
        names["work"](folder)
        assert (expected, payment(whole)) == (checked(folder), payment(folder))


def open_again(folder: Path) -> None:
    """Do what the engine's refusal says of a store with a block that was written by half.

    A kill can break off a write between two pages, as a loss of power does.
    """
    made = job(folder / "store.duckdb")
    with suppress(StoreDamaged), made.store(read_only=True):
        return
    recovered = recover(made, agree=lambda _: None)
    assert (1, 0) == (recovered.blocks_mended, recovered.lost)


def payment(folder: Path) -> bytes | None:
    file = folder / "payment"
    return file.read_bytes() if file.exists() else None
