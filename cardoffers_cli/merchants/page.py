"""The page of unknown merchants, which answers: what earns nothing because of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.page import rejects_section
from cardoffers_cli.kernel.disk.inputs import open_input
from cardoffers_cli.kernel.sheets.pages import Fact, Page, Section
from cardoffers_cli.kernel.sheets.pictures import beside, pictured
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.sentences import amount_text, amounts_text, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cardoffers_cli.kernel.sheets.pages import ReportScope
    from cardoffers_cli.kernel.sheets.sheets import Row, Rows


_KINDS = {
    "card_acceptor": "card acceptor id",
    "pix_key": "Pix key",
    "upi_vpa": "UPI address",
    "codi": "CoDi",
    "psp_merchant_id": "merchant id of a payment service",
}
_WAIT = (
    "They wait: add their identifiers to the catalogue and match again, and what meets an offer"
    " redeems."
)
_ORDERS = {"purchases": "most purchases", "last seen": "last seen first"}
_COLUMNS = (
    *(Column("name", "descriptor or identifier"), Column("currency")),
    *(Column("amount", kind="money"), Column("purchases", kind="integer")),
    *(Column("cardholders", kind="integer"), Column("first_seen", "first seen", "date")),
    *(Column("last_seen", "last seen", "date"), Column("institution")),
    *(Column("merchant_identifier", "identifier"), Column("kind")),
    Column("merchant_id", "merchant id", "id"),
)


def unknown_page(data: Mapping[str, Any], scope: ReportScope) -> Page:
    """Return the page; `data` has, by currency, the rows in each order, and the totals."""
    totals, files = data["totals"], ["Of the files that were imported in this time."]
    return Page(
        title=scope.titled("Unknown merchants"),
        headline=headline(totals, scope),
        as_of=scope.as_of,
        about=list(scope.said("Purchases made")),
        facts=[
            Fact.of(
                f"purchases in {row['currency']}",
                amount_text(row["amount"], row["currency"]),
                f"{counted(row['purchases'], 'purchase')} by"
                f" {counted(row['cardholders'], 'cardholder')}",
            )
            for row in totals
        ],
        sections=[*unknown_sections(data, scope), *rejects_section(data["rejects"], lines=files)],
    )


def headline(totals: Rows, scope: ReportScope) -> str:
    """Return what purchases of unknown merchants come to, in a sentence."""
    if not totals:
        return f"Every merchant is known{scope.ending}."
    purchases = sum(row["purchases"] for row in totals)
    merchants = sum(row["rows"] for row in totals)
    sums = amounts_text({row["currency"]: row["amount"] for row in totals})
    earn = "earns" if purchases == 1 else "earn"
    return (
        f"{counted(purchases, 'purchase')} for {sums} {earn} nothing{scope.ending}, because"
        f" {counted(merchants, 'merchant')} {'is' if merchants == 1 else 'are'} unknown."
    )


def unknown_sections(data: Mapping[str, Any], scope: ReportScope) -> Iterator[Section]:
    """Show the unknown merchants of each currency, in each of the orders that were found."""
    for total in data["totals"]:
        currency = total["currency"]
        orders = {
            order: [_shown(row) for row in rows] for order, rows in data["rows"][currency].items()
        }
        drawn = [
            (
                f"{row['name']}, {row['institution']}",
                f"{row['amount']:,} · {counted(row['purchases'], 'purchase')}",
                row["amount"],
            )
            for row in orders["amount"]
        ]
        yield Section(
            title=f"Unknown merchants in {currency}",
            lines=[_WAIT],
            pictures=pictured(
                beside(f"Purchases in {currency} that earn nothing, by merchant", drawn)
            ),
            sheet=Sheet("unresolved", _COLUMNS, orders["amount"]),
            order="most money",
            orders={name: orders[key] for key, name in _ORDERS.items() if key in orders},
            in_all=total["rows"],
            more=scope.command("unresolved", file="unresolved.csv"),
        )


def _shown(row: Row) -> Row:
    identifier = row["merchant_identifier"]
    kind = row["merchant_identifier_type"]
    others = row["descriptors"] - 1
    descriptor = row["merchant_descriptor"]
    if descriptor and others > 0:
        descriptor = f"{descriptor} and {counted(others, 'other text')}"
    return {
        **row,
        "name": descriptor or identifier or "a merchant by its id",
        "merchant_identifier": identifier if descriptor else None,
        "kind": _KINDS.get(kind, kind),
        "first_seen": row["first_seen_at"].date(),
        "last_seen": row["last_seen_at"].date(),
    }


# A list that a person brings: one entry a line, such as the references of complaints.


MOST_ENTRIES = 10_000
_MOST_BYTES = 8 << 20


def read_list(source: str) -> list[str]:
    """Return the lines of a file (`-` is standard input), without blank ones and outer spaces.

    Raises `FileUnusable` for what is no text, or no list that a person would bring.
    """
    entries = [line.strip() for line in _text(source).splitlines()]
    filled = [entry for entry in entries if entry]
    if not filled:
        raise FileUnusable("The list is empty.", code="list_empty", hint="Write one entry a line.")
    if len(filled) > MOST_ENTRIES:
        raise _too_long()
    return filled


def _text(source: str) -> str:
    content = _bytes(source)
    if len(content) > _MOST_BYTES:
        raise _too_long()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileUnusable.from_table("merchants", "file_encoding") from None


def _bytes(source: str) -> bytes:
    if source == "-":
        return sys.stdin.buffer.read(_MOST_BYTES + 1)
    try:
        with open_input(source) as file:
            return file.read(_MOST_BYTES + 1)
    except (FileNotFoundError, IsADirectoryError):
        raise FileUnusable.from_table("merchants", "file_missing", source=source) from None


def _too_long() -> FileUnusable:
    return FileUnusable.from_table("merchants", "list_too_long", most=MOST_ENTRIES)
