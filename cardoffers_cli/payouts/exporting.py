"""Export a payout: write the payment of a statement for the bank (rules.md#payouts).

What is written is kept, so that whoever asks again gets the same bytes, whatever was set since. A
statement is paid under another id only where somebody wants it `again`, with a reason, and the bank
returned or rejected the payment before; the file of the one that came back is not written any more.
The file is written when the record of it is committed: where that fails, asking again writes it.
What is withdrawn, before the bank said anything of it, the next export pays under another id.
"""

from __future__ import annotations

from datetime import date, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

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
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.payouts.files.nacha import trace_of, write_nacha
from cardoffers_cli.payouts.files.pain001 import Party, Payment, write_listed, write_pain001
from cardoffers_cli.payouts.questions import find_payout, payable_statement, payout_states
from cardoffers_cli.payouts.rails import due_day, rail_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from cardoffers_cli.institutions.accounts import BankAccount
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount
    from cardoffers_cli.payouts.questions import PayableStatement, StoredPayment

FORMS: Mapping[str, Callable[[Payment], bytes]] = {
    "pain.001": write_pain001,
    "nacha": write_nacha,
    "csv": write_listed,
}
"""The forms in which a payment can be written, by the name that `--form` has for them."""


class ExportedPayout(Record):
    """The payment of a statement, and the file that it was written to.

    `exported_before` says that the bytes are those of an earlier export. `sha256` is of the file:
    whoever uploads it compares. `account_changed` says when and by whom, where this is the first
    payment to another account than before; `approvals` whether a second person has to agree.
    """

    number: str
    institution: str
    attempt: int
    payment_id: str
    form: str
    amount: Amount
    currency: str
    account: str
    due_on: date
    file: str
    bytes: int
    sha256: str
    exported_at: datetime
    exported_before: bool
    account_changed: str | None = if_any()
    approvals: str
    approval: str | None = if_any()
    dry_run: bool


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
    """Write the newest payment of a statement to a file that its owner alone may read.

    `again` is why it is paid once more, where the bank returned or rejected that payment; asked
    again while the bank says nothing of the new one, that is written. Raises `NotFound`, `Refused`
    where nothing is to be paid, or nothing came back, where its payment did and nobody said
    `again`, where it was exported in another form, where the form cannot say it or the day has
    passed, `ConfigurationError` without a payer, and `ApprovalNeeded`.
    """
    approval = changed = None
    with approvable(job, dry_run=dry_run) as store:
        statement = payable_statement(store, number)
        owner = institution_of(store, statement.institution_id)
        earlier = _known(store, job, statement, again=again)
        if earlier is None:
            with run_record(store, kind="payout_export", now=job.now, actor=job.actor) as run:
                approval, changed = _make(
                    *(store, job, run, owner, statement),
                    form=form,
                    due_on=due_on,
                    again=again,
                    dry_run=dry_run,
                )
                run.counts["statement"] = number
        payment = find_payout(store, owner.id, number)
        if payment is None:  # it was just written
            raise LookupError(number)
        _check_again(payment, form, due_on)
    content = payment.content.encode()
    if statement.is_rehearsal:  # nobody is to upload it
        to = to.with_name(f"REHEARSAL-{to.name.removeprefix('REHEARSAL-')}")
    if not dry_run:
        with replacing(to, mode=OWNER_ONLY) as out:
            out.write(content)
    return ExportedPayout.part(
        payment,
        institution=owner.slug,
        file=str(to),
        bytes=len(content),
        exported_before=earlier is not None,
        account_changed=changed,
        approvals=owner.approvals,
        approval=approval,
        dry_run=dry_run,
    )


class WithdrawnPayout(Record):
    """A payment of a statement that was withdrawn: the statement is to be paid by another."""

    number: str
    institution: str
    payment_id: str
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
    """Withdraw the newest payment of a statement, of which the bank said nothing yet.

    Raises `NotFound`, `ApprovalNeeded`, and `Refused` where there is no such payment.
    """
    if not reason.strip():
        raise UsageError("A withdrawal needs a reason.", hint='Say why: --reason "old account".')
    with approvable(job, dry_run=dry_run) as store:
        statement = payable_statement(store, number)
        owner = institution_of(store, statement.institution_id)
        payment = find_payout(store, owner.id, number)
        if payment is None or payment.withdrawn_at or payment.entries:
            raise _not_withdrawn(number, payment)
        with run_record(store, kind="payout_withdraw", now=job.now, actor=job.actor) as run:
            why = reason.strip()
            details = {"payment_id": payment.payment_id, "sha256": payment.sha256, "reason": why}
            approval = require_approval(
                *(store, run, owner),
                action="payout_withdraw",
                subject=number,
                details=details,
                amount=payment.amount,
                currency=payment.currency,
                dry_run=dry_run,
            )
            store.execute(
                "payouts/questions:withdraw",
                payment_id=payment.payment_id,
                institution_id=owner.id,
                now=job.now,
                actor=job.actor,
                reason=why,
                run_no=run.run_no,
            )
            acts.append(
                *(store, "payout_withdrawn", run.by),
                subject=payment.payment_id,
                institution_id=owner.id,
                details={"statement": number, **details},
            )
            run.counts["statement"] = number
    return WithdrawnPayout.part(
        payment,
        institution=owner.slug,
        withdrawn_at=job.now,
        reason=reason.strip(),
        approval=approval,
        dry_run=dry_run,
    )


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


def _known(
    store: Store, job: Job, statement: PayableStatement, *, again: str | None
) -> StoredPayment | None:
    """Return the payment that is written, None where one is to be made; raise `Refused`."""
    newest = find_payout(store, statement.institution_id, statement.number)
    if newest is None:
        if again is None:
            return None
        raise Refused(
            f"The statement {statement.number} was not paid yet, so it cannot be paid again.",
            code="payout_not_exported",
            hint="Leave --again and --reason out.",
        )
    (state,) = payout_states(
        store, job.now, institution_id=statement.institution_id, number=statement.number
    )
    advice = f"`cardoffers payout show {statement.number}` shows it."
    is_withdrawn = newest.withdrawn_at is not None
    if (is_withdrawn or state.state == "withdrawn_told") and not state.came_back:
        if state.paid_amount or (is_withdrawn and newest.entries):
            raise Refused(
                f"The bank says something of a payment of {statement.number} that was withdrawn, or"
                " came back: another file would pay twice.",
                code="payout_withdrawn_told",
                hint=f"{advice} Ask the bank; `cardoffers bank import FILE` takes in its answer.",
            )
        if is_withdrawn:
            return None
    if again is None and state.came_back:
        raise Refused(  # whoever uploads it pays into what the bank could not pay into
            f"The payment {newest.payment_id} came back or was rejected: its file is not written"
            " again.",
            code="payout_returned",
            hint=f"{advice} `cardoffers payout export --statement {statement.number} --form"
            f" {newest.form} -o FILE --again --reason TEXT` pays it once more.",
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


def _check_again(old: StoredPayment, form: str, due_on: date | None) -> None:
    """Refuse to write a payment otherwise than it was."""
    if old.form == form and due_on in {None, old.due_on}:
        return
    raise Refused(
        f"The statement {old.number} was exported as {old.form}, due on {old.due_on}: a second"
        " payment of it would pay twice.",
        code="payout_exported",
        hint=f"`--form {old.form}` writes the same file again.",
    )


def _make(
    store: Store,
    job: Job,
    run: Run,
    owner: Institution,
    statement: PayableStatement,
    *,
    form: str,
    due_on: date | None,
    again: str | None,
    dry_run: bool,
) -> tuple[str | None, str | None]:
    """Keep a payment of a statement, with what was written.

    Return the state of its approval, and how the account was changed since the payment before.
    """
    newest = find_payout(store, owner.id, statement.number)
    attempt = newest.attempt + 1 if newest else 1
    made_again = {"attempt": attempt, "reason": again} if newest else {}
    action, subject = "payout_export", statement.number
    # What was asked for and signed is the file with these bytes: made when it was asked for, under
    # the numbers that it got then.
    prior = asked_before(store, run, owner, action=action, subject=subject)
    asked = prior.details if prior and prior.details["form"] == form else {}
    if due_on is None and asked and date.fromisoformat(asked["due_on"]) >= job.now.date():
        due_on = date.fromisoformat(asked["due_on"])
    account = _payable_account(store, job, owner)
    payment = _payment(
        *(store, job, owner, statement, account), asked=asked, due_on=due_on, attempt=attempt
    )
    payout_no = payment.trace_no
    payer, payee = payment.payer.account, payment.payee.account
    content = FORMS[form](payment)
    digest = sha256(content).hexdigest()
    approval = require_approval(
        store,
        run,
        owner,
        action=action,
        subject=subject,
        details={
            "form": form,
            "payer": payment.payer.name,
            "payer_account": payer.text,
            "holder": payment.payee.name,
            "account": payee.text,
            **({"address": payment.payee.address} if payment.payee.address else {}),
            "account_set": account.set_text,
            "due_on": payment.due_on.isoformat(),
            "made_at": payment.made_at.isoformat(),
            "payout_no": payout_no,
            "file_no": payment.file_no,
            "sha256": digest,
            **made_again,
        },
        amount=statement.amount,
        currency=statement.currency,
        dry_run=dry_run,
    )
    store.execute(
        "payouts/questions:keep",
        payout_no=payout_no,
        institution_id=owner.id,
        number=statement.number,
        attempt=attempt,
        reason=again,
        payment_id=payment.payment_id,
        trace=trace_of(payer.bank or "", payout_no) if form == "nacha" else None,
        amount=statement.amount,
        currency=statement.currency,
        form=form,
        account=payee.masked,
        content=content.decode(),
        sha256=digest,
        due_on=payment.due_on,
        made_at=payment.made_at,
        exported_at=job.now,
        run_no=run.run_no,
        actor=job.actor,
    )
    details = {"statement": statement.number, "form": form, "sha256": digest, **made_again}
    acts.append(
        *(store, "payout_exported", run.by),
        subject=payment.payment_id,
        institution_id=owner.id,
        details=details,
    )
    before = statement.last_exported_at
    return approval, account.set_text if before and before < account.set_at else None


def _payable_account(store: Store, job: Job, owner: Institution) -> BankAccount:
    """Return the account that an institution is paid to; raise `Refused` where none is, for now."""
    account, moment = find_account(store, owner.id), machine_at(store, job.now)
    if account is None:
        raise Refused(
            f"{owner.name} has no account to be paid to.",
            code="account_missing",
            hint=f"Type `cardoffers institution set {owner.slug} --account IBAN/BIC`.",
        )
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
    return account


def _payment(
    store: Store,
    job: Job,
    owner: Institution,
    statement: PayableStatement,
    account: BankAccount,
    *,
    asked: Mapping[str, Any],
    due_on: date | None,
    attempt: int,
) -> Payment:
    if statement.amount <= 0:
        raise Refused(
            f"The statement {statement.number} pays nothing.",
            code="nothing_payable",
            hint="What is owed less than nothing is carried into the next statement.",
        )
    today, payer = job.now.date(), _payer(job)
    payee = Party(
        name=account.holder, account=parse_account(account.account), address=account.address
    )
    is_needed = rail_of(statement.currency, payer.account, payee.account).needs_address
    if is_needed and not account.address:
        raise Refused(
            f"The payment goes from {payer.account.country} to {payee.account.country}: the bank"
            f" asks for the town and country of {owner.name}.",
            code="address_missing",
            hint=f'Type `cardoffers institution set {owner.slug} --account-address "Town, GB"`.',
        )
    numbers, made_at = asked, job.now
    if asked:
        made_at = datetime.fromisoformat(asked["made_at"])
    else:
        (numbers,) = store.rows("payouts/questions:next", bank=payer.account.bank, day=today)
    return Payment(
        payment_id=payment_id(statement.number, attempt),
        statement=statement.number,
        amount=statement.amount,
        currency=statement.currency,
        payer=payer,
        payee=payee,
        trace_no=numbers["payout_no"],
        made_at=made_at,
        due_on=due_day(today, due_on, statement.currency),
        file_no=numbers["file_no"],
    )


def _payer(job: Job) -> Party:
    """Return who pays, as the settings say; raise `ConfigurationError`."""
    name, account = job.settings.payer_name, job.settings.payer_account
    if not name or not account:
        raise ConfigurationError(
            "The settings do not say from which account institutions are paid.",
            code="payer_missing",
            hint="Set payer_name and payer_account: `cardoffers help payments` tells how.",
        )
    return Party(name=name, account=parse_account(account), account_id=job.settings.payer_id)
