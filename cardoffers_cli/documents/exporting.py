"""The files of documents: the same one makes the same bytes every time."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

from cardoffers_cli.documents.kinds import D, Statement
from cardoffers_cli.documents.page import invoice_page, statement_page
from cardoffers_cli.documents.questions import csv_pieces, find_document, lines, settlements_of
from cardoffers_cli.kernel.disk.folders import digest_of
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

    from cardoffers_cli.documents.kinds import DocumentKind
    from cardoffers_cli.kernel.sheets.pages import Page
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

FORMS = ("csv", "json", "html")
"""The files that one is given as, unless one of them, or xlsx, is asked for."""


class DocumentFile(Record):
    """A file of a document."""

    number: str
    file: str
    form: str


@dataclass(frozen=True, kw_only=True)
class OpenDocument(Generic[D]):
    """A document with the store that its lines are read of, in its forms."""

    store: Store
    kind: DocumentKind[D]
    document: D

    def told(self) -> Mapping[str, Any]:
        """Return all that it says, as JSON has it; its lines are read as they are taken."""
        every = lines(self.store, self.kind, self.document)
        return {**self.kind.told(self.document), "lines": every}

    def sheet(self) -> Sheet:
        """Return its lines as a sheet."""
        return Sheet.of(self.kind.line, "lines", lines(self.store, self.kind, self.document))

    def write(self, form: str, out: BinaryIO) -> None:
        """Write it as `csv`, `json`, `html` or `xlsx`; the store runs nothing else meanwhile."""
        if form == "csv":
            out.writelines(csv_pieces(self.store, self.kind, self.document))
        elif form == "json":
            out.writelines(piece.encode() for piece in json_text.pieces(self.told(), indent=2))
            out.write(b"\n")
        elif form == "html":
            write_page(self._page(), out)
        else:
            head = Sheet.of_fields(self.kind.noun, self.kind.told(self.document))
            write_xlsx([head, self.sheet()], out)

    def _page(self) -> Page:
        """Return its page, which has the first of many lines."""
        document, kind = self.document, self.kind
        first = [*lines(self.store, kind, document, MOST_ROWS)]
        sheet = Sheet.of(kind.line, "lines", first)
        if isinstance(document, Statement):
            return statement_page(document, sheet, settlements_of(self.store, document))
        return invoice_page(document, sheet)


@contextmanager
def open_document(job: Job, kind: DocumentKind[D], number: str) -> Iterator[OpenDocument[D]]:
    """Open the store for one document, and nobody writes to it meanwhile; raise `NotFound`."""
    with job.store(read_only=True) as store:
        document = find_document(store, kind, number)
        yield OpenDocument(store=store, kind=kind, document=document)


def export(
    opened: OpenDocument[D], folder: Path, forms: Sequence[str], *, mode: int
) -> list[DocumentFile]:
    """Write the files of a document into a folder, each whole or not at all.

    They are called after its number. Beside the CSV file of its lines stand what it says of itself,
    and the digest of the lines, as sha256sum has it.
    """
    number = opened.document.number
    written = []
    for form in forms:
        with replacing(folder / f"{number}.{form}", mode=mode) as out:
            opened.write(form, out)
        written.append(DocumentFile(number=number, file=f"{number}.{form}", form=form))
        if form != "csv":
            continue
        sealed = f"{digest_of(folder / f'{number}.csv')}  {number}.csv\n".encode()
        beside = {"csv.sha256": sealed, "head.csv": opened.kind.head_csv(opened.document)}
        for ending, content in beside.items():
            file = f"{number}.{ending}"
            with replacing(folder / file, mode=mode) as out:
                out.write(content)
            form_of = ending.rpartition(".")[2]
            written.append(DocumentFile(number=number, file=file, form=form_of))
    return written
