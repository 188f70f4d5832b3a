"""The accounts that institutions are paid to (rules.md#accounts): find one, keep another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.bank_accounts import parse_account
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from typing import Any
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


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
    return store.record(
        BankAccount, "institutions/accounts_accounts:find", institution_id=institution_id
    )


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
    store.execute("institutions/accounts_accounts:forget", **of)
    if account:
        store.execute("institutions/accounts_accounts:keep", **of, **account, now=by["now"])
    changes = _changes(before, account)
    for each in changes:
        store.execute("institutions/changes:keep_setting", **of, **by, **each, slug=slug)
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
