"""Merchants made and changed by hand; each is new: to change one, set it or import it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from cardoffers_cli.catalogue.merchants import Merchant, find, find_merchant
from cardoffers_cli.catalogue.rows import write_row
from cardoffers_cli.kernel.store.runs import Run, run_record
from cardoffers_cli.kernel.words.errors import Refused

if TYPE_CHECKING:
    from cardoffers_cli.catalogue.rows import Cells
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


def add_merchant(
    job: Job,
    cells: Cells,
    *,
    merchant_id: str | None = None,
    identifier: Cells | None = None,
    dry_run: bool = False,
) -> Merchant:
    """Make a merchant of the `cells` of its row, with an identifier if one is given; return both.

    A second one of a name is made with an id only, so that running it again makes no two.
    """
    with job.store() as store, store.transaction(keep=not dry_run):
        check_is_new(store, cells["name"] or "", merchant_id)
        wanted = merchant_id or str(uuid4())
        with run_record(store, kind="merchant_add", now=job.now, actor=job.actor) as run:
            write_row(store, "merchants", {**cells, "merchant_id": wanted}, run)
            if identifier:
                _identify(store, wanted, identifier, run)
            run.counts["merchant_id"] = wanted
        return _changed(store, wanted, dry_run=dry_run)


def identify_merchant(
    job: Job, merchant: str, identifier: Cells, *, dry_run: bool = False
) -> Merchant:
    """Give a merchant one more identifier, by which purchases of it are known; return it."""
    with job.store() as store, store.transaction(keep=not dry_run):
        merchant_row = find_merchant(store, merchant)
        with run_record(store, kind="merchant_identify", now=job.now, actor=job.actor) as run:
            _identify(store, str(merchant_row.merchant_id), identifier, run)
            run.counts["merchant_id"] = merchant_row.merchant_id
        return _changed(store, str(merchant_row.merchant_id), dry_run=dry_run)


def set_merchant(job: Job, merchant: str, cells: Cells, *, dry_run: bool = False) -> Merchant:
    """Change what is given of a merchant; return it with each change.

    Raises `NotFound`, and as `write_row` does.
    """
    with job.store() as store, store.transaction(keep=not dry_run):
        merchant_row = find_merchant(store, merchant)
        with run_record(store, kind="merchant_set", now=job.now, actor=job.actor) as run:
            named = {**merchant_row, "merchant_id": str(merchant_row.merchant_id)}
            row = {name: named[name] for name in ("merchant_id", "name", "category")}
            changes = write_row(store, "merchants", {**row, **cells}, run)
            run.counts["changed"] = len(changes)
        after = _changed(store, str(merchant_row.merchant_id), dry_run=dry_run)
    return replace(after, changes=changes)


def _changed(store: Store, merchant_id: str, *, dry_run: bool) -> Merchant:
    return replace(find(store, merchant_id=merchant_id)[0], dry_run=dry_run)


def check_is_new(store: Store, name: str, merchant_id: str | None) -> None:
    """Raise `Refused` merchant_exists for a merchant of that id, or without an id of that name."""
    if merchant_id and find(store, merchant_id=merchant_id):
        raise Refused(
            f"There is a merchant {merchant_id} already.",
            code="merchant_exists",
            hint="Leave --id out for a new one; `cardoffers catalog import` changes one.",
        )
    if not merchant_id and find(store, name=name):
        raise Refused(
            f"There is a merchant called {name} already.",
            code="merchant_exists",
            hint="`cardoffers merchant identify` gives it one more identifier; another merchant of "
            "that name needs an --id.",
        )


def _identify(store: Store, merchant_id: str, identifier: Cells, run: Run) -> None:
    of = store.row("catalogue/merchants:of_identifier", **identifier)
    if of and str(of["merchant_id"]) != merchant_id:
        raise Refused(
            f"{identifier['merchant_identifier']} is an identifier of {of['name']} already.",
            code="identifier_exists",
            hint="`cardoffers catalog import` moves an identifier from one merchant to another.",
        )
    write_row(store, "merchant_identifiers", {**identifier, "merchant_id": merchant_id}, run)
