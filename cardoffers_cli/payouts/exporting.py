"""Export a payout: write the payment of a statement for the bank (rules.md#payouts).

What is written is kept, so that whoever asks again gets the same bytes, whatever was set since. A
statement is paid under another id only where somebody wants it `again`, with a reason, and the bank
returned or rejected the payment before; the file of the one that came back is not written any more.
The file is written when the record of it is committed: where that fails, asking again writes it.
What is withdrawn, before the bank said anything of it, the next export pays under another id.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from cardoffers_cli.institutions.accounts import find_account
from cardoffers_cli.kernel.sheets.exports import OWNER_ONLY, replacing
from cardoffers_cli.kernel.store import acts
from cardoffers_cli.kernel.store.approval_requests import (
    ON,
    approvable,
    asked_before,
    find_approvals,
    require_approval,
)
from cardoffers_cli.kernel.store.institutions import institution_of
from cardoffers_cli.kernel.store.runs import machine_at, run_record
from cardoffers_cli.kernel.words.bank_accounts import parse_account, payment_id
from cardoffers_cli.kernel.words.errors import ConfigurationError, Refused, UsageError
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.periods import Period
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.payouts.files.nacha import trace_of, write_nacha
from cardoffers_cli.payouts.files.pain001 import Party, Payment, write_listed, write_pain001
from cardoffers_cli.payouts.questions import find_payouts, payable_statement, payout_states
from cardoffers_cli.payouts.rails import due_day, rail_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from cardoffers_cli.institutions.accounts import BankAccount
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount
    from cardoffers_cli.payouts.questions import PayableStatement, PayoutState, StoredPayment
    from cardoffers_cli.payouts.rails import Rail

FORMS: Mapping[str, Callable[..., bytes]] = {
    "pain.001": write_pain001,
    "nacha": write_nacha,
    "csv": write_listed,
}
"""The forms in which payments can be written, by the name that `--form` has for them."""
SUFFIXES = {"pain.001": "xml", "nacha": "ach", "csv": "csv"}


class ExportedPayout(
    Record,
    sheet="number institution amount currency account due_on payment_id form file exported_before"
    " approval",
):
    """The payment of a statement, and the file that it was written to.

    `payments` says how many the file has. `exported_before`: the bytes are those of an earlier
    export. `sha256` is of the file: whoever uploads it compares. `account_changed` says when and by
    whom, where this is the first payment to another account than before; `approvals` whether a
    second person has to agree.
    """

    number: str = shown("statement")
    institution: str
    attempt: int
    payment_id: str = shown("payment", gives_way=3)
    form: str = shown(gives_way=4)
    amount: Amount
    currency: str
    account: str = shown(gives_way=2)
    due_on: date = shown("due", gives_way=1)
    file: str = shown(gives_way=1)
    payments: int
    bytes: int
    sha256: str
    exported_at: datetime
    exported_before: bool = shown("again", gives_way=5)
    account_changed: str | None = if_any()
    approvals: str
    approval: str | None = if_any(gives_way=5)
    dry_run: bool


class UnpaidStatement(Record):
    """A statement of a period that no file pays, and why: the refusal, in its words."""

    number: str = shown("statement")
    institution: str
    amount: Amount
    currency: str
    code: str = shown(gives_way=1)
    message: str
    hint: str | None = shown(gives_way=2)


class ExportedPeriod(Record):
    """The payments of a period, each with the file that it is in, and what no file pays."""

    period: str
    payments: Sequence[ExportedPayout]
    not_paid: Sequence[UnpaidStatement]
    dry_run: bool


class PaidSoFar(NamedTuple):
    """A statement with its newest payment, and what is paid of it, where there are any."""

    statement: PayableStatement
    newest: StoredPayment | None
    state: PayoutState | None


class Payable(NamedTuple):
    """A statement that may be paid now by such an attempt, to whom, and on which rail."""

    statement: PayableStatement
    attempt: int
    owner: Institution
    account: BankAccount
    payee: Party
    rail: Rail


def export_payout(
    job: Job,
    number: str,
    form: str,
    to: Path,
    *,
    due_on: date | None = None,
    again: str | None = None,
    dry_run: bool = False,
) -> ExportedPayout:
    """Write the file with the newest payment of a statement.

    `again` is why it is paid once more, where the bank returned or rejected that payment; asked
    again while the bank says nothing of the new one, that is written. Raises `NotFound`, `Refused`
    where nothing is to be paid, or nothing came back, where its payment did and nobody said
    `again`, where it was exported in another form, where the form cannot say it or the day has
    passed, `ConfigurationError` without a payer, and `ApprovalNeeded`.
    """
    (payment,) = _export(
        *(job, [number], form, to), subject=number, due_on=due_on, again=again, dry_run=dry_run
    )
    return payment


def export_period(
    job: Job, period: str, folder: Path, *, form: str | None = None, dry_run: bool = False
) -> ExportedPeriod:
    """Write the payments of the statements of a month: a file for each rail, or in one `form`.

    Asked again it writes the same files, and another for what can be paid only since. What is
    refused of a statement or of a file stops no other; approvals that are missing are asked for.
    Statements that are paid need no file any more. Raises `UsageError` and `ConfigurationError`.
    """
    wanted = str(Period.of(period, job.now))
    if not dry_run:
        folder.mkdir(parents=True, exist_ok=True)
    files: dict[tuple[str, ...], list[str]] = {}
    refusals: dict[str, Refused] = {}
    with job.store(read_only=True) as store:
        states = payout_states(store, job.now, period=wanted)[::-1]
        for so_far in _paid_so_far(store, job, [state.number for state in states]):
            number = so_far.statement.number
            try:
                if known := _known(so_far, again=None):
                    rail = (known.form, known.currency, known.sha256)
                else:
                    due = _payable(store, job, so_far)
                    rail = (form or due.rail.form, due.statement.currency, due.rail.charge_bearer)
                files.setdefault(rail, []).append(number)
            except Refused as refusal:
                refusals[number] = refusal
    payments: list[ExportedPayout] = []
    for (chosen, *rest), numbers in files.items():
        subject = " ".join([wanted, chosen, *rest])
        try:
            payments += _export(
                *(job, numbers, chosen, folder), subject=subject, period=wanted, dry_run=dry_run
            )
        except Refused as refusal:
            refusals |= dict.fromkeys(numbers, refusal)
    not_paid = [
        UnpaidStatement.part(state, code=why.code, message=str(why), hint=why.hint)
        for state in states
        if (why := refusals.get(state.number)) and state.state != "paid"
    ]
    return ExportedPeriod(period=wanted, payments=payments, not_paid=not_paid, dry_run=dry_run)


def _export(
    job: Job,
    numbers: Sequence[str],
    form: str,
    to: Path,
    *,
    subject: str,
    period: str | None = None,
    due_on: date | None = None,
    again: str | None = None,
    dry_run: bool = False,
) -> list[ExportedPayout]:
    """Write the file that pays statements, which its owner alone may read; make it if none does.

    With a `period` it is in the folder `to`, under the number of its first payment.
    """
    approval: str | None = None
    changed: Mapping[str, str] = {}
    with approvable(job, dry_run=dry_run) as store:
        so_far = _paid_so_far(store, job, numbers)
        if new := [each for each in so_far if _known(each, again=again) is None]:
            so_far, due = new, [_payable(store, job, each) for each in new]
            with run_record(store, kind="payout_export", now=job.now, actor=job.actor) as run:
                approval, changed = _make(
                    *(store, job, run, due),
                    subject=subject,
                    form=form,
                    due_on=due_on,
                    again=again,
                    dry_run=dry_run,
                )
                run.counts["statement"] = subject
        numbers = [each.statement.number for each in so_far]
        payments = find_payouts(store, numbers=numbers)
        owners = {each.number: institution_of(store, each.institution_id) for each in payments}
        first = payments[0]
        in_file = find_payouts(store, sha256=first.sha256)
        content = str(store.value("payouts/questions:content", sha256=first.sha256)).encode()
    if other := [
        each for each in payments if each.form != form or due_on not in {None, each.due_on}
    ]:
        raise Refused.from_table("payouts", "payout_exported", old=other[0])
    if back := [each for each in in_file if each.came_back and each.number not in numbers]:
        raise Refused.from_table("payouts", "payout_file_returned", first=first, back=back[0])
    if period:
        number = min(each.payout_no for each in in_file)
        to /= f"{period}-{first.currency}-{number}.{SUFFIXES[form]}"
    if so_far[0].statement.is_rehearsal:  # nobody is to upload it
        to = to.with_name(f"REHEARSAL-{to.name.removeprefix('REHEARSAL-')}")
    if not dry_run:
        with replacing(to, mode=OWNER_ONLY) as out:
            out.write(content)
    return [
        ExportedPayout.part(
            payment,
            institution=owners[payment.number].slug,
            file=str(to),
            payments=len(in_file),
            bytes=len(content),
            exported_before=not new,
            account_changed=changed.get(payment.number),
            approvals=owners[payment.number].approvals,
            approval=approval,
            dry_run=dry_run,
        )
        for payment in payments
    ]


class WithdrawnPayout(Record):
    """A payment of a statement that was withdrawn: the statement is to be paid by another.

    `payments` are all of its file: they are withdrawn with it.
    """

    number: str
    institution: str
    payment_id: str
    payments: Sequence[str]
    form: str
    amount: Amount
    currency: str
    sha256: str
    withdrawn_at: datetime
    reason: str
    approval: str | None = if_any()
    dry_run: bool


def withdraw_payout(
    job: Job, number: str, reason: str, *, dry_run: bool = False
) -> WithdrawnPayout:
    """Withdraw the file with the newest payment of a statement, if the bank said nothing of it.

    Raises `NotFound`, `ApprovalNeeded`, and `Refused` where there is no such file.
    """
    if not reason.strip():
        raise UsageError("A withdrawal needs a reason.", hint='Say why: --reason "old account".')
    with approvable(job, dry_run=dry_run) as store:
        payable_statement(store, number)
        payment = next(iter(find_payouts(store, numbers=[number])), None)
        if payment is None or payment.withdrawn_at:
            raise _not_withdrawn(number, payment)
        in_file = find_payouts(store, sha256=payment.sha256)
        if told := next((each for each in in_file if each.entries), None):
            raise _not_withdrawn(number, told)
        owners = [institution_of(store, each.institution_id) for each in in_file]
        ids = [each.payment_id for each in in_file]
        with run_record(store, kind="payout_withdraw", now=job.now, actor=job.actor) as run:
            details = {"sha256": payment.sha256, "reason": reason.strip()}
            of_many = {"payments": ids, "institutions": _slugs(owners)} if len(ids) > 1 else {}
            approval = require_approval(
                *(store, run, _who_decides(owners)),
                action="payout_withdraw",
                subject=number,
                details={"payment_id": payment.payment_id, **details, **of_many},
                amount=sum((each.amount for each in in_file), Decimal(0)),
                currency=payment.currency,
                dry_run=dry_run,
            )
            for each in in_file:
                store.execute(
                    "payouts/questions:withdraw",
                    payment_id=each.payment_id,
                    institution_id=each.institution_id,
                    now=job.now,
                    actor=job.actor,
                    reason=reason.strip(),
                    run_no=run.run_no,
                )
                acts.append(
                    *(store, "payout_withdrawn", run.by),
                    subject=each.payment_id,
                    institution_id=each.institution_id,
                    details={"statement": each.number, "payment_id": each.payment_id, **details},
                )
            run.counts["statement"] = number
    return WithdrawnPayout.part(
        payment,
        institution=owners[ids.index(payment.payment_id)].slug,
        payments=ids,
        withdrawn_at=job.now,
        reason=reason.strip(),
        approval=approval,
        dry_run=dry_run,
    )


def _who_decides(owners: Sequence[Institution]) -> Institution:
    """Return the institution whose approvals a file needs: the first that wants any."""
    return next((owner for owner in owners if owner.approvals == ON), owners[0])


def _slugs(owners: Sequence[Institution]) -> list[str]:
    return sorted({owner.slug for owner in owners})


def _not_withdrawn(number: str, old: StoredPayment | None) -> Refused:
    """Say why a payment cannot be withdrawn."""
    hint = f"`cardoffers payout show {number}` shows what is known of it."
    if old is None:
        text, code = f"The statement {number} was not exported yet.", "payout_not_exported"
    elif old.withdrawn_at:
        text, code = f"The payment {old.payment_id} was withdrawn before.", "payout_withdrawn"
    else:
        text = f"The bank said something of the payment {old.payment_id}: it is not withdrawn."
        code = "payout_told"
    return Refused(text, code=code, hint=hint)


def _paid_so_far(store: Store, job: Job, numbers: Sequence[str]) -> list[PaidSoFar]:
    """Return what was done about statements by now; raise `NotFound`."""
    newest = {each.number: each for each in find_payouts(store, numbers=numbers)}
    states = {each.number: each for each in payout_states(store, job.now, numbers=numbers)}
    return [
        PaidSoFar(payable_statement(store, number), newest.get(number), states.get(number))
        for number in numbers
    ]


def _known(so_far: PaidSoFar, *, again: str | None) -> StoredPayment | None:
    """Return the payment that is written, None where one is to be made; raise `Refused`."""
    statement, newest, state = so_far
    if newest is None or state is None:
        if again is None:
            return None
        raise Refused.from_table("payouts", "payout_not_exported", statement=statement)
    advice = f"`cardoffers payout show {statement.number}` shows it."
    is_withdrawn = newest.withdrawn_at is not None
    if (is_withdrawn or state.state == "withdrawn_told") and not state.came_back:
        if state.paid_amount or (is_withdrawn and newest.entries):
            raise Refused.from_table(
                "payouts", "payout_withdrawn_told", statement=statement, advice=advice
            )
        if is_withdrawn:
            return None
    if again is None and state.came_back:
        raise Refused.from_table(
            "payouts", "payout_returned", newest=newest, advice=advice, statement=statement
        )
    if again is None:
        return newest
    if state.came_back:
        return None
    if newest.attempt > 1 and not state.paid_amount:
        return newest
    raise Refused(
        f"The statement {statement.number} is {state.state}: it is paid again only where the bank"
        " returned or rejected its payment.",
        code="payout_not_returned",
        hint=f"{advice} `cardoffers bank import FILE` takes in what the bank said since.",
    )


def _make(
    store: Store,
    job: Job,
    run: Run,
    due: Sequence[Payable],
    *,
    subject: str,
    form: str,
    due_on: date | None,
    again: str | None,
    dry_run: bool,
) -> tuple[str | None, Mapping[str, str]]:
    """Keep the payments of statements in one file, with what is written.

    Return the state of its approval, and by number of a statement how its account was changed since
    the payment before.
    """
    owners = [each.owner for each in due]
    decides = _who_decides(owners)
    is_again = due[0].attempt > 1 and not due[1:]
    made_again = {"attempt": due[0].attempt, "reason": again} if is_again else {}
    ids = [payment_id(each.statement.number, each.attempt) for each in due]
    # What was asked for and signed is the file with these bytes: made when it was asked for, under
    # the numbers that it got then.
    prior = asked_before(store, run, decides, action="payout_export", subject=subject)
    asked = prior.details if prior and prior.details["form"] == form else {}
    if [*asked.get("payments", ())] != (ids if len(ids) > 1 else []):
        asked = {}
    today, currency = job.now.date(), due[0].statement.currency
    if due_on is None and asked and date.fromisoformat(asked["due_on"]) >= today:
        due_on = date.fromisoformat(asked["due_on"])
    due_on = due_day(today, due_on, currency)
    payer, made_at, numbers = _payer(job), job.now, asked
    if asked:
        made_at = datetime.fromisoformat(asked["made_at"])
    else:
        (numbers,) = store.rows("payouts/questions:next", bank=payer.account.bank, day=today)
    payments = [
        Payment(
            payment_id=each_id,
            statement=each.statement.number,
            amount=each.statement.amount,
            currency=currency,
            payer=payer,
            payee=each.payee,
            trace_no=trace_no,
            made_at=made_at,
            due_on=due_on,
            file_no=numbers["file_no"],
        )
        for trace_no, (each, each_id) in enumerate(zip(due, ids, strict=True), numbers["payout_no"])
    ]
    content = FORMS[form](*payments)
    digest = sha256(content).hexdigest()
    paid = [
        {
            "holder": each.payee.name,
            "account": each.payee.account.text,
            **({"address": each.payee.address} if each.payee.address else {}),
            "account_set": each.account.set_text,
        }
        for each in due
    ]
    # Of several each payment is one line, so that it can be read before it is signed.
    of_many = {
        "institutions": _slugs(owners),
        "payments": {
            each.payment_id: f"{money_text(each.amount, currency)} to {', '.join(to.values())}"
            for each, to in zip(payments, paid, strict=True)
        },
    }
    approval = require_approval(
        *(store, run, decides),
        action="payout_export",
        subject=subject,
        details={
            "form": form,
            "payer": payer.name,
            "payer_account": payer.account.text,
            **(of_many if due[1:] else paid[0]),
            "due_on": due_on.isoformat(),
            "made_at": made_at.isoformat(),
            "payout_no": numbers["payout_no"],
            "file_no": numbers["file_no"],
            "sha256": digest,
            **made_again,
        },
        amount=sum((payment.amount for payment in payments), Decimal(0)),
        currency=currency,
        dry_run=dry_run,
    )
    store.execute("payouts/questions:keep_file", sha256=digest, content=content.decode())
    for each, payment in zip(due, payments, strict=True):
        trace = trace_of(payer.account.bank or "", payment.trace_no) if form == "nacha" else None
        store.execute(
            "payouts/questions:keep",
            payout_no=payment.trace_no,
            institution_id=each.owner.id,
            number=payment.statement,
            attempt=each.attempt,
            reason=again,
            payment_id=payment.payment_id,
            trace=trace,
            amount=payment.amount,
            currency=currency,
            form=form,
            account=each.payee.account.masked,
            sha256=digest,
            due_on=due_on,
            made_at=made_at,
            exported_at=job.now,
            run_no=run.run_no,
            actor=job.actor,
        )
        details = {"statement": payment.statement, "form": form, "sha256": digest, **made_again}
        acts.append(
            *(store, "payout_exported", run.by),
            subject=payment.payment_id,
            institution_id=each.owner.id,
            details=details,
        )
    return approval, {
        each.statement.number: each.account.set_text
        for each in due
        if (before := each.statement.last_exported_at) and before < each.account.set_at
    }


def _payable(store: Store, job: Job, so_far: PaidSoFar) -> Payable:
    """Return a statement with whom it is paid to; raise `Refused` where it cannot be, for now."""
    statement, newest, _ = so_far
    owner = institution_of(store, statement.institution_id)
    if statement.amount <= 0:
        raise Refused(
            f"The statement {statement.number} pays nothing.",
            code="nothing_payable",
            hint="What is owed less than nothing is carried into the next statement.",
        )
    account, moment = find_account(store, owner.id), machine_at(store, job.now)
    if account is None:
        raise Refused.from_table("payouts", "account_missing", owner=owner)
    if account.usable_at > moment:
        raise Refused(
            f"The account of {owner.name} was changed on {account.set_text}: it is paid from"
            f" {format_minute(account.usable_at)} on.",
            code="account_waits",
            hint="Ask the institution, by a way that was known before, whether the account is its.",
        )
    of = {"institution_id": owner.id, "action": "account_set"}
    asked = find_approvals(store, moment, **of) if owner.approvals == ON else []
    if open_ := [each for each in asked if each.state in {"pending", "given"}]:
        raise Refused(
            f"A change of the account of {owner.name} waits: nothing is paid until then.",
            code="account_change_waits",
            hint=f"`cardoffers approve show {open_[0].approval_id}` shows both accounts.",
        )
    payee = Party(
        name=account.holder, account=parse_account(account.account), address=account.address
    )
    payer = _payer(job)
    rail = rail_of(statement.currency, payer.account, payee.account)
    if rail.needs_address and not account.address:
        raise Refused.from_table(
            "payouts", "address_missing", payer=payer, payee=payee, owner=owner
        )
    attempt = newest.attempt + 1 if newest else 1
    return Payable(statement, attempt, owner, account, payee, rail)


def _payer(job: Job) -> Party:
    """Return who pays, as the settings say; raise `ConfigurationError`."""
    name, account = job.settings.payer_name, job.settings.payer_account
    if not name or not account:
        raise ConfigurationError.from_table("payouts", "payer_missing")
    return Party(name=name, account=parse_account(account), account_id=job.settings.payer_id)
