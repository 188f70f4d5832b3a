"""Exports as six programs write them, made by hand, and what a new user has to edit of the guess.

Each has thirty purchases, of which some are refunds where `refunds` says so.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import xlsxwriter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

ROWS = 30
NO_ZONE = '# zone = "Europe/London"  # missing: the file does not say where it was made'


def token(number: int) -> str:
    """Return a token of a customer."""
    return sha256(b"%d" % number).hexdigest()


def cents(number: int) -> int:
    return 995 + number * 7919


@dataclass(frozen=True)
class Export:
    """A file by its name, the edits that the guess of it needs, and its refunds.

    `is_raw` says that it holds raw customer keys.
    """

    name: str
    write: Callable[[Path], object]
    edits: Sequence[tuple[str, str]] = ()
    refunds: int = 0
    is_raw: bool = False


def _text(lines: Sequence[str], encoding: str, end: str = "\r\n") -> Callable[[Path], object]:
    return lambda path: path.write_bytes("".join(line + end for line in lines).encode(encoding))


def _comma(number: int, thousands: str = ".") -> str:
    return f"{cents(number) / 100:,.2f}".translate({ord(","): thousands, ord("."): ","})


def _german() -> list[str]:
    head = (
        *("Buchungsdatum", "Belegdatum", "Umsatzart", "Beschreibung", "Händler-ID", "Kartentoken"),
        *("Kundennummer", "Referenz", "Betrag", "Währung"),
    )
    rows = [
        [
            *("02.04.2026", f"{n % 28 + 1:02}.03.2026", "KARTENZAHLUNG", "REWE Köln"),
            *(f"45563214{n % 7:07}", f"tok_{token(n)[:24]}", f"K{4711 + n % 9}", f"RF26{n:08}"),
            *(_comma(n), "EUR"),
        ]
        for n in range(ROWS)
    ]
    table = [";".join(f'"{cell}"' for cell in row) for row in (head, *rows)]
    return ['"Umsatzanzeige";"Kreditkarte"', '"Neuer Saldo:";"1.234,56 EUR"', "", *table]


def _brazilian() -> list[str]:
    return [
        "Data da compra;Hora;Estabelecimento;CNPJ;Cartão;CPF do portador;NSU;Valor (R$)",
        *(
            f"{n % 28 + 1:02}/03/2026;{8 + n % 12:02}:{n:02}:09;Padaria São João;"
            f"{12345678000190 + n};tk-{token(n)};{token(n % 5)};{900000 + n};R$ {_comma(n)}"
            for n in range(ROWS)
        ),
    ]


def _american() -> list[str]:
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    head = ("Transaction Date", "Post Date", "Transaction ID", "Description", "Merchant ID")
    writer.writerow([*head, "Card Token", "Member ID", "Amount"])
    for n in range(ROWS):
        amount = f"${cents(n) / 100:,.2f}"
        writer.writerow(
            [
                *(f"03/{n % 28 + 1:02}/2026 {n % 12 + 1}:{n:02} PM", f"03/{n % 27 + 2:02}/2026"),
                *(f"T{n:09}", "AMZN Mktp US*2K4", f"{498750000000000 + n}", f"ct_{token(n)}"),
                *(token(n % 5), amount if n % 9 else f"({amount})"),
            ]
        )
    return out.getvalue().splitlines()


def _french() -> list[str]:
    return [
        "Date opération;Date de valeur;Libellé;N° commerçant;N° carte (jeton);Client;Réf;Débit",
        *(
            f"{n % 28 + 1:02}/03/2026;{n % 28 + 1:02}/03/2026;CB CARREFOUR;{7000000 + n};"
            f"{token(n)};{token(n % 5)};FR{n:010};{_comma(n, chr(0x202F))}"
            for n in range(ROWS)
        ),
    ]


def _saved_by_excel() -> list[str]:
    return [
        "sep=;",
        "cardholder_token;card_token;card_acceptor_id;amount;transaction_ref;transacted_at",
        *(
            f"{token(n % 5)};ct_{token(n)};{498750000000000 + n};{_comma(n)};TX-{n};"
            f"{n % 28 + 1:02}.03.2026 12:{n:02}"
            for n in range(ROWS)
        ),
    ]


def _mexican() -> list[str]:
    return [
        "Fecha\tHora\tComercio\tNº afiliación\tTarjeta (token)\tCliente\tFolio\tImporte",
        *(
            f"{n % 28 + 1:02}/03/2026\t{8 + n % 12:02}:{n:02}\tOXXO\t{1234567 + n}\t{token(n)}\t"
            f"{token(n % 5)}\tF{n:08}\t${cents(n) / 100:,.2f}"
            for n in range(ROWS)
        ),
    ]


def _workbook(path: Path) -> None:
    """Write what a spreadsheet keeps: a title, a table with date cells and money, a note below."""
    book = xlsxwriter.Workbook(str(path))
    book.add_worksheet("Deckblatt").write(0, 0, "Umsatzliste")
    page = book.add_worksheet("Umsätze März")
    at = book.add_format({"num_format": "dd.mm.yyyy hh:mm"})
    money = book.add_format({"num_format": '#,##0.00 "€"'})
    page.write(0, 0, "Umsätze im März 2026")
    head = ("Belegnummer", "Händler", "Händler-ID", "Kaufdatum", "Betrag", "Kunde", "Kartentoken")
    page.write_row(2, 0, head)
    for n in range(ROWS):
        page.write_row(3 + n, 0, [f"B-{n}", "Café", f"M{n:014}"])
        page.write_number(3 + n, 3, 46082 + n + n / 24, at)
        page.write_number(3 + n, 4, cents(n) / 100, money)
        page.write_row(3 + n, 5, [token(n % 5), token(n)])
    book.close()


EXPORTS = [
    Export("german.csv", _text(_german(), "latin-1"), is_raw=True),
    Export("brazilian.csv", _text(_brazilian(), "utf-8-sig", "\n")),
    Export(
        "american.csv",
        _text(_american(), "utf-8"),
        [(NO_ZONE, 'zone = "America/New_York"'), ("# negatives", "negatives")],
        refunds=4,
    ),
    Export("french.csv", _text(_french(), "utf-8")),
    Export("excel.csv", _text(_saved_by_excel(), "cp1252"), [(NO_ZONE, 'zone = "Europe/Berlin"')]),
    Export("unicode.txt", _text(_mexican(), "utf-16")),
    Export("workbook.xlsx", _workbook),
]
