"""The files of documents: the same one makes the same bytes every time."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic

from cardoffers_cli.documents import questions
from cardoffers_cli.documents.kinds import D, Statement
from cardoffers_cli.documents.page import COLUMNS, invoice_page, statement_page
from cardoffers_cli.kernel.disk.folders import digest_of
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.sheets.pages import MOST_ROWS, write_page
from cardoffers_cli.kernel.sheets.sheets import Sheet, columns_of
from cardoffers_cli.kernel.sheets.workbooks import write_xlsx
from cardoffers_cli.kernel.words import json_text
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.kernel.words.sentences import date_text

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
    tolerance: timedelta

    @property
    def name(self) -> str:
        """What its files are called: its number, and that it is of a rehearsal where it is."""
        return f"{'REHEARSAL-' if self.document.is_rehearsal else ''}{self.document.number}"

    def told(self) -> Mapping[str, Any]:
        """Return all that it says, as JSON has it; its lines are read as they are taken."""
        subtotals = questions.subtotals_of(self.store, self.kind, self.document)
        every = questions.lines(self.store, self.kind, self.document)
        return {**self.kind.told(self.document), "subtotals": subtotals, "lines": every}

    def sheet(self) -> Sheet:
        """Return its lines as a sheet."""
        return Sheet.of(
            self.kind.line, "lines", questions.lines(self.store, self.kind, self.document)
        )

    def write(self, form: str, out: BinaryIO) -> None:
        """Write it as `csv`, `json`, `html` or `xlsx`; the store runs nothing else meanwhile."""
        if form == "csv":
            every = questions.csv_lines(self.store, self.kind, self.document)
            out.writelines(self.kind.lines_csv(some for _, of_one in every for some in of_one))
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
        subtotals = questions.subtotals_of(self.store, kind, document)
        first = [*questions.lines(self.store, kind, document, MOST_ROWS)]
        sheet = Sheet("lines", columns_of(kind.line, COLUMNS), first)
        if isinstance(document, Statement):
            page = statement_page(
                document, sheet, subtotals, questions.settlements_of(self.store, document)
            )
        else:
            page = invoice_page(document, sheet, subtotals)
        if abs(document.recorded_at - document.closed_at) > self.tolerance:
            closed, recorded = (
                date_text(at.date()) for at in (document.closed_at, document.recorded_at)
            )
            clocks = f"Closed as of {closed}; recorded on {recorded}."
            page = replace(page, about=[*page.about, clocks])
        return page


@contextmanager
def open_document(job: Job, kind: DocumentKind[D], number: str) -> Iterator[OpenDocument[D]]:
    """Open the store for one document, and nobody writes to it meanwhile; raise `NotFound`."""
    with job.store(read_only=True) as store:
        document = questions.find_document(store, kind, number)
        tolerance = timedelta(hours=job.settings.clock_tolerance_hours)
        yield OpenDocument(store=store, kind=kind, document=document, tolerance=tolerance)


def export(
    opened: OpenDocument[D], folder: Path, forms: Sequence[str], *, mode: int
) -> list[DocumentFile]:
    """Write the files of a document into a folder, each whole or not at all.

    They are called after its number, in a rehearsal with that word before it. Beside the CSV file
    of its lines stand what it says of itself, and the digest of the lines, as sha256sum has it.
    """
    number, name = opened.document.number, opened.name
    written = []
    for form in forms:
        with replacing(folder / f"{name}.{form}", mode=mode) as out:
            opened.write(form, out)
        written.append(DocumentFile(number=number, file=f"{name}.{form}", form=form))
        if form != "csv":
            continue
        sealed = f"{digest_of(folder / f'{name}.csv')}  {name}.csv\n".encode()
        beside = {"csv.sha256": sealed, "head.csv": opened.kind.head_csv(opened.document)}
        for ending, content in beside.items():
            file = f"{name}.{ending}"
            with replacing(folder / file, mode=mode) as out:
                out.write(content)
            form_of = ending.rpartition(".")[2]
            written.append(DocumentFile(number=number, file=file, form=form_of))
    return written
