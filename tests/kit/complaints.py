"""One rich scene for whoever answers: purchases that did not redeem, each for another reason.

Everything happens by the real jobs, so what was decided is what the product decided. The offers are
of a bakery and of a cinema with a hostile name; brook, which shares the budget of A, is the other
institution, of which nobody at alder may hear.
"""

from __future__ import annotations

from contextlib import chdir
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.redemptions import reverse
from cardoffers_cli.river.settlements import settle_due
from tables import NOON, select
from work import file_of, found, job, new_store, once, taken, tell

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job

HOSTILE = "=cinema\x1b[31m[bold]<b>|\u202e"
ANN = "ann-9f8e7d6c5b4a39281706f5e4d3c2b1a0"

CATALOGUE = {
    "institutions": "institution hold_days\nalder 2\nbrook 0",
    "merchants": f"merchant\nbakery\n{HOSTILE}\nkiosk",
    "identifiers": f"identifier merchant\nM1 bakery\nM2 {HOSTILE}\nM3 kiosk",
    "offers": f"""
        offer  merchant    cashback  rate  budget  uses  min_spend  starts_at  expires_at
        A      bakery      3.00      0.1   9.90    -     0          -          -
        B      bakery      2.00      0     -       1     0          -          -
        C      {HOSTILE}   5.00      0     -       -     20.00      11:00:00   14:00:00
        D      {HOSTILE}   1.00      0     -       -     0          -          -
        K      kiosk       1.00      0     -       -     0          -          -
        """,
    "texts": "offer language title\nA en Bread!\nA es ¡Pan!\nC en =Film\x1b[0m",
    "programs": "institution offer\nalder A\nalder B\nalder C\nbrook A\nbrook K",
    "links": f"""
        institution  cardholder  offer  added_at
        alder        {ANN}       A      2026-05-20
        alder        {ANN}       B      2026-05-20
        alder        ben         C      10:00:00
        alder        cat         A      14:00:00
        alder        eve         A      2026-05-20
        brook        dan         A      2026-05-20
        """,
}
"""What is on offer, and who added what."""

PURCHASES = f"""
ref      cardholder  identifier  amount  at
won      {ANN}       M1          20.00   2026-06-01T08:00:00Z
second   {ANN}       M1          21.00   2026-06-01T09:00:00Z
third    {ANN}       M1          22.00   2026-06-01T10:00:00Z
spent    eve         M1          23.00   2026-06-01T11:00:00Z
small    ben         M2          12.50   2026-06-01T12:00:00Z
early    ben         M2          30.00   2026-06-01T10:59:59Z
ended    ben         M2          30.00   2026-06-01T14:00:00Z
late     cat         M1          30.00   2026-06-01T12:00:00Z
stranger dot         M1          30.00   2026-06-01T12:00:00Z
nothing  dot         M3          30.00   2026-06-01T12:00:00Z
unknown  ben         M9          30.00   2026-06-01T12:00:00Z
nobody   ben         -           30.00   2026-06-01T12:00:00Z
free     {ANN}       M1          0.00    2026-06-01T12:00:00Z
won      {ANN}       M1          20.00   2026-06-01T08:00:00Z
second   {ANN}       M1          99.00   2026-06-01T09:00:00Z
"""
"""What alder sends, one purchase for every reason; the last three are no purchases."""

LATER = """
ref      cardholder  identifier  at
waits    ann         M1          2026-06-02T12:00:00Z
TX-0010  ben         M2          2026-06-02T12:00:00Z
"""
THEIRS = """
ref     cardholder  identifier  at
won     dan         M1          2026-06-01T07:00:00Z
theirs  dan         M1          2026-06-01T07:30:00Z
"""


@once
def complaints(folder: Path) -> Job:
    """Make the store: received, matched, settled, one reversed, one that waits; two days later."""
    made = new_store(folder)
    with chdir(folder):  # so that the names of the files are the same in every folder
        _happen(made)
    return at(made, days=2, hours=1)


def _happen(made: Job) -> None:
    tell(made, **CATALOGUE)
    taken(made, file_of(Path("brook.csv"), THEIRS), "brook")
    taken(made, file_of(Path("alder.csv"), PURCHASES))
    match_purchases(made)
    settled = at(made, days=2)
    settle_due(settled)
    reverse(redemption(made, "second"), "goods returned", settled)
    _attempts(made)
    taken(settled, file_of(Path("later.csv"), LATER))


def at(made: Job, **after: int) -> Job:
    """Return a job on the same store, so long after noon."""
    return job(made.path, now=NOON + timedelta(**after))


def redemption(made: Job, ref: str) -> str:
    """Return the id of the redemption of a purchase of alder's."""
    ids = """
        select transaction_ref, redemption_id
        from redemptions join institutions using (institution_id)
        where slug = 'alder'
    """
    return str(dict(found(made, ids))[ref])


def _attempts(made: Job) -> None:
    """Let the webhook of the first purchase of alder's fail once."""
    failed = """
        insert into attempts by name
        select event_no, redemption_no, institution_id, 1 as number, 3 as run_no,
            false as is_manual,
            timestamp '2026-06-01 12:00:05' as started_at, 502 as http_status,
            'status 502' as error, 31 as duration_ms
        from redemptions join institutions using (institution_id)
        join outbox using (redemption_no, institution_id)
        where slug = 'alder' and transaction_ref = 'won'
    """
    with made.store() as store:
        select(store, failed)
