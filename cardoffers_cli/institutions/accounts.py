"""The account that an institution is paid to (rules.md#accounts): changed by its settings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from cardoffers_cli.institutions.changes import record_changes
from cardoffers_cli.kernel.store.approval_requests import ON, require_approval
from cardoffers_cli.kernel.store.runs import machine_at
from cardoffers_cli.kernel.words.bank_accounts import parse_account, plain_name
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.catalogue.questions import FieldChange
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store


class BankAccount(Record):
    """An account as it was given, whose it is, who set it when, and from when on it is paid."""

    account: str
    holder: str
    address: str | None
    set_at: datetime
    set_by: str
    usable_at: datetime

    @property
    def masked(self) -> str:
        """The account as it is shown."""
        return parse_account(self.account).masked

    @property
    def given(self) -> tuple[str | None, ...]:
        """What was given, without who did and when."""
        return self.account, self.holder, self.address

    @property
    def set_text(self) -> str:
        """When it was set, and by whom: `2026-10-02 by alice`."""
        return f"{self.set_at.date()} by {self.set_by}"


def find_account(store: Store, institution_id: UUID) -> BankAccount | None:
    """Return the account of an institution, if it has one."""
    return store.record(BankAccount, "institutions/accounts:find", institution_id=institution_id)


NONE = "none"
_ADDRESS = re.compile(r"[^,]*[A-Za-z][^,]*, ?[A-Z]{2}")


@dataclass(frozen=True, kw_only=True)
class AccountOptions:
    """An account as it was given, NONE to have none, or None to keep it; and whose it is."""

    account: str | None
    holder: str | None
    address: str | None = None


def change_account(
    store: Store,
    institution: Institution,
    options: AccountOptions,
    run: Run,
    *,
    wait_days: int,
    dry_run: bool,
) -> tuple[list[FieldChange], str | None]:
    """Change the account, and write that into both logs; return each change, masked.

    And the state of the approval that this needs where they are on; the account is paid
    `wait_days` later then, by the machine's clock. Without a holder it is the institution's.
    Raises `UsageError` for an account that cannot be right, and where there is a holder alone, and
    `ApprovalNeeded`.
    """
    before, moment = find_account(store, institution.id), machine_at(store, run.as_of)
    wait = timedelta(days=wait_days if institution.approvals == ON else 0)
    now = _wanted(options, before, institution, run, moment + wait)
    if (now and now.given) == (before and before.given):
        return [], None
    approval = require_approval(
        store,
        run,
        institution,
        action="account_set",
        subject=now.masked if now else NONE,
        details={
            name: [getattr(before, name, None), getattr(now, name, None)]
            for name in ("account", "holder", "address")
            if name != "address" or any(getattr(each, name, None) for each in (before, now))
        },
        dry_run=dry_run,
    )
    store.execute("institutions/accounts:forget", institution_id=institution.id)
    if now:
        store.execute("institutions/accounts:keep", institution_id=institution.id, **now)
    changes = {}
    if (before and before.account) != (now and now.account):  # also one that is masked alike
        changes["account"] = (before and before.masked, now and now.masked)
    if (before and before.holder) != (now and now.holder):
        changes["account_holder"] = (before and before.holder, now and now.holder)
    if (before and before.address) != (now and now.address):
        changes["account_address"] = (before and before.address, now and now.address)
    return record_changes(store, institution, changes, run, event="account_changed"), approval


def _wanted(
    options: AccountOptions,
    before: BankAccount | None,
    institution: Institution,
    run: Run,
    usable_at: datetime,
) -> BankAccount | None:
    if options.account == NONE:
        return None
    current = before.account if before else None
    account = parse_account(options.account).text if options.account else current
    holder = options.holder or (before.holder if before else institution.name)
    address = (options.address or (before and before.address) or NONE).strip()
    if address != NONE and not _ADDRESS.fullmatch(address):
        raise UsageError.from_table("institutions", "account_address_invalid", address=address)
    if account is None:
        raise UsageError.from_table("institutions", "account_missing")
    if not plain_name(holder).strip("."):
        raise UsageError.from_table("institutions", "account_holder_invalid")
    given = None if address == NONE else address
    return BankAccount(
        account=account,
        holder=holder.strip(),
        address=given,
        set_at=run.as_of,
        set_by=run.actor,
        usable_at=usable_at,
    )
