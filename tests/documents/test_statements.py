"""Statements: closed once, whole, in order, the same for ever, and with the rest the ledger."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import duckdb
import fastexcel
import polars as pl
import pytest

from approving import approved
from browser import browser, shown
from cardoffers_cli.documents import closing, exporting
from cardoffers_cli.documents.kinds import STATEMENT, StatementLine
from cardoffers_cli.documents.questions import document_rows, show_document
from cardoffers_cli.documents.verifying import verify
from cardoffers_cli.kernel.sheets.exports import csv_lines
from cardoffers_cli.kernel.sheets.sheets import Sheet, columns_of
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.store.statements import statements
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.kernel.words.periods import Period
from cardoffers_cli.river.redemptions import reverse, reverse_redemption
from cardoffers_cli.river.settle import settle
from cardoffers_cli.river.settlements import settle_due
from cardoffers_cli.storage.doctor import offending
from cardoffers_cli.storage.stores import init
from settled import redeem_in
from sizes import FULL, at_the_gate, slow, tries
from tables import put, read, select, uid
from work import found, fresh_store, job, new_store, next_run, once, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

AUDITS = [*statements("documents/audits")]


def day(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-{text}")


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return two_months(tmp_path)


@once
def two_months(folder: Path) -> Job:
    """Make a store whose June has three entries, whose July takes two back and has one more.

    July comes to less than nothing: 2.00 - 2 x 3.00. Brook has nothing at all.
    """
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder\nbrook",
        merchants="merchant\nbakery\nbutcher",
        offers='offer merchant cashback rate\n=A,"1" bakery 3.00 0.1\nB butcher 2.00 0',
        links='cardholder offer\nann =A,"1"\nann B',
    )
    redeem(made, "06-02", 'offer\n=A,"1"\n=A,"1"\nB')
    settle_due(replace(made, now=day("06-10")))
    redeem(made, "07-01", "offer\nB")
    for number in (1, 2):
        reverse(str(uid(f"redemption {number}")), "returned", replace(made, now=day("07-03")))
    settle_due(replace(made, now=day("07-10")))
    return made


def redeem(made: Job, on: str, table: str) -> None:
    """Write redemptions of a day whose hold ends at once."""
    with made.store() as store:
        redeem_in(store, day(on), read(table))


def close(made: Job, period: str, on: str = "12-31", institution: str = "alder") -> Any:
    return closing.close_statement(replace(made, now=day(on)), institution, period)


AMOUNTS = ("carried_in", "entries", "adjustments", "carried_out", "payable")


def amounts(statement: Any) -> str:
    return " ".join(str(statement[name]) for name in AMOUNTS)


def test_months_carry_what_is_below_zero(made: Job) -> None:
    june, july = close(made, "2026-06"), close(made, "2026-07")
    redeem(made, "08-02", "offer\nB\nB\nB")
    settle_due(replace(made, now=day("08-10")))
    august = close(made, "2026-08")
    told = [f"{each.number} {amounts(each)}" for each in (june, july, august)]
    assert [
        "ALDER-2026-000001 0.00 8.00 0.00 0.00 8.00",
        "ALDER-2026-000002 0.00 2.00 -6.00 -4.00 0.00",
        "ALDER-2026-000003 -4.00 6.00 0.00 0.00 2.00",
    ] == told
    assert [(None, None), (june.number, june.sha256), (july.number, july.sha256)] == [
        (each.previous_number, each.previous_sha256) for each in (june, july, august)
    ]
    assert [True] * 3 == [each.ok for each in verify(made, STATEMENT)]


def test_closing_again_changes_nothing_and_answers_the_same(made: Job) -> None:
    first = close(made, "2026-06", "07-05")
    tables = ("statements", "closed_settlements", "runs")
    before = [found(made, f"from {name} order by all") for name in tables]
    assert first == close(made, "2026-06")
    assert before == [found(made, f"from {name} order by all") for name in tables]


def test_an_empty_month_is_a_statement_too(made: Job) -> None:
    first, second = (close(made, month, institution="brook") for month in ("2026-06", "2026-07"))
    assert ("0.00 0.00 0.00 0.00 0.00", 0) == (amounts(second), second.entry_count)
    assert ("BROOK-2026-000001", first.sha256) == (second.previous_number, second.previous_sha256)
    assert first.sha256 != second.sha256


@pytest.mark.parametrize(
    ("code", "period", "on"),
    [
        ("period_out_of_order", "2026-05", "12-31"),
        ("period_out_of_order", "2026-08", "12-31"),
        ("period_not_ended", "2026-07", "07-31T23:59:59"),
        (None, "2026-07", "08-01"),
        (None, "last-month", "08-20"),
    ],
)
def test_a_period_is_closed_when_it_has_ended_and_in_its_turn(
    made: Job, code: str | None, period: str, on: str
) -> None:
    close(made, "2026-06")
    if code is None:
        assert "ALDER-2026-000002" == close(made, period, on).number
        return
    with pytest.raises(Refused) as refused:
        close(made, period, on)
    assert (code, True) == (refused.value.code, "2026-07" in str(refused.value.hint))
    assert [(1,)] == found(made, "select count(*) from statements")


@pytest.mark.parametrize(
    ("is_closed", "machine", "as_of"),
    [
        (True, "08-01", "08-01"),
        (True, "09-20", "08-01"),
        (True, "08-01", "12-31"),
        (False, "07-20", "12-31"),
        (False, "07-31T23:59:59", "08-01"),
        (False, "12-31", "07-31T23:59:59"),
    ],
)
def test_a_month_has_ended_by_both_clocks(
    made: Job, is_closed: bool, machine: str, as_of: str
) -> None:
    by_machine = replace(made, machine=lambda _: day(machine))
    settle_due(replace(by_machine, now=day("12-31")))  # whatever ran before
    with nullcontext() if is_closed else pytest.raises(Refused, match="has not ended"):
        close(by_machine, "2026-07", as_of)


@pytest.mark.parametrize("is_rehearsal", [False, True])
def test_in_a_rehearsal_the_clock_of_the_run_alone_counts(
    tmp_path: Path, is_rehearsal: bool
) -> None:
    made = replace(job(tmp_path / "store.duckdb", day("12-01")), machine=lambda _: day("11-24"))
    init(made, rehearsal=is_rehearsal)
    tell(made, institutions="institution\nalder")
    with nullcontext() if is_rehearsal else pytest.raises(Refused, match="has not ended"):
        closing.close_statement(made, "alder", "2026-11")
    settle_due(made)
    ((machine_at,),) = found(made, "select max_by(machine_at, run_no) from runs")
    assert machine_at == (day("12-01") if is_rehearsal else day("11-24"))


@pytest.mark.parametrize("text", ["2026", "2026-13", "2026-1", "2026-10-01", "october", ""])
def test_what_is_no_month_is_refused(made: Job, text: str) -> None:
    with pytest.raises(UsageError) as refused:
        close(made, text)
    assert "period_invalid" == refused.value.code


@pytest.mark.parametrize(
    ("expected", "text", "now"),
    [
        ("2026-10-01 2026-11-01", "2026-10", "2026-01-01"),
        ("2026-12-01 2027-01-01", "2026-12", "2026-01-01"),
        ("2025-12-01 2026-01-01", "last-month", "2026-01-01"),
        ("2026-02-01 2026-03-01", "last-month", "2026-03-31T23:59:59.999"),
    ],
)
def test_a_period_is_a_month(expected: str, text: str, now: str) -> None:
    period = Period.of(text, datetime.fromisoformat(now))
    assert expected == f"{period.from_at:%Y-%m-%d} {period.to_at:%Y-%m-%d}"


@slow
def test_numbers_begin_anew_with_a_year(made: Job) -> None:
    late = replace(made, now=datetime(2027, 6, 1))  # noqa: DTZ001
    numbers = [
        closing.close_statement(late, "alder", period).number
        for period in ("2026-11", "2026-12", "2027-01", "2027-02")
    ]
    assert "2026-000001 2026-000002 2027-000001 2027-000002".split() == [
        number.removeprefix("ALDER-") for number in numbers
    ]
    assert all(each.ok for each in verify(made, STATEMENT))


@slow
def test_what_was_settled_late_comes_onto_the_next(made: Job) -> None:
    close(made, "2026-06")
    redeem(made, "06-03", "offer\nB")
    settle_due(replace(made, now=day("06-20")))
    assert "0.00 4.00 -6.00 -2.00 0.00" == amounts(close(made, "2026-07"))
    assert [0] * len(AUDITS) == faults(made)


def faults(made: Job) -> list[int]:
    with made.store(read_only=True) as store:
        return [offending(store, name)[0] for name in AUDITS]


def test_a_dry_run_and_a_preview_write_nothing(made: Job) -> None:
    ahead = replace(made, now=day("06-20"))
    seen = closing.preview(ahead, "alder", "2026-06")
    dry = closing.close_statement(replace(made, now=day("07-20")), "alder", "2026-06", dry_run=True)
    assert [(0, 0)] == found(made, COUNTS)
    closed = close(made, "2026-06", "07-20")
    assert amounts(closed) == amounts(seen) == amounts(dry)
    assert (closed.sha256, True) == (dry.sha256, dry.dry_run)
    again = closing.preview(ahead, "alder", "2026-06")
    assert (closed.number, amounts(closed)) == (again.number, amounts(again))


def test_a_preview_says_what_settle_should_have_taken(made: Job) -> None:
    redeem(made, "07-20", "offer\nB\nB")
    seen = closing.preview(replace(made, now=day("08-02")), "alder", "2026-07")
    assert (2, 2, "4.00") == (seen.overdue_count, seen.pending_count, str(seen.pending))


@slow
def test_all_are_closed_each_for_itself(made: Job) -> None:
    close(made, "2026-06")
    close(made, "2026-08", institution="brook")
    told = closing.close_all(replace(made, now=day("09-01")), "2026-07")
    assert [
        ("alder", "closed", "ALDER-2026-000002", None),
        ("brook", "refused", None, "period_out_of_order"),
    ] == [(each.institution, each.state, each.number, each.code) for each in told]
    again = closing.close_all(replace(made, now=day("09-01")), "2026-07")
    assert ["closed_before", "refused"] == [each.state for each in again]


def test_statements_are_listed_and_found_by_number(made: Job) -> None:
    numbers = [close(made, month).number for month in ("2026-06", "2026-07")]
    close(made, "2026-06", institution="brook")
    rows, in_all = document_rows(made, STATEMENT, "alder", limit=1)
    assert ([numbers[1]], 2) == ([each.number for each in rows], in_all)
    shown_one = show_document(made, STATEMENT, numbers[0].lower())
    assert [(3, 0, "8.00")] == [
        (each.entries, each.adjustments, str(each.institution_payout_amount))
        for each in shown_one.settlements
    ]
    with pytest.raises(NotFound):
        show_document(made, STATEMENT, "ALDER-2026-000009")


FINDINGS = """
insert into reconciliation_verdicts by name select
    institution_id, 'redemption' as subject, redemption_no as subject_no, 1 as run_no,
    'not_credited' as code, uuid() as finding_id, currency, institution_payout_amount as amount,
    0 as credited_amount, 0 as moved_amount, 0 as credited_rows, created_at as since_at
from ledger_entries where settlement_no = 1
"""


@pytest.mark.parametrize(
    ("expected", "approvals", "limit", "month"),
    [
        ("findings_open", "off", "null", "2026-06"),
        ("findings_open", "off", "7.99", "2026-06"),
        ("approval_required", "on", "7.99", "2026-06"),
        ("approval_required", "on", "null", "2026-06"),
        (None, "off", "8.00", "2026-06"),
        (None, "on", "8.00", "2026-06"),
        (None, "off", "null", "2026-05"),
    ],
)
def test_open_findings_above_the_limit_keep_a_month_open(
    made: Job, expected: str | None, approvals: str, limit: str, month: str
) -> None:
    setting = f"update institutions set approvals = '{approvals}', approval_limit = {limit}"  # noqa: S608
    with made.store() as store:
        select(store, FINDINGS)
        select(store, setting)
    if expected is None:
        assert "ALDER-2026-000001" == close(made, month).number
        return
    with pytest.raises(Refused) as refused:
        close(made, month)
    assert expected == refused.value.code
    assert [(0, 0)] == found(made, COUNTS)
    told = closing.close_all(replace(made, now=day("12-31")), month)
    assert [expected, None] == [each.code for each in told]
    if expected == "approval_required":
        assert [(1,)] == found(made, "select count(*) from approvals")  # asked for once
        approved(replace(made, now=day("12-31")))
        assert "ALDER-2026-000001" == close(made, month).number


COUNTS = "select (select count(*) from statements), (select count(*) from closed_settlements)"

# Files


def exported(made: Job, folder: Path, number: str, *forms: str) -> dict[str, bytes]:
    folder.mkdir(exist_ok=True)
    with exporting.open_document(made, STATEMENT, number) as opened:
        exporting.export(opened, folder, forms or exporting.FORMS, mode=0o600)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_the_same_statement_makes_the_same_bytes(made: Job, tmp_path: Path) -> None:
    closed = close(made, "2026-07")
    first = exported(made, tmp_path / "one", closed.number)
    close(made, "2026-08")
    redeem(made, "07-20", "offer\nB")
    settle_due(made)
    assert first == exported(made, tmp_path / "two", closed.number)
    name, head = f"{closed.number}.csv", first[f"{closed.number}.head.csv"]
    assert closed.sha256 == hashlib.sha256(head + first[name]).hexdigest()
    assert (
        f"{hashlib.sha256(first[name]).hexdigest()}  {name}\n".encode() == first[f"{name}.sha256"]
    )


def test_the_files_of_a_statement_say_the_same(made: Job, tmp_path: Path) -> None:
    close(made, "2026-06")
    closed = close(made, "2026-07")
    files = exported(made, tmp_path / "out", closed.number)
    document = json.loads(files[f"{closed.number}.json"], parse_float=Decimal)
    lines = rows_of(files[f"{closed.number}.csv"])
    head = {row["name"]: row["value"] for row in rows_of(files[f"{closed.number}.head.csv"])}
    # what a line says is the same in both, and each file adds up
    sheet = Sheet.of(StatementLine, "lines", document["lines"])
    assert [*csv_lines(sheet)] == files[f"{closed.number}.csv"].decode().splitlines(keepends=True)
    assert ["adjustment", "adjustment", "entry"] == sorted(row["kind"] for row in lines)
    told = {name: str(value) for name, value in document.items() if name in head}
    assert told | {"from": head["from"], "to": head["to"]} == head
    assert {*AMOUNTS} < {*head}
    paid = sum(Decimal(row["institution_payout_amount"]) for row in lines)
    carried_in, _, _, carried_out, payable = (Decimal(head[name]) for name in AMOUNTS)
    assert carried_in + paid == carried_out + payable
    page = files[f"{closed.number}.html"].decode()
    for name in AMOUNTS:
        assert f"GBP {document[name]}" in page.replace("\u00a0", " ")
    assert closed.sha256 in page


@pytest.mark.parametrize(("month", "kinds"), [("2026-05", []), ("2026-06", ["entry"] * 3)])
def test_any_program_reads_the_lines_as_a_table(
    made: Job, tmp_path: Path, month: str, kinds: list[str]
) -> None:
    closed = close(made, month)
    exported(made, tmp_path / "out", closed.number)
    path = tmp_path / "out" / f"{closed.number}.csv"
    frame = pl.read_csv(path)
    names = [*(column.name for column in columns_of(StatementLine))]
    assert (kinds, names) == (frame["kind"].to_list(), frame.columns)
    assert [(kind,) for kind in kinds] == duckdb.sql(f"select kind from '{path}'").fetchall()  # noqa: S608
    assert kinds == [row["kind"] for row in rows_of(path.read_bytes())]


def test_a_statement_is_a_workbook(made: Job, tmp_path: Path) -> None:
    closed = close(made, "2026-06")
    exported(made, tmp_path / "out", closed.number, "xlsx")
    book = fastexcel.read_excel(tmp_path / "out" / f"{closed.number}.xlsx")
    assert ["statement", "lines"] == book.sheet_names
    lines = book.load_sheet("lines").to_polars()
    assert [2.0, 3.0, 3.0] == sorted(lines["institution_payout_amount"])


def test_an_offer_s_name_in_the_file_is_no_formula(made: Job, tmp_path: Path) -> None:
    closed = close(made, "2026-06")
    content = exported(made, tmp_path / "out", closed.number)[f"{closed.number}.csv"].decode()
    offers = {row["offer_id"] for row in csv.DictReader(io.StringIO(content))}
    assert {'\'=A,"1"', "B"} == offers


def test_a_line_says_of_which_purchase_it_is_and_stays_so(made: Job, tmp_path: Path) -> None:
    with made.store() as store:
        select(store, "update offer_texts set title = 'A pie, \"1\"' where offer_id = 'B'")
        select(store, "delete from offer_texts where offer_id <> 'B'")
        select(
            store,
            "update redemptions set transaction_ref = '=T-' || redemption_no,"
            " purchase_amount = 40 + redemption_no, purchased_at = '2026-05-30 23:59:59'",
        )
    closed = close(made, "2026-06")
    before = exported(made, tmp_path / "one", closed.number)
    names = ("transaction_ref", "purchased_on", "purchase_amount", "merchant_name", "offer_title")
    expected = [
        ("'=T-1", "2026-05-30", "41.00", "bakery", ""),
        ("'=T-2", "2026-05-30", "42.00", "bakery", ""),
        ("'=T-3", "2026-05-30", "43.00", "butcher", 'A pie, "1"'),
    ]
    lines = rows_of(before[f"{closed.number}.csv"])
    assert expected == sorted(tuple(line[name] for name in names) for line in lines)
    assert expected == sorted(
        tuple(str(line[name] or "").replace("=T", "'=T") for name in names)
        for line in json.loads(before[f"{closed.number}.json"], parse_float=str)["lines"]
    )
    with made.store() as store:
        select(store, "update cardholders set cardholder_token = 'gone' || cardholder_no")
        select(store, "update instruments set instrument_token = 'gone' || instrument_no")
        select(store, "update merchants set name = 'Another'")
        select(store, "update offer_texts set title = 'Another'")
        select(store, "delete from recent_purchases")
    assert before == exported(made, tmp_path / "two", closed.number)
    assert [(closed.number, True)] == [(each.number, each.ok) for each in verify(made, STATEMENT)]


@at_the_gate
def test_the_page_of_a_statement_prints_on_paper(made: Job, tmp_path: Path) -> None:
    """A browser takes seconds to start. No line is cut, and each page of lines has its header."""
    redeem(made, "06-03", "offer\n" + "B\n" * 200)
    settle_due(replace(made, now=day("06-20")))
    closed = close(made, "2026-06")
    exported(made, tmp_path / "out", closed.number)
    with browser() as opened, shown(opened, tmp_path / "out" / f"{closed.number}.html") as page:
        printed = page.page.pdf(prefer_css_page_size=True)
        page.page.emulate_media(media="print")
        cut = page.page.evaluate(
            "[...document.querySelectorAll('tbody tr')].filter("
            "row => getComputedStyle(row).breakInside != 'avoid').length"
        )
        headers = page.page.evaluate(
            "[...document.querySelectorAll('thead')].every("
            "head => getComputedStyle(head).display == 'table-header-group')"
        )
        wide = page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert (b"%PDF", 0, True, True) == (printed[:4], cut, headers, wide)


# Verification


@pytest.mark.parametrize(
    ("says", "harm"),
    [
        ("entries says", "update statements set entries = entries + 1, payable = payable + 1"),
        ("entry_count says", "update statements set entry_count = 7"),
        ("carried_in is", "update statements set carried_in = -1 where place = 2"),
        ("not the sum of the rest", "update statements set payable = 7 where place = 1"),
        ("another statement", "update statements set previous_number = 'X' where place = 2"),
        ("is another by now", "update statements set sha256 = 'x' where place = 1"),
        ("another digest", "update statements set sha256 = 'x' where place = 1"),
        ("does not begin where", "update statements set from_at = '2026-07-02' where place = 2"),
        ("does not follow", "update statements set place = 3 where place = 2"),
        ("another digest", "update ledger_entries set institution_payout_amount = 2.01"),
        ("entries says", "update journal_lines set amount = 2 * amount"),
        ("another digest", "update ledger_entries set commission_amount = 0.01"),
        ("another digest", "update adjustments set created_at = created_at - interval 1 second"),
        ("entries says", "delete from closed_settlements"),
    ],
)
def test_what_was_changed_is_found(made: Job, says: str, harm: str) -> None:
    close(made, "2026-06")
    close(made, "2026-07")
    with made.store() as store:
        select(store, harm)
    told = [
        text for each in verify(made, STATEMENT, institution="alder") for text in each.differences
    ]
    assert any(says in text for text in told), told
    with pytest.raises(NotFound):
        verify(made, STATEMENT, "ALDER-2026-000009")


# Simulated months, held against plain code

MONTHS = 10_000 if FULL else tries(4, 60)
MONTHS_OF_ONE = min(MONTHS, 10)


@pytest.mark.parametrize("seed", range(-(-MONTHS // MONTHS_OF_ONE)))
def test_whatever_happens_statements_and_what_is_open_are_the_ledger(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311
    with fresh_store(tmp_path) as store:
        Simulated(store, chance).run()


class Simulated:
    """Months of one institution, and what plain code makes of them.

    An item is what pays or takes back: [amount, when it was settled, the number of its statement].
    """

    def __init__(self, store: Store, chance: random.Random) -> None:
        self.store, self.chance = store, chance
        self.items: list[list[Any]] = []
        self.pending: dict[int, Decimal] = {}
        self.settled: dict[int, Decimal] = {}
        self.deducted: list[Decimal] = []
        self.carried = Decimal(0)
        put(store, "institutions", [{"institution": "alder"}])
        put(store, "merchants", [{"merchant": "bakery"}])
        offers = [{"offer": f"O{n}", "merchant": "bakery", "cashback": f"{n}.00"} for n in (1, 3)]
        put(store, "offers", offers)
        put(store, "links", [{"cardholder": "ann", "offer": each["offer"]} for each in offers])
        redeem_in(store, day("01-01"), [{"offer": each["offer"]} for each in offers])
        self.last = 2
        self.pending |= {1: Decimal(1), 2: Decimal(3)}

    def run(self) -> None:
        period, now = Period.at(day("01-01")), day("01-01")
        for _ in range(MONTHS_OF_ONE):
            closed_on = period.to_at + timedelta(days=self.chance.randrange(12))
            while now < closed_on:
                self.happen(now)
                self.balance()
                now += timedelta(days=self.chance.randrange(1, 9))
            now = max(now, period.to_at)
            self.close(period, now)
            self.balance()
            assert [0] * len(AUDITS) == [offending(self.store, name)[0] for name in AUDITS]
            period = period.after

    def happen(self, now: datetime) -> None:
        for event in self.chance.choices([self.redeem, self.settle, self.reverse], k=2):
            event(now)

    def redeem(self, now: datetime) -> None:
        """Redeem some more: copies of the first two, which is quick."""
        for price in self.chance.choices([1, 3], k=self.chance.randrange(1, 4)):
            self.last += 1
            of = f"{self.last} as redemption_no, '{now}' as created_at"
            first = f"where redemption_no = {1 if price == 1 else 2}"
            redemption_id = f"'{uid(f'redemption {self.last}')}' as redemption_id"
            state = "'pending' as status, null as settled_at, null as settlement_no"
            again = f"null as reversed_at, null as reversal_reason, '{now}' as settles_at"
            for table, more in (
                ("redemptions", redemption_id),
                ("ledger_entries", f"{state}, {again}"),
            ):
                copied = f"select * replace ({of}, {more}) from {table} {first}"  # noqa: S608 - ours
                select(self.store, f"insert into {table} {copied}")
            self.pending[self.last] = Decimal(price)

    def settle(self, now: datetime) -> None:
        """Settle now or, late, as of some days ago; never before what it takes was made."""
        ((newest,),) = select(
            self.store,
            "select max(happened) from (select created_at as happened from ledger_entries union all"
            " select created_at from adjustments union all select settled_at from settlements)",
        )
        back = now - timedelta(days=self.chance.choice([0, 0, 0, 20]))
        at = max(back, newest) if newest else back
        by = {"now": at, "actor": "tester"}
        with self.store.transaction(), run_record(self.store, kind="settle", **by) as run:
            settle(self.store, run_no=run.run_no, **by)
        self.items += [[amount, at, None] for amount in (*self.pending.values(), *self.deducted)]
        self.settled |= self.pending
        self.pending, self.deducted = {}, []

    def reverse(self, now: datetime) -> None:
        numbers = [*self.pending, *self.settled]
        if not numbers:
            return
        number = self.chance.choice(numbers)
        with self.store.transaction():
            reverse_redemption(
                self.store,
                str(uid(f"redemption {number}")),
                reason="returned",
                run_no=next_run(self.store, now),
                now=now,
                actor="tester",
            )
        if self.pending.pop(number, None) is None:
            self.deducted.append(-self.settled.pop(number))

    def close(self, period: Period, now: datetime) -> None:
        at = replace(job(), now=now)
        with self.store.transaction():
            next_run(self.store, now)
        with self.store.transaction():
            owner = find_institution(self.store, "alder")
            statement = closing.close_in(self.store, at, owner, period)
        taken = [item for item in self.items if item[2] is None and item[1] < period.to_at]
        for item in taken:
            item[2] = statement.number
        entries = sum((item[0] for item in taken if item[0] > 0), Decimal(0))
        adjustments = sum((item[0] for item in taken if item[0] < 0), Decimal(0))
        balance = self.carried + entries + adjustments
        expected = (self.carried, entries, adjustments, min(balance, 0), max(balance, 0))
        assert expected == tuple(statement[name] for name in AMOUNTS)
        self.carried = Decimal(min(balance, 0))

    def balance(self) -> None:
        """Whenever one looks, what statements say and what is open come to the ledger."""
        unstated = [item[0] for item in self.items if item[2] is None]
        open_ = sum([*unstated, *self.pending.values(), *self.deducted])
        assert [(open_,)] == select(
            self.store,
            "select coalesce((select sum(institution_payout_amount) from ledger_entries"
            " where status <> 'reversed'), 0)"
            " - coalesce((select sum(entries + adjustments) from statements), 0)",
        )
