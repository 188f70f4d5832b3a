"""The payments of a month: a file for each rail, paid once, approved and withdrawn as files."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import achkit
import pytest

from approving import approved, keys, signed, with_approvers
from banks import BERLIN, BOSTON, LONDON, NEW_YORK, camt, entry, returned
from cardoffers_cli.approvals.work import add_approver, list_approvals
from cardoffers_cli.institutions.accounts import AccountOptions
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.words.errors import Refused, UsageError
from cardoffers_cli.payouts.exporting import export_payout, export_period, withdraw_payout
from cardoffers_cli.payouts.reading import payouts
from cardoffers_cli.storage.doctor import offending
from commands import in_a_pipe
from paying import AUDITS, ON, taken
from sizes import slow
from tables import NOON, read
from work import found, kept, once, settings, tell, with_catalogue

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job

# The statements of two months: of whom, what they pay, and where to
STATEMENTS = """
number              institution period   amount   currency account address
ALDER-2026-000001   alder       2026-05  1234.50  GBP      GB      -
BIRCH-2026-000001   birch       2026-05  77.25    GBP      GB      -
CEDAR-2026-000001   cedar       2026-05  12.34    EUR      DE      -
ELDER-2026-000001   elder       2026-05  5.05     EUR      DE      -
FIR-2026-000001     fir         2026-05  8.88     GBP      DE      -
GORSE-2026-000001   gorse       2026-05  9.99     GBP      -       -
HAZEL-2026-000001   hazel       2026-05  0        GBP      GB      -
ALDER-2026-000002   alder       2026-06  6.60     GBP      GB      -
"""
ACCOUNTS = {"GB": LONDON, "DE": BERLIN, "US": BOSTON}
CLOSED = """
insert into statements
select
    $no, institution_id, $number, upper(slug), 2026, $no, from_at, from_at + interval 1 month,
    $currency, 1, 0, 0, $amount, 0, 0, $amount, 0, 0, '', null, null, from_at + interval 32 days,
    1, 'tester', null, null, null, null, null, null, null, null
from institutions, (select cast($from_at as timestamp) as from_at)
where slug = $institution
"""
# What the files of May have, by the place of their first payment, and what no file pays
FILES = """
file               form     payments                             amount
2026-05-GBP-1.xml  pain.001 ALDER-2026-000001,BIRCH-2026-000001  1311.75
2026-05-EUR-3.xml  pain.001 CEDAR-2026-000001,ELDER-2026-000001  17.39
"""
NOT_PAID = {"FIR-2026-000001": "address_missing", "GORSE-2026-000001": "account_missing"}


@pytest.fixture
def made(tmp_path: Path) -> Job:
    """A store with the statements above, none of which is paid yet."""
    return of_two_months(tmp_path)


@once
def of_two_months(folder: Path) -> Job:
    return closed(folder, STATEMENTS, payer_account=LONDON)


def closed(folder: Path, statements: str, **payer: str) -> Job:
    rows = read(statements)
    made = replace(with_catalogue(folder), settings=settings(payer_name="Offers & Co", **payer))
    new = sorted({row["institution"] for row in rows} - {"alder"})
    tell(made, institutions="\n".join(["institution", *new]))
    for no, row in enumerate(rows, 1):
        if row["account"]:
            to = AccountOptions(
                account=ACCOUNTS[row["account"]], holder=f"{row['institution']} plc"
            )
            set_institution(made, row["institution"], {}, account=to)
        values = {name: row[name] for name in ("number", "institution", "currency", "amount")}
        with made.store() as store:
            store.connection.execute(CLOSED, {**values, "no": no, "from_at": f"{row['period']}-01"})
    return made


def files_of(made: Job, **more: Any) -> dict[str, bytes]:
    """Export May; return its files, by their names."""
    done = export_period(made, "2026-05", made.path.parent / "bank", **more)
    return {Path(each.file).name: Path(each.file).read_bytes() for each in done.payments}


def test_a_month_of_which_nothing_is_to_be_paid_says_so(made: Job, tmp_path: Path) -> None:
    words = ["payout", "export", "--period", "2026-01", "-o", tmp_path / "bank"]
    ended = in_a_pipe([*words, "--store", made.path, "--as-of", "2026-07-01"])
    assert 0 == ended.exit_code, ended
    assert "Nothing of 2026-01 is to be paid: all is paid, or not closed yet." in ended.stderr


def test_a_month_is_paid_by_a_file_for_each_rail(made: Job) -> None:
    """rules.md#payouts"""
    done = export_period(made, "2026-05", made.path.parent / "bank")
    by_file: dict[str, list[Any]] = {}
    for each in done.payments:
        by_file.setdefault(Path(each.file).name, []).append(each)
    expected = read(FILES)
    assert [row["file"] for row in expected] == sorted(by_file, key=lambda name: name[-5])
    for row in expected:
        payments = by_file[row["file"]]
        assert row["payments"] == ",".join(each.number for each in payments)
        assert {(row["form"], 2, False)} == {
            (each.form, each.payments, each.exported_before) for each in payments
        }
        content = Path(payments[0].file).read_text()
        assert 2 == content.count(f"<CtrlSum>{row['amount']}</CtrlSum>")
        assert 2 == content.count("<NbOfTxs>2</NbOfTxs>")
        assert 2 == content.count("<CdtTrfTxInf>")
        assert "<BtchBookg>false</BtchBookg>" in content
    assert NOT_PAID == {each.number: each.code for each in done.not_paid}


def test_asked_again_the_files_are_the_same_and_only_what_is_new_has_another(made: Job) -> None:
    first = files_of(made)
    assert first == files_of(replace(made, now=NOON + timedelta(days=3)))
    berlin = AccountOptions(account=BERLIN, holder="fir plc", address="Bonn, DE")
    set_institution(made, "fir", {}, account=berlin)
    again = files_of(made)
    assert first.items() < again.items()
    (added,) = again.keys() - first.keys()
    assert "2026-05-GBP-5.xml" == added
    assert [(5,)] == found(made, "select count(distinct payment_id) from payouts")
    with made.store() as store:
        assert 0 == offending(store, "payouts_pay_their_statement")[0]


@slow
def test_one_statement_of_a_file_is_written_with_its_file(made: Job) -> None:
    content = files_of(made)["2026-05-GBP-1.xml"]
    to = made.path.with_name("payment")
    done = export_payout(made, "BIRCH-2026-000001", "pain.001", to)
    assert (content, 2, True) == (to.read_bytes(), done.payments, done.exported_before)
    with pytest.raises(Refused, match="a second payment of it would pay twice"):
        export_payout(made, "BIRCH-2026-000001", "csv", to)


def test_a_dry_run_of_a_month_writes_nothing(made: Job) -> None:
    before = kept(made)
    folder = made.path.parent / "bank"
    dry = export_period(made, "2026-05", folder, dry_run=True)
    assert (4, False, before) == (len(dry.payments), folder.exists(), kept(made))
    done = export_period(made, "2026-05", folder)
    assert [each.sha256 for each in dry.payments if each.currency == "GBP"] == [
        each.sha256 for each in done.payments if each.currency == "GBP"
    ]


@pytest.mark.parametrize("period", ["2026-13", "May", ""])
def test_what_is_no_month_is_refused(made: Job, period: str) -> None:
    with pytest.raises(UsageError, match="is no period"):
        export_period(made, period, made.path.parent / "bank")


@slow
def test_a_file_is_approved_as_one(made: Job) -> None:
    """rules.md#four-eyes: who wants approvals decides; who may sign for one signs for no other."""
    with_approvers(made)
    set_institution(made, "birch", {}, settings={"approvals": "on"})
    done = export_period(made, "2026-05", made.path.parent / "bank")
    assert {"CEDAR-2026-000001", "ELDER-2026-000001"} == {each.number for each in done.payments}
    waits = {"ALDER-2026-000001", "BIRCH-2026-000001"}
    assert waits == {each.number for each in done.not_paid if each.code == "approval_required"}
    (request,) = list_approvals(made)
    assert ("birch", Decimal("1311.75"), "GBP") == (
        *(request.institution, request.amount),
        request.currency,
    )
    assert ["alder", "birch"] == request.details["institutions"]
    assert {
        "ALDER-2026-000001": f"GBP 1234.50 to alder plc, {LONDON}, 2026-06-01 by tester",
        "BIRCH-2026-000001": f"GBP 77.25 to birch plc, {LONDON}, 2026-06-01 by tester",
    } == request.details["payments"]
    approved(made)
    later = replace(made, now=NOON + timedelta(hours=5))
    done = export_period(later, "2026-05", made.path.parent / "bank")
    assert {request.details["sha256"]} == {
        each.sha256 for each in done.payments if each.number in waits
    }
    assert waits == {each.number for each in done.payments if each.approval == "used"}


@slow
def test_an_approver_of_one_institution_signs_no_file_with_another(made: Job) -> None:
    with_approvers(made)
    set_institution(made, "birch", {}, settings={"approvals": "on"})
    with pytest.raises(Refused, match="Adding an approver needs"):
        add_approver(made, "cleo", keys() / "cleo.pub", institution="birch")
    approved(made)
    add_approver(made, "cleo", keys() / "cleo.pub", institution="birch")
    export_period(made, "2026-05", made.path.parent / "bank")
    assert [] == signed(made, "cleo")
    assert 1 == len(signed(made, "ada"))


def test_a_file_is_withdrawn_with_all_its_payments(made: Job) -> None:
    files_of(made)
    done = withdraw_payout(made, "ALDER-2026-000001", "made too early")
    assert ["ALDER-2026-000001", "BIRCH-2026-000001"] == done.payments
    assert {"ALDER-2026-000001", "BIRCH-2026-000001"} == {
        each.number for each in payouts(made, None, state="withdrawn")
    }
    content = files_of(made)["2026-05-GBP-5.xml"].decode()
    for number in done.payments:
        assert f"<EndToEndId>{number}-2<" in content
    with made.store() as store:
        assert [0, 0, 0] == [offending(store, audit)[0] for audit in AUDITS]


@slow
def test_a_file_of_which_the_bank_knows_one_payment_is_not_withdrawn(made: Job) -> None:
    files_of(made)
    taken(made, camt(entry("77.25", named="BIRCH-2026-000001")))
    assert {"BIRCH-2026-000001": "paid", "ALDER-2026-000001": "unpaid"} == {
        each.number: each.state
        for each in payouts(made, None, period="2026-05")
        if each.currency == "GBP" and each.payment_id
    }
    before = kept(made)
    with pytest.raises(Refused) as error:
        withdraw_payout(made, "ALDER-2026-000001", "made too early")
    assert ("payout_told", before) == (error.value.code, kept(made))


# state, period: the statements that are listed
LISTED = """
state   period   numbers
-       2026-06  ALDER-2026-000002
unpaid  2026-06  ALDER-2026-000002
paid    -        ELDER-2026-000001,CEDAR-2026-000001,BIRCH-2026-000001
paid    2026-06  -
unpaid  2026-05  GORSE-2026-000001,FIR-2026-000001,ALDER-2026-000001
"""


@slow
@pytest.mark.parametrize("line", read(LISTED), ids=str)
def test_payouts_are_listed_by_state_and_month(made: Job, line: dict[str, str]) -> None:
    files_of(made)
    for amount, currency, named in [
        ("77.25", "GBP", "BIRCH"),
        ("12.34", "EUR", "CEDAR"),
        ("5.05", "EUR", "ELDER"),
    ]:
        paid = entry(amount, currency, named=f"{named}-2026-000001", ref=named)
        taken(made, camt(paid))
    rows = payouts(made, None, state=line["state"], period=line["period"])
    assert (line["numbers"] or "") == ",".join(each.number for each in rows)


# Institutions that are paid in dollars
DOLLARS = """
number           institution period   amount currency account address
ONE-2026-000001  one         2026-05  10.10  USD      US      -
TEN-2026-000001  ten         2026-05  20.02  USD      US      -
TWO-2026-000001  two         2026-05  3.70   USD      US      -
"""


@slow
def test_dollars_between_routing_numbers_are_a_file_of_nacha(tmp_path: Path) -> None:
    """As an independent reader reads it; the next file of the day is B, and its batch counts on."""
    made = closed(tmp_path, DOLLARS, payer_account=NEW_YORK, payer_id="1234567890")
    ((name, content),) = files_of(made).items()
    assert ("2026-05-USD-1.ach", {"ok": True, "errors": []}) == (
        name,
        achkit.validate(content.decode()),
    )
    (batch,) = achkit.parse(content.decode())["batches"]
    assert [1010, 2002, 370] == [each["amount_cents"] for each in batch["entries"]]
    withdraw_payout(made, "TEN-2026-000001", "made too early")
    (content,) = files_of(made).values()
    lines = content.decode().splitlines()
    assert ("B", "0000004") == (lines[0][33], lines[1][87:94])


# Of a file with ALDER and BIRCH the bank returned ALDER: what is written of each since
RETURNED = [
    ("ALDER-2026-000001", "payout_returned"),
    ("BIRCH-2026-000001", "payout_file_returned"),
]


def test_a_file_of_which_a_payment_came_back_is_not_written_again(made: Job) -> None:
    """rules.md#payouts: nobody is to pay into the account that the bank could not pay into."""
    before = files_of(made)
    back = {"amount": "1234.50", "named": "ALDER-2026-000001"}
    taken(made, camt(entry(**back, on=ON), returned(**back, on=ON)))
    to = made.path.with_name("payment")
    for number, code in RETURNED:
        with pytest.raises(Refused) as error:
            export_payout(made, number, "pain.001", to)
        assert (code, False) == (error.value.code, to.exists())
        with pytest.raises(Refused) as error:
            withdraw_payout(made, number, "made too early")
        assert "payout_told" == error.value.code
    done = export_period(made, "2026-05", made.path.parent / "again")
    assert {"CEDAR-2026-000001", "ELDER-2026-000001"} == {each.number for each in done.payments}
    assert {**dict(RETURNED), **NOT_PAID} == {each.number: each.code for each in done.not_paid}
    # once ALDER is paid by another payment too
    export_payout(made, "ALDER-2026-000001", "pain.001", to, again="the account was closed")
    with pytest.raises(Refused) as error:
        export_payout(made, "BIRCH-2026-000001", "pain.001", to)
    assert "payout_file_returned" == error.value.code
    with pytest.raises(Refused) as error:
        withdraw_payout(made, "BIRCH-2026-000001", "made too early")
    assert "payout_told" == error.value.code
    taken(made, camt(entry("77.25", named="BIRCH-2026-000001", ref="B-7")))
    done = export_period(made, "2026-05", made.path.parent / "again")
    assert NOT_PAID == {each.number: each.code for each in done.not_paid}
    assert before["2026-05-EUR-3.xml"] == files_of(made)["2026-05-EUR-3.xml"]
