"""What banks tell of one payment, in every shape: one verdict in whatever order its files come."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

import pytest

from banks import NUMBER, bai2, camt, entry, head, listed, mt940, pain002, returned
from cardoffers_cli.credits.work import reconcile
from cardoffers_cli.payouts.reading import payouts
from cardoffers_cli.storage.doctor import offending
from paying import AGAIN, AUDITS, BACK, DUE, ON, PAID, RUN_BY, exported, payable, taken
from sizes import GATE, slow
from tables import read, select
from work import once, settings

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

OTHER = "FR1420041010050500013M02606"
NEXT = "<Dt>2026-06-03</Dt>"
TWO = "".join(
    f"<TxDtls><Refs><AcctSvcrRef>{ref}</AcctSvcrRef><EndToEndId>{NUMBER}</EndToEndId></Refs>"
    '<Amt Ccy="GBP">1234.50</Amt></TxDtls>'
    for ref in ("D-1", "D-2")
)
BATCH = PAID.replace(">1234.50<", ">2469.00<")
BATCH = f"{BATCH[: BATCH.index('<TxDtls>')]}{TWO}</NtryDtls></Ntry>"
REST = entry("1244.50", on=ON, details='<Amt Ccy="GBP">1234.50</Amt>')
RENT = entry("5.00", named="RENT", ref="B-7", on=ON)
OF_OTHER = f"<Acct><Id><IBAN>{OTHER}</IBAN></Id></Acct>"


def book(closing: str, *entries: str, opening: str = "2000.00", on: str = DUE) -> bytes:
    return camt(head(opening, closing, on=on), *entries)


def notice(*entries: str, head: str = "") -> bytes:
    return camt(head, *entries, kind="camt.054")


LINE = f"D 1234,50 B-1 20?20EREF+{NUMBER}SVWZ+?21thanks"
LINE_BACK = f"RD 1234,50 B-2 159?20EREF+{NUMBER}SVWZ+AC04"
FILES = {
    "book": book("765.50", PAID),
    "book:none": book("2000.00"),
    "book:twice": book("-469.00", PAID, AGAIN),
    "book:batch": book("-469.00", BATCH),
    "book:back": book("2000.00", PAID, BACK),
    "book:later": book("2000.00", returned(on=NEXT), opening="765.50", on="2026-06-03"),
    "book:rent": book("760.50", PAID, RENT),
    "book:rest": book("755.50", REST),
    "book:less": book("766.50", entry("1233.50", on=ON)),
    "book:no-id": book("765.50", entry(named="NOTPROVIDED", on=ON)),
    "book:other": camt(head("2000.00", "765.50", on=DUE, account=OTHER), PAID),
    "other:none": camt(head("2000.00", "2000.00", on=DUE, account=OTHER)),
    "bare": camt(PAID),
    "wrong": book("700.00", PAID),
    "notice": notice(PAID),
    "notice:again": notice(AGAIN),
    "notice:twice": notice(PAID, AGAIN),
    "notice:back": notice(BACK),
    "notice:less": notice(entry("1000.00", on=ON)),
    "notice:next": notice(entry(on=NEXT)),
    "notice:other": notice(PAID, head=OF_OTHER),
    "hours": camt(PAID).replace(b"camt.053", b"camt.052"),
    "list": listed(f"{NUMBER},booked,1234.50,GBP,{DUE},,B-1"),
    "mt940": mt940(LINE, opening="2000,", closing="765,50", on="260602"),
    "mt940:back": mt940(LINE, LINE_BACK, opening="2000,", closing="2000,", on="260602"),
    "bai2": bai2(f"475 123450 B-1 {NUMBER},/", opening="200000", closing="76550", on="260602"),
    "rejected": pain002((NUMBER, "RJCT", "AC01")),
    "accepted": pain002((NUMBER, "ACSC", "X")),
}

# The files, the state of the statement and the bank's code for it, what else is a finding, what
# the journal has of the bank, and what its statements that are proved come to
SHAPES = """
files                            state           code finding             bank     book
book                             paid            -    -                   -1234.50 -1234.50
mt940                            paid            -    -                   -1234.50 -1234.50
bai2                             paid            -    -                   -1234.50 -1234.50
list,accepted                    paid            -    -                   -1234.50 -
notice,hours                     paid            -    -                   -1234.50 -
book,notice,hours,list           paid            -    -                   -1234.50 -1234.50
book,mt940,bai2                  paid            -    -                   -1234.50 -1234.50
book,notice:again                paid            -    -                   -1234.50 -1234.50
book,notice:next                 paid            -    -                   -1234.50 -1234.50
mt940,notice,list                paid            -    -                   -1234.50 -1234.50
book:twice,notice                paid_twice      -    -                   -2469.00 -2469.00
book:batch,notice                paid_twice      -    -                   -2469.00 -2469.00
book,notice:twice                paid            -    not_in_book         -1234.50 -1234.50
bai2,notice:twice                paid            -    not_in_book         -1234.50 -1234.50
bare,notice:twice                paid_twice      -    -                   -2469.00 -
wrong,notice:twice               paid_twice      -    -                   -2469.00 -
book:none,notice                 unpaid          -    not_in_book         0.00     0.00
book:none,list,hours             unpaid          -    not_in_book         0.00     0.00
book:none,notice:next            paid            -    -                   -1234.50 0.00
book:none,notice:other           paid            -    -                   -1234.50 0.00
book:none,other:none,list        paid            -    -                   -1234.50 0.00
book:none,book:other             paid            -    -                   -1234.50 -1234.50
book:less,notice                 paid_differs    -    not_in_book         -1233.50 -1233.50
book,notice:less                 paid            -    not_in_book         -1234.50 -1234.50
book:no-id,notice                unpaid          -    bank_unknown,not_in_book -1234.50 -1234.50
book:back,notice                 returned        AC04 -                   0.00     0.00
mt940:back                       returned        AC04 -                   0.00     0.00
book,book:later                  returned        AC04 -                   0.00     0.00
book,notice:back,book:later      returned        AC04 -                   0.00     0.00
book,notice:back                 return_unbooked AC04 not_in_book         -1234.50 -1234.50
bare,notice:back                 returned        AC04 -                   0.00     -
book,rejected                    return_unbooked AC01 -                   -1234.50 -1234.50
rejected,accepted                returned        AC01 -                   0.00     -
book:rent                        paid            -    bank_unknown        -1239.50 -1239.50
book:rest,notice                 paid            -    entry_not_explained -1244.50 -1244.50
"""


def orders() -> list[tuple[dict[str, str], tuple[str, ...]]]:
    """Return each shape with each order of its files; of more than two the first and the last."""
    found = []
    for line in read(SHAPES):
        ways = [*permutations(line["files"].split(","))]
        found += [(line, way) for way in (ways if GATE else dict.fromkeys((ways[0], ways[-1])))]
    return found


@once
def to_be_paid(folder: Path) -> Job:
    made = replace(payable(folder), settings=settings(**RUN_BY))
    exported(made)
    return made


JOURNAL = "select coalesce(sum(amount), 0) from journal_lines where account = 'bank'"
BOOKS = """
select sum(closing - opening)
from (select distinct account, to_on, opening, closing from bank_statements where is_proved)
"""


@slow
@pytest.mark.parametrize(
    ("line", "way"),
    orders(),
    ids=lambda each: each["files"] if isinstance(each, dict) else " ".join(each),
)
def test_each_shape_has_one_verdict(tmp_path: Path, line: dict[str, str], way: list[str]) -> None:
    """rules.md#bank-entries, rules.md#bank-verdicts"""
    made = to_be_paid(tmp_path)
    for name in way:
        taken(made, FILES[name])
    (row,) = payouts(made, None)
    assert (line["state"], line["code"]) == (row.state, row.bank_code)
    codes = {each.code for each in reconcile(made).bank or ()} - {row.state}
    assert {*filter(None, (line["finding"] or "").split(","))} == codes
    with made.store() as store:
        ((bank,),), ((books,),) = select(store, JOURNAL), select(store, BOOKS)
        assert (line["bank"], line["book"]) == (
            f"{bank:.2f}",
            None if books is None else f"{books:.2f}",
        )
        for audit in (*AUDITS, "journal_balances"):
            assert (0, None) == offending(store, audit), audit
        # the statement itself was written without a run that would have posted it
        assert 2 == offending(store, "journal_is_what_was_done")[0]
