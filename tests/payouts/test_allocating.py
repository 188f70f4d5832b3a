"""What a receipt pays: by itself, by what a person says, and what it may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from approving import approved
from banks import bai2, camt, entry, mt940
from cardoffers_cli.documents.invoice_changes import set_invoice
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.keys.security import list_security
from cardoffers_cli.payouts.allocating import allocate_receipt
from cardoffers_cli.payouts.reading import bank_entries
from paying import payable, taken
from sizes import slow
from tables import NOON, read, select, uid
from work import kept, once

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

INVOICES = """
number           merchant currency amount
INV-2026-000001  bakery   GBP      45.00
INV-2026-000002  Müller   GBP      25.00
INV-2026-000003  Müller   GBP      40.00
INV-2026-000004  bakery   EUR      40.00
CN-2026-000001   bakery   GBP      -5.00
"""
INVOICE = """
insert into invoices
select
    {no}, '{number}', 'INV', 2026, {no}, 1, $merchant, '{merchant}', '{currency}', null,
    {amends}, 1, {amount}, 30, date '2026-06-01', date '2026-07-01', 'x', null, null, null, null,
    null, null, null, null, null, null, null
"""


@once
def invoiced(folder: Path) -> Job:
    """Make a store with invoices of two merchants that nothing was paid of."""
    made = payable(folder)
    with (
        made.store() as store,
        store.transaction(),
        run_record(store, kind="invoice_close", now=NOON, actor="tester") as run,
    ):
        period = "timestamp '2026-05-01', timestamp '2026-06-01', timestamp '2026-06-01'"
        select(store, f"insert into invoice_periods values (1, {period}, {run.run_no}, 'tester')")  # noqa: S608 - of ours
        select(store, "update merchants set name = 'Müller & Söhne' where name = 'butcher'")
        for no, row in enumerate(read(INVOICES), 1):
            merchant = uid("butcher" if row["merchant"] == "Müller" else "bakery")
            amends = "'INV-2026-000001'" if row["number"].startswith("CN") else "null"
            sql = INVOICE.format(no=no, amends=amends, **row)
            store.connection.execute(sql, {"merchant": merchant})
    return made


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return invoiced(tmp_path)


def receipt(amount: str, text: str, payer: str = "", ref: str = "R-1", **more: str) -> str:
    wrote = f"<RmtInf><Ustrd>{text}</Ustrd></RmtInf>"
    by = f"<RltdPties><Dbtr><Nm>{payer}</Nm></Dbtr></RltdPties>" if payer else ""
    return entry(amount, side="CRDT", ref=ref, named="42", details=by + wrote, **more)


def shown(made: Job) -> list[tuple[Any, ...]]:
    """Return each receipt with what it paid, and what it may have."""
    rows = [each for each in bank_entries(made, None) if each.direction == "credit"]
    return sorted((each.bank_ref, each.invoice, each.candidates) for each in rows)


# Amount and text of a receipt, with underscores for spaces, and what it paid or may have
RECEIPTS = """
amount text                     payer           paid            candidates
40.00  INV-2026-000003          -               INV-2026-000003 -
40.00  INV-2026-000003          BAKERY_LTD      INV-2026-000003 -
40.00  thanks                   -               suspense        INV-2026-000001,INV-2026-000003
40.00  thanks                   Muller_Sohne_AG suspense        ..3,INV-2026-000001,INV-2026-000002
25.00  thanks                   the_bakery      suspense        INV-2026-000002,INV-2026-000001
3.00   thanks                   Müller+Söhne    suspense        INV-2026-000002,INV-2026-000003
3.00   thanks                   -               suspense        -
3.00   for_Müller_u_Söhne       -               suspense        -
"""


@slow
@pytest.mark.parametrize("line", read(RECEIPTS), ids=str)
def test_a_receipt_shows_its_invoice_or_what_it_may_be(made: Job, line: dict[str, Any]) -> None:
    """rules.md#bank-entries: candidates are never taken by themselves."""
    text, payer = ((line[name] or "").replace("_", " ") for name in ("text", "payer"))
    taken(made, camt(receipt(line["amount"], text, payer)))
    candidates = line["candidates"] and line["candidates"].replace(",", ", ")
    candidates = candidates and candidates.replace("..", "INV-2026-00000")
    assert [("R-1", line["paid"], candidates)] == shown(made)


@slow
def test_of_who_paid_the_merchant_alone_is_kept(made: Job) -> None:
    text = "Dr Jane Doe for BAKERY"
    taken(made, camt(receipt("3.00", "thanks", text)))
    taken(made, mt940(f"C 4, R-2 {text}", opening="0,", closing="4,"))
    taken(made, bai2(f"165 500 R-3 ,{text}/", opening="0", closing="500"))
    told = [("R-1", "suspense"), ("R-2", "suspense"), ("R-3", "suspense")]
    assert told == [(ref, invoice) for ref, invoice, _ in shown(made)]
    assert all("INV-2026-000001" in candidates for *_, candidates in shown(made))
    assert "Jane" not in str(kept(made))


# Amount and text of a receipt behind the legal numbers, with what it paid
LEGAL = """
amount text                              paid
40.00  pays_RE-2026/4711                 INV-2026-000003
40.00  Rechnung:re-2026/4711.            INV-2026-000003
40.00  (RE-2026/4711),INV-2026-000003    INV-2026-000003
45.00  RE-2026-000001                    INV-2026-000001
45.00  RE-2026-000001,less_GU-4712       INV-2026-000001
40.00  RE-2026/47110                     suspense
40.00  RE-2026/4711,INV-2026-000001      suspense
40.00  RE-2026/4711,RE-2026-000001       suspense
40.00  RE-2026/4700                      suspense
40.00  EURO-4711                         suspense
"""


@slow
@pytest.mark.parametrize("line", read(LEGAL), ids=str)
@pytest.mark.parametrize("form", ["camt", "mt940"])
def test_a_legal_number_in_the_text_names_its_invoice(
    made: Job, line: dict[str, Any], form: str
) -> None:
    set_invoice(made, "INV-2026-000003", legal_number="RE-2026/4700")
    for number, legal in (
        ("INV-2026-000003", "RE-2026/4711"),
        ("INV-2026-000001", "RE-2026-000001"),
        ("INV-2026-000004", "EURO-4711"),
        ("CN-2026-000001", "GU-4712"),
    ):
        set_invoice(made, number, legal_number=legal)
    text = line["text"].replace("_", " ")
    if form == "camt":
        taken(made, camt(receipt(line["amount"], text)))
    else:
        amount = line["amount"].replace(".", ",")
        taken(made, mt940(f"C {amount} R-1 {text}", opening="0,", closing=amount))
    assert [line["paid"]] == [invoice for _, invoice, _ in shown(made)]


@slow
def test_a_legal_number_is_the_reference_too_and_counts_once(made: Job) -> None:
    set_invoice(made, "INV-2026-000003", legal_number="RE-4711")
    rows = "payment_id,status,direction,amount,currency,booked_at\n"
    taken(made, f"{rows}re-4711,booked,credit,40.00,GBP,2026-06-01\n".encode())
    assert ["INV-2026-000003"] == [each.invoice for each in bank_entries(made, None)]


@slow
def test_what_came_before_its_legal_number_stays_where_it_was(made: Job) -> None:
    taken(made, camt(receipt("40.00", "RE-4711")))
    set_invoice(made, "INV-2026-000003", legal_number="RE-4711")
    taken(made, camt(receipt("40.00", "RE-4711"), kind="camt.054"))
    counted = [each.invoice for each in bank_entries(made, None) if each.counts]
    assert ["suspense"] == counted


PARTS = ["INV-2026-000001=30.00", "INV-2026-000002=9.50", "suspense=0.50"]


def only_entry(made: Job) -> str:
    return str(next(each.entry_id for each in bank_entries(made, None) if each.invoice))


@slow
def test_the_last_word_counts_and_is_logged(made: Job) -> None:
    taken(made, camt(receipt("40.00", "thanks")))
    before, entry_id = kept(made), only_entry(made)
    dry = allocate_receipt(made, entry_id, PARTS, "their letter", dry_run=True)
    assert (True, before) == (dry.dry_run, kept(made))
    done = allocate_receipt(made, entry_id[:9], PARTS, " their letter ")
    assert {**dry, "dry_run": False} == dict(done)
    assert [("R-1", "INV-2026-000001, INV-2026-000002, suspense", None)] == shown(made)
    assert ("suspense", "their letter") == (done.taken_for, done.reason)
    again = allocate_receipt(made, entry_id, ["INV-2026-000003=40.00"], "another letter")
    assert "INV-2026-000001, INV-2026-000002, suspense" == again.taken_for
    assert [("R-1", "INV-2026-000003", None)] == shown(made)
    newest = next(iter(list_security(made)))
    assert ("receipt_allocated", entry_id) == (newest.event, newest.subject)
    assert {"INV-2026-000003": 40} == newest.details["parts"]


REFUSED: list[tuple[type[Exception], str, list[str], str]] = [
    (Refused, "parts_differ", ["INV-2026-000001=39.99"], "why"),
    (Refused, "parts_differ", ["INV-2026-000001=40.00", "suspense=0.01"], "why"),
    (UsageError, "part_invalid", ["INV-2026-000001"], "why"),
    (UsageError, "part_invalid", ["INV-2026-000001=0"], "why"),
    (UsageError, "part_invalid", ["INV-2026-000001=-40.00"], "why"),
    (UsageError, "part_invalid", ["INV-2026-000001=39.999"], "why"),
    (UsageError, "part_invalid", ["INV-2026-000001=20.00", "INV-2026-000001=20.00"], "why"),
    (NotFound, "invoice_not_found", ["INV-2026-000009=40.00"], "why"),
    (NotFound, "invoice_not_found", ["INV-2026-000004=40.00"], "why"),
    (NotFound, "invoice_not_found", ["CN-2026-000001=40.00"], "why"),
    (UsageError, "usage", ["INV-2026-000001=40.00"], " "),
]


@slow
@pytest.mark.parametrize(("kind", "code", "parts", "why"), REFUSED)
def test_what_does_not_come_to_the_receipt_is_refused(
    made: Job, kind: type[Exception], code: str, parts: list[str], why: str
) -> None:
    taken(made, camt(receipt("40.00", "thanks")))
    before = kept(made)
    with pytest.raises(kind) as error:
        allocate_receipt(made, only_entry(made), parts, why)
    assert (code, before) == (getattr(error.value, "code", None), kept(made))


@slow
def test_what_is_no_receipt_that_counts_is_refused(made: Job) -> None:
    with pytest.raises(NotFound, match="No entry begins with 1234abcd"):
        allocate_receipt(made, "1234abcd", PARTS, "why")
    taken(made, camt(entry("40.00", named="RENT"), receipt("40.00", "thanks", status="PDNG")))
    for each in bank_entries(made, None):
        with pytest.raises(Refused, match="is not a receipt that counts"):
            allocate_receipt(made, str(each.entry_id), ["INV-2026-000001=40.00"], "why")


@slow
def test_a_second_person_approves_what_the_strictest_institution_wants(made: Job) -> None:
    """rules.md#four-eyes"""
    taken(made, camt(receipt("40.00", "thanks"), receipt("9.00", "thanks", ref="R-2")))
    large, small = sorted(
        (each for each in bank_entries(made, None) if each.invoice), key=lambda each: each.bank_ref
    )
    with made.store() as store:
        select(store, "update institutions set approvals = 'on', approval_limit = 10")
    allocate_receipt(made, str(small.entry_id), ["INV-2026-000001=9.00"], "why")
    with pytest.raises(Refused) as error:
        allocate_receipt(made, str(large.entry_id), ["INV-2026-000001=40.00"], "why")
    assert "approval_required" == error.value.code
    approved(made)
    done = allocate_receipt(made, str(large.entry_id), ["INV-2026-000001=40.00"], "why")
    assert "used" == done.approval
