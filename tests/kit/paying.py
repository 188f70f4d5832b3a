"""A store with a statement that is to be paid, its payment, and what a bank says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from banks import BERLIN, LONDON, NUMBER, entry, returned
from cardoffers_cli.institutions.accounts import AccountOptions
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.payouts.exporting import export_payout
from cardoffers_cli.payouts.importing import import_bank_file
from tables import select
from work import once, with_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

CLOSED = """
insert into statements
select
    {no}, institution_id, '{number}', 'ALDER', 2026, {no}, timestamp '2026-05-01',
    timestamp '2026-06-01', '{currency}', 1, 0, 0, {amount}, 0, 0, {amount}, 0, 0, '', null, null,
    timestamp '2026-06-01 12:00', 1, 'tester', null, null, null, null, null, null, null, null
from institutions
where slug = 'alder'
"""
RUN_BY = {"payer_name": "Offers & Co", "payer_account": LONDON}
"""The settings that say who pays."""

DUE = "2026-06-02"
ON = f"<Dt>{DUE}</Dt>"
PAID = entry(on=ON)
AGAIN = entry(on=ON, ref="B-9")
BACK = returned(on=ON)

AUDITS = (
    "payouts_pay_their_statement",
    "everything_reconciled_has_a_verdict",
    "reconciled_totals_are_kept",
)
"""What `doctor` asks of payouts and of their verdicts."""


def close(made: Job, number: str = NUMBER, amount: str = "1234.50", currency: str = "GBP") -> None:
    """Write a statement as if it had been closed."""
    no = int(number[-6:])
    with made.store() as store:
        select(store, CLOSED.format(no=no, number=number, amount=amount, currency=currency))


@once
def payable(folder: Path) -> Job:
    """Return a store with a statement of GBP 1234.50 that is not paid yet."""
    made = with_catalogue(folder)
    account = AccountOptions(account=BERLIN, holder="Alder plc", address="Berlin, DE")
    set_institution(made, "alder", {}, account=account)
    close(made)
    return made


def exported(made: Job, form: str = "pain.001", number: str = NUMBER, **more: Any) -> bytes:
    """Export the payment of a statement; return the file."""
    to = made.path.with_name("payment")
    export_payout(made, number, form, to, **more)
    return to.read_bytes()


def taken(made: Job, content: bytes, **more: Any) -> Any:
    """Take in a file of a bank."""
    path = made.path.with_name("bank.file")
    path.write_bytes(content)
    return import_bank_file(made, path, **more)
