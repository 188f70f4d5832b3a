"""What the bank says, as findings: their life, who accepts them, and what waits for them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from approving import approved
from banks import NUMBER, camt, entry, head, listed, pain002, returned
from cardoffers_cli.credits.findings import accept_finding, finding_rows, show_finding
from cardoffers_cli.credits.questions import open_findings
from cardoffers_cli.credits.work import reconcile
from cardoffers_cli.documents.closing import close_statement
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.night.options import NightOptions
from cardoffers_cli.night.run import run_night
from cardoffers_cli.night.status import status
from cardoffers_cli.payouts.exporting import export_payout
from cardoffers_cli.storage.doctor import offending
from paying import AUDITS, BACK, DUE, ON, PAID, RUN_BY, close, exported, payable, taken
from sizes import one_in, slow
from tables import NOON, read, select, uid
from work import kept, once, settings, short_nights

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

RENT = entry("5.00", named="RENT", ref="B-7", on=ON)
SALE = entry("7.00", side="CRDT", named="SALE", ref="B-8", on=ON)


@once
def to_be_paid(folder: Path) -> Job:
    """Make a store with a statement of GBP 1234.50 that was exported, and is due on June 2."""
    made = replace(payable(folder), settings=settings(**RUN_BY))
    exported(made)
    return made


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return to_be_paid(tmp_path)


def after(made: Job, days: int) -> Job:
    return replace(made, now=NOON + timedelta(days=days))


def findings(made: Job) -> list[tuple[Any, ...]]:
    rows, _ = finding_rows(made, limit=10)
    names = ("code", "state", "paid_as", "amount", "credited_amount", "currency", "age_days")
    return [tuple(each[name] for name in names) for each in rows]


# What the bank says in a file, so many days after June 1, and what is a finding then; what was
# found before is resolved where nothing is said of it
LIFE = """
day  file      open      resolved
3    -         -         -
7    -         -         -
8    -         unpaid    -
9    -         unpaid    -
10   rejected  returned  unpaid
11   paid      return_unbooked  unpaid,returned
12   back      returned  unpaid,return_unbooked
"""
FILES = {
    "rejected": pain002((NUMBER, "RJCT", "AC01")),
    "paid": camt(PAID),
    "back": camt(BACK),
}


@slow
def test_the_life_of_a_finding_of_the_bank(made: Job) -> None:
    """rules.md#findings-of-reconciliation"""
    ids: dict[str, set[Any]] = {}
    for line in read(LIFE):
        then = after(made, int(line["day"]))
        if line["file"]:
            taken(then, FILES[line["file"]])
        reconcile(then)
        before = kept(then)["reconciliation_verdicts"]
        reconcile(then)
        assert before == kept(then)["reconciliation_verdicts"], line["day"]
        rows, _ = finding_rows(then, limit=10)
        for each in rows:
            ids.setdefault(each.code, set()).add(each.finding_id)
        for state in ("open", "resolved"):
            expected = {*(line[state] or "").split(",")} - {""}
            assert expected == {each.code for each in rows if each.state == state}, line["day"]
        with then.store() as store:
            assert [0, 0, 0] == [offending(store, audit)[0] for audit in AUDITS]
    assert {"unpaid": 1, "returned": 1, "return_unbooked": 1} == {
        code: len(known) for code, known in ids.items()
    }


# The bank's file, and each finding of it: verdict, what it is about, amount, paid, days on June 22
SHOWN = """
file      code          about              amount   paid     days
-         unpaid        ALDER-2026-000001  1234.50  0.00     20
rejected  returned      ALDER-2026-000001  1234.50  0.00     20
less      paid_differs  ALDER-2026-000001  1234.50  1000.00  20
twice     paid_twice    ALDER-2026-000001  1234.50  2469.00  20
charged   return_differs  ALDER-2026-000001  1234.50  0.00   20
unsure    return_unbooked  ALDER-2026-000001  1234.50  1234.50  20
rest      entry_not_explained  B-1        -        8459.00  20
rent      bank_unknown  RENT               -        5.00     20
loan      not_in_book   LOAN               -        9.00     20
"""
SAID = {
    **FILES,
    "less": camt(entry("1000.00", on=ON)),
    "twice": camt(PAID, entry(on=ON, ref="B-9")),
    "rent": camt(PAID, RENT, SALE),
    "loan": camt(head("2000.00", "765.50", on=DUE), PAID),
    "charged": camt(PAID, returned(amount="1224.50", on=ON)),
    "unsure": camt(PAID, BACK, entry(on=ON, ref="B-9")),
    "rest": camt(entry("9693.50", on=ON, details='<Amt Ccy="GBP">1234.50</Amt>')),
}


@pytest.mark.parametrize("line", read(SHOWN), ids=str)
def test_each_verdict_is_a_finding_with_what_to_do(made: Job, line: dict[str, str]) -> None:
    """rules.md#bank-verdicts"""
    then = after(made, 21)
    if line["file"]:
        taken(then, SAID[line["file"]])
    if line["file"] == "loan":
        taken(then, camt(entry("9.00", named="LOAN", ref="B-6", on=ON), kind="camt.054"))
    told = reconcile(then)
    amount = Decimal(line["amount"]) if line["amount"] else None
    paid, days = Decimal(line["paid"]), int(line["days"])
    expected = [(line["code"], "open", line["about"], amount, paid, "GBP", days)]
    assert expected == findings(then)
    (total,) = [each for each in told.bank or () if each.code == line["code"]]
    assert (1, paid, days, 1, 0, 0) == (
        *(total.rows, total.paid_amount, total.oldest_days),
        *(total.from_7_days, total.from_30_days, total.from_60_days),
    )
    (row,), _ = finding_rows(then, limit=10)
    shown = show_finding(then, str(row.finding_id))
    assert ([], shown.next is not None) == (shown.rows, True)
    assert "NUMBER" not in (shown.next or "")
    if line["file"] == "rejected":
        assert ("AC01", "the account number is not valid") == (shown.bank_code, shown.bank_meaning)
    assert (line["file"] is not None) == bool(shown.bank)


def test_what_came_in_is_of_no_payout_and_no_finding(made: Job) -> None:
    taken(made, camt(PAID, SALE))
    told = reconcile(after(made, 99))
    assert {"paid": 1, "bank_other": 1} == {each.code: each.rows for each in told.bank or ()}
    assert (0, 0, 0) == (told.open, told.accepted, told.resolved)


STANDING = """
select cast(sum(credited_rows) as bigint), sum(moved_amount)
from current_verdicts
where subject in ('statement', 'entry')
"""
"""The entries of banks that all verdicts tell of, and what these moved."""


@slow
@pytest.mark.parametrize("institution", [None, "alder"])
def test_an_entry_whose_payout_becomes_known_counts_once(
    made: Job, institution: str | None
) -> None:
    """Whether all institutions are reconciled next or this one alone (rules.md#bank-verdicts)."""
    later = "ALDER-2026-000002"
    close(made, later, amount="10")
    taken(made, camt(PAID, entry("10.00", named=later, ref="B-5", on=ON)))
    assert 1 == reconcile(made).open
    exported(made, number=later)
    for of in (institution, None, institution):
        told = reconcile(made, of)
        assert {"paid": (2, 2, Decimal("1244.50"))} == {
            each.code: (each.rows, each.bank_entries, each.paid_amount) for each in told.bank or ()
        }
        assert 0 == told.open
        assert (2, 2, 2) == (
            *(told.control.statements, told.control.bank_entries, told.control.bank_verdicts),
        )
        assert ["resolved"] == [each.state for each in finding_rows(made, limit=10)[0]]
        with made.store() as store:
            assert [0, 0, 0] == [offending(store, audit)[0] for audit in AUDITS]
            assert [(2, Decimal("1244.50"))] == select(store, STANDING)


@slow
def test_an_entry_of_another_institution_is_looked_at_with_it(made: Job) -> None:
    """A run of one says nothing of what is of no institution, unless it is its own by now."""
    taken(made, camt(PAID, RENT))
    reconcile(made)
    before = kept(made)["reconciliation_verdicts"]
    told = reconcile(made, "alder")
    assert ["paid"] == [each.code for each in told.bank or ()]
    assert before == kept(made)["reconciliation_verdicts"]


@slow
def test_an_accepted_finding_is_open_again_with_another_code(made: Job) -> None:
    taken(made, FILES["rejected"])
    reconcile(made)
    (row,), _ = finding_rows(made, limit=10)
    done = accept_finding(made, str(row.finding_id), "paid by hand, ticket 4711")
    assert ("accepted", "paid by hand, ticket 4711") == (done.state, done.reason)
    assert (0, 1) == tuple(reconcile(made)[name] for name in ("open", "accepted"))
    taken(made, listed(f"{NUMBER},rejected,1234.50,GBP,2026-06-03,AC04,B-4"))
    assert (1, 0) == tuple(reconcile(made)[name] for name in ("open", "accepted"))
    (again,), _ = finding_rows(made, limit=10)
    assert (row.finding_id, "AC04") == (again.finding_id, again.bank_code)


@slow
@pytest.mark.parametrize("limit", ["null", "1234.49", "1234.50"])
@pytest.mark.parametrize("about", ["rejected", "rent"])
def test_accepting_above_the_limit_needs_a_second_person(made: Job, about: str, limit: str) -> None:
    """rules.md#four-eyes: what is of no institution needs what the strictest one wants."""
    taken(made, SAID[about])
    reconcile(made)
    with made.store() as store:
        select(store, f"update institutions set approvals = 'on', approval_limit = {limit}")  # noqa: S608 - of ours
    (row,), _ = finding_rows(made, limit=10)
    is_above = limit == "null" or (about == "rejected" and limit == "1234.49")
    if not is_above:
        assert "accepted" == accept_finding(made, str(row.finding_id), "known").state
        return
    with pytest.raises(Refused) as error:
        accept_finding(made, str(row.finding_id), "known")
    assert "approval_required" == error.value.code
    assert "open" == finding_rows(made, limit=10)[0][0].state


@slow
def test_a_month_is_not_closed_over_what_the_bank_did_not_pay(made: Job) -> None:
    """rules.md#statements"""
    with made.store() as store:
        select(store, "update statements set from_at = timestamp '2026-05-01'")
    then = after(made, 40)
    reconcile(then)
    with pytest.raises(Refused, match=r"1 unpaid \(GBP 1234.50\)") as error:
        close_statement(then, "alder", "2026-06")
    assert "findings_open" == error.value.code
    taken(then, camt(PAID))
    reconcile(then)
    assert "ALDER-2026-000002" == close_statement(then, "alder", "2026-06").number


@slow
def test_status_and_a_nightly_run_count_them(made: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    short_nights(monkeypatch, "reconcile")
    folder = made.path.parent / "drop"
    folder.mkdir()
    taken(made, camt(RENT))
    told = run_night(after(made, 40), NightOptions(drop=folder))
    assert {
        ("unpaid", "cardoffers reconcile list --state open --code unpaid"),
        ("bank_unknown", "cardoffers reconcile list --state open --code bank_unknown"),
    } == {(each["code"], each["next"]) for each in told.findings if each["level"] != "note"}
    (counts,) = [step.counts for step in told.steps if step.name == "reconcile"]
    assert (2, 1, 1) == tuple(counts[name] for name in ("open", "statements", "bank_entries"))
    state, _ = status(made)
    assert [("bank_unknown", 1), ("unpaid", 1)] == [
        (each.code, each.findings) for each in state.open_findings
    ]


def test_who_has_no_account_and_no_payout_hears_nothing(tmp_path: Path) -> None:
    made = payable(tmp_path)
    with made.store() as store:
        select(store, "delete from institution_accounts")
    told = reconcile(after(made, 99))
    assert (None, None, 0) == (told.run_id, told.bank, told.open)
    with made.store() as store:
        assert [] == select(store, "from runs where kind = 'reconcile'")
        assert [] == open_findings(store, uid("alder"))


@slow
@pytest.mark.parametrize(
    ("audit", "change"),
    [
        ("everything_reconciled_has_a_verdict", "delete from bank_entries where code is null"),
        ("everything_reconciled_has_a_verdict", "delete from statements"),
        (
            "everything_reconciled_has_a_verdict",
            "delete from reconciliation_verdicts where subject = 'entry'",
        ),
        (
            "reconciled_totals_are_kept",
            "update reconciliation_totals set statements = 2 where code = 'paid'",
        ),
        (
            "reconciled_totals_are_kept",
            "update reconciliation_totals set bank_entries = 0 where code = 'bank_unknown'",
        ),
        (
            "reconciled_totals_are_kept",
            "update reconciliation_verdicts set credited_amount = 0 where subject = 'statement'",
        ),
    ],
)
def test_the_audits_find_what_was_changed(made: Job, audit: str, change: str) -> None:
    taken(made, camt(PAID, RENT))
    reconcile(made)
    with made.store() as store:
        assert 0 == offending(store, audit)[0]
        select(store, change)
        assert offending(store, audit)[0]


# Paying again

WHY = "the account was closed"


def again(made: Job, form: str = "csv", **more: Any) -> Any:
    return export_payout(made, NUMBER, form, made.path.with_name("again"), again=WHY, **more)


# What the bank says before a statement is paid again, and after it; and what is said of it then
PAID_AGAIN = """
before         after         verdict       code
rejected       -             unpaid        -
paid,back      -             unpaid        -
nacha          -             unpaid        -
rejected       second        paid          -
paid,back      second        paid          -
nacha          second        paid          -
rejected       paid          return_unbooked  AC01
rejected       paid,second   paid_twice    AC01
paid,back      second,late   paid_twice    AC04
rejected       refused       returned      AC06
paid,back      refused       returned      AC06
paid,back      second,sent   returned      AM09
"""
LATER = {
    **FILES,
    "nacha": listed(f"{NUMBER},returned,1234.50,GBP,2026-06-03,R03,B-6"),
    "late": camt(entry(on=ON, ref="B-11")),
    "second": camt(entry(on=ON, ref="B-12", named=f"{NUMBER}-2")),
    "refused": pain002((f"{NUMBER}-2", "RJCT", "AC06")),
    "sent": camt(returned("AM09", on=ON, ref="B-13", named=f"{NUMBER}-2")),
}


@pytest.mark.parametrize("line", read(PAID_AGAIN), ids=str)
@one_in(2)
def test_what_came_back_is_paid_again_and_never_twice(made: Job, line: dict[str, str]) -> None:
    """rules.md#payouts: the verdict follows the newest payment, and the sum of all of them."""
    for name in line["before"].split(","):
        taken(made, LATER[name])
    done = again(made)
    assert (2, f"{NUMBER}-2", False) == (done.attempt, done.payment_id, done.exported_before)
    for name in (line["after"] or "").split(","):
        if name:
            taken(made, LATER[name])
    told = reconcile(made)
    assert [(line["verdict"], 1)] == [(each.code, each.rows) for each in told.bank or ()]
    with made.store() as store:
        (code,) = select(store, "select bank_code from paid_statements")[0]
        assert (line["code"] or None) == code
        assert [0, 0, 0] == [offending(store, audit)[0] for audit in AUDITS]


@slow
def test_paid_again_twice_writes_the_same_bytes(made: Job) -> None:
    taken(made, FILES["rejected"])
    first = again(made)
    before = kept(made)["payouts"]
    second = again(replace(made, now=NOON + timedelta(days=9), settings=settings()))
    assert (first.sha256, True) == (second.sha256, second.exported_before)
    assert first.sha256 == export_payout(made, NUMBER, "csv", made.path.with_name("b")).sha256
    assert before == kept(made)["payouts"]
    taken(made, LATER["refused"])
    assert (3, f"{NUMBER}-3") == tuple(again(made)[name] for name in ("attempt", "payment_id"))


# What the bank said, and why a statement is not paid again
REFUSED = """
said         code                 form
-            payout_not_returned  csv
paid         payout_not_returned  csv
rejected+    payout_exported      nacha
"""


@slow
@pytest.mark.parametrize("line", read(REFUSED), ids=str)
@one_in(2)
def test_what_did_not_come_back_is_not_paid_again(made: Job, line: dict[str, str]) -> None:
    if line["said"]:
        taken(made, FILES[line["said"].rstrip("+")])
    if (line["said"] or "").endswith("+"):
        again(made)
    before = kept(made)
    with pytest.raises(Refused) as error:
        again(made, line["form"])
    assert line["code"] == error.value.code
    assert before == kept(made)


# What the bank said when plain `payout export` is typed, and which payment that writes, if any
TYPED_PLAIN = """
said                code             writes
-                   -                ALDER-2026-000001
paid                -                ALDER-2026-000001
rejected            payout_returned  -
paid,back           payout_returned  -
nacha               payout_returned  -
rejected,+          -                ALDER-2026-000001-2
rejected,+,refused  payout_returned  -
"""


@slow
@pytest.mark.parametrize("line", read(TYPED_PLAIN), ids=str)
@one_in(2)
def test_the_file_of_what_came_back_is_not_written_again(made: Job, line: dict[str, str]) -> None:
    """rules.md#payouts: in no form, dry or not, so that nobody uploads the old account."""
    for name in (line["said"] or "").split(","):
        if name == "+":
            again(made, "pain.001")
        elif name:
            taken(made, LATER[name])
    before, to = kept(made), made.path.with_name("plain")
    if line["code"]:
        for form, is_dry in (("pain.001", True), ("pain.001", False), ("csv", False)):
            with pytest.raises(Refused) as error:
                export_payout(made, NUMBER, form, to, dry_run=is_dry)
            assert line["code"] == error.value.code
            assert "--form pain.001 -o FILE --again --reason TEXT" in (error.value.hint or "")
        assert not to.exists()
    else:
        assert line["writes"] == export_payout(made, NUMBER, "pain.001", to).payment_id
        assert f"<EndToEndId>{line['writes']}</EndToEndId>" in to.read_text()
    assert before == kept(made)


def test_what_was_never_paid_is_not_paid_again(tmp_path: Path) -> None:
    made = replace(payable(tmp_path), settings=settings(**RUN_BY))
    with pytest.raises(Refused, match="was not paid yet") as error:
        again(made)
    assert "payout_not_exported" == error.value.code


@slow
def test_paying_again_needs_an_approval_of_its_own(made: Job) -> None:
    """rules.md#four-eyes"""
    taken(made, FILES["rejected"])
    with made.store() as store:
        select(store, "update institutions set approvals = 'on'")
    with pytest.raises(Refused) as error:
        again(made)
    assert "approval_required" == error.value.code
    assert (1, 1) == (len(kept(made)["approvals"]), len(kept(made)["payouts"]))
    approved(made)
    assert "used" == again(made).approval
    assert again(made).exported_before


def test_the_audit_finds_a_second_payment_of_what_never_came_back(made: Job) -> None:
    taken(made, FILES["rejected"])
    again(made)
    with made.store() as store:
        select(store, "update bank_entries set status = 'accepted'")
        assert 1 == offending(store, "payouts_pay_their_statement")[0]
