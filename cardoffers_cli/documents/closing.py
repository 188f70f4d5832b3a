"""Close a period of an institution: what was settled before its end, and is on no statement yet.

The number is taken in the transaction that closes: what fails leaves no gap. A period that was
closed is answered as it was closed, whatever happened since.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from cardoffers_cli.credits.questions import open_findings
from cardoffers_cli.documents import questions as statements
from cardoffers_cli.documents.page import TAXES, SealedForm
from cardoffers_cli.documents.questions import (
    Statement,
    StatementLine,
    find_statement,
    list_statements,
)
from cardoffers_cli.kernel.sheets.sheets import columns_of
from cardoffers_cli.kernel.store.approval_requests import ON, approvable, require_approval
from cardoffers_cli.kernel.store.institutions import find_institution, list_institutions
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.store.runs import latest_clock, run_record
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.moments import format_brief
from cardoffers_cli.kernel.words.money import money_text, quantize
from cardoffers_cli.kernel.words.periods import Period
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.kernel.words.sentences import listed
from cardoffers_cli.river.publish import publish

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.credits.questions import OpenFindings
    from cardoffers_cli.documents.questions import StatedSettlement
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

KIND = "statement_close"
STATEMENT = SealedForm(
    columns=columns_of(StatementLine),
    head=(
        *("number", "institution_id", "from", "to", "previous_number", "previous_sha256"),
        *("entries", "adjustments"),
    ),
    passing=TAXES,
    before=("carried_in",),
    behind=("carried_out", "payable"),
)


class StatedAmounts(Record):
    """What a period comes to, `from` included and `to` excluded.

    `entries`, `adjustments` and `pending` are amounts, beside their counts; what is pending is for
    information. `carried_in` and `carried_out` are zero or less, `payable` is zero or more. One
    that is not closed has no number, and `overdue_count` entries that wait for a run of settle.
    """

    number: str | None
    institution_id: UUID
    institution: str
    currency: str
    from_: datetime = shown(gives_way=2)
    to: datetime = shown(gives_way=3)
    carried_in: Amount = shown(gives_way=6)
    entries: Amount = shown("settled", gives_way=5)
    adjustments: Amount = shown("taken back", gives_way=5)
    carried_out: Amount = shown(gives_way=6)
    payable: Amount
    entry_count: int = shown("entries", gives_way=4)
    adjustment_count: int = shown("reversed", gives_way=6)
    pending_count: int
    pending: Amount
    previous_number: str | None
    overdue_count: int | None = if_any()


class StatementResult(
    StatedAmounts,
    sheet="number institution from to entry_count entries adjustment_count adjustments carried_in"
    " carried_out payable currency closed_at sha256",
):
    """A statement, in the shape of `statement close --format json`; tax fields as they were.

    One that is shown has the settlements that it took, and where anything is to be paid the
    `payout_state` of the bank's side (rules.md#bank-verdicts).
    """

    number: str
    sha256: str = shown(gives_way=9)
    previous_sha256: str | None
    closed_at: datetime = shown(gives_way=7)
    actor: str
    tax_id: str | None = if_any()
    tax_note: str | None = if_any()
    dry_run: bool | None = if_any()
    payout_state: str | None = if_any()
    bank_code: str | None = if_any()
    settlements: Sequence[StatedSettlement] | None = if_any()


class CloseResult(Record, sheet="institution period state number payable currency message"):
    """What became of one institution where all were closed.

    The state is closed, closed_before or refused; `code`, `message` and `hint` say why.
    """

    institution: str
    period: str
    state: str
    number: str | None
    currency: str
    payable: Amount | None
    sha256: str | None
    code: str | None
    message: str | None
    hint: str | None
    dry_run: bool


class Closed(Protocol):
    """A period that was closed, of one institution or of all merchants."""

    @property
    def from_at(self) -> datetime:
        """When it begins."""

    @property
    def to_at(self) -> datetime:
        """When the next one begins."""


@dataclass(frozen=True, kw_only=True)
class PeriodRefusal:
    """What a refusal says: whose period it is, and the commands that close and preview it.

    In both commands the period is put: `{}`, or what of it the command takes.
    """

    of_whom: str
    close: str
    preview: str


def close_statement(
    job: Job, institution: str, period: str, *, dry_run: bool = False
) -> StatementResult:
    """Close a period in one transaction; return its statement, as it is if it was closed before.

    Raises `NotFound`, `UsageError` period_invalid, and `Refused` period_not_ended,
    period_out_of_order, findings_open or approval_required (rules.md#statements).
    """
    wanted = Period.of(period, job.now)
    with approvable(job, dry_run=dry_run) as store:
        owner = find_institution(store, institution)
        return told_of(close_in(store, job, owner, wanted, dry_run=dry_run), dry_run=dry_run)


def close_all(job: Job, period: str, *, dry_run: bool = False) -> list[CloseResult]:
    """Close a period of every institution, each in its own transaction; one refused stops none."""
    wanted = Period.of(period, job.now)
    with job.store(read_only=True) as store:
        owners = list_institutions(store)
    return [_closed_one(job, owner, wanted, dry_run=dry_run) for owner in owners]


def close_in(
    store: Store, job: Job, owner: Institution, period: Period, *, dry_run: bool = False
) -> Statement:
    """Close a period in the caller's transaction, as one run; what is closed is returned as it is.

    Raises as `close_statement`.
    """
    before = list_statements(store, institution_id=owner.id, limit=_ALL)
    closed = next((earlier for earlier in before if earlier.from_at == period.from_at), None)
    if closed is not None:
        return closed
    last = before[0] if before else None
    refuse_unless_next(store, job, period, last, _said_of(owner))
    with run_record(store, kind=KIND, now=job.now, actor=job.actor) as run:
        _refuse_open_findings(store, run, owner, period, dry_run=dry_run)
        statement = _close(store, owner, period, last)
        store.execute(
            "documents/questions:write",
            **statement,
            closed_at=job.now,
            run_no=run.run_no,
            actor=job.actor,
        )
        publish(store, "closed_statements", run_no=run.run_no)
        run.counts["number"] = statement["number"]
    return find_statement(store, statement["number"])


def preview(job: Job, institution: str, period: str) -> StatedAmounts:
    """Return what a statement of a period would come to now; of a closed one, what it came to."""
    wanted = Period.of(period, job.now)
    with reading(job) as source:
        store = source.store
        owner = find_institution(store, institution)
        before = list_statements(store, institution_id=owner.id, limit=_ALL)
        for row in before:
            if row.from_at == wanted.from_at:
                return StatedAmounts.part(_amounts_of(row), overdue_count=0)
        last = before[0] if before else None
        if last is not None and wanted.from_at < last.from_at:
            raise out_of_order(wanted, last, _said_of(owner))
        of = {"institution_id": owner.id, "to_at": wanted.to_at}
        to_come = store.rows("documents/questions:to_come", **of)[0]
        sums = statements.LineSums.of({**to_come, "currency": owner.currency})
        pending = statements.on_hold(store, owner.id, owner.currency, to_at=wanted.to_at)
    amounts = _amounts(owner, last, sums)
    return StatedAmounts.part(
        {**amounts, **pending, "from_": wanted.from_at, "to": wanted.to_at}, number=None
    )


def told_of(statement: Statement, *, dry_run: bool | None = None) -> StatementResult:
    """Return a statement in the shape that it is told in."""
    return StatementResult.part(_amounts_of(statement), dry_run=dry_run)


_ALL = 1_000_000
"""More statements than an institution ever has."""


def _amounts_of(statement: Statement) -> Mapping[str, Any]:
    return {**statement, "from_": statement.from_at, "to": statement.to_at}


def _close(
    store: Store, owner: Institution, period: Period, last: Statement | None
) -> Mapping[str, Any]:
    """Take what is to be on a statement, and return the columns of it that are of the ledger."""
    statement_no, sums = statements.take_settlements(
        store, owner.id, owner.currency, to_at=period.to_at
    )
    pending = statements.on_hold(store, owner.id, owner.currency, to_at=period.to_at)
    series, year = owner.slug.upper(), period.from_at.year
    # from 1 without a gap
    place = int(store.value("documents/questions:next_place", series=series, year=year))
    statement = {
        **_amounts(owner, last, sums),
        "number": f"{series}-{year}-{place:06}",
        "previous_sha256": last.sha256 if last else None,
        "tax_id": owner.tax_id,
        "tax_note": owner.tax_note,
    }
    lines = statements.csv_lines(store, owner.id, statement_no)
    return {
        **{name: value for name, value in statement.items() if name != "institution"},
        "statement_no": statement_no,
        "series": series,
        "year": year,
        "place": place,
        "from_at": period.from_at,
        "to_at": period.to_at,
        "pending_count": pending.pending_count,
        "pending": pending.pending,
        "sha256": STATEMENT.digest(
            {**statement, "from": period.from_at, "to": period.to_at}, lines
        ),
    }


def _amounts(
    owner: Institution, last: Statement | None, sums: statements.LineSums
) -> Mapping[str, Any]:
    """Return what a period comes to: what is below zero is carried into the next one."""
    nothing = quantize(Decimal(0), owner.currency)
    carried_in = last.carried_out if last else nothing
    balance = carried_in + sums.entries + sums.adjustments
    return {
        "institution_id": owner.id,
        "institution": owner.slug,
        **sums,
        "carried_in": carried_in,
        "carried_out": min(balance, nothing),
        "payable": max(balance, nothing),
        "previous_number": last.number if last else None,
    }


def refuse_unless_next(
    store: Store, job: Job, period: Period, last: Closed | None, refusal: PeriodRefusal
) -> None:
    """Raise `Refused` for a period that has not ended, or is not the next one to close."""
    if last is not None and period.from_at != last.to_at:
        raise out_of_order(period, last, refusal)
    if min(job.now, latest_clock(store, job.now)) < period.to_at:
        raise Refused(
            f"{period.title} has not ended: it can be closed from {format_brief(period.to_at)} UTC"
            " on.",
            code="period_not_ended",
            hint=f"`{refusal.preview.format(period)}` shows what it comes to so far.",
        )


def out_of_order(period: Period, last: Closed, refusal: PeriodRefusal) -> Refused:
    """Return the refusal of a period that is not the next one to close."""
    following = Period(last.to_at)
    if period.from_at > last.to_at:
        message = f"{following.title} {refusal.of_whom} is not closed yet, and comes first."
    else:
        message = (
            f"{period.title} {refusal.of_whom} is before the last one that was closed, "
            f"{Period(last.from_at).title}. What was settled late comes onto the next one."
        )
    return Refused(
        message,
        code="period_out_of_order",
        hint=f"`{refusal.close.format(following)}` closes the next.",
    )


def _said_of(owner: Institution) -> PeriodRefusal:
    return PeriodRefusal(
        of_whom=f"of {owner.slug}",
        close=f"cardoffers statement close -i {owner.slug} --period {{}}",
        preview=f"cardoffers statement preview -i {owner.slug} --period {{}}",
    )


def _refuse_open_findings(
    store: Store, run: Run, owner: Institution, period: Period, *, dry_run: bool
) -> None:
    """Raise `Refused` where what reconciliation found is open and above the institution's limit.

    An approval that lists the findings closes it nevertheless, where approvals are on.
    """
    rows = open_findings(store, owner.id, before=period.to_at)
    amount = sum((row.amount for row in rows if row.currency == owner.currency), Decimal(0))
    is_other = any(row.currency != owner.currency for row in rows)
    if not rows or (not is_other and amount <= (owner.approval_limit or 0)):
        return
    findings = listed([f"{row.findings} {row.code} ({_money(row)})" for row in rows])
    if owner.approvals != ON:
        raise Refused(
            f"{period.title} of {owner.slug} has open findings of the reconciliation: {findings}.",
            code="findings_open",
            hint=f"`cardoffers reconcile list -i {owner.slug} --state open` shows them; "
            "`cardoffers reconcile accept` accepts one, with a reason.",
        )
    require_approval(
        store,
        run,
        owner,
        action=KIND,
        subject=f"{owner.slug} {period}",
        details={f"{row.code} {row.currency}": f"{row.findings} of {_money(row)}" for row in rows},
        amount=amount,
        currency=owner.currency,
        dry_run=dry_run,
    )


def _money(findings: OpenFindings) -> str:
    return money_text(findings.amount, findings.currency)


def _closed_one(job: Job, owner: Institution, period: Period, *, dry_run: bool) -> CloseResult:
    base: Mapping[str, Any] = {
        "institution": owner.slug,
        "period": str(period),
        "currency": owner.currency,
        "dry_run": dry_run,
    }
    none = dict.fromkeys(("number", "payable", "sha256", "code", "message", "hint"))
    try:
        with approvable(job, dry_run=dry_run) as store:
            newest = list_statements(store, institution_id=owner.id, limit=1)
            statement = close_in(store, job, owner, period, dry_run=dry_run)
    except Refused as error:
        why = {"code": error.code, "message": error.message, "hint": error.hint}
        return CloseResult(**{**base, **none, **why}, state="refused")
    is_old = bool(newest) and newest[0].to_at >= statement.to_at
    more = {name: statement[name] for name in ("number", "payable", "sha256")}
    return CloseResult(**{**base, **none, **more}, state="closed_before" if is_old else "closed")
