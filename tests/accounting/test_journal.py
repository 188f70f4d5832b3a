"""The journal: what each act posts, that it is what was done, and that others can read it."""

from __future__ import annotations

import csv
import json
import random
import re
import subprocess
import sysconfig
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from banks import BERLIN, LONDON, camt, entry, listed
from cardoffers_cli.accounting.questions import BEANCOUNT
from cardoffers_cli.documents.closing import close_all, close_invoices
from cardoffers_cli.documents.invoice_changes import set_invoice, settle_elsewhere
from cardoffers_cli.institutions.accounts import AccountOptions
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.kernel.words.row_kinds import REFUNDS
from cardoffers_cli.payouts.allocating import allocate_receipt
from cardoffers_cli.payouts.exporting import export_payout, withdraw_payout
from cardoffers_cli.payouts.importing import import_bank_file
from cardoffers_cli.refunds.apply import apply_refunds
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.redemptions import reverse
from cardoffers_cli.river.settlements import settle_due
from cardoffers_cli.river.withdrawals import undo_import
from cardoffers_cli.storage.doctor import offending
from commands import cardoffers
from sizes import FULL, slow
from tables import read, select
from work import file_of, found, new_store, once, settings, taken, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

HISTORIES = 10_000 if FULL else 5
ACTS = 24
HOLDERS = 9
BANKS = ("alder", "brook")
SHOPS = ("bakery", "butcher", "Café")
RATES = {"bakery": ("2.00", "0.1"), "butcher": ("3.17", "0.2"), "Café": ("1.03", "0.35")}
"""What a merchant's offer gives back, and the share of it that is commission."""


@once
def at_home(folder: Path) -> Job:
    """Make a store of two institutions with accounts, three merchants and nothing bought yet."""
    made = replace(
        new_store(folder), settings=settings(payer_name="Offers & Co", payer_account=LONDON)
    )
    holders = [f"cardholder-000{number}" for number in range(HOLDERS)]
    links = [
        f"{bank} {each} {shop}" for bank in ("alder", "brook") for each in holders for shop in RATES
    ]
    tell(
        made,
        institutions="institution hold_days\nalder 3\nbrook 0",
        merchants="merchant\n" + "\n".join(RATES),
        identifiers="identifier merchant\n" + "\n".join(f"M-{shop} {shop}" for shop in RATES),
        offers="offer merchant cashback rate starts_at expires_at\n"
        + "\n".join(
            f"{shop} {shop} {cashback} {rate} 2026-01-01T00:00:00Z 2027-01-01T00:00:00Z"
            for shop, (cashback, rate) in RATES.items()
        ),
        programs="institution offer\n"
        + "\n".join(f"{bank} {shop}" for bank in BANKS for shop in RATES),
        links="institution cardholder offer\n" + "\n".join(links),
    )
    for bank, account in (("alder", BERLIN), ("brook", LONDON)):
        paid_to = AccountOptions(account=account, holder=bank, address="Berlin, DE")
        set_institution(made, bank, {}, account=paid_to)
    return made


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return at_home(tmp_path)


def on(made: Job, month_and_day: str) -> Job:
    return replace(made, now=datetime.fromisoformat(f"2026-{month_and_day} 12:00"))


def bank_says(made: Job, *rows: str) -> None:
    """Take in a list in which a bank says what became of payments."""
    path = made.path.with_name("bank.csv")
    path.write_bytes(listed(*rows))
    import_bank_file(made, path)


def received(made: Job, amount: str, text: str, kind: str = "camt.053", ref: str = "R-1") -> None:
    """Take in a message of a bank with one receipt, and the text that its payer wrote."""
    wrote = f"<RmtInf><Ustrd>{text}</Ustrd></RmtInf>"
    receipt = entry(amount, side="CRDT", ref=ref, named="42", details=wrote)
    path = made.path.with_name("receipts.xml")
    path.write_bytes(camt(receipt, kind=kind))
    import_bank_file(made, path)


def allocated(made: Job, amount: str, *parts: str) -> None:
    """Say which invoices the receipt of an amount pays."""
    receipts = "from bank_entries where direction = 'credit' and message = 'camt.053'"
    ((entry_id,),) = found(made, f"select entry_id::text {receipts} and amount = {amount}")
    allocate_receipt(made, str(entry_id), parts, "their letter")


def back(made: Job, bank: str, rows: str) -> None:
    """Take in refunds, and apply them."""
    path = made.path.with_name("back.csv")
    path.write_text(f"refund_ref,original_transaction_ref,amount,refunded_at\n{rows}\n")
    import_file(str(path), bank, made, ImportOptions(kind=REFUNDS), outputs=Outputs())
    apply_refunds(made)


def bought(made: Job, bank: str, text: str) -> str:
    """Take purchases in, and match them; return the id of the import."""
    import_id = str(taken(made, file_of(made.path.with_name("tx.csv"), text), bank)["import_id"])
    match_purchases(made)
    return import_id


def paid(made: Job, number: str, **more: Any) -> None:
    export_payout(made, number, "csv", made.path.with_name("payment"), **more)


NAMES = """
select
    entries.entry_no, entries.event || ' ' || coalesce(entries.document, '') as event,
    account || ' ' || coalesce(institutions.slug, merchants.name, '') || ' '
    || coalesce(item, '') || ' ' || amount::decimal(18, 2) as line
from journal_lines join journal_entries as entries using (entry_no)
left join institutions on institution_id = party_id left join merchants on merchant_id = party_id
order by all
"""
SOLD = """ref cardholder identifier amount
    T-1 cardholder-0000 M-bakery 20.00
    T-2 cardholder-0001 M-bakery 20.00
    T-3 cardholder-0002 M-butcher 20.00
    T-4 cardholder-0003 M-bakery 20.00
    T-5 cardholder-0004 M-bakery 20.00"""
ELSEWHERE = """ref cardholder identifier amount
    U-1 cardholder-0005 M-Café 20.00"""
NUMBER = "ALDER-2026-000001"
SECOND, THIRD = f"{NUMBER}-2", f"{NUMBER}-3"

STORY: list[tuple[str, Callable[[Job], object], str]] = [
    (
        "06-01",
        lambda made: bought(made, "alder", SOLD),
        """
        redeemed: commission:on_hold -1.43
        redeemed: institutions:on_hold alder -11.17
        redeemed: merchants:on_hold bakery 8.80
        redeemed: merchants:on_hold butcher 3.80
        """,
    ),
    (
        "06-02",
        lambda made: reverse("T-2", "broken", made),
        """
        reversed: commission:on_hold 0.20
        reversed: institutions:on_hold alder 2.00
        reversed: merchants:on_hold bakery -2.20
        """,
    ),
    (
        "06-05",
        settle_due,
        """
        settled: commission:on_hold 1.23
        settled: commission:revenue -1.23
        settled: institutions:on_hold alder 9.17
        settled: institutions:open alder -9.17
        settled: merchants:on_hold bakery -6.60
        settled: merchants:on_hold butcher -3.80
        settled: merchants:unbilled bakery 6.60
        settled: merchants:unbilled butcher 3.80
        """,
    ),
    (
        "06-06",
        lambda made: reverse("T-1", "broken", made),
        """
        reversed: commission:on_hold 0.20
        reversed: institutions:on_hold alder 2.00
        reversed: merchants:on_hold bakery -2.20
        """,
    ),
    (
        "06-07",
        settle_due,
        """
        deducted: commission:on_hold -0.20
        deducted: commission:revenue 0.20
        deducted: institutions:on_hold alder -2.00
        deducted: institutions:open alder 2.00
        deducted: merchants:on_hold bakery 2.20
        deducted: merchants:unbilled bakery -2.20
        """,
    ),
    (
        "07-01",
        lambda made: close_all(made, "2026-06"),
        """
        statement_closed ALDER-2026-000001: institutions:due alder ALDER-2026-000001 -7.17
        statement_closed ALDER-2026-000001: institutions:open alder 7.17
        """,
    ),
    (
        "07-01",
        lambda made: close_invoices(made, "2026-06"),
        """
        invoice_closed INV-2026-000001: merchants:billed butcher INV-2026-000001 3.80
        invoice_closed INV-2026-000001: merchants:unbilled butcher -3.80
        invoice_closed INV-2026-000002: merchants:billed bakery INV-2026-000002 4.40
        invoice_closed INV-2026-000002: merchants:unbilled bakery -4.40
        """,
    ),
    (
        "07-02",
        lambda made: paid(made, NUMBER),
        """
        payment_exported ALDER-2026-000001: institutions:due alder ALDER-2026-000001 7.17
        payment_exported ALDER-2026-000001: payments:under_way alder ALDER-2026-000001 -7.17
        """,
    ),
    (
        "07-03",
        lambda made: bank_says(made, f"{NUMBER},rejected,7.17,GBP,2026-07-03,AC04,B-1"),
        """
        payment_undone ALDER-2026-000001: institutions:due alder ALDER-2026-000001 -7.17
        payment_undone ALDER-2026-000001: payments:under_way alder ALDER-2026-000001 7.17
        """,
    ),
    (
        "07-03",
        lambda made: paid(made, NUMBER, again="new account"),
        """
        payment_exported ALDER-2026-000001-2: institutions:due alder ALDER-2026-000001 7.17
        payment_exported ALDER-2026-000001-2: payments:under_way alder ALDER-2026-000001-2 -7.17
        """,
    ),
    (
        "07-04",
        lambda made: bank_says(made, f"{SECOND},booked,7.17,GBP,2026-07-04,,B-2"),
        """
        booked ALDER-2026-000001-2: bank -7.17
        booked ALDER-2026-000001-2: payments:under_way alder ALDER-2026-000001-2 7.17
        """,
    ),
    (
        "07-05",
        lambda made: bank_says(made, f"{SECOND},returned,7.00,GBP,2026-07-05,AC04,B-3"),
        """
        payment_undone ALDER-2026-000001-2: institutions:due alder ALDER-2026-000001 -7.17
        payment_undone ALDER-2026-000001-2: payments:under_way alder ALDER-2026-000001-2 7.17
        returned ALDER-2026-000001-2: bank 7.00
        returned ALDER-2026-000001-2: payments:under_way alder ALDER-2026-000001-2 -7.00
        """,
    ),
    (
        "07-06",
        lambda made: bank_says(made, "RENT,booked,100.00,GBP,2026-07-06,,B-4"),
        """
        not_explained ENTRY: bank -100.00
        not_explained ENTRY: suspense ENTRY 100.00
        """,
    ),
    (
        "07-07",
        lambda made: bought(made, "brook", ELSEWHERE),
        """
        redeemed: commission:on_hold -0.36
        redeemed: institutions:on_hold brook -1.03
        redeemed: merchants:on_hold Café 1.39
        """,
    ),
    (
        "07-07",
        lambda made: undo_import(newest_import(made), "other bank", made),
        """
        reversed: commission:on_hold 0.36
        reversed: institutions:on_hold brook 1.03
        reversed: merchants:on_hold Café -1.39
        """,
    ),
    (
        "07-08",
        lambda made: back(made, "alder", "R-1,T-3,20.00,2026-07-08T09:00:00Z"),
        """
        reversed: commission:on_hold 0.63
        reversed: institutions:on_hold alder 3.17
        reversed: merchants:on_hold butcher -3.80
        """,
    ),
    (
        "07-09",
        settle_due,
        """
        deducted: commission:on_hold -0.63
        deducted: commission:revenue 0.63
        deducted: institutions:on_hold alder -3.17
        deducted: institutions:open alder 3.17
        deducted: merchants:on_hold butcher 3.80
        deducted: merchants:unbilled butcher -3.80
        """,
    ),
    ("08-01", lambda made: close_all(made, "2026-07"), ""),
    (
        "08-01",
        lambda made: close_invoices(made, "2026-07"),
        """
        invoice_closed CN-2026-000001: merchants:billed butcher INV-2026-000001 -3.80
        invoice_closed CN-2026-000001: merchants:unbilled butcher 3.80
        """,
    ),
    (
        "08-02",
        lambda made: paid(made, NUMBER, again="another account"),
        """
        payment_exported ALDER-2026-000001-3: institutions:due alder ALDER-2026-000001 7.17
        payment_exported ALDER-2026-000001-3: payments:under_way alder ALDER-2026-000001-3 -7.17
        """,
    ),
    (
        "08-02",
        lambda made: withdraw_payout(made, NUMBER, "old account"),
        """
        payment_undone ALDER-2026-000001-3: institutions:due alder ALDER-2026-000001 -7.17
        payment_undone ALDER-2026-000001-3: payments:under_way alder ALDER-2026-000001-3 7.17
        """,
    ),
    ("08-03", lambda made: bank_says(made, "RENT,booked,100.00,GBP,2026-07-06,,B-4"), ""),
    (
        "08-03",
        lambda made: received(made, "3.00", "Invoice INV-2026-000002, with thanks"),
        """
        received ENTRY: bank 3.00
        received ENTRY: merchants:billed bakery INV-2026-000002 -3.00
        """,
    ),
    (
        "08-03",
        lambda made: set_invoice(made, "INV-2026-000002", tax="0.88"),
        """
        tax_set INV-2026-000002: merchants:billed bakery INV-2026-000002 0.88
        tax_set INV-2026-000002: tax:passed_through -0.88
        """,
    ),
    ("08-03", lambda made: set_invoice(made, "INV-2026-000002", legal_number="RE-4711"), ""),
    (
        "08-03",
        lambda made: set_invoice(made, "INV-2026-000002", tax="0.50"),
        """
        tax_set INV-2026-000002: merchants:billed bakery INV-2026-000002 -0.38
        tax_set INV-2026-000002: tax:passed_through 0.38
        """,
    ),
    ("08-03", lambda made: set_invoice(made, "INV-2026-000002", tax="0.50"), ""),
    (
        "08-03",
        lambda made: set_invoice(made, "INV-2026-000002", tax="0"),
        """
        tax_set INV-2026-000002: merchants:billed bakery INV-2026-000002 -0.50
        tax_set INV-2026-000002: tax:passed_through 0.50
        """,
    ),
    (
        "08-03",
        lambda made: set_invoice(made, "CN-2026-000001", tax="0.76"),
        """
        tax_set CN-2026-000001: merchants:billed butcher INV-2026-000001 -0.76
        tax_set CN-2026-000001: tax:passed_through 0.76
        """,
    ),
    (
        "08-03",
        lambda made: set_invoice(made, "INV-2026-000001", tax="0.76"),
        """
        tax_set INV-2026-000001: merchants:billed butcher INV-2026-000001 0.76
        tax_set INV-2026-000001: tax:passed_through -0.76
        """,
    ),
    (
        "08-03",
        lambda made: received(made, "3.00", "INV-2026-000002", kind="camt.054"),
        "",
    ),
    (
        "08-03",
        lambda made: received(made, "2.00", "INV-2026-000001 INV-2026-000002", ref="R-2"),
        """
        not_explained ENTRY: bank 2.00
        not_explained ENTRY: suspense ENTRY -2.00
        """,
    ),
    (
        "08-03",
        lambda made: settle_elsewhere(made, "INV-2026-000002", "0.10", "write-off", "small"),
        """
        write_off INV-2026-000002: merchants:billed bakery INV-2026-000002 -0.10
        write_off INV-2026-000002: settled_elsewhere bakery 0.10
        """,
    ),
    (
        "08-04",
        lambda made: allocated(made, "2.00", "INV-2026-000001=0.75", "INV-2026-000002=1.25"),
        """
        allocated ENTRY: merchants:billed bakery INV-2026-000002 -1.25
        allocated ENTRY: merchants:billed butcher INV-2026-000001 -0.75
        allocated ENTRY: suspense ENTRY 2.00
        """,
    ),
    (
        "08-05",
        lambda made: allocated(made, "2.00", "INV-2026-000002=1.25", "suspense=0.75"),
        """
        allocated ENTRY: merchants:billed butcher INV-2026-000001 0.75
        allocated ENTRY: suspense ENTRY -0.75
        """,
    ),
    (
        "08-05",
        lambda made: allocated(made, "3.00", "suspense=3.00"),
        """
        allocated ENTRY: merchants:billed bakery INV-2026-000002 3.00
        allocated ENTRY: suspense ENTRY -3.00
        """,
    ),
    (
        "08-06",
        lambda made: allocated(made, "3.00", "INV-2026-000002=3.00"),
        """
        allocated ENTRY: merchants:billed bakery INV-2026-000002 -3.00
        allocated ENTRY: suspense ENTRY 3.00
        """,
    ),
    (
        "08-06",
        lambda made: allocated(made, "2.00", "suspense=2.00"),
        """
        allocated ENTRY: merchants:billed bakery INV-2026-000002 1.25
        allocated ENTRY: suspense ENTRY -1.25
        """,
    ),
]
"""The day, what is done then, and the lines that it posts, each behind its event and document."""


def posted(store: Store) -> list[str]:
    """Return the lines of the journal; the id of an entry of a bank is `ENTRY`."""
    rows = select(store, NAMES)
    lines = [" ".join(f"{event.strip()}: {line}".split()) for _, event, line in rows]
    return [re.sub(UUID, "ENTRY", line) for line in lines]


UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def newest_import(made: Job) -> str:
    ((import_id,),) = found(made, "select cast(max_by(import_id, import_no) as text) from imports")
    return str(import_id)


@once
def told(folder: Path) -> Job:
    """Make the store in which all of the story was done."""
    made = at_home(folder)
    for day, act, _ in STORY:
        act(on(made, day))
    return made


def test_each_act_posts_what_it_did(made: Job) -> None:
    """rules.md#double-entry-journal"""
    expected: list[str] = []
    for day, act, lines in STORY:
        act(on(made, day))
        expected += [line.strip() for line in lines.strip().splitlines()]
        with made.store(read_only=True) as store:
            assert expected == posted(store), (day, lines)
            check(store)


# Any acts in any order


class Accounts(Counter[tuple[Any, ...]]):
    """The balance of each account, party, item and currency."""

    def add(self, name: str, party: Any, item: str | None, currency: str, amount: Decimal) -> None:
        self[name, party, item, currency] += amount  # type: ignore[assignment]


def expected_balances(store: Store) -> dict[tuple[Any, ...], Decimal]:
    """Return what each account must come to, reckoned from the tables of what was done."""
    sums = Accounts()
    for bank, shop, currency, amounts, is_held, stands in select(store, LEDGER):
        funded, commission, payout = amounts
        for account, to, party, amount in (
            ("merchants", "unbilled", shop, funded),
            ("institutions", "open", bank, -payout),
            ("commission", "revenue", None, -commission),
        ):
            sums.add(f"{account}:on_hold", party, None, currency, is_held * amount)
            sums.add(f"{account}:{to}", party, None, currency, stands * amount)
    for shop, item, currency, amount in select(store, INVOICED):
        sums.add("merchants:unbilled", shop, None, currency, -amount)
        sums.add("merchants:billed", shop, item, currency, amount)
    for shop, item, currency, tax in select(store, TAXED):
        sums.add("merchants:billed", shop, item, currency, tax)
        sums.add("tax:passed_through", None, None, currency, -tax)
    for shop, item, currency, amount in select(store, ELSEWHERE_SETTLED):
        sums.add("merchants:billed", shop, item, currency, -amount)
        sums.add("settled_elsewhere", shop, None, currency, amount)
    for bank, number, currency, amount in select(store, STATED):
        sums.add("institutions:open", bank, None, currency, amount)
        sums.add("institutions:due", bank, number, currency, -amount)
    said, shops = select(store, ALLOCATED), dict(select(store, SHOPS_OF))
    for _, item, entry_id, amount in select(store, RECEIPTS):
        newest = max((run for run, entry, *_ in said if entry == entry_id), default=0)
        parts = {number: part for run, _, number, part in said if run == newest}
        for number, part in (parts or {item or "suspense": amount}).items():
            account = "suspense" if number == "suspense" else "merchants:billed"
            own = entry_id if number == "suspense" else number
            sums.add(account, shops.get(number), own, "GBP", -part)
        sums.add("bank", None, None, "GBP", amount)
    add_payments(store, sums)
    return {key: amount for key, amount in sums.items() if amount}


def add_payments(store: Store, sums: Accounts) -> None:
    """Add what left the bank and came back, and what is under way."""
    said, named = select(store, SAID), set()
    for bank, number, payment, currency, amount, is_withdrawn in select(store, PAYMENTS):
        named.add(payment)
        of_it = [(status, moved) for name, status, _, moved in said if name == payment]
        kinds = [status for status, _ in of_it]
        came_back = {"rejected", "returned"} & {*kinds}
        is_undone = is_withdrawn or (came_back and kinds.count("booked") <= kinds.count("returned"))
        waits = Decimal(0) if is_undone else amount
        left = sum(LEFT.get(status, 0) * moved for status, moved in of_it)
        sums.add("institutions:due", bank, number, currency, waits)
        sums.add("payments:under_way", bank, payment, currency, left - waits)
        sums.add("bank", None, None, currency, -left)
    for name, status, entry_id, moved in said:
        if name not in named and status in LEFT:
            sums.add("bank", None, None, "GBP", -LEFT[status] * moved)
            sums.add("suspense", None, entry_id, "GBP", LEFT[status] * moved)


LEFT = {"booked": 1, "returned": -1}
"""What an entry of a bank adds to what left, by its status; others move nothing."""
LEDGER = """
select
    entries.institution_id, entries.merchant_id, entries.currency,
    [
        entries.merchant_funded_amount, entries.commission_amount,
        entries.institution_payout_amount
    ],
    case
        when status = 'pending' then 1
        when adjustments.redemption_no is not null and adjustments.settlement_no is null then -1
        else 0
    end,
    entries.settlement_no is not null and adjustments.settlement_no is null
from ledger_entries as entries left join adjustments using (redemption_no)
"""
INVOICED = "select merchant_id, coalesce(amends, number), currency, amount from invoices"
TAXED = """
select merchant_id, coalesce(amends, number), currency, arg_max(tax, legal_invoices.run_no)
from legal_invoices join invoices using (number) where tax is not null
group by number, merchant_id, amends, currency
"""
ELSEWHERE_SETTLED = """
select merchant_id, number, currency, invoice_settlements.amount
from invoice_settlements join invoices using (number)
"""
STATED = "select institution_id, number, currency, payable from statements"
SAID = """
select payment_id, status, cast(entry_id as text), amount from bank_entries
where status <> 'booked' or direction = 'debit'
"""
RECEIPTS = """
select merchant_id, number, cast(entry_id as text), bank_entries.amount
from bank_entries left join invoices on number = payment_id
where status = 'booked' and direction = 'credit' and message = 'camt.053'
"""
ALLOCATED = "select run_no, cast(entry_id as text), number, amount from bank_allocations"
SHOPS_OF = "select number, merchant_id from invoices"
PAYMENTS = """
select institution_id, number, payment_id, currency, amount, withdrawn_at is not null from payouts
"""
BALANCES = """
select account, party_id, item, currency, sum(amount) from journal_lines
group by all having sum(amount) <> 0
"""


def check(store: Store) -> None:
    """Hold the journal against what its accounts must come to, and against its own audits."""
    balances = {tuple(key): amount for *key, amount in select(store, BALANCES)}
    assert expected_balances(store) == balances
    for audit in ("journal_balances", "journal_is_what_was_done"):
        assert (0, None) == offending(store, audit), audit


CHOSEN = (
    "select payment_id from payouts order by all",
    "select transaction_ref from purchases order by all",
    "select number from statements where payable > 0 order by all",
)


def any_act(made: Job, chance: random.Random, number: int) -> None:
    """Do something that may move money, where it can be done."""

    with made.store(read_only=True) as store:
        rows = [select(store, sql) for sql in CHOSEN]
    payment, ref, statement = (chance.choice(each)[0] if each else "RENT" for each in rows)
    bank, day = chance.choice(BANKS), made.now.date()
    bought_now = "\n".join(
        f"{number}-{row} cardholder-000{chance.randrange(HOLDERS)} M-{chance.choice(SHOPS)} 20.00"
        for row in range(chance.randint(1, 4))
    )
    amount = chance.choice(["7.17", "100.00", "0.40"])
    chance.choice(
        [
            *[lambda: bought(made, bank, f"ref cardholder identifier amount\n{bought_now}")] * 4,
            lambda: reverse(ref, "broken", made),
            *[lambda: settle_due(made)] * 3,
            lambda: back(made, bank, f"R-{number},{ref},20.00,{day}T00:00:00Z"),
            lambda: undo_import(newest_import(made), "other bank", made),
            *[lambda: close_all(made, "last-month")] * 2,
            lambda: close_invoices(made, "last-month"),
            *[lambda: paid(made, statement)] * 2,
            lambda: paid(made, statement, again="came back"),
            lambda: withdraw_payout(made, statement, "old account"),
            *[
                lambda status=status: bank_says(  # type: ignore[misc]
                    made, f"{payment},{status},{amount},GBP,{day},,B-{number}"
                )
                for status in ("booked", "returned", "rejected", "booked")
            ],
        ]
    )()


@slow
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_whatever_is_done_the_journal_is_what_was_done(made: Job, seed: int) -> None:
    """Acts of three months in any order; one that is refused posts nothing."""
    chance, before = random.Random(seed), list[str]()  # noqa: S311
    for number in range(ACTS):
        made = replace(made, now=made.now + timedelta(days=chance.randint(0, 7)))
        is_done = True
        try:
            any_act(made, chance, number)
        except CardoffersError:
            is_done = False
        with made.store(read_only=True) as store:
            check(store)
            lines = posted(store)
        assert is_done or before == lines
        before = lines


# What others read


@pytest.fixture
def done(tmp_path: Path) -> Job:
    return told(tmp_path)


def shown(made: Job, *words: object) -> str:
    clock = ("--store", made.path, "--as-of", "2026-08-03T12:00:00Z")
    return cardoffers(*words, *clock).stdout


def balance(made: Job, *words: object) -> list[dict[str, Any]]:
    text = shown(made, "report", "trial-balance", *words, "--format", "json")
    return list(json.loads(text, parse_float=Decimal))


@slow
@pytest.mark.parametrize("by", [[], ["--by", "party"]], ids=["accounts", "parties"])
def test_the_trial_balance_closes_as_the_next_month_opens(done: Job, by: list[str]) -> None:
    months = [
        {(row["account"], row["party"]): row for row in balance(done, "--period", period, *by)}
        for period in ("2026-06", "2026-07", "2026-08")
    ]
    for row in (row for month in months for row in month.values()):
        moved = Decimal(row["debit"]) - Decimal(row["credit"])
        assert Decimal(row["opening"]) + moved == Decimal(row["closing"]), row
    for month, after in pairwise(months):
        opened = {key: row["opening"] for key, row in after.items() if Decimal(row["opening"])}
        assert {
            key: row["closing"] for key, row in month.items() if Decimal(row["closing"])
        } == opened
    assert ("institutions:due", "alder" if by else None) in months[1]


@slow
def test_an_institution_has_its_own_accounts(done: Job) -> None:
    own = {f"institutions:{each}" for each in ("on_hold", "open", "due")} | {"payments:under_way"}
    assert own == {row["account"] for row in balance(done, "-i", "alder")}


@slow
def test_a_trial_balance_that_does_not_balance_is_a_finding(done: Job) -> None:
    with done.store() as store:
        select(store, "update journal_lines set amount = amount + 1 where account = 'bank'")
    ended = cardoffers("report", "trial-balance", "--store", done.path, exit_code=3)
    assert "The journal does not balance: GBP 5.00 too much." in ended.stderr


RECEIVABLES = """
more as_of      number          amount received settled open  state   days age
-    2026-08-03 INV-2026-000001 0.00   0.00     0.00    0.00  paid    -    -
-    2026-08-03 INV-2026-000002 4.40   3.00     0.10    1.30  part    3    0
-    2026-08-29 INV-2026-000002 4.40   3.00     0.10    1.30  part    29   0
-    2026-08-30 INV-2026-000002 4.40   3.00     0.10    1.30  part    30   30
-    2026-10-28 INV-2026-000002 4.40   3.00     0.10    1.30  part    89   60
-    2026-10-29 INV-2026-000002 4.40   3.00     0.10    1.30  part    90   90
-    2027-10-29 INV-2026-000002 4.40   3.00     0.10    1.30  part    455  90
1.30 2026-10-29 INV-2026-000002 4.40   4.30     0.10    0.00  settled -    -
1.31 2026-10-29 INV-2026-000002 4.40   4.31     0.10    -0.01 over    -    -
"""


@slow
@pytest.mark.parametrize("row", read(RECEIVABLES), ids=lambda row: f"{row['as_of']} {row['open']}")
def test_an_invoice_is_open_until_it_is_paid(tmp_path: Path, row: dict[str, str | None]) -> None:
    made = told(tmp_path / "told")
    if row["more"]:
        received(on(made, "08-04"), str(row["more"]), "inv INV-2026-000002", ref="R-3")
    words = ("--store", made.path, "--as-of", row["as_of"], "--format", "json")
    text = cardoffers("report", "receivables", "-i", "alder", *words).stdout
    listed = json.loads(text, parse_float=str)
    (of_invoice,) = (each for each in listed if each["number"] == row["number"])
    names = ("amount", "received_amount", "settled_amount", "open_amount", "state", "days_overdue")
    names += ("age",)
    assert [*row.values()][3:] == [
        None if of_invoice[name] is None else str(of_invoice[name]) for name in names
    ]
    assert [] == json.loads(cardoffers("report", "receivables", "-i", "brook", *words).stdout)


@slow
@pytest.mark.parametrize("period", ["2026-06", "2026-07", "2026-08"])
def test_beancount_accepts_the_export(done: Job, period: str) -> None:
    file = done.path.with_name("books.beancount")
    shown(done, "export", "journal", "--period", period, "--form", "beancount", "-o", file)
    assert "" == bean_check(file)
    file.write_text(re.sub(r"( balance \S+  -?)", r"\g<1>9", file.read_text(), count=1))
    assert "Balance failed" in bean_check(file)


def bean_check(file: Path) -> str:
    """Return what Beancount has to say against a file."""
    program = Path(sysconfig.get_path("scripts")) / "bean-check"
    return subprocess.run([program, file], capture_output=True, text=True, check=False).stderr


ACCOUNTS = "".join(f'"{name}" = "{4000 + number}"\n' for number, name in enumerate(BEANCOUNT))


def exported(made: Job, form: str, accounts: str = ACCOUNTS, **more: Any) -> list[dict[str, str]]:
    """Return the rows of an export for June, with the codes of accounts."""
    codes, file = made.path.with_name("accounts.toml"), made.path.with_name("journal.csv")
    codes.write_text(accounts)
    words = ["--period", "2026-06", "--form", form, "--accounts", codes, "-o", file]
    ended = cardoffers("export", "journal", *words, "--store", made.path, **more)
    if ended.exit_code:
        return [{"stderr": ended.stderr}]
    return [*csv.DictReader(file.read_text(encoding="utf-8").splitlines())]


@slow
def test_the_table_has_the_sums_of_the_trial_balance(done: Job) -> None:
    rows = exported(done, "csv")
    for account in balance(done, "--period", "2026-06"):
        of_account = [row for row in rows if row["account"] == account["account"]]
        for side in ("debit", "credit"):
            assert Decimal(account[side]) == sum(Decimal(row[side]) for row in of_account)
    assert {"4003": "institutions:on_hold"} == {
        row["account_code"]: row["account"] for row in rows if row["account_code"] == "4003"
    }
    assert exported(done, "csv") == rows


@slow
def test_xero_has_signed_amounts_that_come_to_zero(done: Job) -> None:
    rows = exported(done, "xero", ACCOUNTS.replace('"4000"', '{code = "610", tax_code = "NONE"}'))
    assert ["Narration", "Date", "Description", "AccountCode", "TaxRate", "Amount"] == [*rows[0]]
    entries = Counter[str]()
    for row in rows:
        entries[row["Narration"]] += Decimal(row["Amount"])  # type: ignore[assignment]
    assert {Decimal(0)} == {*entries.values()}
    assert {("610", "NONE")} == {
        (row["AccountCode"], row["TaxRate"]) for row in rows if row["TaxRate"]
    }


@slow
@pytest.mark.parametrize(
    ("expected", "accounts"),
    [
        ("has no code for bank, suspense.", "".join(ACCOUNTS.splitlines(keepends=True)[:-2])),
        ("cannot be read as accounts", "bank = 1200"),
        ("cannot be read as accounts", "bank 1200"),
    ],
)
def test_accounts_without_a_code_are_refused(done: Job, expected: str, accounts: str) -> None:
    assert expected in exported(done, "csv", accounts, exit_code=None)[0]["stderr"]
