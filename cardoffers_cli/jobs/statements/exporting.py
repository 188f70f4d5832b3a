"""The files of a statement: the same statement makes the same bytes, whenever it is asked for."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.domain import json_text
from cardoffers_cli.domain.records import Record
from cardoffers_cli.files.exports import replacing
from cardoffers_cli.files.html.pages import MOST_ROWS, write_page
from cardoffers_cli.files.html.statement import statement_page
from cardoffers_cli.files.sheets import Sheet
from cardoffers_cli.files.statements import STATED, statement_csv
from cardoffers_cli.files.workbooks import write_xlsx
from cardoffers_cli.jobs.statements.closing import told_of
from cardoffers_cli.services import statements
from cardoffers_cli.services.statements import find_statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from cardoffers_cli.jobs.context.job import Job
    from cardoffers_cli.jobs.statements.closing import StatementTold
    from cardoffers_cli.services.statements import Statement, StatementLine
    from cardoffers_cli.store.store import Store

FORMS = ("csv", "json", "html")
"""The files that a statement is given as, unless one of them, or xlsx, is asked for."""


class WrittenStatement(Record):
    """A file of a statement."""

    number: str
    file: str
    form: str


@dataclass(frozen=True, kw_only=True)
class OpenStatement:
    """A statement with the store that its lines are read of, in its forms."""

    store: Store
    statement: Statement

    @property
    def told(self) -> StatementTold:
        """What it says but for its lines."""
        return told_of(self.statement)

    def lines(self) -> Iterator[StatementLine]:
        """Yield every line; the store runs nothing else meanwhile."""
        return statements.all_lines(self.store, self.statement)

    def write(self, form: str, out: BinaryIO) -> None:
        """Write it as `csv`, `json`, `html` or `xlsx`. A page has the first of many lines."""
        if form == "csv":
            of = self.statement.institution_id, self.statement.statement_no
            out.writelines(statement_csv(self.told, statements.csv_lines(self.store, *of)))
        elif form == "json":
            document = {**self.told, "lines": self.lines()}
            out.writelines(piece.encode() for piece in json_text.pieces(document, indent=2))
            out.write(b"\n")
        elif form == "html":
            settlements = statements.settlements_of(self.store, self.statement)
            lines = statements.first_lines(self.store, self.statement, limit=MOST_ROWS)
            write_page(statement_page(self.told, settlements, lines), out)
        else:
            lines_sheet = Sheet("lines", STATED, self.lines())
            write_xlsx([Sheet.of_fields("statement", self.told), lines_sheet], out)


@contextmanager
def opened(job: Job, number: str) -> Iterator[OpenStatement]:
    """Open the store for one statement, and nobody writes to it meanwhile; raise `NotFound`."""
    with job.store(read_only=True) as store:
        yield OpenStatement(store=store, statement=find_statement(store, number))


def export_statement(
    job: Job, number: str, folder: Path, forms: Sequence[str], *, mode: int
) -> list[WrittenStatement]:
    """Write the files of a statement into a folder, each whole or not at all.

    They are called after its number; beside its CSV file stands the digest, as sha256sum has it.
    """
    written = []
    with opened(job, number) as found:
        name = found.statement.number
        for form in forms:
            with replacing(folder / f"{name}.{form}", mode=mode) as out:
                found.write(form, out)
            written.append(WrittenStatement(number=name, file=f"{name}.{form}", form=form))
            if form == "csv":
                with replacing(folder / f"{name}.csv.sha256", mode=mode) as out:
                    out.write(f"{found.statement.sha256}  {name}.csv\n".encode())
                file = f"{name}.csv.sha256"
                written.append(WrittenStatement(number=name, file=file, form="sha256"))
    return written
