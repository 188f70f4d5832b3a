"""From a statement to the bank and back: one payment each, the same bytes, one verdict."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from approving import approved, with_approvers
from banks import (
    BERLIN,
    BOSTON,
    LONDON,
    NEW_YORK,
    NUMBER,
    camt,
    entry,
    listed,
    nacha,
    pain002,
    returned,
)
from cardoffers_cli.approvals.work import list_approvals
from cardoffers_cli.credits.work import reconcile
from cardoffers_cli.documents.kinds import STATEMENT
from cardoffers_cli.documents.questions import show_document
from cardoffers_cli.institutions.accounts import AccountOptions
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.words.errors import ConfigurationError, FileUnusable, NotFound, Refused
from cardoffers_cli.keys.security import list_security
from cardoffers_cli.payouts.exporting import export_payout, withdraw_payout
from cardoffers_cli.payouts.reading import bank_entries, payouts, show_payout
from cardoffers_cli.storage.doctor import offending
from paying import AGAIN, AUDITS, BACK, DUE, ON, PAID, RUN_BY, close, exported, payable, taken
from sizes import slow, tries
from tables import NOON, read, select
from work import found, kept, settings, with_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture
def made(tmp_path: Path) -> Job:
    """A store with a statement of GBP 1234.50 that is not paid yet."""
    return replace(payable(tmp_path), settings=settings(**RUN_BY))


# Exporting


@pytest.mark.parametrize("form", ["pain.001", "csv"])
def test_a_statement_is_paid_once_with_the_same_bytes(made: Job, form: str) -> None:
    """rules.md#payouts"""
    first = exported(made, form)
    assert NUMBER.encode() in first
    before = kept(made)
    set_institution(made, "alder", {}, account=AccountOptions(account=LONDON, holder="Other"))
    later = replace(made, now=NOON + timedelta(days=9), settings=settings())
    assert first == exported(later, form)
    assert before["payouts"] == kept(made)["payouts"]
    assert 1 == len(before["payouts"])


def test_a_payment_file_is_its_owners_alone(made: Job) -> None:
    exported(made)
    assert 0o600 == made.path.with_name("payment").stat().st_mode & 0o777


def test_the_day_is_the_next_business_day_or_the_one_given(made: Job) -> None:
    friday = replace(made, now=datetime(2026, 6, 5, 12))  # noqa: DTZ001 - moments are naive UTC
    assert b"<Dt>2026-06-08</Dt>" in exported(friday)
    close(made, "ALDER-2026-000002")
    to = made.path.with_name("b")
    told = export_payout(made, "ALDER-2026-000002", "csv", to, due_on=date(2026, 7, 1))
    assert (date(2026, 7, 1), "DE89…3000", False) == (
        *(told.due_on, told.account),
        told.exported_before,
    )


@slow
@pytest.mark.parametrize(
    ("kind", "code", "form", "changes"),
    [
        (NotFound, "statement_not_found", "csv", {"number": "X-2026-000001"}),
        (Refused, "payout_exported", "csv", {}),
        (Refused, "payout_exported", "pain.001", {"due_on": date(2027, 1, 1)}),
        (Refused, "nothing_payable", "csv", {"number": "ALDER-2026-000002"}),
        (Refused, "form_unfit", "nacha", {"number": "ALDER-2026-000003"}),
    ],
)
def test_what_is_not_paid_is_refused(
    made: Job, kind: type[Exception], code: str, form: str, changes: Any
) -> None:
    exported(made)
    close(made, "ALDER-2026-000002", amount="0")
    close(made, "ALDER-2026-000003")
    before = kept(made)
    with pytest.raises(kind) as error:
        exported(made, form, **changes)
    assert code == getattr(error.value, "code", None)
    assert before == kept(made)


def test_without_accounts_nothing_is_paid(made: Job) -> None:
    with pytest.raises(ConfigurationError, match="from which account") as of_payer:
        exported(replace(made, settings=settings()))
    set_institution(made, "alder", {}, account=AccountOptions(account="none", holder=None))
    with pytest.raises(Refused, match="has no account to be paid to") as of_paid:
        exported(made)
    assert ("payer_missing", "account_missing") == (of_payer.value.code, of_paid.value.code)
    assert [] == kept(made)["payouts"]


# The currency, the account that is paid, and its address: what is written of it, or why it is not
ADDRESSES = """
currency account address     form      written
GBP      DE      Köln,_DE    pain.001  <PstlAdr><TwnNm>Koln</TwnNm><Ctry>DE</Ctry></PstlAdr>
GBP      DE      Köln,_DE    csv       ,"Köln","DE"
GBP      DE      -           pain.001  address_missing
GBP      DE      -           csv       address_missing
GBP      GB      -           pain.001  -
GBP      GB      London,_GB  pain.001  -
EUR      DE      -           pain.001  -
EUR      DE      Köln,_DE    pain.001  -
EUR      TR      -           pain.001  address_missing
USD      US      -           pain.001  address_missing
USD      US      Boston,_US  pain.001  <PstlAdr><TwnNm>Boston</TwnNm><Ctry>US</Ctry></PstlAdr>
"""
ABROAD = {"DE": BERLIN, "GB": LONDON, "TR": "TR330006100519786457841326", "US": BOSTON}


@slow
@pytest.mark.parametrize("line", read(ADDRESSES), ids=str)
def test_across_borders_town_and_country_of_who_is_paid_are_written(
    tmp_path: Path, line: dict[str, str]
) -> None:
    """rules.md#payouts"""
    made = replace(with_catalogue(tmp_path), settings=settings(**RUN_BY))
    address = (line["address"] or "").replace("_", " ") or None
    to = AccountOptions(account=ABROAD[line["account"]], holder="Alder plc", address=address)
    set_institution(made, "alder", {}, account=to)
    close(made, currency=line["currency"])
    if line["written"] == "address_missing":
        with pytest.raises(Refused, match="asks for the town and country of") as error:
            exported(made, line["form"])
        assert ("address_missing", []) == (error.value.code, kept(made)["payouts"])
        return
    content = exported(made, line["form"]).decode()
    assert bool(line["written"]) == ("PstlAdr" in content or line["form"] == "csv")
    assert (line["written"] or "").replace('"', "") in content


def test_a_dry_run_writes_nothing(made: Job) -> None:
    before = kept(made)
    to = made.path.with_name("payment")
    told = export_payout(made, NUMBER, "csv", to, dry_run=True)
    assert (True, "1234.50", False) == (told.dry_run, str(told.amount), to.exists())
    assert before == kept(made)


def test_a_payout_needs_a_second_person_where_approvals_are_on(made: Job) -> None:
    """rules.md#four-eyes"""
    with made.store() as store:
        select(store, "update institutions set approvals = 'on'")
    with pytest.raises(Refused) as error:
        exported(made)
    assert "approval_required" == error.value.code
    assert (1, 0) == (len(kept(made)["approvals"]), len(kept(made)["payouts"]))
    approved(made)
    assert NUMBER.encode() in exported(replace(made, now=NOON + timedelta(hours=1)))
    assert exported(made) == exported(made)


@slow
def test_the_file_that_was_signed_is_the_one_that_is_written(tmp_path: Path) -> None:
    """rules.md#four-eyes: it is made at the request, with its time and its numbers."""
    made = in_dollars(tmp_path, 2)
    with made.store() as store:
        select(store, "update institutions set approvals = 'on'")
    digests = {}
    for number in ("ALDER-2026-000001", "ALDER-2026-000002"):
        with pytest.raises(Refused, match="Exporting a payout needs"):
            exported(made, "nacha", number)
    for each in list_approvals(made):
        digests[each.subject] = (each.details["sha256"], each.details["payout_no"])
    approved(made)
    next_day = replace(made, now=NOON + timedelta(hours=20))
    for number in reversed(digests):
        content = exported(next_day, "nacha", number)
        assert digests[number][0] == sha256(content).hexdigest()
    assert {1, 2} == {place for _, place in digests.values()}
    assert {("A",), ("B",)} == set(found(made, "select content[34] from payment_files"))


# days since the account was changed: what the export ends with
WAITS = [(0, "account_waits"), (1.99, "account_waits"), (2, "approval_required")]


@slow
def test_a_changed_account_waits_where_approvals_are_on(made: Job) -> None:
    """rules.md#accounts: and while its change waits for an approval, nothing is paid."""
    with_approvers(made)
    set_institution(made, "alder", {}, settings={"approvals": "on"})
    change = AccountOptions(account=LONDON, holder="Alder plc")
    with pytest.raises(Refused, match="Changing the account of an institution needs"):
        set_institution(made, "alder", {}, account=change)
    for _ in ("asked for", "approved"):
        with pytest.raises(Refused) as error:
            exported(made)
        assert "account_change_waits" == error.value.code
        if list_approvals(made, state="pending"):
            approved(made)
    set_institution(made, "alder", {}, account=change)
    for days, code in WAITS:
        with pytest.raises(Refused) as error:
            exported(replace(made, now=NOON + days * timedelta(days=1)))
        assert code == error.value.code


def test_the_first_payment_to_another_account_says_so(made: Job) -> None:
    to = made.path.with_name("pay")
    assert None is export_payout(made, NUMBER, "csv", to).account_changed
    close(made, "ALDER-2026-000002")
    later = replace(made, now=NOON + timedelta(days=1))
    set_institution(later, "alder", {}, account=AccountOptions(account=LONDON, holder="Alder"))
    first = export_payout(later, "ALDER-2026-000002", "csv", to)
    assert ("2026-06-02 by tester", "off") == (first.account_changed, first.approvals)
    close(made, "ALDER-2026-000003")
    assert None is export_payout(later, "ALDER-2026-000003", "csv", to).account_changed


@slow
def test_a_bank_file_that_anybody_can_type_needs_a_second_person(made: Job) -> None:
    """rules.md#four-eyes"""
    exported(made, "csv")
    with made.store() as store:
        select(store, "update institutions set approvals = 'on'")
    typed = listed(f"{NUMBER},rejected,1234.50,GBP,2026-06-03,AC04,B-1")
    assert "needed" == taken(made, typed, dry_run=True).approval
    with pytest.raises(Refused, match="Importing a bank file that was typed by hand needs"):
        taken(made, typed)
    assert [] == kept(made)["bank_files"]
    approved(made)
    assert ("used", 1) == ((done := taken(made, typed)).approval, done.new)
    assert None is taken(made, typed).approval, "nothing of it is new"
    assert None is taken(made, camt(entry(on=ON, ref="B-2"))).approval


# What is changed after the approval, and what is said of it
CHANGED = [
    ("payer was Offers & Co and is Others Ltd", {"payer_name": "Others Ltd"}, {}, {}),
    (f"payer_account was {LONDON} and is {LONDON[:22]}", {"payer_account": LONDON[:22]}, {}, {}),
    (f"account was {BERLIN} and is {BERLIN}/COBADEFF", {}, {"account": f"{BERLIN}/COBADEFF"}, {}),
    ("holder was Alder plc and is Alder Ltd", {}, {"holder": "Alder Ltd"}, {}),
    ("address was Berlin, DE and is Bonn, DE", {}, {"address": "Bonn, DE"}, {}),
    ("due_on was 2026-06-02 and is 2030-01-02", {}, {}, {"due_on": date(2030, 1, 2)}),
]


@pytest.mark.parametrize(("differs", "payer", "account", "more"), CHANGED)
def test_an_approval_is_of_all_that_is_written(
    made: Job, differs: str, payer: Any, account: Any, more: Any
) -> None:
    """rules.md#four-eyes: who pays, both accounts in full, and the day."""
    with made.store() as store:
        select(store, "update institutions set approvals = 'on'")
    with pytest.raises(Refused):
        exported(made)
    approved(made)
    with made.store() as store:
        for name, value in account.items():
            select(store, f"update institution_accounts set {name} = '{value}'")  # noqa: S608 - of ours
    other = replace(made, settings=settings(**{**RUN_BY, **payer}))
    with pytest.raises(Refused) as error:
        exported(other, **more)
    assert "approval_required" == error.value.code
    assert f"What was approved before is another: {differs}." in str(error.value)
    assert [] == kept(made)["payouts"]
    if not account:
        later = replace(made, now=NOON + timedelta(hours=13))
        assert b"<Dt>2026-06-02</Dt>" in exported(later), "the day that was approved"


@pytest.mark.parametrize("form", ["pain.001", "nacha", "csv"])
def test_a_day_that_has_passed_is_refused(made: Job, form: str) -> None:
    with pytest.raises(Refused) as error:
        exported(made, form, due_on=date(2026, 5, 31))
    assert "due_not_business_day" == error.value.code
    assert [] == kept(made)["payouts"]


def in_dollars(folder: Path, many: int = 1) -> Job:
    """Return a store with statements that are paid between two American banks."""
    made = replace(
        with_catalogue(folder),
        settings=settings(payer_name="Offers", payer_account=NEW_YORK, payer_id="1234567890"),
    )
    set_institution(made, "alder", {}, account=AccountOptions(account=BOSTON, holder="Alder Bank"))
    for number in range(1, many + 1):
        close(made, f"ALDER-2026-{number:06}", currency="USD")
    return made


@slow
def test_what_was_asked_for_in_another_form_has_no_number_of_nacha(tmp_path: Path) -> None:
    made = in_dollars(tmp_path, 2)
    with made.store() as store:
        select(store, "update institutions set approvals = 'on'")
    for number, form in [(1, "csv"), (2, "nacha"), (1, "nacha")]:
        with pytest.raises(Refused, match="Exporting a payout needs"):
            exported(made, form, f"ALDER-2026-{number:06}")
    asked = [each.details for each in list_approvals(made) if each.details["form"] == "nacha"]
    assert [0, 1] == sorted(each["file_no"] for each in asked)
    assert 2 == len({each["payout_no"] for each in asked})


def test_a_file_of_a_rehearsal_says_so_in_its_name(made: Job) -> None:
    with made.store() as store:
        select(store, "insert into rehearsal values (true)")
    to = made.path.with_name("pay.xml")
    done = [export_payout(made, NUMBER, "csv", each).file for each in (to, to)]
    assert [str(to.with_name("REHEARSAL-pay.xml"))] * 2 == done
    assert not to.exists()


@slow
def test_files_of_nacha_of_one_minute_differ(tmp_path: Path) -> None:
    """The file id modifier is A to Z, then 0 to 9, of the files of a day; batches count on."""
    made = in_dollars(tmp_path, 37)
    for number, modifier in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 1):
        records = exported(made, "nacha", f"ALDER-2026-{number:06}").decode().splitlines()
        assert (modifier, f"{number:07}") == (records[0][33], records[1][87:94])
        assert records[1][87:94] == records[4][87:94]
    with pytest.raises(Refused, match="a day has 36 files"):
        exported(made, "nacha", "ALDER-2026-000037")
    tomorrow = replace(made, now=NOON + timedelta(days=1))
    assert "A" == exported(tomorrow, "nacha", "ALDER-2026-000037").decode()[33]


# Withdrawing

WHY = "the account was an old one"


@slow
def test_what_was_withdrawn_is_paid_by_another(made: Job) -> None:
    """rules.md#payouts: to the account that is set then, under another id."""
    exported(made)
    before = kept(made)
    dry = withdraw_payout(made, NUMBER, WHY, dry_run=True)
    assert before == kept(made)
    assert {**dry, "dry_run": False} == withdraw_payout(made, NUMBER, WHY)
    assert [("unpaid", None), ("withdrawn", NUMBER)] == states(made)
    set_institution(made, "alder", {}, account=AccountOptions(account=LONDON, holder="Alder plc"))
    content = exported(made)
    assert content == exported(made)
    for part in (f"<EndToEndId>{NUMBER}-2<", f"<MsgId>{NUMBER}-2<", f"<IBAN>{LONDON[:22]}<"):
        assert part.encode() in content
    assert [("unpaid", f"{NUMBER}-2"), ("withdrawn", NUMBER)] == states(made)
    assert [WHY] == [each.withdrawn_reason for each in show_payout(made, NUMBER).withdrawn]
    taken(made, camt(PAID.replace(f">{NUMBER}<", f">{NUMBER}-2<")))
    assert [("paid", f"{NUMBER}-2"), ("withdrawn", NUMBER)] == states(made)
    reconcile(made)
    with made.store() as store:
        assert [0, 0, 0] == [offending(store, audit)[0] for audit in AUDITS]


def states(made: Job) -> list[tuple[str, str | None]]:
    return [(each.state, each.payment_id) for each in payouts(made, None)]


# What was done before, and why a payment is not withdrawn
KEPT = """
before            code
-                 payout_not_exported
export,withdraw   payout_withdrawn
export,accepted   payout_told
export,paid       payout_told
"""


@slow
@pytest.mark.parametrize("line", read(KEPT), ids=str)
def test_what_the_bank_knows_of_is_not_withdrawn(made: Job, line: dict[str, str]) -> None:
    do(made, *(line["before"] or "").split(","))
    before = kept(made)
    with pytest.raises(Refused) as error:
        withdraw_payout(made, NUMBER, WHY)
    assert line["code"] == error.value.code
    assert before == kept(made)


@slow
@pytest.mark.parametrize("said", ["accepted", "paid"])
@pytest.mark.parametrize("is_paid_again", [False, True])
def test_what_a_bank_says_of_a_withdrawn_payment_is_a_finding(
    made: Job, said: str, is_paid_again: bool
) -> None:
    """rules.md#bank-verdicts: and no other file is written that would pay twice."""
    do(made, "export", "withdraw", *["export"] * is_paid_again, said)
    assert ("withdrawn_told", "withdrawn") == tuple(state for state, _ in states(made))
    assert ["withdrawn_told"] == [each.code for each in reconcile(made).bank or ()]
    if said == "paid" or not is_paid_again:
        with pytest.raises(Refused) as error:
            exported(made)
        assert "payout_withdrawn_told" == error.value.code


@slow
def test_withdrawing_needs_a_second_person_where_approvals_are_on(made: Job) -> None:
    do(made, "export")
    with made.store() as store:
        select(store, "update institutions set approvals = 'on'")
    with pytest.raises(Refused) as error:
        withdraw_payout(made, NUMBER, WHY)
    assert "approval_required" == error.value.code
    assert [("unpaid", NUMBER)] == states(made)
    approved(made)
    assert "used" == withdraw_payout(made, NUMBER, WHY).approval
    assert ["payout_withdrawn", "approval_used"] == [each.event for each in list_security(made)][:2]


SAID_OF = {
    "paid": lambda named: camt(entry(on=ON, named=named, ref=f"P-{named}")),
    "accepted": lambda named: pain002((named, "ACSP", "X")),
    "rejected": lambda named: pain002((named, "RJCT", "AC01")),
    "back": lambda named: camt(returned(on=ON, named=named, ref=f"R-{named}")),
}


def do(made: Job, *acts: str, named: str = NUMBER) -> None:
    """Do what is named, one after the other; what the bank says is of the payment that is named."""
    for act in filter(None, acts):
        if act == "withdraw":
            withdraw_payout(made, NUMBER, WHY)
        elif act.startswith("export"):
            exported(made, again=WHY if act == "export again" else None)
        else:
            taken(made, SAID_OF[act](named))


@slow
@pytest.mark.parametrize("seed", range(tries(4, 30)))
def test_no_order_of_what_happens_pays_twice(made: Job, seed: int) -> None:
    """Of all files that were written at most one is not withdrawn, rejected or returned."""
    chance = random.Random(seed)  # noqa: S311 - examples, not secrets
    acts = ["export", "export again", "withdraw", *SAID_OF]
    ids = [NUMBER]
    for _ in range(8):
        with suppress(Refused):
            do(made, chance.choice(acts), named=chance.choice(ids))
        with made.store(read_only=True) as store:
            assert 1 >= select(store, ALIVE)[0][0]
            assert 0 == offending(store, "payouts_pay_their_statement")[0]
            ids = [each for (each,) in select(store, "select payment_id from payouts")] or [NUMBER]


ALIVE = """
select count(*) from payouts
where withdrawn_at is null
    and payout_no not in (
        select payout_no from told_entries
        where payout_no is not null and status in ('returned', 'rejected')
    )
"""


# What the bank says

CHARGED = returned(amount="1224.50", on=ON)
"""What came back, less charges of 10.00."""
BACK_AS_DEBIT = (
    b"payment_id,status,amount,currency,booked_at,code,direction\n"
    + f"{NUMBER},returned,1234.50,GBP,{DUE},R02,debit\n".encode()
)
REJECTED = pain002((NUMBER, "RJCT", "AC01"))
BATCH = (
    '<Ntry><Amt Ccy="GBP">2469.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>'
    f"<BookgDt>{ON}</BookgDt><AcctSvcrRef>B-1</AcctSvcrRef><NtryDtls>"
    + "".join(
        f"<TxDtls><Refs><AcctSvcrRef>{ref}</AcctSvcrRef><EndToEndId>{NUMBER}</EndToEndId></Refs>"
        '<Amt Ccy="GBP">1234.50</Amt></TxDtls>'
        for ref in ("D-1", "D-2")
    )
    + "</NtryDtls></Ntry>"
)
"""One payment that was booked twice, in one entry."""

VERDICTS = [
    ("unpaid", None, []),
    ("paid", None, [camt(PAID)]),
    ("paid", None, [camt(PAID), camt(PAID, kind="camt.054")]),
    ("paid", None, [camt(PAID), camt(PAID)]),
    ("paid", None, [camt(entry("1000.00"), entry("234.50", ref="B-9"))]),
    ("paid", None, [listed(f"{NUMBER},booked,1234.50,GBP,{DUE},,B-1"), camt(PAID)]),
    ("paid", None, [pain002((NUMBER, "ACSC", "X")), camt(PAID)]),
    ("paid", None, [camt(PAID), camt(AGAIN, kind="camt.054")]),
    ("paid", None, [camt(AGAIN, kind="camt.054"), pain002((NUMBER, "ACSC", "X")), camt(PAID)]),
    ("return_unbooked", "AC04", [camt(PAID, BACK, AGAIN)]),
    ("return_unbooked", "AC01", [camt(PAID), REJECTED]),
    ("return_unbooked", "R02", [camt(PAID), BACK_AS_DEBIT]),
    ("return_unbooked", "AC04", [camt(returned(side="DBIT"))]),
    ("return_differs", "AC04", [camt(PAID, CHARGED)]),
    ("return_differs", "AC04", [camt(CHARGED)]),
    ("paid_differs", None, [camt(entry("1234.00"))]),
    ("paid_differs", None, [camt(entry("2000.00"))]),
    ("paid_differs", None, [camt(entry(currency="EUR"))]),
    ("paid_twice", None, [camt(PAID, AGAIN)]),
    ("paid_twice", None, [camt(PAID, PAID)]),
    ("paid_twice", None, [camt(BATCH)]),
    ("paid_twice", None, [camt(BATCH.replace("D-2", "D-1")), camt(PAID, kind="camt.054")]),
    ("paid_twice", None, [camt(PAID), camt(PAID, AGAIN, kind="camt.054")]),
    ("paid_twice", None, [listed(*[f"{NUMBER},booked,1234.50,GBP,{DUE},,"] * 2)]),
    ("returned", "AC04", [camt(PAID, BACK)]),
    ("returned", "AC04", [camt(PAID), camt(BACK, kind="camt.054"), camt(BACK)]),
    ("returned", "AC04", [camt(PAID), camt(AGAIN, kind="camt.054"), camt(BACK)]),
    ("returned", "AC04", [camt(PAID, kind="camt.054"), camt(AGAIN), camt(BACK, kind="camt.054")]),
    ("returned", "AC01", [REJECTED]),
    ("unpaid", None, [pain002((NUMBER, "ACSP", "X"))]),
    ("unpaid", None, [camt(entry(status="PDNG"))]),
    ("unpaid", None, [camt(entry(named="ALDER-2026-000009"))]),
]


@pytest.mark.parametrize(("state", "code", "files"), VERDICTS)
def test_each_payout_has_one_verdict(
    made: Job, state: str, code: str | None, files: list[bytes]
) -> None:
    """rules.md#bank-verdicts"""
    exported(made)
    for content in files:
        taken(made, content)
    (row,) = payouts(made, None)
    assert (state, code) == (row.state, row.bank_code)
    assert (code is None) == (row.meaning is None)
    told = reconcile(made)
    strange = sum(b"000009" in content for content in files)
    assert Counter({state: 1, "bank_unknown": strange}) == Counter(
        {each.code: each.rows for each in told.bank or ()}
    )
    entries = sum(each.bank_entries for each in told.bank or ())
    assert (0, 0, 1, entries, 1 + strange) == tuple(
        told.control[name]
        for name in ("redemptions", "verdicts", "statements", "bank_entries", "bank_verdicts")
    )
    assert entries == sum(each.counts for each in bank_entries(made, None))
    with made.store() as store:
        for audit in AUDITS:
            assert 0 == offending(store, audit)[0]


@slow
def test_reconcile_tells_the_side_of_the_bank_too(made: Job) -> None:
    close(made, "ALDER-2026-000002", amount="10")
    exported(made)
    assert [("unpaid", 2, "1244.50")] == _of_bank(made, "alder")
    taken(made, camt(PAID, entry("5.00", named="RENT", ref="B-7")))
    paid = [("paid", 1, "1234.50"), ("unpaid", 1, "10.00")]
    assert [*paid, ("bank_unknown", 1, "5.00")] == _of_bank(made, None)
    assert paid == _of_bank(made, "alder")


def _of_bank(made: Job, institution: str | None) -> list[tuple[str, int, str]]:
    told = reconcile(made, institution)
    return [(each.code, each.rows, str(each.amount)) for each in told.bank or ()]


def test_a_statement_shows_what_is_paid_of_it(made: Job) -> None:
    shown = show_document(made, STATEMENT, NUMBER.lower())
    assert ("unpaid", None) == (shown.payout_state, shown.bank_code)
    exported(made)
    taken(made, camt(PAID, BACK))
    shown = show_document(made, STATEMENT, NUMBER)
    assert ("returned", "AC04") == (shown.payout_state, shown.bank_code)


@pytest.mark.parametrize(
    ("change", "audit"),
    [
        ("update payouts set amount = amount + 1", "payouts_pay_their_statement"),
        ("update payouts set number = 'X'", "payouts_pay_their_statement"),
        ("update payouts set currency = 'JPY'", "payouts_pay_their_statement"),
        ("update payment_files set content = content || ' '", "payouts_pay_their_statement"),
        ("update payouts set withdrawn_at = now()::timestamp", "acts_are_of_their_rows"),
        ("insert into bank_entries from bank_entries", "acts_are_of_their_rows"),
    ],
)
def test_an_audit_finds_a_payout_that_was_changed(made: Job, change: str, audit: str) -> None:
    exported(made)
    taken(made, camt(PAID))
    with made.store() as store:
        before = offending(store, audit)[0]
        select(store, change)
        assert before + 1 == offending(store, audit)[0]


@slow
def test_a_return_of_nacha_is_known_by_its_trace_number(tmp_path: Path) -> None:
    made = in_dollars(tmp_path)
    trace = exported(made, "nacha").splitlines()[2][79:94].decode()
    assert "021000020000001" == trace
    taken(made, nacha("C01", trace=trace, named="another"))
    row = payouts(made, "alder")[-1]
    assert ("unpaid", "C01", "the account number is wrong") == (
        *(row.state, row.bank_code),
        row.meaning,
    )
    taken(made, nacha("R03", trace=trace, named="another"))
    shown = show_payout(made, NUMBER)
    assert ("returned", "0.00") == (shown.state, str(shown.paid_amount))
    assert {"C01", "R03"} == {each.code for each in shown.bank}


def test_an_unpaid_statement_gets_older(made: Job) -> None:
    (row,) = payouts(replace(made, now=NOON.replace(year=2026, month=7, day=1)), None)
    assert ("unpaid", 30, None) == (row.state, row.age_days, row.form)
    exported(replace(made, now=datetime(2026, 6, 10)))  # noqa: DTZ001 - moments are naive UTC
    (row,) = payouts(replace(made, now=NOON.replace(year=2026, month=7, day=1)), None)
    assert ("unpaid", 20, "pain.001") == (row.state, row.age_days, row.form)


def test_a_file_that_comes_again_adds_nothing(made: Job) -> None:
    """rules.md#bank-entries"""
    exported(made)
    content = camt(PAID, BACK, entry(named="NOTPROVIDED", ref="NONREF"))
    first, second = taken(made, content), taken(made, content)
    assert (3, 3, 0, False) == (first.entries, first.new, first.known, first.already_imported)
    assert (3, 0, 3, True) == (second.entries, second.new, second.known, second.already_imported)
    assert {"booked": 2, "returned": 1} == first.statuses


def test_what_no_payout_explains_is_unknown(made: Job) -> None:
    taken(made, camt(entry(named="RENT"), entry(side="CRDT", named="SALE", ref="B-3"), BACK))
    unknown = bank_entries(made, None, unknown=True)
    assert {("RENT", "booked"), (NUMBER, "returned")} == {
        (each.payment_id, each.status) for each in unknown
    }
    assert 3 == len(bank_entries(made, None))
    assert [] == bank_entries(made, "alder")


def test_entries_that_cannot_be_read_are_told_with_their_places(made: Job) -> None:
    told = taken(made, camt(entry("1,00"), PAID, entry("x", ref="B-4"), entry(currency="XXX")))
    assert (1, 1) == (told.entries, told.new)
    assert [
        ("bank_amount_invalid", 2, ["entry 1", "entry 3"]),
        ("bank_currency_unknown", 1, ["entry 4"]),
    ] == [(each.code, each.entries, each.places) for each in told.findings]


@slow
@pytest.mark.parametrize("is_dry", [True, False])
def test_a_file_that_is_cut_off_or_tried_leaves_nothing(made: Job, is_dry: bool) -> None:
    before = kept(made)
    if is_dry:
        assert 1 == taken(made, camt(PAID), dry_run=True).new
    else:
        with pytest.raises(FileUnusable):
            taken(made, camt(*[PAID] * 2_000)[:-30])
    assert before == kept(made)
