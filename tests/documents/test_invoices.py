"""Invoices: each merchant once a period, and credit notes on what was reversed later."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.answers.timelines import tell_timeline
from cardoffers_cli.documents import exporting
from cardoffers_cli.documents.closing import InvoicedPeriod, close_invoices, close_statement
from cardoffers_cli.documents.kinds import INVOICE
from cardoffers_cli.documents.questions import document_rows, show_document
from cardoffers_cli.documents.verifying import verify
from cardoffers_cli.kernel.store.statements import statements
from cardoffers_cli.kernel.words.errors import NotFound, Refused
from cardoffers_cli.river.redemptions import reverse
from cardoffers_cli.river.settlements import settle_due
from cardoffers_cli.storage.doctor import offending
from settled import redeem_in
from sizes import slow
from tables import read, select, uid
from work import found, new_store, once, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

AUDITS = [*statements("documents/audits")]


def day(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-{text}")


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return three_months(tmp_path)


@once
def three_months(folder: Path) -> Job:
    """Make a store of two institutions and two merchants.

    June: bakery 1, 2 (alder) and 3 (brook), butcher 4 (alder); 2 is reversed and deducted in June.
    July: butcher 5; 1 is reversed. August: 3 and 5 are reversed.
    """
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder\nbrook",
        merchants="merchant\nbakery\nbutcher",
        offers="offer merchant cashback\nO1 bakery 1.00\nO3 butcher 3.00",
        links="institution cardholder offer\nalder ann O1\nalder ann O3\nbrook ben O1",
    )
    with made.store() as store:
        select(store, "update merchants set net_days = 14 where name = 'butcher'")
    rows = "institution cardholder offer\nalder ann O1\nalder ann O1\nbrook ben O1\nalder ann O3"
    redeem(made, "06-02", rows)
    settle(made, "06-10")
    take_back(made, "06-12", 2)
    settle(made, "06-20")
    redeem(made, "07-02", "institution cardholder offer\nalder ann O3")
    take_back(made, "07-03", 1)
    settle(made, "07-10")
    take_back(made, "08-03", 3, 5)
    settle(made, "08-10")
    return made


def redeem(made: Job, on: str, table: str) -> None:
    with made.store() as store:
        redeem_in(store, day(on), read(table))


def settle(made: Job, on: str) -> None:
    settle_due(replace(made, now=day(on)))


def take_back(made: Job, on: str, *numbers: int) -> None:
    for number in numbers:
        reverse(str(uid(f"redemption {number}")), "returned", replace(made, now=day(on)))


def close(made: Job, period: str, on: str = "12-31") -> InvoicedPeriod:
    return close_invoices(replace(made, now=day(on)), period)


def told(period: InvoicedPeriod) -> list[str]:
    names = ("number", "merchant_name", "line_count", "amount", "amends", "previous_number")
    return [" ".join(str(each[name]) for name in names) for each in period.documents]


@slow
def test_what_is_reversed_later_is_a_credit_note_on_its_invoice(made: Job) -> None:
    months = [close(made, f"2026-0{month}") for month in (6, 7, 8)]
    first, second = sorted(("bakery", "butcher"), key=lambda name: str(uid(name)))
    lines = {"bakery": "4 2.00", "butcher": "1 3.00"}
    numbers = {first: "INV-2026-000001", second: "INV-2026-000002"}
    later = [
        ("CN-2026-000002", "bakery 1 -1.00 " + numbers["bakery"]),
        ("CN-2026-000003", "butcher 1 -3.00 INV-2026-000003"),
    ]
    if first == "butcher":
        later = [(number, what) for (number, _), (_, what) in zip(later, later[::-1], strict=True)]
    assert [
        f"{numbers[first]} {first} {lines[first]} None None",
        f"{numbers[second]} {second} {lines[second]} None {numbers[first]}",
        "INV-2026-000003 butcher 1 3.00 None INV-2026-000002",
        f"CN-2026-000001 bakery 1 -1.00 {numbers['bakery']} None",
        f"{later[0][0]} {later[0][1]} CN-2026-000001",
        f"{later[1][0]} {later[1][1]} {later[0][0]}",
    ] == [line for month in months for line in told(month)]
    assert [(2, 0, "5.00"), (1, 1, "2.00"), (0, 2, "-4.00")] == [
        (each.invoices, each.credit_notes, str(each.amount["GBP"])) for each in months
    ]
    assert all(each.ok for each in verify(made, INVOICE))
    with made.store(read_only=True) as store:
        assert [0] * len(AUDITS) == [offending(store, name)[0] for name in AUDITS]
        ledger = (
            "select sum(merchant_funded_amount) from (from ledger_entries"
            " select merchant_funded_amount union all"
            " from adjustments select merchant_funded_amount)"
        )
        assert select(store, "select sum(amount) from invoices") == select(store, ledger)


@slow
def test_a_timeline_says_where_a_redemption_stands(made: Job) -> None:
    """The first one was settled in June and deducted in July."""
    for month in ("2026-06", "2026-07"):
        close(made, month, "12-31")
        close_statement(replace(made, now=day("12-31")), "alder", month)
    with made.store() as store:
        bought = "insert into recent_purchases by name select 1 as purchase_no, institution_id,"
        rest = " '1' as transaction_ref, cardholder_no, 1 as instrument_no, 1 as amount,"
        last = " 'GBP' as currency, created_at as transacted_at, created_at as received_at"
        select(store, f"{bought}{rest}{last} from redemptions where redemption_no = 1")
    events = tell_timeline(str(uid("redemption 1")), "alder", made).events
    invoice = next(each for each in verify(made, INVOICE) if each.merchant_name == "bakery").number
    assert {
        ("stated", "statement ALDER-2026-000001", "1.00"),
        ("stated", "statement ALDER-2026-000002", "-1.00"),
        ("invoiced", f"invoice {invoice}", "1.00"),
        ("invoiced", "credit note CN-2026-000001", "-1.00"),
    } == {
        (each.event, each.detail, str(each.amount))
        for each in events
        if each.event in {"stated", "invoiced"}
    }


def test_terms_are_those_of_the_merchant(made: Job) -> None:
    period = close(made, "2026-06", "07-05")
    assert {"bakery": (30, day("08-04").date()), "butcher": (14, day("07-19").date())} == {
        each.merchant_name: (each.net_days, each.due_on) for each in period.documents
    }


def test_closing_again_changes_nothing_and_answers_the_same(made: Job) -> None:
    tables = ("invoices", "invoice_periods", "closed_settlements", "runs")
    first = close(made, "2026-06", "07-05")
    before = [found(made, f"from {name} order by all") for name in tables]
    assert first == close(made, "2026-06")
    assert before == [found(made, f"from {name} order by all") for name in tables]


def test_a_dry_run_writes_nothing(made: Job) -> None:
    dry = close_invoices(replace(made, now=day("12-31")), "2026-06", dry_run=True)
    assert [(0,)] == found(made, "select count(*) from invoices")
    assert told(dry) == told(close(made, "2026-06"))


@pytest.mark.parametrize(
    ("code", "period", "on"),
    [
        ("period_out_of_order", "2026-05", "12-31"),
        ("period_out_of_order", "2026-08", "12-31"),
        ("period_not_ended", "2026-07", "07-31"),
    ],
)
def test_periods_are_closed_in_their_order(made: Job, code: str, period: str, on: str) -> None:
    close(made, "2026-06")
    with pytest.raises(Refused) as refused:
        close(made, period, on)
    assert (code, True) == (refused.value.code, "2026-07" in str(refused.value.hint))


def test_a_month_without_any_is_closed_too(made: Job) -> None:
    assert ([], {}) == (told(close(made, "2026-05")), close(made, "2026-05").amount)
    assert 2 == close(made, "2026-06").invoices


def test_the_files_of_an_invoice_say_the_same(made: Job, tmp_path: Path) -> None:
    close(made, "2026-06")
    with made.store() as store:
        select(store, "update merchants set name = 'Another', net_days = 1")
    (number,) = [each.number for each in document_rows(made, INVOICE, "Bakery", limit=9)[0]]
    with exporting.open_document(made, INVOICE, number) as opened:
        exporting.export(opened, tmp_path, exporting.FORMS, mode=0o600)
    document = json.loads((tmp_path / f"{number}.json").read_text(), parse_float=Decimal)
    lines = [*csv.DictReader(io.StringIO((tmp_path / f"{number}.csv").read_text()))]
    said = [*csv.DictReader(io.StringIO((tmp_path / f"{number}.head.csv").read_text()))]
    head = {row["name"]: row["value"] for row in said}
    assert ("bakery", "2.00") == (head["merchant_name"], head["amount"])
    assert [str(each["merchant_funded_amount"]) for each in document["lines"]] == [
        row["merchant_funded_amount"] for row in lines
    ]
    assert Decimal("2.00") == sum(Decimal(row["merchant_funded_amount"]) for row in lines)
    page = (tmp_path / f"{number}.html").read_text().replace("\u00a0", " ")
    assert "GBP 2.00 is due from bakery for June 2026, by 4 lines." in page
    both = (tmp_path / f"{number}{ending}" for ending in (".head.csv", ".csv"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in both)).hexdigest()
    assert digest == document["sha256"]
    assert all(each.ok for each in verify(made, INVOICE, number))


@pytest.mark.parametrize(
    ("says", "harm"),
    [
        ("amount says", "update invoices set amount = amount + 1"),
        ("amount says", "update ledger_entries set merchant_funded_amount = 9"),
        ("another digest", "update invoices set sha256 = 'x' where place = 1"),
        ("another digest", "update invoices set due_on = '2027-01-01'"),
        ("another number", "update invoices set previous_number = 'x'"),
        ("is another by now", "update invoices set previous_sha256 = 'x'"),
        ("does not follow", "update invoices set place = 7 where place = 1"),
        ("line_count says", "delete from closed_settlements"),
    ],
)
def test_what_was_changed_is_found(made: Job, says: str, harm: str) -> None:
    close(made, "2026-06")
    close(made, "2026-07")
    with made.store() as store:
        select(store, harm)
    differences = [text for each in verify(made, INVOICE) for text in each.differences]
    assert any(says in text for text in differences), differences


def test_what_is_not_there_is_not_found(made: Job) -> None:
    for ask in (
        lambda: show_document(made, INVOICE, "INV-2026-000001"),
        lambda: document_rows(made, INVOICE, "baker", limit=1),
        lambda: verify(made, INVOICE, "CN-2026-000001"),
    ):
        with pytest.raises(NotFound):
            ask()
