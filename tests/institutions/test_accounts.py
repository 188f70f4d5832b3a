"""The account that an institution is paid to: a setting, checked, masked, in both logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from banks import BERLIN, LONDON
from cardoffers_cli.institutions.accounts import AccountOptions
from cardoffers_cli.institutions.work import set_institution, show_institution
from cardoffers_cli.kernel.words.errors import UsageError
from work import found, kept, once, with_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


@once
def _with_account(folder: Path) -> Job:
    made = with_catalogue(folder)
    set_institution(made, "alder", {}, account=AccountOptions(account=BERLIN, holder="Alder plc"))
    return made


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return _with_account(tmp_path)


@pytest.mark.parametrize(
    ("changes", "account", "holder"),
    [
        ([], BERLIN, None),
        ([("account", "DE89…3000", "GB33…5555")], LONDON, None),
        ([("account_holder", "Alder plc", "Alder Bank")], None, "Alder Bank"),
        ([("account", "DE89…3000", None), ("account_holder", "Alder plc", None)], "none", None),
    ],
)
def test_an_account_is_a_setting_that_is_shown_masked(
    made: Job, changes: list[Any], account: str | None, holder: str | None
) -> None:
    """rules.md#accounts"""
    given = AccountOptions(account=account, holder=holder)
    result = set_institution(made, "alder", {}, account=given)
    assert changes == [(each.field, each.old_value, each.new_value) for each in result.changes]
    audited = found(made, "select field, old_value, new_value from audit_log order by audit_no")
    assert changes == audited[2:]
    logged = found(made, "select count(*) from acts where kind = 'account_changed'")
    assert [(1 + bool(changes),)] == logged
    shown = show_institution(made, "alder")
    assert all(full not in str(dict(shown)) for full in (BERLIN, LONDON))


@pytest.mark.parametrize(
    ("before", "given", "after"),
    [
        (None, "Berlin, DE", "Berlin, DE"),
        ("Berlin, DE", None, "Berlin, DE"),
        ("Berlin, DE", " Paris,FR ", "Paris,FR"),
        ("Berlin, DE", "none", None),
    ],
)
def test_an_address_is_a_setting_of_the_account(
    made: Job, before: str | None, given: str | None, after: str | None
) -> None:
    for address in (before, given):
        to = AccountOptions(account=None, holder=None, address=address)
        result = set_institution(made, "alder", {}, account=to)
    expected = [("account_address", before, after)] if before != after else []
    assert expected == [(each.field, each.old_value, each.new_value) for each in result.changes]
    shown = show_institution(made, "alder")
    assert (after, "Alder plc", "DE89…3000") == (
        *(shown.account_address, shown.account_holder),
        shown.account,
    )
    set_institution(made, "alder", {}, account=AccountOptions(account=LONDON, holder=None))
    assert after == show_institution(made, "alder").account_address


@pytest.mark.parametrize("address", ["Berlin", "Berlin, de", "Berlin, DEU", ", DE", "東京, JP"])
def test_an_address_has_a_town_and_a_country(made: Job, address: str) -> None:
    before = kept(made)
    to = AccountOptions(account=None, holder=None, address=address)
    with pytest.raises(UsageError, match="is not a town and a country") as error:
        set_institution(made, "alder", {}, account=to)
    assert ("account_address_invalid", before) == (error.value.code, kept(made))


@pytest.mark.parametrize(
    ("code", "account", "holder"),
    [
        ("account_invalid", "DE89370400440532013001", None),
        ("account_holder_invalid", None, "銀行"),
    ],
)
def test_an_account_that_cannot_be_right_is_not_kept(
    made: Job, code: str, account: str | None, holder: str | None
) -> None:
    before = kept(made)
    with pytest.raises(UsageError) as error:
        set_institution(made, "alder", {}, account=AccountOptions(account=account, holder=holder))
    assert code == error.value.code
    assert before == kept(made)


def test_a_holder_needs_an_account(tmp_path: Path) -> None:
    made = with_catalogue(tmp_path)
    with pytest.raises(UsageError, match="a holder, and no account"):
        set_institution(made, "alder", {}, account=AccountOptions(account=None, holder="Alder"))
