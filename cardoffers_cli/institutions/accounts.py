"""The account that an institution is paid to (rules.md#accounts): changed by its settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.institutions.changes import log_changes
from cardoffers_cli.kernel.store.approval_requests import require_approval
from cardoffers_cli.kernel.words.bank_accounts import parse_account, plain_name
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from typing import Any
    from uuid import UUID

    from cardoffers_cli.catalogue.questions import FieldChange
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store


# The accounts that institutions are paid to (rules.md#accounts): find one, keep another.


class BankAccount(Record):
    """An account as it was given, and whose it is."""

    account: str
    holder: str

    @property
    def masked(self) -> str:
        """The account as it is shown."""
        return parse_account(self.account).masked


class AccountChange(Record):
    """The account or its holder before and after, as they are shown."""

    field: str
    old_value: str | None
    new_value: str | None


def find_account(store: Store, institution_id: UUID) -> BankAccount | None:
    """Return the account of an institution, if it has one."""
    return store.record(BankAccount, "institutions/accounts:find", institution_id=institution_id)


def keep_account(
    store: Store, institution_id: UUID, slug: str, account: BankAccount | None, **by: Any
) -> list[AccountChange]:
    """Give an institution another account, or none, and audit that; return each change.

    `by` has run_no, now and actor. An account that is masked as another one is a change too.
    """
    before = find_account(store, institution_id)
    if before == account:
        return []
    of = {"institution_id": institution_id}
    store.execute("institutions/accounts:forget", **of)
    if account:
        store.execute("institutions/accounts:keep", **of, **account, now=by["now"])
    changes = _changes(before, account)
    for change in changes:
        store.execute("institutions/changes:keep_setting", **of, **by, **change, slug=slug)
    return changes


def _changes(before: BankAccount | None, after: BankAccount | None) -> list[AccountChange]:
    changes = []
    if (before and before.account) != (after and after.account):
        old, new = before.masked if before else None, after.masked if after else None
        changes.append(AccountChange(field="account", old_value=old, new_value=new))
    if (before and before.holder) != (after and after.holder):
        old, new = before.holder if before else None, after.holder if after else None
        changes.append(AccountChange(field="account_holder", old_value=old, new_value=new))
    return changes


NONE = "none"


@dataclass(frozen=True, kw_only=True)
class AccountOptions:
    """An account as it was given, NONE to have none, or None to keep it; and whose it is."""

    account: str | None
    holder: str | None


def change_account(
    store: Store, institution: Institution, options: AccountOptions, run: Run, *, dry_run: bool
) -> tuple[list[FieldChange], str | None]:
    """Change the account, and write that into both logs; return each change, masked.

    And the state of the approval that this needs where they are on. Without a holder it is the
    institution's. Raises `UsageError` for an account that cannot be right, and where there is a
    holder alone, and `ApprovalNeeded`.
    """
    before = find_account(store, institution.id)
    now = _wanted(options, before, institution)
    if now == before:
        return [], None
    approval = require_approval(
        store,
        run,
        institution,
        action="account_set",
        subject=now.masked if now else NONE,
        details={
            name: [getattr(before, name, None), getattr(now, name, None)]
            for name in ("account", "holder")
        },
        dry_run=dry_run,
    )
    changed = keep_account(store, institution.id, institution.slug, now, **run.by)
    return log_changes(store, "account_changed", institution, changed, run), approval


def _wanted(
    options: AccountOptions, before: BankAccount | None, institution: Institution
) -> BankAccount | None:
    if options.account == NONE:
        return None
    current = before.account if before else None
    account = parse_account(options.account).text if options.account else current
    holder = options.holder or (before.holder if before else institution.name)
    if account is None:
        raise UsageError(
            "There is a holder, and no account.",
            code="account_missing",
            hint="Add --account IBAN/BIC or --account ROUTING/NUMBER.",
        )
    if not plain_name(holder).strip("."):
        raise UsageError(
            "The holder has no letter that every bank takes.",
            code="account_holder_invalid",
            hint="Write the name in Latin letters, as the bank has it.",
        )
    return BankAccount(account=account, holder=holder.strip())
