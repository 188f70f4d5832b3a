"""Take the rows of catalogue files.

A file is staged, its rows are checked, those found wrong are deleted, what the store says of the
others is laid beside them, and what differs is written, with every change of a column. Links and
engagement, whose files are long, are taken a batch at a time. Statements on any kind have one name,
those on a single kind begin with its name. To add a kind, add its statements, and its columns in
`catalogue/catalogue.txt`.

An institution without institution_id keeps the one its slug is known under; an empty webhook_url,
require_marker or term of payment keeps what is set. A version of an offer counts from the clock of
the import, or from `effective_at`, which dates a correction back (rules.md#terms), so that it also
takes the place of what was imported between, and cannot lie in the future. On an offer that stays
as it is it dates the newest version back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store import interning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from uuid import UUID

    import polars as pl

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store

_OF_ANY_KIND = {"load", "refuse", "compare"}


def take(
    store: Store,
    kind: str,
    pages: Iterable[pl.DataFrame],
    *tables: Table,
    run_no: int,
    now: datetime,
    new_id: Callable[[], UUID],
) -> tuple[int, int]:
    """Write the rows of one file; return how many are new and how many changed.

    `tables` are those of findings and changes. Identifiers are new that got their first owner.
    """
    file, is_offers = _StagedFile(store, kind, *tables), kind == "offers"
    file.stage(pages)
    file.run("check", **({"now": now} if is_offers else {}))
    file.run("refuse", kind=kind)
    if kind == "institutions":
        file.run("keep")
        for row in store.rows(
            "catalogue/taking:institutions_without_id", file.tables["staged_rows"]
        ):
            file.run("give_id", slug=row["slug"], institution_id=new_id())
    elif kind == "merchants":
        file.run("keep")
    elif kind == "merchant_identifiers":
        interning.intern_identifiers(store, file.make("stage_identifiers"))
    elif is_offers:
        file.run("warn")
    file.make("known")
    file.run("compare")
    if is_offers:
        file.run("compare_times")
    changed, new = file.run("update"), file.run("insert")
    if is_offers:
        file.make("stage_texts")
        file.run("update_texts")
        file.run("insert_texts")
        file.run("version", run_no=run_no, now=now)
    file.drop()
    return new, changed


def concerned(store: Store, resolutions: Table, run_no: int) -> int:
    """Count the purchases of `resolutions` that the changed offers of a run concern."""
    return int(store.value("catalogue/taking:offers_concerned", resolutions, run_no=run_no))


class _StagedFile:
    """The temporary tables of one file, by name; a statement is handed those that it declares."""

    def __init__(self, store: Store, kind: str, *tables: Table) -> None:
        self.tables = {table.name: table for table in tables}
        self._store, self._kind, self._given = store, kind, tables

    def stage(self, pages: Iterable[pl.DataFrame]) -> None:
        for page in pages:
            if "staged_rows" in self.tables:
                address, tables = self._called("load")
                self._store.load(address, page, *tables)
            else:
                self.make("stage", frame=page)

    def run(self, step: str, **parameters: Any) -> int:
        address, tables = self._called(step)
        return self._store.execute(address, *tables, **parameters)

    def make(self, step: str, frame: pl.DataFrame | None = None) -> Table:
        address, tables = self._called(step)
        table = self._store.make(address, *tables, frame=frame)
        self.tables[table.name] = table
        return table

    def drop(self) -> None:
        self._store.drop(*(table for table in self.tables.values() if table not in self._given))

    def _called(self, step: str) -> tuple[str, list[Table]]:
        """Return the address of a statement, and the tables that it declares."""
        name = step if step in _OF_ANY_KIND else f"{self._kind}_{step}"
        address = f"catalogue/taking:{name}"
        return address, self._store.declared_by(address, self.tables)


def take_links(store: Store, rows: pl.DataFrame, findings: Table, run_no: int) -> int:
    """Write the links (enrolments) of well-formed rows, one for each; return how many are new.

    A link is never changed once made: the first one is kept, whatever a later row says.
    """
    store.load("catalogue/links:check", rows, findings, kind="links")
    payers = store.make("catalogue/links:stage_payers", frame=rows)
    interning.intern_payers(store, payers)
    store.load("catalogue/links:number", rows)
    new = store.execute("catalogue/links:insert", run_no=run_no)
    store.execute("catalogue/links:warn", findings)
    store.drop(payers)
    store.execute("catalogue/links:drop_numbered")
    return new


def take_engagement(store: Store, rows: pl.DataFrame, findings: Table, run_no: int) -> int:
    """Write the events (widget views, impressions) of well-formed rows; return how many are new.

    Nothing but its content tells an event from another, so the same row again is the same event,
    also where a feed read has recorded it. Moments to come are taken as they are: a funnel counts
    them when its window has reached them.
    """
    store.load("catalogue/links:check", rows, findings, kind="engagement")
    cardholders = store.make("catalogue/engagement:stage_cardholders", frame=rows)
    interning.intern_cardholders(store, cardholders)
    new = store.load("catalogue/engagement:insert", rows, run_no=run_no)
    store.drop(cardholders)
    return new
