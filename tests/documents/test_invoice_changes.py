"""What the accounting system tells of an invoice stands beside what was closed, and is logged."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from approving import approved
from cardoffers_cli.accounting.questions import receivables
from cardoffers_cli.documents import exporting
from cardoffers_cli.documents.invoice_changes import set_invoice, settle_elsewhere
from cardoffers_cli.documents.kinds import INVOICE
from cardoffers_cli.documents.verifying import verify
from cardoffers_cli.kernel.words.errors import CardoffersError, Refused
from cardoffers_cli.keys.security import list_security
from cardoffers_cli.storage.doctor import offending
from commands import cardoffers
from settled import invoiced
from sizes import slow
from tables import read, select
from work import kept

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

BUTCHER, BAKERY, CREDIT = "INV-2026-000001", "INV-2026-000002", "CN-2026-000001"


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return invoiced(tmp_path)


def files(made: Job, number: str) -> dict[str, str]:
    """Return the files of an invoice by their endings."""
    folder = made.path.parent
    with exporting.open_document(made, INVOICE, number) as opened:
        exporting.export(opened, folder, exporting.FORMS, mode=0o600)
    endings = (*exporting.FORMS, "head.csv", "csv.sha256")
    return {
        ending: (folder / f"{number}.{ending}").read_text().replace("\xa0", " ")
        for ending in endings
    }


# What is told one after another, and what is shown then
TOLD = """
number          legal    tax   shown_number shown_tax asked owed
INV-2026-000001 RE-4711  -     RE-4711      -         3.00  3.00
INV-2026-000001 -        0.40  RE-4711      0.40      3.40  3.40
INV-2026-000001 -        0.38  RE-4711      0.38      3.38  3.38
INV-2026-000001 RE-4712  0.00  RE-4712      0.00      3.00  3.00
inv-2026-000002 re-4711  0.60  re-4711      0.60      2.60  1.60
"""


@slow
def test_the_last_word_stands_beside_what_was_closed(made: Job) -> None:
    """rules.md#invoices"""
    closed = {number: files(made, number) for number in (BAKERY, BUTCHER)}
    for row in read(TOLD):
        number = str(row["number"]).upper()
        set_invoice(made, str(row["number"]), legal_number=row["legal"], tax=row["tax"])
        now = files(made, number)
        for ending in ("csv", "head.csv", "csv.sha256"):
            assert closed[number][ending] == now[ending]
        told = json.loads(now["json"], parse_float=str)
        shown = told.get("legal_number"), told.get("tax")
        assert (row["shown_number"], row["shown_tax"]) == shown
        assert json.loads(closed[number]["json"])["sha256"] == told["sha256"]
        assert f"GBP {row['asked']}" in now["html"]
        assert "not part of the digest" in now["html"]
        assert "not part of the digest" not in closed[number]["html"]
        (owed,) = (each for each in receivables(made, None) if each.number == number)
        assert (Decimal(str(row["owed"])), row["shown_number"]) == (owed.amount, owed.legal_number)
        assert all(each.ok for each in verify(made, INVOICE))
    said = [entry.details for entry in list_security(made) if entry.event == "invoice_set"]
    assert 5 == len(said)
    assert {"legal_number": "RE-4711", "tax": 0.4} in said
    with made.store(read_only=True) as store:
        for audit in ("journal_is_what_was_done", "acts_are_of_their_rows"):
            assert (0, None) == offending(store, audit)


def test_the_tax_of_a_credit_note_is_given_back(made: Job) -> None:
    assert Decimal("-0.20") == set_invoice(made, CREDIT, tax="0.20").tax
    (owed,) = (each for each in receivables(made, None) if each.number == BAKERY)
    assert Decimal("0.80") == owed.amount
    page = files(made, CREDIT)["html"]
    assert "GBP 1.20 with GBP 0.20 of tax goes back to bakery" in page


def test_the_same_again_and_a_dry_run_change_nothing(made: Job) -> None:
    before = kept(made)
    dry = set_invoice(made, BAKERY, legal_number="RE-4711", tax="0.40", dry_run=True)
    assert (True, True, before) == (dry.is_changed, dry.dry_run, kept(made))
    assert {**dry, "dry_run": False} == dict(
        set_invoice(made, BAKERY, legal_number="RE-4711", tax="0.40")
    )
    before = kept(made)
    words = ("invoice", "set", BAKERY, "--tax", "0.4", "--store", made.path)
    ended = cardoffers(*words, exit_code=None)
    assert "Nothing changed" in ended.stderr
    assert before == kept(made)


REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ("invoice_not_found", "INV-2026-000009", {"tax": "1.00"}),
    ("usage", BAKERY, {}),
    ("amount_unreadable", BAKERY, {"tax": "-1.00"}),
    ("amount_unreadable", BAKERY, {"tax": "1.001"}),
    ("amount_unreadable", BAKERY, {"tax": "some"}),
    ("legal_number_invalid", BAKERY, {"legal_number": "4711"}),
    ("legal_number_invalid", BAKERY, {"legal_number": "RE 47 11"}),
    ("legal_number_invalid", BAKERY, {"legal_number": "R" * 36}),
    ("legal_number_taken", BAKERY, {"legal_number": "re-0001"}),
    ("legal_number_taken", BAKERY, {"legal_number": BUTCHER}),
]


@slow
@pytest.mark.parametrize(("code", "number", "said"), REFUSED)
def test_what_will_not_do_is_refused(made: Job, code: str, number: str, said: Any) -> None:
    set_invoice(made, BUTCHER, legal_number="RE-0001")
    before = kept(made)
    with pytest.raises(CardoffersError) as error:
        set_invoice(made, number, **said)
    assert (code, before) == (getattr(error.value, "code", None), kept(made))


# What was settled as what, and what is open, settled and of which state then
SETTLED = """
amount as        open settled state
1.00   set-off   2.40 1.00    part
2.00   dispute   0.40 3.00    part
0.40   write-off 0.00 3.40    settled
"""


@slow
def test_what_is_settled_elsewhere_is_open_no_more(made: Job) -> None:
    """rules.md#invoices"""
    set_invoice(made, BUTCHER, tax="0.40")
    for row in read(SETTLED):
        before = kept(made)
        of = (BUTCHER.lower(), str(row["amount"]), str(row["as"]), " their letter ")
        dry = settle_elsewhere(made, *of, dry_run=True)
        assert (True, before) == (dry.dry_run, kept(made))
        done = settle_elsewhere(made, *of)
        assert {**dry, "dry_run": False} == dict(done)
        assert ("their letter", row["open"]) == (done.reason, str(done.open_amount))
        (owed,) = (each for each in receivables(made, None) if each.number == BUTCHER)
        names = ("open_amount", "settled_amount", "state")
        assert [*row.values()][2:] == [str(owed[name]) for name in names]
    newest = next(iter(list_security(made)))
    assert ("invoice_settled", BUTCHER) == (newest.event, newest.subject)
    with made.store(read_only=True) as store:
        for audit in ("journal_is_what_was_done", "acts_are_of_their_rows"):
            assert (0, None) == offending(store, audit)


TOO_MUCH: list[tuple[str, str, str, str]] = [
    ("invoice_not_found", "INV-2026-000009", "1.00", "why"),
    ("amount_not_open", BUTCHER, "3.01", "why"),
    ("amount_not_open", BUTCHER, "0.00", "why"),
    ("amount_not_open", BAKERY, "1.01", "why"),
    ("amount_not_open", CREDIT, "1.00", "why"),
    ("amount_unreadable", BUTCHER, "-1.00", "why"),
    ("amount_unreadable", BUTCHER, "1.001", "why"),
    ("usage", BUTCHER, "1.00", " "),
]


@slow
@pytest.mark.parametrize(("code", "number", "amount", "why"), TOO_MUCH)
def test_more_than_is_open_is_refused(
    made: Job, code: str, number: str, amount: str, why: str
) -> None:
    before = kept(made)
    with pytest.raises(CardoffersError) as error:
        settle_elsewhere(made, number, amount, "dispute", why)
    assert (code, before) == (getattr(error.value, "code", None), kept(made))


@slow
def test_settling_elsewhere_needs_a_second_person_above_the_limit(made: Job) -> None:
    """rules.md#four-eyes"""
    with made.store() as store:
        select(store, "update institutions set approvals = 'on', approval_limit = 1")
    assert None is settle_elsewhere(made, BUTCHER, "1.00", "dispute", "why").approval
    with pytest.raises(Refused) as error:
        settle_elsewhere(made, BUTCHER, "1.01", "dispute", "why")
    assert "approval_required" == error.value.code
    approved(made)
    assert "used" == settle_elsewhere(made, BUTCHER, "1.01", "dispute", "why").approval


@slow
def test_tax_above_the_limit_and_a_legal_number_need_a_second_person(made: Job) -> None:
    """rules.md#four-eyes"""
    with made.store() as store:
        select(store, "update institutions set approvals = 'on', approval_limit = 1")
    assert None is set_invoice(made, BUTCHER, tax="1.00").approval
    for change in ({"tax": "1.01"}, {"legal_number": "RE-2026-77", "tax": "1.01"}):
        with pytest.raises(Refused) as error:
            set_invoice(made, BUTCHER, **change)
        assert "approval_required" == error.value.code
        approved(made)
        assert "used" == set_invoice(made, BUTCHER, **change).approval
