"""Single rows of the catalogue, by hand: they go the way of a catalogue file's.

So there is one set of rules, one audit log, and one way of writing; what is data in a file ends a
command here. Merchants, offers and institutions are written so, each in its slice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.catalogue.files import KINDS, read_row
from cardoffers_cli.catalogue.importing import take
from cardoffers_cli.catalogue.questions import FieldChange
from cardoffers_cli.kernel.words.errors import CardoffersError, Refused, UsageError
from cardoffers_cli.kernel.words.findings import CATALOGUE_CODES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store

Cells = dict[str, str | None]


def write_row(
    store: Store, kind: str, cells: Mapping[str, str | None], run: Run
) -> list[FieldChange]:
    """Judge one row and write it, in the caller's transaction; return what it changed.

    Raises `UsageError` for a value of the wrong form, `Refused` for a row that does not fit others.
    """
    page = read_row(KINDS[kind], cells)
    if page.findings.height:
        raise _refusal(UsageError, page.findings)
    findings, changes = (
        store.make("catalogue/questions:findings"),
        store.make("catalogue/questions:changes"),
    )
    take(store, kind, iter([page.rows]), run, findings=findings, changes=changes)
    report = store.frame("catalogue/questions:report", findings, kind=kind)
    if report.height:
        raise _refusal(Refused, report)
    subject = kind.removesuffix("s")
    store.execute("catalogue/questions:audit", changes, subject=subject, **run.by)
    return store.records(FieldChange, "catalogue/questions:list_changes", changes)


def _refusal(error: type[CardoffersError], findings: pl.DataFrame) -> CardoffersError:
    """Make an error of the first finding."""
    code = CATALOGUE_CODES[findings["code"][0]]
    message = str(findings["message"][0])
    return error(f"{message[0].upper()}{message[1:]}.", code=code.code, hint=code.advice)
