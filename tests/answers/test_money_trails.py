"""Was it credited, on what does it stand, and what did the bank say: the same at every door."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from banks import BERLIN, LONDON, listed
from cardoffers_cli.answers.browse import pages
from cardoffers_cli.answers.browse.inquiry import Inquiry
from cardoffers_cli.answers.find import find
from cardoffers_cli.answers.search import PurchaseFilter
from cardoffers_cli.answers.timelines import tell_timeline
from cardoffers_cli.answers.why import plain_answers, why, why_each
from cardoffers_cli.credits.work import reconcile
from cardoffers_cli.documents.closing import close_invoices, close_statement
from cardoffers_cli.institutions.accounts import AccountOptions
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.words.row_kinds import CREDITS
from cardoffers_cli.night.status import status
from cardoffers_cli.payouts.exporting import export_payout
from cardoffers_cli.payouts.importing import import_bank_file
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.redemptions import reverse
from cardoffers_cli.river.settlements import settle_due
from sizes import slow
from tables import NOON
from work import found, new_store, once, settings, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

DECEMBER = datetime(2026, 12, 31)  # noqa: DTZ001 - moments are naive UTC
CREDITED = "transaction_ref,amount,status,credited_at,credit_ref\n"
RUN_BY = {"payer_name": "Offers & Co", "payer_account": LONDON}


@once
def two_redeemed(folder: Path) -> Job:
    """Make a store whose alder redeemed p1 and p2 in June, 5.00 each."""
    made = new_store(folder)
    tell(
        made,
        institutions="institution hold_days\nalder 0",
        merchants="merchant\nbakery",
        offers="offer merchant cashback rate\nA bakery 5.00 0",
        links="offer\nA",
        purchases="ref merchant\np1 bakery\np2 bakery",
    )
    with made.store() as store:
        decide(store, made)
    return made


def id_of(made: Job, ref: str) -> str:
    """Return the id of the redemption of a purchase."""
    ids = dict(found(made, "select transaction_ref, redemption_id from redemptions"))
    return str(ids[ref])


@once
def closed(folder: Path) -> Job:
    """Let it be credited, settled, closed, invoiced and paid, and the second taken back."""
    made = two_redeemed(folder)
    file = folder / "credited.csv"
    file.write_text(f"{CREDITED}p1,5.00,credited,{NOON.date()}T12:00:00Z,c1\n")
    import_file(str(file), "alder", made, ImportOptions(kind=CREDITS), outputs=Outputs())
    reconcile(made)
    settle_due(made)
    later = replace(made, now=NOON + timedelta(days=40), settings=settings(**RUN_BY))
    reverse(id_of(made, "p2"), "returned", later)
    settle_due(later)
    december = replace(later, now=DECEMBER)
    account = AccountOptions(account=BERLIN, holder="Alder plc", address="Berlin, DE")
    set_institution(made, "alder", {}, account=account)
    for month in ("2026-06", "2026-07"):
        close_statement(december, "alder", month)
        close_invoices(december, month)
    export_payout(december, "ALDER-2026-000001", "csv", folder / "payment.csv")
    file = folder / "bank.csv"
    file.write_bytes(listed("ALDER-2026-000001,booked,10.00,GBP,2026-12-31,,"))
    import_bank_file(december, file)
    return december


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return replace(closed(tmp_path), now=DECEMBER)


@pytest.fixture
def before(tmp_path: Path) -> Job:
    return two_redeemed(tmp_path)


def test_plain_answers_say_what_the_credit_file_says(before: Job) -> None:
    """The same state as the headline of `why` has."""
    file = before.path.with_name("credited.csv")
    rows = "p1,5.00,failed,{0}T12:00:00Z,c1\np2,4.00,credited,{0}T12:00:00Z,c2\n"
    file.write_text(CREDITED + rows.format(NOON.date()))
    import_file(str(file), "alder", before, ImportOptions(kind=CREDITS), outputs=Outputs())
    settle_due(before)
    reconcile(before)
    first, second = plain_answers(["p1", "p2"], "alder", before, locale="en")
    assert first.answer.endswith("Your bank could not credit it yet. We are looking into it.")
    assert second.answer.endswith("does not fit yet. We are looking into it.")


def test_the_row_that_credited_is_named_and_none_that_failed_later(before: Job) -> None:
    file = before.path.with_name("credited.csv")
    rows = "p1,5.00,credited,{0}T12:00:00Z,c1\np1,5.00,failed,{0}T12:00:01Z,c2\n"
    file.write_text(CREDITED + rows.format(NOON.date()))
    import_file(str(file), "alder", before, ImportOptions(kind=CREDITS), outputs=Outputs())
    reconcile(before)
    told = why("p1", "alder", before).credit
    assert told is not None
    assert ("credited", "c1") == (told.verdict, told.credit_ref)


def documents(found: Any) -> list[str]:
    names = ("kind", "number", "line", "amount", "bank_state")
    return [" ".join(str(each.get(name, "-")) for name in names) for each in found.documents]


PAID = "statement ALDER-2026-000001 entry {} paid"
SECOND = [
    PAID.format("5.00"),
    "invoice INV-2026-000001 entry 5.00 -",
    "statement ALDER-2026-000002 adjustment -5.00 -",
    "credit note CN-2026-000001 adjustment -5.00 -",
]


@slow
def test_why_says_what_became_of_the_money(made: Job) -> None:
    first, second = (why(f"p{number}", "alder", made) for number in (1, 2))
    assert first.credit is not None
    assert ("credited", "c1") == (first.credit.verdict, first.credit.credit_ref)
    assert [PAID.format("5.00"), "invoice INV-2026-000001 entry 5.00 -"] == documents(first)
    assert sorted(SECOND) == sorted(documents(second))
    assert (
        "credited GBP 5.00 by the institution, last at 2026-06-01 12:00 UTC; no webhook is "
        "configured, so the institution was not told. It stands on "
        "statement ALDER-2026-000001 (paid on 2026-12-31) and invoice INV-2026-000001."
    ) in first.headline
    assert [first.headline, second.headline] == [
        each.headline for each in why_each(["p1", "p2"], "alder", made)
    ]


@slow
def test_find_says_it_and_shows_the_credited_rows_of_a_redemption(made: Job) -> None:
    hit, row = find("alder", PurchaseFilter(redemption_id=id_of(made, "p1")), made, limit=9).data
    names = ("verdict", "credited_amount", "statement", "bank_state", "invoice")
    assert ["credited", Decimal(5), "ALDER-2026-000001", "paid", "INV-2026-000001"] == [
        hit[name] for name in names
    ]
    assert ("credited row", "c1") == (row.kind, row.transaction_ref)


@slow
def test_the_screen_says_it(made: Job) -> None:
    inquiry = Inquiry(made, lambda: made.now, "alder")
    (row,) = inquiry.search("ref:p2").rows
    told = [line.text for line in pages.why_page(inquiry.case(row))]
    start = told.index("Credited, closed and paid")
    assert [
        "credited GBP 0.00",
        "  not credited yet, and made less than 7 days ago",
        "statement ALDER-2026-000001 (paid on 2026-12-31), GBP 5.00",
    ] == told[start + 1 : start + 4]


def test_the_timeline_says_what_the_bank_said(made: Job) -> None:
    events = tell_timeline("p1", "alder", made).events
    assert [("bank: booked", "statement ALDER-2026-000001", Decimal(10))] == [
        (each.event, each.detail, each.amount) for each in events if "bank" in each.event
    ]


def test_status_says_it_in_sum(made: Job) -> None:
    (told,) = status(made)[0].money_loop or []
    assert {
        "redemptions": 2,
        "credited": 1,
        "credited_amount": Decimal(5),
        "stated_amount": Decimal(5),
        "invoiced_amount": Decimal(5),
        "paid_amount": Decimal(10),
    } == {name: told[name] for name in told if name not in {"institution", "currency"}}


def test_who_credits_and_closes_nothing_sees_nothing_of_it(before: Job) -> None:
    answer = why("p1", "alder", before)
    (hit,) = find("alder", PurchaseFilter(redemption_id=id_of(before, "p1")), before, limit=9).data
    new = {
        "credit",
        "documents",
        "verdict",
        "credited_amount",
        "statement",
        "invoice",
        "bank_state",
    }
    assert not new & {*answer, *hit, *status(before)[0]} | {"money_loop"} & {*status(before)[0]}
    inquiry = Inquiry(before, lambda: before.now, "alder")
    (row,) = inquiry.search("ref:p1").rows
    assert "Credited, closed and paid" not in {
        line.text for line in pages.why_page(inquiry.case(row))
    }
