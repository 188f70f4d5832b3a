"""Files that were taken, and those that a person took back (rules.md#withdrawn-files).

What an import brought leaves the tables that it was in, so everything that reads them is as if the
file had never come: no statement but these knows of withdrawn rows. They are kept apart, and their
numbers are not given again. To withdraw what another table has of a purchase, a redemption or a
file, name the table in the lists below and in `river/withdrawals.sql`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.store.approval_requests import approvable, require_approval
from cardoffers_cli.kernel.store.institutions import institution_of
from cardoffers_cli.kernel.store.masking import without_cards
from cardoffers_cli.kernel.store.runs import finish_run, start_run
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.kernel.words.visible import shortened
from cardoffers_cli.river.counts import recount
from cardoffers_cli.river.redemptions import reverse_all

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

_OF_PURCHASES = ("decisions", "outcomes", "redemptions", "refund_links", "refund_outcomes")
_OF_REDEMPTIONS = ("ledger_entries", "ledger_moves")
_OF_FILES = ("refunds", "rejects", "duplicates", "import_merchants", "import_shapes", "imports")
_DERIVED = ("unresolved_purchases", "purchase_refs", "purchase_looks")
"""What is made of purchases anew, and so is not kept."""

_REASONS = {
    "archived": "{rows} of its purchases are in the archive{first}.",
    "settled": "{rows} of its purchases settled{first}.",
    "told": "Of {rows} of its purchases the institution was sent a webhook{first}.",
    "credited": "Of {rows} of its purchases a credit or the reconciliation is known{first}.",
    "repeated": "{rows} of its purchases came again in a later file{first}.",
    "linked": "To {rows} of its purchases a person linked a refund{first}.",
    "reduced": "A refund reduced what {rows} of its purchases earned{first}.",
    "refunded": "{rows} of its refunds took effect or came again{first}.",
}
_HINTS = {
    "import_archived": "Reverse its redemptions with `cardoffers redemption reverse`.",
    "import_settled": "Reverse its redemptions with `cardoffers redemption reverse`: the next"
    " settlement takes them back.",
    "import_told": "Reverse its redemptions with `cardoffers redemption reverse`, which tells the"
    " institution.",
    "import_relied_on": "`cardoffers why REF` shows what rests on it; undo a later file first.",
}


class ImportRecord(Record):
    """An import as it was recorded."""

    import_no: int
    import_id: UUID
    institution_id: UUID
    file_name: str
    file_kind: str
    kind_of_rows: str
    accepted: int
    amount_accepted: Amount
    currency: str
    imported_at: datetime
    last_import_no: int


class Reversals(Record):
    """How many redemptions an undo reverses, and what they come to."""

    redemptions: int
    currency: str
    amount: Amount


class FileUndoResult(Record):
    """A file that was withdrawn: the purchases that left, and the redemptions that were reversed.

    `approval` says how far the approval of a second person is, where it needs one.
    """

    import_id: UUID
    institution: str
    file: str
    imported_at: datetime
    purchases: int
    amount: Amount
    currency: str
    redemptions: int
    merchant_funded_amount: Amount
    state: str
    approval: str | None = if_any()
    withdrawn_at: datetime
    reason: str
    dry_run: bool


def undo_import(import_id: str, reason: str, job: Job, *, dry_run: bool = False) -> FileUndoResult:
    """Withdraw an import in one transaction (rules.md#withdrawn-files); return what that did.

    It is named by its id, or the beginning of that. Raises `Refused` where something rests on it,
    and `ApprovalNeeded` where reversing its redemptions needs that.
    """
    if not reason.strip():
        raise UsageError("An undo needs a reason.", hint='Say why: --reason "the wrong bank".')
    with approvable(job, dry_run=dry_run) as store:
        record = find_import(store, whole_id(store, "import", import_id))
        owner = institution_of(store, record.institution_id)
        run = start_run(store, kind="file_undo", now=job.now, actor=job.actor)
        leaving, earned = find_leaving(store, record)
        (reversals,) = store.records(
            Reversals, "river/withdrawals:reversed", earned, currency=record.currency
        )
        approval = None
        if reversals.redemptions:
            approval = require_approval(
                store,
                run,
                owner,
                action="file_undo",
                subject=str(record.import_id),
                amount=reversals.amount,
                currency=record.currency,
                details={"redemptions": reversals.redemptions, "reason": reason.strip()},
                dry_run=dry_run,
            )
        by: Any = {"run_no": run.run_no, "now": job.now, "actor": job.actor}
        by["reason"] = reason.strip()
        reverse_all(store, store.make("river/withdrawals:reversals", earned), **by)
        withdraw(store, record, leaving, earned, **by)
        recount(store)
        result = FileUndoResult(
            import_id=record.import_id,
            institution=owner.slug,
            file=record.file_name,
            imported_at=record.imported_at,
            purchases=record.accepted,
            amount=record.amount_accepted,
            currency=record.currency,
            redemptions=reversals.redemptions,
            merchant_funded_amount=reversals.amount,
            state="withdrawn",
            approval=approval,
            withdrawn_at=job.now,
            reason=reason.strip(),
            dry_run=dry_run,
        )
        finish_run(store, run, result)
    masked: FileUndoResult = without_cards(result)
    return masked


def find_import(store: Store, import_id: str) -> ImportRecord:
    """Return an import that was taken.

    Raises `NotFound`, and `Refused` for one that was withdrawn, or whose rows cannot be.
    """
    record = store.record(ImportRecord, "river/withdrawals:import", import_id=import_id)
    if record is None:
        row = store.row("river/withdrawals:withdrawn", import_id=import_id)
        if row is None:
            raise NotFound.from_table("river", "import_not_found")
        raise Refused(
            f"{shortened(row['file_name'])} was withdrawn at {format_minute(row['withdrawn_at'])}.",
            code="already_withdrawn",
            hint="Nothing is left to undo; `cardoffers import` takes the file again.",
        )
    if record.file_kind == "call" or record.kind_of_rows != "purchases":
        what = "came over HTTP" if record.file_kind == "call" else f"holds {record.kind_of_rows}"
        raise Refused.from_table("river", "import_not_of_purchases", what=what)
    return record


def find_leaving(store: Store, record: ImportRecord) -> tuple[Table, Table]:
    """Return the purchases of an import and their redemptions.

    Raises `Refused` where something rests on any of them.
    """
    of = {"institution_id": record.institution_id, "import_no": record.import_no}
    leaving = store.make("river/withdrawals:leaving", **of)
    earned = store.make("river/withdrawals:earned", leaving)
    bounds = {**of, "accepted": record.accepted, "last_import_no": record.last_import_no}
    for obstacle in store.rows("river/withdrawals:obstacles", leaving, earned, **bounds):
        line, ref = obstacle["line"], obstacle["transaction_ref"]
        first = "" if line is None else f", the first in line {line} ({shortened(ref)})"
        raise Refused(
            _REASONS[obstacle["about"]].format(rows=f"{obstacle['rows']:,}", first=first),
            code=obstacle["code"],
            hint=_HINTS[obstacle["code"]],
        )
    return leaving, earned


def withdraw(
    store: Store,
    record: ImportRecord,
    leaving: Table,
    earned: Table,
    *,
    reason: str,
    run_no: int,
    now: datetime,
    actor: str,
) -> None:
    """Let all that an import brought leave, its redemptions reversed, in the caller's transaction.

    Refunds of its purchases wait again. What is counted has to be counted anew.
    """
    number, owner = {"import_no": record.import_no}, {"institution_id": record.institution_id}
    of = {**number, **owner, "last_import_no": record.last_import_no}
    by = {"reason": reason, "run_no": run_no, "now": now, "actor": actor}
    store.execute("river/withdrawals:keep_import", leaving, earned, **of, **by)
    store.execute("river/withdrawals:keep_purchases", leaving)
    for table in _OF_PURCHASES:
        store.execute(f"river/withdrawals:keep_{table}", leaving, **number)
    for table in _OF_REDEMPTIONS:
        store.execute(f"river/withdrawals:keep_money_{table}", earned, **number, **owner)
    for table in _OF_FILES:
        store.execute(f"river/withdrawals:keep_file_{table}", **of)
    for table in (*_OF_REDEMPTIONS, "outbox"):
        store.execute(f"river/withdrawals:remove_money_{table}", earned)
    for table in (*_OF_PURCHASES, *_DERIVED, "purchase_details", "purchases"):
        store.execute(f"river/withdrawals:remove_{table}", leaving)
    for table in _OF_FILES:
        store.execute(f"river/withdrawals:remove_file_{table}", **of)
    store.execute("river/withdrawals:forget_refunds", **owner)
