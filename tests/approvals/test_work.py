"""Four eyes (rules.md#four-eyes): a job asks, a second person answers, it goes through."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from banks import BERLIN, LONDON
from cardoffers_cli.approvals.work import give, list_approvals, refuse, show_approval
from cardoffers_cli.credits.findings import accept_finding
from cardoffers_cli.credits.work import reconcile
from cardoffers_cli.institutions.accounts import AccountOptions
from cardoffers_cli.institutions.work import set_institution, show_institution
from cardoffers_cli.kernel.store.approval_requests import (
    NEEDED,
    ApprovalNeeded,
    approvable,
    require_approval,
)
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.keys.security import list_security, verify_security
from cardoffers_cli.storage.doctor import audits, offending
from crediting import begin, redeem, row_of, send
from sizes import one_in, slow
from tables import NOON
from work import found, kept, new_store, once, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

DAY = timedelta(days=1)
ASKED: dict[str, Any] = {
    "action": "redemption_reverse",
    "subject": "r-1",
    "amount": Decimal("2.20"),
    "currency": "GBP",
    "details": {"reason": "returned"},
}


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return with_approvals(tmp_path)


@once
def with_approvals(folder: Path) -> Job:
    """Make a store of alder, which wants approvals above GBP 1.00, and brook, which wants none."""
    made = new_store(folder)
    tell(made, institutions="institution\nalder\nbrook")
    with made.store() as store:
        store.connection.execute(
            "update institutions set approvals = 'on', approval_limit = 1 where slug = 'alder'"
        )
    return made


def by(made: Job, actor: str, days: float = 0) -> Job:
    """Return the job of somebody, some days later."""
    return replace(made, actor=actor, now=NOON + days * DAY)


def work(
    job: Job,
    institution: str = "alder",
    *,
    dry_run: bool = False,
    then: Callable[[], Any] = list,
    **asked: Any,
) -> str:
    """Do work that may need an approval, which renames institutions, `then` some more of it."""
    with (
        approvable(job, dry_run=dry_run) as store,
        run_record(store, kind="test", now=job.now, actor=job.actor) as run,
    ):
        owner = find_institution(store, institution)
        store.connection.execute("update institutions set name = 'done'")
        had = require_approval(store, run, owner, dry_run=dry_run, **{**ASKED, **asked})
        then()
    return str(had)


def tried(job: Job, **asked: Any) -> str:
    """Return the id of the request that the work ends with."""
    with pytest.raises(ApprovalNeeded) as caught:
        work(job, **asked)
    return str(caught.value.details["approval_id"])


def answer(made: Job, given: str = "given", by: str = "bob") -> None:
    """Write an answer to all requests that have none."""
    with made.store() as store:
        store.connection.execute(
            "update approvals set answer = ?, answered_by = ?, answered_at = ?, reason = 'why'"
            " where answer is null",
            [given, by, NOON],
        )


def events(made: Job) -> list[tuple[str, str]]:
    """Return the security log, the oldest first."""
    assert verify_security(made).ok
    return [(each.event, each.actor) for each in reversed(list_security(made))]


# expected, institution, what is asked for
FREE = [
    ("None", "brook", {}),
    ("None", "alder", {"amount": Decimal("1.00")}),
    ("needed", "alder", {"amount": Decimal("1.01")}),
    ("needed", "alder", {"amount": Decimal("1.00"), "currency": "EUR"}),
    ("needed", "alder", {"amount": Decimal("1.00"), "action": "payout_export"}),
]


@pytest.mark.parametrize(("expected", "institution", "asked"), FREE)
@one_in(2)
def test_what_needs_none_goes_through(
    made: Job, expected: str, institution: str, asked: dict[str, Any]
) -> None:
    assert expected == work(made, institution, dry_run=True, **asked)
    if expected == "None":
        assert expected == work(made, institution, **asked)
    assert [] == found(made, "from approvals")


def test_without_an_approval_the_request_is_kept_and_nothing_else(made: Job) -> None:
    before = kept(made, "approvals", "runs", "acts")
    with pytest.raises(ApprovalNeeded) as caught:
        work(made)
    ((request,),) = found(made, "select cast(approval_id as varchar) from approvals")
    assert {"approval_id": request, "expires_at": NOON + 7 * DAY} == {
        name: value if name == "expires_at" else str(value)
        for name, value in caught.value.details.items()
    }
    assert (
        "Reversing a redemption needs the approval of a second person: alder, r-1, GBP 2.20."
        " It is asked for now, and nothing else was changed."
    ) == str(caught.value)
    assert (
        f"Until 2026-06-08 12:00 UTC somebody else than tester types"
        f" `cardoffers approve give {request}`; then type the same command again."
    ) == caught.value.hint
    assert before == kept(made, "approvals", "runs", "acts")
    assert [("approval_request",)] == found(made, "select kind from runs")
    assert [("approval_requested", "tester")] == events(made)


def test_a_request_that_waits_is_answered_with_its_id(made: Job) -> None:
    request = tried(made)
    before = kept(made)
    with pytest.raises(Refused, match="tester asked for it at 2026-06-01 12:00 UTC, and it waits"):
        work(by(made, "bob", days=1))
    assert (request, before) == (tried(made), kept(made))


def test_an_approval_lets_the_same_work_through_once(made: Job) -> None:
    request = tried(made)
    answer(made)
    assert "given" == work(made, dry_run=True)
    assert "used" == work(by(made, "tester", days=1))
    assert [("done",), ("done",)] == found(made, "select name from institutions")
    assert [("tester", NOON + DAY, 2)] == found(
        made, "select used_by, used_at, used_run_no from approvals"
    )
    assert [("approval_requested", "tester"), ("approval_used", "tester")] == events(made)
    with pytest.raises(ApprovalNeeded, match="asked for again: the last one was used"):
        work(by(made, "tester", days=1))
    assert 2 == len({request, tried(made)})


def test_an_approval_is_used_only_with_the_work(made: Job) -> None:
    tried(made)
    answer(made)
    before = kept(made)
    with pytest.raises(ZeroDivisionError):
        work(made, then=lambda: 1 / 0)
    assert before == kept(made)


@pytest.mark.parametrize(
    "change",
    [
        {"subject": "r-2"},
        {"amount": Decimal("2.21")},
        {"currency": "EUR"},
        {"details": {"reason": "goods returned"}},
        {"action": "payout_export"},
    ],
)
@one_in(2)
def test_an_approval_of_anything_else_is_none(made: Job, change: dict[str, Any]) -> None:
    request = tried(made)
    answer(made)
    assert "needed" == work(made, dry_run=True, **change)
    assert request != tried(made, **change)


def test_an_approval_of_another_institution_is_none(made: Job) -> None:
    with made.store() as store:
        store.connection.execute("update institutions set approvals = 'on'")
    request = tried(made)
    answer(made)
    assert request != tried(made, institution="brook")


def test_what_was_refused_is_asked_for_anew(made: Job) -> None:
    request = tried(made)
    answer(made, "refused")
    with pytest.raises(ApprovalNeeded, match=r"again: bob refused it before \(why\)\.") as caught:
        work(made)
    assert 2 == len({request, str(caught.value.details["approval_id"])})
    assert [(1, "refused"), (2, None)] == found(
        made, "select number, answer from approvals order by number"
    )


# days -> what the work ends with: the request was made at 0 and answered at once
ENDS = [(6.999, None), (7, "has expired"), (8, "has expired")]


@pytest.mark.parametrize(("days", "expected"), ENDS)
def test_an_approval_ends_with_its_request(made: Job, days: float, expected: str | None) -> None:
    tried(made)
    answer(made)
    if expected is None:
        assert "used" == work(by(made, "tester", days))
        return
    with pytest.raises(ApprovalNeeded, match=expected):
        work(by(made, "tester", days))


@pytest.mark.parametrize(
    ("is_expired", "machine_days", "days"), [(True, 8, 0), (True, 8, 8), (False, 0, 8)]
)
def test_an_approval_expires_by_the_clock_of_the_machine(
    made: Job, is_expired: bool, machine_days: int, days: int
) -> None:
    tried(made)
    answer(made)
    later = replace(made, now=NOON + days * DAY, machine=lambda _: NOON + machine_days * DAY)
    with pytest.raises(ApprovalNeeded, match="has expired") if is_expired else nullcontext():
        work(later)


# Switching


def set_(job: Job, institution: str = "brook", **values: Any) -> list[tuple[str, Any, Any]]:
    done = set_institution(job, institution, {}, settings=values)
    return [(each.field, each.old_value, each.new_value) for each in done.changes]


def test_an_account_needs_a_second_person_who_sees_it_whole(made: Job) -> None:
    given = AccountOptions(account=BERLIN, holder="Alder plc")
    with pytest.raises(ApprovalNeeded) as caught:
        set_institution(by(made, "alice"), "alder", {}, account=given)
    request = str(caught.value.details["approval_id"])
    assert {"account": [None, BERLIN], "holder": [None, "Alder plc"]} == dict(
        show_approval(made, request).details
    )
    assert [] == found(made, "from institution_accounts")
    give(by(made, "bob"), request)
    other = AccountOptions(account=LONDON, holder="Alder plc")
    with pytest.raises(ApprovalNeeded):
        set_institution(by(made, "alice"), "alder", {}, account=other)
    done = set_institution(by(made, "alice"), "alder", {}, account=given)
    assert ("used", "DE89…3000") == (done.approval, done.account)


def test_turning_on_is_one_command_and_is_told(made: Job) -> None:
    on = {"approvals": "on", "approval_limit": Decimal("5.5")}
    dry = set_institution(made, "brook", {}, settings=on, dry_run=True)
    assert (2, None, "off") == (
        len(dry.changes),
        dry.approval,
        show_institution(made, "brook").approvals,
    )
    assert [("approvals", "off", "on"), ("approval_limit", None, "5.5")] == set_(made, **on)
    shown = show_institution(made, "brook")
    assert ("on", Decimal("5.50")) == (shown.approvals, shown.approval_limit)
    assert [("approval_policy_changed", "tester")] == events(made)
    assert [("brook", "approvals"), ("brook", "approval_limit")] == found(
        made, "select subject_id, field from audit_log order by audit_no"
    )
    assert [] == set_(made, **on)


# what one person alone would set at alder, where approvals are on above GBP 1.00
WEAKER: list[dict[str, Any]] = [
    {"approvals": "off"},
    {"approval_limit": Decimal(1000)},
    {"approval_limit": None},
    {"approvals": "off", "approval_limit": None},
]


@pytest.mark.parametrize("values", WEAKER)
@one_in(2)
def test_nobody_turns_it_off_or_loosens_it_alone(made: Job, values: dict[str, Any]) -> None:
    dry = set_institution(made, "alder", {}, settings=values, dry_run=True)
    assert (NEEDED, len(values)) == (dry.approval, len(dry.changes))
    before = kept(made, "approvals", "runs", "acts")
    with pytest.raises(ApprovalNeeded, match="Changing the settings of approvals needs"):
        set_(made, "alder", **values)
    assert before == kept(made, "approvals", "runs", "acts")
    answer(made)
    assert len(values) == len(set_(made, "alder", **values))
    assert ["approval_requested", "approval_used", "approval_policy_changed"] == [
        event for event, _ in events(made)
    ]


def test_other_settings_need_none(made: Job) -> None:
    assert ["name"] == [
        each.field for each in set_institution(made, "alder", {"name": "Alder"}).changes
    ]


@pytest.mark.parametrize("amount", ["-1", "1.001"])
def test_a_limit_is_an_amount_of_the_currency(made: Job, amount: str) -> None:
    with pytest.raises(UsageError, match="is no amount of GBP"):
        set_(made, approval_limit=Decimal(amount))


# Answering


def test_a_second_person_gives_it_and_the_same_work_goes_through(made: Job) -> None:
    request = tried(by(made, "alice"))
    dry = give(by(made, "bob"), request, dry_run=True)
    assert ("given", True, "pending") == (
        dry.state,
        dry.dry_run,
        show_approval(made, request).state,
    )
    done = give(by(made, "bob", days=1), request[:8], reason="checked")
    assert ("given", "bob", NOON + DAY, "checked", False) == (
        done.state,
        done.answered_by,
        done.answered_at,
        done.reason,
        done.dry_run,
    )
    assert "used" == work(by(made, "alice", days=2))
    assert [
        ("approval_requested", "alice"),
        ("approval_given", "bob"),
        ("approval_used", "alice"),
    ] == events(made)


def test_what_is_to_be_approved_is_shown(made: Job) -> None:
    shown = show_approval(made, tried(made, details={"reason": "gone", "back": Decimal("2.20")}))
    assert {
        "institution": "alder",
        "action": "redemption_reverse",
        "subject": "r-1",
        "amount": Decimal("2.20"),
        "currency": "GBP",
        "details": {"reason": "gone", "back": Decimal("2.20")},
        "maker": "tester",
        "state": "pending",
    } == {
        name: shown[name]
        for name in (
            *("institution", "action", "subject", "amount", "currency", "details"),
            *("maker", "state"),
        )
    }


# maker, who tries to approve
ONE_PERSON = [
    ("alice", "alice"),
    ("alice as ops", "alice as ops"),
    ("alice as ops", "ops"),
    ("ops", "alice as ops"),
    ("alice", "alice as ops"),
]


@pytest.mark.parametrize(("maker", "actor"), ONE_PERSON)
@one_in(2)
def test_who_asked_cannot_approve_and_the_attempt_is_kept(
    made: Job, maker: str, actor: str
) -> None:
    request = tried(by(made, maker))
    for _ in range(2):
        with pytest.raises(Refused, match="cannot approve it") as caught:
            give(by(made, actor), request)
        assert "approval_own" == caught.value.code
    assert [
        ("approval_requested", maker),
        ("approval_denied_to_maker", actor),
        ("approval_denied_to_maker", actor),
    ] == events(made)
    assert "pending" == show_approval(made, request).state


def test_who_asked_may_take_it_back(made: Job) -> None:
    request = tried(by(made, "alice"))
    assert "refused" == refuse(by(made, "alice"), request, "a slip").state
    with pytest.raises(ApprovalNeeded, match=r"alice refused it before \(a slip\)"):
        work(by(made, "alice"))


# how the request was answered, or days that have passed; what an answer ends with
ENDED = [
    ("given", 0, "approval_answered"),
    ("refused", 0, "approval_answered"),
    (None, 7, "approval_expired"),
]


@pytest.mark.parametrize(("answered", "days", "code"), ENDED)
@pytest.mark.parametrize("again", [give, refuse])
def test_an_answer_is_final_and_comes_in_time(
    made: Job, answered: str | None, days: int, code: str, again: Callable[..., Any]
) -> None:
    request = tried(made)
    if answered:
        answer(made, answered)
    before = kept(made)
    with pytest.raises(Refused) as caught:
        again(by(made, "bob", days), request, reason="so")
    assert (code, before) == (caught.value.code, kept(made))


def test_an_unknown_request_is_not_found_and_a_refusal_says_why(made: Job) -> None:
    with pytest.raises(NotFound, match="no request for an approval"):
        give(made, "00000000-0000-4000-8000-000000000000")
    with pytest.raises(UsageError, match="needs a reason"):
        refuse(made, tried(made), " ")


# expected, institution, state, days since
LISTED = [
    (["r-2", "r-1"], None, None, 0),
    (["r-2"], "brook", None, 0),
    (["r-1"], None, "given", 0),
    (["r-2"], None, "pending", 0),
    (["r-2", "r-1"], None, "expired", 7),
    ([], None, "used", 0),
]


def test_requests_are_listed_by_state_and_institution(made: Job) -> None:
    with made.store() as store:
        store.connection.execute("update institutions set approvals = 'on'")
    give(by(made, "bob"), tried(made))
    tried(by(made, "tester", days=0.1), institution="brook", subject="r-2")
    for expected, institution, state, days in LISTED:
        listed = list_approvals(by(made, "bob", days + 0.2), institution, state=state)
        assert expected == [each.subject for each in listed], (institution, state)


def test_of_two_who_answer_at_once_one_does(made: Job) -> None:
    """Each waits for the store; the second finds the answer of the first."""
    request = tried(made)

    def answered(actor: str) -> str:
        try:
            return str(give(by(made, actor), request).answered_by)
        except Refused as refused:
            return refused.code

    with ThreadPoolExecutor(2) as people:
        ends = list(people.map(answered, ["bob", "carol"]))
    assert ["approval_answered"] == [end for end in ends if end not in {"bob", "carol"}]
    assert 2 == len(events(made))


# The audits find what must not be

OF_ROWS = "acts_are_of_their_rows"
BREAKS = {
    "update approvals set answered_by = maker": "approvals_are_of_two_persons",
    "update approvals set answer = null": "approvals_are_of_two_persons",
    "update approvals set answered_at = '2026-07-01'": "approvals_are_of_two_persons",
    "update approvals set used_at = '2026-06-08 12:00:01'": "approvals_are_of_two_persons",
    "update approvals set used_run_no = 999": OF_ROWS,
    "insert into approvals select * replace (uuid() as approval_id) from approvals": OF_ROWS,
    "delete from acts where kind = 'approval_requested'": OF_ROWS,
    "delete from acts where kind = 'approval_given'": OF_ROWS,
    "delete from acts where kind = 'approval_used'": OF_ROWS,
}


def unsound(made: Job, change: str = "select 1") -> list[str]:
    with made.store() as store, store.transaction(keep=False):
        store.connection.execute(change)
        return [name for name in audits() if offending(store, name)[0]]


@slow
def test_an_audit_finds_what_must_not_be(made: Job) -> None:
    give(by(made, "bob"), tried(made))
    work(made)
    assert [] == unsound(made)
    for change, name in BREAKS.items():
        assert name in unsound(made, change), change


def test_every_audit_of_approvals_is_broken() -> None:
    of_approvals = {name for name in audits() if name.startswith("approvals_")}
    assert {*of_approvals, OF_ROWS} == {*BREAKS.values()}


# Accepting a finding


@once
def with_a_finding(folder: Path) -> Job:
    """Make a store with one open finding of brook: GBP 5.00 that were never credited."""
    made = new_store(folder)
    late = {"institution": "brook", "owed": "5.00", "at": NOON, "event": None, "reversed_at": None}
    with made.store() as store:
        begin(store)
        redeem(store, [late, late])
        send(store, [row_of("c5.00@1", 1, NOON)], ["brook", "brook"])
    reconcile(by(made, "tester", days=9))
    return made


# expected, the approval_limit
ACCEPTED = [(NEEDED, None), (NEEDED, Decimal("4.99")), (None, Decimal("5.00"))]


@slow
@pytest.mark.parametrize(("expected", "limit"), ACCEPTED)
def test_a_finding_above_the_limit_is_accepted_by_two(
    tmp_path: Path, expected: str | None, limit: Decimal | None
) -> None:
    made = by(with_a_finding(tmp_path), "tester", days=9)
    set_(made, approvals="on", approval_limit=limit)
    dry = accept_finding(made, "latest", "paid by cheque", dry_run=True)
    assert (expected, "accepted") == (dry.approval, dry.state)
    if expected is None:
        assert None is accept_finding(made, "latest", "paid by cheque").approval
        return
    with pytest.raises(ApprovalNeeded, match="Accepting a finding of the reconciliation") as caught:
        accept_finding(made, "latest", "paid by cheque")
    assert [("open",)] == found(made, "select state from reconciliation_findings")
    give(by(made, "bob", days=9), str(caught.value.details["approval_id"]))
    with pytest.raises(ApprovalNeeded):
        accept_finding(made, "latest", "another reason")
    done = accept_finding(made, "latest", "paid by cheque")
    assert ("accepted", "used") == (done.state, done.approval)
