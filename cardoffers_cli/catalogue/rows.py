"""Single rows of the catalogue, by hand: they go the way of a catalogue file's.

So there is one set of rules, one audit log, and one way of writing; what is data in a file ends a
command here. What is made is new: to change it, set it or import it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from cardoffers_cli.catalogue.files import KINDS, read_row
from cardoffers_cli.catalogue.importing import take
from cardoffers_cli.catalogue.questions import FieldChange
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.runs import Run, run_record
from cardoffers_cli.kernel.words.errors import CardoffersError, Refused, UsageError
from cardoffers_cli.kernel.words.findings import CATALOGUE_CODES
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.merchants.questions import Merchant, find, find_merchant
from cardoffers_cli.offers import questions as offers

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from cardoffers_cli.kernel.store.job import Job
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


class CreatedOffer(Record):
    """The row of an offer, as text, and its place in the program of an institution."""

    offer_id: str
    title_en: str | None = if_any()
    description_en: str | None = if_any()
    min_spend: str | None = if_any()
    cashback_amount: str | None = if_any()
    commission_rate: str | None = if_any()
    budget_amount: str | None = if_any()
    starts_at: str
    expires_at: str | None = if_any()
    segments: str | None = if_any()
    max_redemptions_per_cardholder: str | None = if_any()
    merchant_id: str
    currency: str
    merchant_name: str
    institution: str
    position: int
    dry_run: bool


def create_offer(
    job: Job, institution: str, merchant: str, cells: Cells, *, dry_run: bool = False
) -> CreatedOffer:
    """Make an offer of a merchant, at the end of an institution's program; return its row.

    Its currency is the institution's. Without `starts_at` it starts now.
    """
    with job.store() as store, store.transaction(keep=not dry_run):
        owner = find_institution(store, institution)
        merchant_row = find_merchant(store, merchant)
        offer_id = cells["offer_id"] or ""
        if offers.is_known(store, offer_id):
            raise Refused(
                f"There is an offer {offer_id} already.",
                code="offer_exists",
                hint=f"`cardoffers offer show {offer_id}` shows it; `cardoffers catalog import` "
                "changes it.",
            )
        row: Cells = {
            **cells,
            "merchant_id": str(merchant_row.merchant_id),
            "currency": owner.currency,
            "starts_at": cells.get("starts_at") or format_moment(job.now),
        }
        with run_record(store, kind="offer_create", now=job.now, actor=job.actor) as run:
            write_row(store, "offers", row, run)
            of = {"institution_id": owner.id}
            position = int(store.value("offers/questions:next_position", **of))
            place = {"institution": owner.slug, "offer_id": offer_id, "position": str(position)}
            write_row(store, "program_offers", place, run)
            run.counts["offer_id"] = offer_id
    return CreatedOffer.part(
        row,
        merchant_name=merchant_row.name,
        institution=owner.slug,
        position=position,
        dry_run=dry_run,
    )


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
    of = store.row("merchants/questions:of_identifier", **identifier)
    if of and str(of["merchant_id"]) != merchant_id:
        raise Refused(
            f"{identifier['merchant_identifier']} is an identifier of {of['name']} already.",
            code="identifier_exists",
            hint="`cardoffers catalog import` moves an identifier from one merchant to another.",
        )
    write_row(store, "merchant_identifiers", {**identifier, "merchant_id": merchant_id}, run)


def _refusal(error: type[CardoffersError], findings: pl.DataFrame) -> CardoffersError:
    """Make an error of the first finding."""
    code = CATALOGUE_CODES[findings["code"][0]]
    message = str(findings["message"][0])
    return error(f"{message[0].upper()}{message[1:]}.", code=code.code, hint=code.advice)
