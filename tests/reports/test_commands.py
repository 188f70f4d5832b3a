"""Reports as their readers see them, held against goldens.

To accept a change: `UPDATE_GOLDENS=1 pytest tests/reports/test_commands.py`, and read the
difference.
"""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import fastexcel
import polars as pl
import pytest
from rich.cells import cell_len

from cardoffers_cli.reports.questions import Filters, redemptions
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.redemptions import reverse_redemption
from cardoffers_cli.river.settle import settle
from commands import seen
from goldens import held
from sizes import one_in, slow
from tables import NOON, given, put, read
from work import job, new_store, next_run

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

FORMATS = ["table", "tsv", "csv", "json", "jsonl", "md"]
HOSTILE = '=Café \x1b[31m"Ü" [red]東京\u202e'
ACTS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e]")


def redeem(store: Store, days: int, merchant: str, *refs: str, **row: str) -> None:
    """Let purchases at a merchant redeem, days after noon."""
    put(store, "purchases", [{"ref": ref, "merchant": merchant, **row} for ref in refs])
    decide(store, job(now=NOON + timedelta(days=days)))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job on a store with redemptions of two currencies, on three days, one of them reversed."""
    made = new_store(tmp_path_factory.mktemp("reports"))
    with made.store() as store:
        given(store, "institutions", "institution currency\nalder GBP\nbrook KWD")
        put(store, "merchants", [{"merchant": name} for name in ("bakery", "cinema", HOSTILE)])
        dinar = {"offer": "D", "merchant": "bakery", "currency": "KWD", "cashback": "0.125"}
        hostile = {"offer": "007", "merchant": HOSTILE, "cashback": "2.50", "rate": "0.1"}
        put(store, "offers", [*read("offer merchant\nA bakery\nC cinema"), hostile, dinar])
        put(store, "texts", [{"offer": "007", "language": "en", "title": HOSTILE}])
        given(store, "links", "institution offer\nalder A\nalder C\nalder 007\nbrook D")
        redeem(store, 0, "bakery", "1", "2", "3")
        redeem(store, 0, HOSTILE, "0004")
        redeem(store, 1, "bakery", "=5", institution="brook", currency="KWD")
        redeem(store, 1, "cinema", "6", "7")
        redeem(store, 3, "bakery", "8")
        given(store, "purchases", "ref identifier\nlost 000000000000042")
        decide(store, job())
        (last,) = redemptions(store, Filters(), limit=1, cursor=None).rows
        at = NOON + timedelta(days=3)
        reverse_redemption(
            store,
            str(last["id"]),
            reason="returned",
            run_no=next_run(store),
            now=at,
            actor="tester",
        )
    return made


@pytest.fixture
def report(cardoffers: Any, made: Job) -> Any:
    """Ask for a report."""

    def ask(*words: object) -> Any:
        ended = cardoffers("report", *words, "--store", made.path)
        assert 0 == ended.exit_code, ended.stderr
        return ended

    return ask


@slow
@pytest.mark.parametrize("by", ["day", "offer", "merchant"])
@pytest.mark.parametrize("form", FORMATS)
def test_redemptions_are_counted_in_every_format(report: Any, by: str, form: str) -> None:
    held(f"redemptions-{by}.{form}", report("redemptions", "--by", by, "--format", form).stdout)


@slow
@pytest.mark.parametrize("by", ["day", "offer", "merchant"])
@pytest.mark.parametrize("looks", ["NO_COLOR=1", "TERM=dumb"])
@one_in(3)
def test_counts_have_bars_on_a_screen(made: Job, by: str, looks: str) -> None:
    name, value = looks.split("=")
    shown = seen("report", "redemptions", "--by", by, "--store", made.path, **{name: value})
    held(f"redemptions-{by}.screen", shown)
    assert not ACTS.search(shown)
    assert max(map(cell_len, shown.splitlines())) <= 80


@slow
def test_a_screen_in_colour_shows_the_same_words(made: Job) -> None:
    shown = seen("report", "redemptions", "--by", "offer", "--store", made.path, NO_COLOR="")
    assert "\x1b[1m" in shown
    held("redemptions-offer.screen", re.sub(r"\x1b\[[0-9;]*m", "", shown))


@slow
@pytest.mark.parametrize("by", ["offer", "merchant"])
def test_a_name_of_any_length_stays_within_the_screen(tmp_path: Path, by: str) -> None:
    made, long = new_store(tmp_path), "東" * 10_000
    with made.store() as store:
        given(store, "institutions", "institution\nalder")
        names = [long, "bakery", "cinema", "deli"]
        put(store, "merchants", [{"merchant": name} for name in names])
        put(store, "offers", [{"offer": name, "merchant": name} for name in names])
        put(store, "links", [{"offer": name} for name in names])
        for name in names:
            redeem(store, 0, name, name[:9])
    shown = seen("report", "redemptions", "--by", by, "--store", made.path, NO_COLOR="1")
    assert max(map(cell_len, shown.splitlines())) <= 80
    assert 10_000 == shown.count("東")


def test_counts_are_of_what_is_asked_for(report: Any) -> None:
    for words, counts in (
        ("-i brook", [1]),
        ("--status reversed", [1]),
        ("--to 2026-06-02", [3, 1]),
        ("--from 2026-06-03", [1]),
        ("--from 2026-06-05", []),
    ):
        asked = report("redemptions", "--by", "offer", "--format", "json", *words.split())
        assert counts == [row["redemptions"] for row in asked.document["data"]], words


def test_more_rows_than_the_limit_are_told_of(report: Any) -> None:
    asked = ("redemptions", "--by", "day", "--format", "json")
    few, whole = report(*asked, "--limit", 3), report(*asked, "--limit", 3, "--all")
    assert (3, 8) == (len(few.document["data"]), len(whole.document["data"]))
    assert ("There is more: --all for every row.\n", "") == (few.stderr, whole.stderr)
    assert "" == report(*asked, "--limit", 8).stderr


def test_counts_do_not_come_in_pages(cardoffers: Any, made: Job) -> None:
    words = ("report", "redemptions", "--by", "day", "--cursor", "AAAA", "--store", made.path)
    refused = cardoffers(*words, "--format", "json")
    assert (2, "--by and --cursor exclude each other.") == (
        refused.exit_code,
        refused.error["message"],
    )


# Files that people and tools open

EVERY = {
    "redemptions": "redemptions --all",
    "settlements": "settlements --all",
    "unresolved": "unresolved --all",
    "by day": "redemptions --by day",
    "by offer": "redemptions --by offer",
    "by merchant": "redemptions --by merchant",
    "funnel by day": "funnel -i alder --by day --from 2026-06-01 --to 2026-06-03",
    "funnel by offer": "funnel -i alder --by offer --from 2026-06-01 --to 2026-06-03",
    "funnel by merchant": "funnel -i alder --by merchant --from 2026-06-01 --to 2026-06-03",
}
NAMES = {"title", "merchant_name", "offer.title", "offer.merchant_name"}
KINDS = {
    "amount": pl.Decimal(18, 4),
    "at": pl.Datetime("us", "UTC"),
    "day": pl.Date(),
    "redemptions": pl.Int64(),
    "reversed": pl.Int64(),
    "purchases": pl.Int64(),
}
"""The type of a column in Parquet, by the last word of its name; ids and names are text."""


IDS = {"id", "redemption_id", "offer_id", "offer.id", "merchant_id", "settlement_id"}


@pytest.fixture(params=EVERY.values(), ids=EVERY)
def exported(request: pytest.FixtureRequest, report: Any, tmp_path: Path) -> Any:
    """Write a report to a file with some suffix."""

    def export(suffix: str) -> Path:
        path = tmp_path / f"report.{suffix}"
        report(*request.param.split(), "-o", path)
        return path

    return export


def test_no_cell_of_a_spreadsheet_is_a_formula(exported: Any) -> None:
    cells = [cell for row in csv.reader(io.StringIO(exported("csv").read_text())) for cell in row]
    book = fastexcel.read_excel(exported("xlsx"))
    frames = [book.load_sheet(name).to_polars() for name in book.sheet_names]
    cells += [str(cell) for frame in frames for row in frame.rows() for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_parquet_has_decimals_utc_and_every_character(exported: Any) -> None:
    frame = pl.read_parquet(exported("parquet"))
    expected = {name: KINDS.get(name.rpartition("_")[2]) for name in frame.columns}
    assert {name: kind for name, kind in expected.items() if kind} == {
        name: frame.schema[name] for name, kind in expected.items() if kind
    }
    for name in NAMES & set(frame.columns):
        assert HOSTILE in frame[name].to_list()


def test_a_workbook_has_the_rows_and_types_of_parquet(exported: Any) -> None:
    frame = pl.read_parquet(exported("parquet"))
    if "day" in frame.columns:  # people are not shown days of nothing
        counts = [name for name, kind in frame.schema.items() if kind.is_numeric()]
        frame = frame.filter(pl.any_horizontal(pl.col(counts) != 0))
    book = fastexcel.read_excel(exported("xlsx"))
    read_back = book.load_sheet(book.sheet_names[0]).to_polars()
    assert set(frame.columns) == set(read_back.columns)
    ids = [name for name in read_back.columns if name in IDS]
    assert ids == read_back.columns[len(read_back.columns) - len(ids) :]
    for name, kind in frame.schema.items():
        found = read_back[name]
        if kind.is_decimal() or kind.is_integer():
            assert list(map(float, frame[name])) == list(map(float, found))
        elif kind.is_temporal():
            assert frame[name].cast(pl.Datetime("us")).to_list() == found.to_list()


def test_ids_are_text_with_their_leading_zeros(report: Any, tmp_path: Path) -> None:
    for words, column, ids in (
        ("redemptions", "transaction_ref", {"0004", "1"}),
        ("settlements", "transaction_ref", {"0004", "1"}),
        ("redemptions --by offer", "offer_id", {"007"}),
        ("unresolved", "merchant_identifier", {"000000000000042"}),
    ):
        report(*words.split(), "-o", tmp_path / "ids.xlsx")
        frame = fastexcel.read_excel(tmp_path / "ids.xlsx").load_sheet(0).to_polars()
        assert ids <= set(frame[column]), words


@pytest.mark.parametrize(
    ("words", "name", "totals"),
    [
        (
            "redemptions --all",
            "redemptions totals",
            [("pending", "GBP", 6, 7.5), ("pending", "KWD", 1, 0.125), ("reversed", "GBP", 1, 1.0)],
        ),
        (
            "settlements --all",
            "settlements totals",
            [("GBP", "pending", 6, 7.5), ("GBP", "reversed", 1, 1.0), ("KWD", "pending", 1, 0.125)],
        ),
        (
            "redemptions --by day",
            "redemptions by day totals",
            [("GBP", 3, 8.5), ("KWD", 2, 0.125)],
        ),
    ],
)
def test_a_workbook_tells_what_its_money_comes_to(
    report: Any, tmp_path: Path, words: str, name: str, totals: list[tuple[Any, ...]]
) -> None:
    report(*words.split(), "-o", tmp_path / "money.xlsx")
    frame = fastexcel.read_excel(tmp_path / "money.xlsx").load_sheet(name).to_polars()
    money = ("merchant_funded_amount", "commission_amount", "purchase_amount")
    by_purchase = "purchase_day_payout_amount"
    assert totals == frame.drop(*money, by_purchase, strict=False).rows()


# Settlements with their sums, offers and merchants


SUMS = {
    "settlements-by-settlement": "settlements --by settlement",
    "settlements-by-institution": "settlements --by institution",
    "offers": "offers -i alder",
    "merchants": "merchants",
}


@pytest.fixture(scope="module")
def settled(made: Job) -> Job:
    """The same job, with what is due settled, and an entry that is reversed after it."""
    with made.store() as store:
        at = NOON + timedelta(days=4)
        settle(store, run_no=next_run(store), now=at, actor="tester")
        rows = redemptions(store, Filters(status="settled"), limit=9, cursor=None).rows
        last = str(rows[-1]["id"])
        reverse_redemption(store, last, reason="r", run_no=next_run(store), now=at, actor="tester")
    return made


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", SUMS)
def test_sums_are_shown_in_every_format(
    cardoffers: Any, settled: Job, name: str, form: str
) -> None:
    as_of = (NOON + timedelta(days=5)).isoformat() + "Z"
    words = ["report", *SUMS[name].split(), "--store", settled.path, "--as-of", as_of]
    ended = cardoffers(*words, "--format", form)
    assert 0 == ended.exit_code, ended.stderr
    held(f"{name}.{form}", ended.stdout)


@slow
@pytest.mark.parametrize("name", SUMS)
@one_in(2)
def test_sums_fit_on_a_screen_with_names_first_and_ids_last(settled: Job, name: str) -> None:
    as_of = (NOON + timedelta(days=5)).isoformat() + "Z"
    words = ["report", *SUMS[name].split(), "--store", settled.path, "--as-of", as_of]
    for columns in (80, 120):
        shown = seen(*words, columns=columns, NO_COLOR="1")
        assert max(map(cell_len, shown.splitlines())) <= columns
        header = next(line for line in shown.splitlines() if line.split())
        assert not header.split()[0].endswith("id")


def test_the_entries_of_one_settlement_are_found_by_the_beginning_of_its_id(
    cardoffers: Any, settled: Job
) -> None:
    listed = cardoffers("report", "settlements", "--by", "settlement", *at(settled))
    for row in listed.document["data"]:
        beginning = row["settlement_id"][:8]
        found = cardoffers("report", "settlements", "--settlement", beginning, *at(settled))
        assert row["entries"] == len(found.document["data"])
        assert {row["settlement_id"]} == {each["settlement_id"] for each in found.document["data"]}
    assert 5 == cardoffers("report", "settlements", "--settlement", "no", *at(settled)).exit_code


def at(made: Job) -> tuple[object, ...]:
    return ("--store", made.path, "--as-of", "2026-06-06", "--format", "json")


@pytest.mark.parametrize(
    ("exit_code", "words"),
    [
        (2, "settlements --by settlement --cursor x"),
        (2, "settlements --by settlement --status settled"),
        (2, "offers --from 2026-06-02 --to 2026-06-01"),
        (5, "merchants -i nobody"),
        (0, "merchants --from 2026-01-01 --to 2026-01-02"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    cardoffers: Any, settled: Job, exit_code: int, words: str
) -> None:
    assert exit_code == cardoffers("report", *words.split(), *at(settled)).exit_code


@pytest.mark.parametrize("report_name", ["offers", "merchants"])
def test_a_list_that_is_cut_says_so(cardoffers: Any, settled: Job, report_name: str) -> None:
    words = ["report", report_name, *at(settled)]
    assert "There is more: --all" in cardoffers(*words, "--limit", "1").stderr
    every = cardoffers(*words, "--all")
    assert "There is more" not in every.stderr
    assert len(every.document["data"]) > len(cardoffers(*words, "--limit", "1").document["data"])


def test_an_export_of_redemptions_has_the_purchase_and_the_merchant(
    cardoffers: Any, made: Job
) -> None:
    text = cardoffers("report", "redemptions", "--store", made.path, "--format", "csv").stdout
    (first, *_) = csv.DictReader(io.StringIO(text))
    added = ("purchase_amount", "transacted_at", "commission_amount", "merchant_id")
    assert tuple(list(first)[-4:]) == added
    assert all(first[name] for name in added)
    assert list(first)[:3] == ["id", "created_at", "institution"]  # scripts cut these out


def test_a_workbook_has_names_and_money_first_and_ids_last(report: Any, tmp_path: Path) -> None:
    report("redemptions", "-o", tmp_path / "r.xlsx")
    columns = (
        fastexcel.read_excel(tmp_path / "r.xlsx").load_sheet("redemptions").to_polars().columns
    )
    assert ["offer.merchant_name", "currency", "institution_payout_amount"] == columns[:3]
    assert ["id", "offer.id", "merchant_id"] == columns[-3:]
