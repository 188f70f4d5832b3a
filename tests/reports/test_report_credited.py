"""`report redemptions` says whether each was credited, where an institution sends credited rows."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import fastexcel
import polars as pl
import pytest

from cardoffers_cli.credits.work import reconcile
from cardoffers_cli.kernel.words.row_kinds import CREDITS
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from commands import seen
from sizes import slow
from tables import NOON
from work import found, new_store, once, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

CREDITED = """transaction_ref,amount,status,credited_at,credit_ref
p1,5.00,credited,2026-06-03T06:00:00Z,c1
p2,5.00,credited,2026-06-03T06:00:00Z,c2
p2,5.00,credited,2026-06-04T06:00:00Z,c3
p3,5.00,credited,2026-06-03T06:00:00Z,c4
p3,5.00,reversed,2026-06-05T06:00:00Z,c5
"""
TOLD = {
    "p5": (None, None, None),
    "p4": ("not_credited", "0.00", None),
    "p3": ("not_credited", "0.00", "2026-06-03T06:00:00.000Z"),
    "p2": ("credited_twice", "10.00", "2026-06-04T06:00:00.000Z"),
    "p1": ("credited", "5.00", "2026-06-03T06:00:00.000Z"),
    "q1": (None, None, None),
}
"""What is said of each, p5 being made after the last reconciliation, q1 of who credits nothing."""
NAMES = ("verdict", "credited_amount", "credited_at")


@once
def redeemed(folder: Path) -> Job:
    """Make a store in which alder redeemed p1 to p4, and brook q1."""
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder\nbrook",
        merchants="merchant\nbakery",
        offers="offer merchant cashback rate\nA bakery 5.00 0",
        links="institution offer\nalder A\nbrook A",
        purchases="ref merchant institution\n"
        + "".join(f"p{number} bakery alder\n" for number in range(1, 5))
        + "q1 bakery brook",
    )
    with made.store() as store:
        decide(store, made)
    return made


@once
def credited(folder: Path) -> Job:
    """Let some of it be credited and reconciled, and another be redeemed after that."""
    made = replace(redeemed(folder), now=NOON + timedelta(days=9))
    file = folder / "credited.csv"
    file.write_text(CREDITED)
    import_file(str(file), "alder", made, ImportOptions(kind=CREDITS), outputs=Outputs())
    reconcile(made)
    tell(made, purchases="ref merchant institution\np5 bakery alder")
    with made.store() as store:
        decide(store, made)
    return made


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return credited(tmp_path)


@pytest.fixture
def report(cardoffers: Any) -> Any:
    """Return what `report redemptions` writes."""

    def ask(made: Job, *words: object) -> str:
        ended = cardoffers("report", "redemptions", "--store", made.path, *words)
        assert 0 == ended.exit_code, ended.stderr
        return str(ended.stdout)

    return ask


def of_refs(rows: Any) -> dict[str, tuple[Any, ...]]:
    """Return what rows say of each reference; nothing as None."""
    return {row["transaction_ref"]: tuple(row.get(name) or None for name in NAMES) for row in rows}


def rows_of_json(text: str) -> list[Any]:
    return list(json.loads(text, parse_float=str)["data"])


def rows_of_csv(text: str, delimiter: str = ",") -> list[Any]:
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


READ = {
    "json": rows_of_json,
    "jsonl": lambda text: [json.loads(line, parse_float=str) for line in text.splitlines()],
    "csv": rows_of_csv,
    "tsv": lambda text: rows_of_csv(text, "\t"),
}


@slow
@pytest.mark.parametrize("pages", ["--all", "--limit=9"])
@pytest.mark.parametrize("form", READ)
def test_each_redemption_says_whether_it_was_credited(
    report: Any, made: Job, form: str, pages: str
) -> None:
    assert TOLD == of_refs(READ[form](report(made, "--format", form, pages)))


def test_a_page_says_it_too_wherever_it_begins(report: Any, made: Job) -> None:
    words = ("--format", "json", "--limit", 3)
    first = report(made, *words)
    cursor = json.loads(first)["pagination"]["next_cursor"]
    second = report(made, *words, "--cursor", cursor)
    assert TOLD == of_refs([*rows_of_json(first), *rows_of_json(second)])


def test_files_say_it_and_come_to_the_same_sum(report: Any, made: Job, tmp_path: Path) -> None:
    for suffix in ("parquet", "xlsx"):
        report(made, "--all", "-o", tmp_path / f"all.{suffix}")
    parquet = pl.read_parquet(tmp_path / "all.parquet")
    sheet = fastexcel.read_excel(tmp_path / "all.xlsx").load_sheet(0).to_polars()
    verdicts = {ref: told[0] for ref, told in TOLD.items()}
    for frame in (parquet, sheet):
        assert verdicts == dict(frame.select("transaction_ref", "verdict").rows())
        assert Decimal(15) == frame["credited_amount"].sum()


@slow
def test_people_read_it(report: Any, made: Job) -> None:
    for form in ("table", "md", "html"):
        shown = report(made, "--format", form).lower()
        for words in ("credited_twice", "10.00", "amount credited"):
            assert words in shown.replace("\\", ""), form
    screen = seen("report", "redemptions", "--store", made.path, columns=120, NO_COLOR="1")
    assert "credited_twice" in screen


@pytest.mark.parametrize("form", ["table", "tsv", "csv", "json", "jsonl", "md", "html"])
def test_who_sends_no_credited_rows_sees_nothing_of_it(
    report: Any, made: Job, form: str, tmp_path: Path
) -> None:
    words = ("-i", "brook", "--format", form, "--as-of", "2026-06-10T00:00:00Z")
    (tmp_path / "before").mkdir()
    before = redeemed(tmp_path / "before")
    assert report(before, *words) == report(made, *words)


def test_what_came_and_is_not_reconciled_yet_is_not_told(report: Any, tmp_path: Path) -> None:
    made = redeemed(tmp_path)
    file = tmp_path / "credited.csv"
    file.write_text(CREDITED)
    import_file(str(file), "alder", made, ImportOptions(kind=CREDITS), outputs=Outputs())
    header, *_ = report(made, "--format", "csv").splitlines()
    assert not set(NAMES) & {*header.split(",")}


def test_each_verdict_is_the_newest(report: Any, made: Job, tmp_path: Path) -> None:
    later = replace(made, now=NOON + timedelta(days=30))
    file = tmp_path / "later.csv"
    file.write_text(f"{CREDITED.splitlines()[0]}\np4,5.00,credited,2026-06-20T06:00:00Z,c6\n")
    import_file(str(file), "alder", later, ImportOptions(kind=CREDITS), outputs=Outputs())
    reconcile(later)
    told = of_refs(rows_of_json(report(later, "--format", "json", "-i", "alder")))
    expected = {
        **TOLD,
        "p5": ("not_credited", "0.00", None),
        "p4": ("credited", "5.00", "2026-06-20T06:00:00.000Z"),
    }
    assert {ref: expected[ref] for ref in told} == told
    assert 2 == len(found(later, "select run_no from reconciliations"))
