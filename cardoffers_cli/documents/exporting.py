"""The files of statements and invoices: the same one makes the same bytes every time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.documents import closing, invoices, invoicing
from cardoffers_cli.documents import questions as statements
from cardoffers_cli.documents.invoices import InvoiceLine
from cardoffers_cli.documents.page import invoice_page, statement_page
from cardoffers_cli.documents.questions import StatedSettlement, StatementLine
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.sheets.pages import MOST_ROWS, write_page
from cardoffers_cli.kernel.sheets.sheets import Sheet
from cardoffers_cli.kernel.sheets.workbooks import write_xlsx
from cardoffers_cli.kernel.words import json_text
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from cardoffers_cli.documents.invoices import Invoice
    from cardoffers_cli.documents.questions import Statement
    from cardoffers_cli.kernel.sheets.pages import Page
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

FORMS = ("csv", "json", "html")
"""The files that one is given as, unless one of them, or xlsx, is asked for."""


class DocumentFile(Record):
    """A file of a statement or invoice."""

    number: str
    file: str
    form: str


class OpenDocument(ABC):
    """A statement or invoice with the store that its lines are read of, in its forms."""

    line: type[Record]
    noun: str

    @property
    @abstractmethod
    def told(self) -> Mapping[str, Any]:
        """What it says but for its lines."""

    @abstractmethod
    def lines(self) -> Iterator[Mapping[str, Any]]:
        """Yield every line; the store runs nothing else meanwhile."""

    @abstractmethod
    def csv(self) -> Iterator[bytes]:
        """Yield its CSV file piece by piece."""

    @abstractmethod
    def page(self) -> Page:
        """Return its page, which has the first of many lines."""

    def write(self, form: str, out: BinaryIO) -> None:
        """Write it as `csv`, `json`, `html` or `xlsx`."""
        if form == "csv":
            out.writelines(self.csv())
        elif form == "json":
            document = {**self.told, "lines": self.lines()}
            out.writelines(piece.encode() for piece in json_text.pieces(document, indent=2))
            out.write(b"\n")
        elif form == "html":
            write_page(self.page(), out)
        else:
            lines = Sheet.of(self.line, "lines", self.lines())
            write_xlsx([Sheet.of_fields(self.noun, self.told), lines], out)


@dataclass(frozen=True, kw_only=True)
class OpenStatement(OpenDocument):
    """A statement that is open."""

    store: Store
    statement: Statement
    line = StatementLine
    noun = "statement"

    @property
    def told(self) -> Mapping[str, Any]:  # noqa: D102
        return closing.told_of(self.statement)

    def lines(self) -> Iterator[Mapping[str, Any]]:  # noqa: D102
        return statements.all_lines(self.store, self.statement)

    def csv(self) -> Iterator[bytes]:  # noqa: D102
        of = self.statement.institution_id, self.statement.statement_no
        return closing.STATEMENT.pieces(self.told, statements.csv_lines(self.store, *of))

    def page(self) -> Page:  # noqa: D102
        settlements = self.store.records(
            StatedSettlement,
            "documents/questions:settlements",
            institution_id=self.statement.institution_id,
            statement_no=self.statement.statement_no,
        )
        lines = self.store.records(
            StatementLine,
            "documents/questions:lines",
            institution_id=self.statement.institution_id,
            statement_no=self.statement.statement_no,
            limit=MOST_ROWS,
        )
        return statement_page(
            self.told,
            Sheet.of(StatedSettlement, "settlements", settlements),
            Sheet.of(StatementLine, "lines", lines),
        )


@dataclass(frozen=True, kw_only=True)
class OpenInvoice(OpenDocument):
    """An invoice or credit note that is open."""

    store: Store
    invoice: Invoice
    line = InvoiceLine
    noun = "invoice"

    @property
    def told(self) -> Mapping[str, Any]:  # noqa: D102
        return invoicing.told_of(self.invoice)

    def lines(self) -> Iterator[Mapping[str, Any]]:  # noqa: D102
        return invoices.all_lines(self.store, self.invoice)

    def csv(self) -> Iterator[bytes]:  # noqa: D102
        key = invoices.key_of(self.invoice)
        pages = self.store.pages("documents/invoices:csv_lines", **key)
        lines = ([row["line"] for row in page] for page in pages)
        return invoicing.INVOICE.pieces(self.told, lines)

    def page(self) -> Page:  # noqa: D102
        key = invoices.key_of(self.invoice)
        lines = self.store.records(InvoiceLine, "documents/invoices:lines", **key, limit=MOST_ROWS)
        sheet = Sheet.of(InvoiceLine, "lines", lines)
        return invoice_page(self.told, sheet, closed_at=self.invoice.closed_at)


@contextmanager
def open_statement(job: Job, number: str) -> Iterator[OpenDocument]:
    """Open the store for one statement, and nobody writes to it meanwhile; raise `NotFound`."""
    with job.store(read_only=True) as store:
        yield OpenStatement(store=store, statement=statements.find_statement(store, number))


@contextmanager
def open_invoice(job: Job, number: str) -> Iterator[OpenDocument]:
    """Open the store for one invoice, as `open_statement` does."""
    with job.store(read_only=True) as store:
        yield OpenInvoice(store=store, invoice=invoices.find_invoice(store, number))


def export(
    opened: OpenDocument, folder: Path, forms: Sequence[str], *, mode: int
) -> list[DocumentFile]:
    """Write the files of a statement or invoice into a folder, each whole or not at all.

    They are called after its number; beside its CSV file stands the digest, as sha256sum has it.
    """
    written = []
    number = opened.told["number"]
    for form in forms:
        with replacing(folder / f"{number}.{form}", mode=mode) as out:
            opened.write(form, out)
        written.append(DocumentFile(number=number, file=f"{number}.{form}", form=form))
        if form == "csv":
            file = f"{number}.csv.sha256"
            with replacing(folder / file, mode=mode) as out:
                out.write(f"{opened.told['sha256']}  {number}.csv\n".encode())
            written.append(DocumentFile(number=number, file=file, form="sha256"))
    return written
