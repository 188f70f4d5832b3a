"""The files of statements and invoices: the page has the numbers of the CSV and of the JSON."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.documents import closing, exporting
from cardoffers_cli.documents.kinds import INVOICE, STATEMENT
from cardoffers_cli.river.redemptions import reverse
from cardoffers_cli.river.settlements import settle_due
from settled import redeem_in
from sizes import slow
from tables import read, select, uid
from work import found, new_store, once, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

FUNDED, COMMISSION, PAYOUT = (
    *("merchant_funded_amount", "commission_amount"),
    "institution_payout_amount",
)
TITLES = {FUNDED: "funded", COMMISSION: "commission", PAYOUT: "payout"}
"""What the page calls an amount of a line."""
STATED = ("carried_in", "entries", "adjustments", "carried_out", "payable")
COMMISSION_OF_EACH = """
update ledger_entries
set commission_amount = 0.15, merchant_funded_amount = institution_payout_amount + 0.15
"""


def day(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-{text}")


@once
def earned(folder: Path) -> Job:
    """Make a store with a June of thousands, and a July that takes one of June back."""
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery\nbutcher",
        offers="offer merchant cashback rate\nA bakery 1234.50 0\nB butcher 2.00 0",
        links="cardholder offer\nann A\nann B",
    )
    for on, offers in (("06-02", "offer\nA\nA\nB\nA"), ("07-02", "offer\nB\nA\nB\nB")):
        with made.store() as store:
            redeem_in(store, day(on), read(offers))
            select(store, COMMISSION_OF_EACH)
    settle_due(replace(made, now=day("06-10")))
    reverse(str(uid("redemption 2")), "returned", replace(made, now=day("07-03")))
    settle_due(replace(made, now=day("07-10")))
    return made


@pytest.fixture
def made(tmp_path: Path) -> Job:
    made = replace(earned(tmp_path), now=day("12-31"))
    for month in ("2026-06", "2026-07"):
        closing.close_statement(made, "alder", month)
        closing.close_invoices(made, month)
    return made


class Page(HTMLParser):
    """The tables of a page, as rows of the texts of their cells, and all of its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002 - of the parser
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self.tables[-1][-1].append("")
        if tag != "span":  # which sets thousands apart
            self.text += " "

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.tables and self.tables[-1] and self.tables[-1][-1]:
            self.tables[-1][-1][-1] += data

    @property
    def lines(self) -> list[dict[str, str]]:
        """The rows of its last table, by the titles of their columns."""
        header, *rows = self.tables[-1]
        titles = [title.strip().lower() for title in header]
        return [dict(zip(titles, row, strict=True)) for row in rows]

    def has(self, number: Any) -> bool:
        """Whether a number stands on the page, alone."""
        alone = rf"(?<![\d.-]){re.escape(str(number))}(?![\d.]\d)"
        return re.search(alone, _plain(self.text)) is not None


def _plain(text: str) -> str:
    return text.replace("\u2212", "-").replace("\u00a0", " ").replace(",", "")


def number(text: str) -> Decimal:
    """Read an amount as the page writes it."""
    return Decimal(re.sub(r"[^\d.-]", "", _plain(text)))


def written(
    opened: Any, folder: Path, name: str
) -> tuple[Any, list[dict[str, str]], dict[str, str], Page]:
    """Write a document in its three forms, and read each; its lines and its head apart."""
    exporting.export(opened, folder, exporting.FORMS, mode=0o600)
    document = json.loads((folder / f"{name}.json").read_text(), parse_float=Decimal)
    with (folder / f"{name}.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    with (folder / f"{name}.head.csv").open(newline="") as file:
        head = {row["name"]: row["value"] for row in csv.DictReader(file)}
    return document, lines, head, Page((folder / f"{name}.html").read_text())


def amounts(rows: Any, names: tuple[str, ...]) -> list[tuple[Decimal, ...]]:
    return [tuple(Decimal(str(row[name])) for name in names) for row in rows]


def of_lines(page: Page, names: tuple[str, ...]) -> list[tuple[Decimal, ...]]:
    return [tuple(number(line[TITLES[name]]) for name in names) for line in page.lines]


@pytest.mark.parametrize("name", ["ALDER-2026-000001", "ALDER-2026-000002"])
def test_the_numbers_of_a_statement_are_those_of_its_files(
    made: Job, tmp_path: Path, name: str
) -> None:
    """rules.md#statements"""
    with exporting.open_document(made, STATEMENT, name) as opened:
        document, lines, head, page = written(opened, tmp_path, name)
    names = (FUNDED, COMMISSION, PAYOUT)
    assert amounts(document["lines"], names) == amounts(lines, names) == of_lines(page, names)
    assert sum(each[-1] for each in of_lines(page, names)) == (
        document["entries"] + document["adjustments"]
    )
    assert [document[each] for each in STATED] == [Decimal(head[each]) for each in STATED]
    assert [] == [each for each in STATED if not page.has(document[each])]
    assert not page.has(document["entries"] + 1)
    assert len(lines) == document["entry_count"] + document["adjustment_count"]


@slow
def test_the_numbers_of_an_invoice_are_those_of_its_files(made: Job, tmp_path: Path) -> None:
    """rules.md#invoices"""
    numbers = [each for (each,) in found(made, "select number from invoices order by 1")]
    assert 5 == len(numbers), "two of each month, and a credit note"
    for name in numbers:
        with exporting.open_document(made, INVOICE, name) as opened:
            document, lines, head, page = written(opened, tmp_path, name)
            expected = amounts(document["lines"], (FUNDED,))
        assert expected == amounts(lines, (FUNDED,)) == of_lines(page, (FUNDED,))
        assert document["amount"] == sum(each for (each,) in expected)
        assert str(document["amount"]) == head["amount"]
        assert page.has(document["amount"])
        assert page.has(document["line_count"])
        assert len(lines) == document["line_count"]
