"""Terms of payment and tax fields: given once, judged as a catalogue row, and on what is closed."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.catalogue.importing import import_catalogue
from cardoffers_cli.catalogue.merchants import list_merchants
from cardoffers_cli.documents import exporting
from cardoffers_cli.documents.closing import close_invoices, close_statement
from cardoffers_cli.documents.kinds import INVOICE, STATEMENT
from cardoffers_cli.documents.verifying import verify
from cardoffers_cli.institutions.work import set_institution, show_institution
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.merchants.work import add_merchant, set_merchant
from cardoffers_cli.river.settlements import settle_due
from settled import redeem_in
from sizes import slow
from tables import read, select, uid
from work import found, new_store, once, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

DECEMBER = datetime(2026, 12, 31)  # noqa: DTZ001 - moments are naive UTC
TAX = {
    "tax_id": "GB 123 4567 89",
    "tax_note": '=Reverse charge, "Art. 196"',
    "address": "1 High Street, Larkmere LM1 1AA",
    "country": "GB",
}


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return replace(one_month(tmp_path), now=DECEMBER)


@once
def one_month(folder: Path) -> Job:
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant category\nbakery food",
        offers="offer merchant cashback\nO1 bakery 1.00",
        links="cardholder offer\nann O1",
    )
    june = datetime(2026, 6, 2)  # noqa: DTZ001
    with made.store() as store:
        redeem_in(store, june, read("offer\nO1"))
    settle_due(replace(made, now=june))
    return made


def terms(job: Job) -> tuple[object, ...]:
    (merchant,) = list_merchants(job)
    return tuple(merchant.get(name) for name in ("net_days", *TAX))


@slow
def test_terms_are_set_and_taken_away_and_the_old_ones_are_kept(made: Job) -> None:
    assert (None,) * 5 == terms(made)
    set_merchant(made, "bakery", {"net_days": "14", **TAX})
    assert (14, *TAX.values()) == terms(made)
    assert [] == set_merchant(made, "bakery", {"net_days": "14"}).changes
    set_merchant(made, "bakery", {"net_days": "0", "tax_id": "none"})
    assert (0, None, *[*TAX.values()][1:]) == terms(made)
    assert [("net_days", "14", "0"), ("tax_id", TAX["tax_id"], None)] == found(
        made,
        "select field, old_value, new_value from audit_log where subject = 'merchant'"
        " order by audit_no desc limit 2",
    )[::-1]


LONG = [{"tax_id": "x" * 201}, {"address": "x" * 201}, {"address": "a\nb"}]
COUNTRIES = [{"country": word} for word in ("gb", "UK", "XX", "GBR", "England")]


@pytest.mark.parametrize("cells", [{"net_days": "-1"}, {"net_days": "soon"}, *LONG, *COUNTRIES])
def test_terms_that_will_not_do_are_refused(made: Job, cells: dict[str, str | None]) -> None:
    with pytest.raises(UsageError):
        set_merchant(made, "bakery", cells)
    assert (None,) * 5 == terms(made)


def test_a_merchant_is_added_with_its_terms(made: Job) -> None:
    cells: dict[str, str | None] = {"name": "butcher", "category": "food", "net_days": "7"}
    assert 7 == add_merchant(made, cells).net_days


# expected, what a file says
FILES = [
    ((14, *TAX.values()), "merchant_id,name,category\n{id},bakery,food\n"),
    ((14, *TAX.values()), "merchant_id,name,category,net_days,tax_id\n{id},bakery,food,,\n"),
    ((21, *TAX.values()), "merchant_id,name,category,net_days\n{id},bakery,food,21\n"),
    (
        (14, None, *[*TAX.values()][1:]),
        "merchant_id,name,category,tax_id\n{id},bakery,food,none\n",
    ),
    (
        (14, *[*TAX.values()][:2], "2 Low Road", None),
        "merchant_id,name,category,address,country\n{id},bakery,food,2 Low Road,none\n",
    ),
]


@pytest.mark.parametrize(("expected", "text"), FILES)
def test_an_empty_cell_of_a_file_keeps_the_terms(
    made: Job, tmp_path: Path, expected: tuple[object, ...], text: str
) -> None:
    set_merchant(made, "bakery", {"net_days": "14", **TAX})
    file = tmp_path / "merchants.csv"
    file.write_text(text.format(id=uid("bakery")))
    import_catalogue(made, file)
    assert expected == terms(made)


def test_settings_of_an_institution_are_kept_too(made: Job) -> None:
    assert 7 == show_institution(made, "alder").credit_days
    set_institution(made, "alder", {"credit_days": "3", **TAX})
    shown = show_institution(made, "alder")
    assert (3, *TAX.values()) == (shown.credit_days, *(shown[name] for name in TAX))
    none = {"tax_note": "none", "country": "none"}
    set_institution(made, "alder", {"plan": "enterprise", **none})
    shown = show_institution(made, "alder")
    kept = {name: text for name, text in TAX.items() if name not in none}
    assert (3, kept) == (
        shown.credit_days,
        {name: shown[name] for name in TAX if shown.get(name) is not None},
    )


def written(made: Job, folder: Path) -> dict[str, str]:
    """Close the month, and return every file of both documents by its form."""
    number = close_statement(made, "alder", "2026-06").number
    (invoice,) = close_invoices(made, "2026-06").documents
    for kind, named in ((STATEMENT, number), (INVOICE, invoice.number)):
        with exporting.open_document(made, kind, named) as opened:
            exporting.export(opened, folder, exporting.FORMS, mode=0o600)
    return {
        f"{form} of {noun}": (folder / f"{named}.{form}").read_text()
        for noun, named in (("statement", number), ("invoice", invoice.number))
        for form in (*exporting.FORMS, "head.csv")
    }


@slow
def test_tax_fields_stand_unchanged_on_what_is_closed(made: Job, tmp_path: Path) -> None:
    set_merchant(made, "bakery", {"net_days": "14", **TAX})
    set_institution(made, "alder", TAX)
    files = written(made, tmp_path)
    others = {"tax_id": "another", "address": "elsewhere", "country": "FR"}
    set_merchant(made, "bakery", {"net_days": "1", **others})
    set_institution(made, "alder", others)
    assert files == written(made, tmp_path)
    for noun in ("statement", "invoice"):
        told = json.loads(files[f"json of {noun}"])
        assert TAX == {name: told[name] for name in TAX}
        assert '"\'=Reverse charge, ""Art. 196"""' in files[f"head.csv of {noun}"]
        for text in (TAX["tax_id"], TAX["address"]):
            assert text in files[f"html of {noun}"]
        assert f'address,"{TAX["address"]}"\ncountry,GB\n' in files[f"head.csv of {noun}"]
    assert all(each["ok"] for each in (*verify(made, STATEMENT), *verify(made, INVOICE)))


def test_who_has_none_has_the_bytes_of_before(made: Job, tmp_path: Path) -> None:
    assert not [
        name
        for name, text in written(made, tmp_path).items()
        if "tax_" in text or "address" in text
    ]


# what the title of an invoice, its head and the statement's say, by the settings
ISSUERS: list[tuple[str, tuple[str | None, str | None], dict[str, str]]] = [
    ("Billing note, not a tax invoice, INV-2026-000001", (None, None), {}),
    ("Invoice INV-2026-000001", ("Offers & Co", None), {"payer_name": "Offers & Co"}),
    (
        "Invoice INV-2026-000001",
        ('Offers Ltd, "The Barn"', "GB33BUKB20201555555555/BUKBGB22"),
        {
            "issuer": 'Offers Ltd, "The Barn"',
            "issuer_address": "The Barn, 2 Mill Lane",
            "issuer_tax_id": "GB 987 6543 21",
            "payer_name": "Offers & Co",
            "payer_account": "GB33BUKB20201555555555/BUKBGB22",
        },
    ),
]


@pytest.mark.parametrize(("title", "expected", "said"), ISSUERS)
def test_a_document_says_who_issues_it_and_how_to_pay(
    made: Job, tmp_path: Path, title: str, expected: tuple[str | None, str | None], said: Any
) -> None:
    issuer, pay_to = expected
    files = written(replace(made, settings=replace(made.settings, **said)), tmp_path)
    assert f"<title>{title}" in files["html of invoice"]
    assert (f"Pay to {pay_to}," in files["html of invoice"]) == (pay_to is not None)
    for noun in ("statement", "invoice"):
        head = dict(csv.reader(io.StringIO(files[f"head.csv of {noun}"])))
        told = json.loads(files[f"json of {noun}"])
        assert (issuer, issuer) == (head.get("issuer"), told.get("issuer"))
        for name in ("issuer_address", "issuer_tax_id"):
            text = said.get(name)
            assert (text, text) == (head.get(name), told.get(name))
            assert text is None or text in files[f"html of {noun}"]
    assert (pay_to, pay_to) == (head.get("pay_to"), told.get("pay_to"))


def test_subtotals_come_to_what_is_payable(made: Job, tmp_path: Path) -> None:
    files = written(made, tmp_path)
    statement, invoice = (
        json.loads(files[f"json of {noun}"], parse_float=Decimal)
        for noun in ("statement", "invoice")
    )
    for told, amount, subject in (
        (statement, statement["payable"], "O1"),
        (invoice, invoice["amount"], "alder"),
    ):
        (subtotal,) = told["subtotals"]
        assert (subject, amount, len(told["lines"])) == tuple(
            subtotal[name] for name in ("subject", "amount", "line_count")
        )


@pytest.mark.parametrize(("expected", "late"), [(False, 24), (True, 25), (True, -25)])
def test_a_page_says_when_it_was_recorded(
    made: Job, tmp_path: Path, expected: bool, late: int
) -> None:
    """The machine's clock is some hours from that of the run."""
    clock = replace(made, now=DECEMBER, machine=lambda now: now + timedelta(hours=late))
    assert expected == ("recorded on" in written(clock, tmp_path)["html of statement"])


def test_files_and_pages_of_a_rehearsal_say_so(made: Job, tmp_path: Path) -> None:
    with made.store() as store:
        select(store, "insert into rehearsal values (true)")
    number = close_statement(made, "alder", "2026-06").number
    with exporting.open_document(made, STATEMENT, number) as opened:
        files = exporting.export(opened, tmp_path, ("csv", "html"), mode=0o600)
    assert {
        f"REHEARSAL-{number}.{ending}" for ending in ("csv", "csv.sha256", "head.csv", "html")
    } == {each.file for each in files}
    assert "<title>REHEARSAL: Statement" in (tmp_path / f"REHEARSAL-{number}.html").read_text()
