"""Statements and invoices on A4, as a browser prints them: no line is cut, each sheet is numbered.

The browser takes seconds to start, and its PDF is read by `pdftotext` and `pdfinfo` of Poppler.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from datetime import datetime, timedelta
from decimal import Decimal
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

from browser import NAMES, QUIET, WRONG_FIGURES, rendered
from cardoffers_cli.documents.kinds import InvoiceLine, StatementLine, Subtotal
from cardoffers_cli.documents.page import COLUMNS, invoice_page, statement_page
from cardoffers_cli.kernel.sheets.pages import write_page
from cardoffers_cli.kernel.sheets.sheets import Sheet, columns_of
from sizes import at_the_gate
from tables import NOON, uid

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cardoffers_cli.kernel.sheets.pages import Page

LINES = 400
MARGIN = 40
"""Points that are kept free at each side: 15 mm are 42."""
TO = datetime(2026, 7, 1)  # noqa: DTZ001 - moments are naive UTC
PERIOD = {"from": datetime(2026, 6, 1), "to": TO, "currency": "GBP", "sha256": "a" * 64}  # noqa: DTZ001
BEFORE = {
    "previous_number": None,
    "previous_sha256": None,
    "tax_id": "GB 1",
    "tax_note": None,
    "issuer": "Card Offers Ltd",
    "pay_to": None,
    "is_rehearsal": False,
}


SUBTOTALS = [
    Subtotal(
        subject="A",
        offer_title="Breakfast",
        line_count=LINES,
        currency="GBP",
        amount=Decimal("12.50"),
    )
]


def lines() -> list[dict[str, Any]]:
    """Return lines whose references are long, each its own."""
    amounts = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")
    return [
        {
            "kind": "entry",
            "created_at": NOON + timedelta(minutes=number),
            "redemption_id": uid(f"redemption {number}"),
            "offer_id": f"groceries-{number:03}-and-more-of-them",
            "merchant_id": uid("bakery"),
            "settlement_id": uid("settlement"),
            "settled_at": NOON,
            "currency": "GBP",
            **dict.fromkeys(amounts, Decimal("123456.75")),
            "transaction_ref": f"summer-{number:03}-b413c0e961ff30e5",
            "purchased_on": NOON.date(),
            "purchase_amount": Decimal("1234567.25"),
            "merchant_name": "Bakery and coffee house of Larkmere",
            "offer_title": "Ten percent of every breakfast",
        }
        for number in range(LINES)
    ]


def a_statement() -> Page:
    nothing = Decimal("0.00")
    statement = {
        **PERIOD,
        **BEFORE,
        "number": "LARKMERE-2026-000001",
        "institution": "larkmere",
        "institution_id": uid("larkmere"),
        "entry_count": LINES,
        "adjustment_count": 0,
        "pending_count": 0,
        **dict.fromkeys(("carried_in", "adjustments", "carried_out", "pending"), nothing),
        **dict.fromkeys(("entries", "payable"), LINES * Decimal("123456.75")),
        "closed_at": TO,
        "actor": "tester",
    }
    sheet = Sheet("lines", columns_of(StatementLine, COLUMNS), lines())
    return statement_page(statement, sheet, SUBTOTALS, [])


def an_invoice() -> Page:
    invoice = {
        **PERIOD,
        **BEFORE,
        "number": "INV-2026-000001",
        "merchant_id": uid("bakery"),
        "merchant_name": "Bakery",
        "amends": None,
        "line_count": LINES,
        "amount": LINES * Decimal("123456.75"),
        "issued_on": TO.date(),
        "net_days": 30,
        "due_on": TO.date(),
        "closed_at": TO,
    }
    sheet = Sheet("lines", columns_of(InvoiceLine, COLUMNS), lines())
    return invoice_page(invoice, sheet, SUBTOTALS)


def a_credit_note() -> Page:
    """Return a note that names the invoice it amends."""
    head = {**PERIOD, **BEFORE, "number": "CN-2026-000001", "amends": "INV-2026-000001"}
    more = {"merchant_id": uid("bakery"), "merchant_name": "Bakery", "line_count": 1234}
    owed = {"amount": Decimal("-123456.75"), "net_days": 30}
    days = {"issued_on": TO.date(), "due_on": TO.date(), "closed_at": TO}
    sheet = Sheet("lines", columns_of(InvoiceLine, COLUMNS), lines())
    return invoice_page({**head, **more, **owed, **days}, sheet, [])


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (a_statement, "GBP 49,382,700.00"),
        (an_invoice, "due on 1 July 2026 net 30 days"),
        (a_credit_note, "lines 1,234"),
    ],
)
def test_days_and_numbers_read_as_such(make: Callable[[], Page], told: str) -> None:
    """Every invoice told a day of the year "2,026"."""
    out = BytesIO()
    write_page(make(), out)
    text = rendered(out.getvalue().decode())
    assert told in text.replace("\u00a0", " ")
    assert [] == WRONG_FIGURES.findall(text)


def printed(page: Page, folder: Path) -> list[str]:
    """Print a page on paper; return what Poppler says of the words of each sheet."""
    found = [
        next(filter(None, map(shutil.which, names)), None) for names in (NAMES, ("pdftotext",))
    ]
    if None in found:
        pytest.skip("no browser is installed, or no pdftotext")
    browser, reader = map(str, found)
    with (folder / "page.html").open("wb") as out:
        write_page(page, out)
    to = folder / "page.pdf"
    switches = ("--no-pdf-header-footer", f"--print-to-pdf={to}", f"--user-data-dir={folder}/own")
    subprocess.run(
        [browser, *QUIET, *switches, str(folder / "page.html")],
        check=True,
        capture_output=True,
        timeout=120,
    )
    said = subprocess.run([reader, "-bbox", str(to), "-"], check=True, capture_output=True)
    return said.stdout.decode().split("<page ")[1:]


WORD = re.compile(r'xMin="([\d.]+)" yMin="[\d.]+" xMax="([\d.]+)" yMax="[\d.]+">([^<]*)<')


@at_the_gate
@pytest.mark.parametrize("make", [a_statement, an_invoice])
def test_every_line_stands_whole_on_one_sheet(make: Callable[[], Page], tmp_path: Path) -> None:
    sheets = printed(make(), tmp_path)
    placed: dict[str, list[int]] = {}
    for number, sheet in enumerate(sheets):
        width = float(sheet.partition('width="')[2].partition('"')[0])
        words = WORD.findall(sheet)
        texts = [text for *_, text in words]
        assert MARGIN <= min(float(left) for left, *_ in words)
        assert width - MARGIN >= max(float(right) for _, right, _ in words)
        assert [str(number + 1), "/", str(len(sheets))] == texts[-3:]
        refs = re.findall(r"summer-(\d{3})", " ".join(texts))
        for ref in refs:
            placed.setdefault(ref, []).append(number)
        assert not refs or "Reference" in texts
        if "Lines" in texts:
            assert refs, "the title stands with its lines"
        assert len(refs) == sum(text.endswith("123,456.75") for text in texts) / 3 or not number
    assert LINES == len(placed)
    assert {1} == {len(on) for on in placed.values()}
