"""Four eyes (rules.md#four-eyes): a job asks, a second person answers, it goes through."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from approving import approved, keys, signed, signed_elsewhere, with_approvers
from banks import BERLIN, LONDON
from cardoffers_cli.approvals.work import (
    add_approver,
    give,
    list_approvals,
    refuse,
    remove_approver,
    show_approval,
    waiting,
)
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
from cardoffers_cli.kernel.store.approvers import document_of, find_approvers
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.keys.security import list_security, verify_security
from cardoffers_cli.storage.doctor import audits, offending
from crediting import begin, redeem, row_of, send
from sizes import one_in, slow
from tables import NOON
from work import found, kept, new_store, once, settings, tell

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
    with_approvers(made)
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


def answer(made: Job, given: str = "given") -> None:
    """Answer all requests that wait: two sign them, or one refuses."""
    if given == "given":
        approved(made)
    else:
        for each in list_approvals(made, state="pending"):
            refuse(by(made, "bob"), str(each.approval_id), "why")


def events(made: Job) -> list[tuple[str, str]]:
    """Return the security log, the oldest first, from behind the approvers on."""
    assert verify_security(made).ok
    listed = [(each.event, each.actor) for each in reversed(list_security(made))]
    return [each for each in listed if not each[0].startswith("approver_")]


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
        f"Until 2026-06-08 12:00 UTC two approvers type `cardoffers approve give {request}"
        " --key FILE`; then type the same command again."
    ) == caught.value.hint
    assert before == kept(made, "approvals", "runs", "acts")
    assert [("approval_request",)] == found(made, "select kind from runs where run_no > 2")
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
    assert [("tester", NOON + DAY, 6)] == found(
        made, "select used_by, used_at, used_run_no from approvals"
    )
    assert ["requested", "signed", "given", "used"] == [
        event.removeprefix("approval_") for event, _ in events(made)
    ]
    with pytest.raises(ApprovalNeeded, match="asked for again: the last one was used"):
        work(by(made, "tester", days=1))
    assert 2 == len({request, tried(made)})


@slow
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


@slow
def test_an_account_needs_a_second_person_who_sees_it_whole(made: Job) -> None:
    given = AccountOptions(account=BERLIN, holder="Alder plc")
    with pytest.raises(ApprovalNeeded) as caught:
        set_institution(by(made, "alice"), "alder", {}, account=given)
    request = str(caught.value.details["approval_id"])
    assert {"account": [None, BERLIN], "holder": [None, "Alder plc"]} == dict(
        show_approval(made, request).details
    )
    assert [] == found(made, "from institution_accounts")
    approved(made, request)
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
    assert ["requested", "signed", "given", "used", "policy_changed"] == [
        event.removeprefix("approval_") for event, _ in events(made)
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


def test_two_sign_it_and_the_same_work_goes_through(made: Job) -> None:
    request = tried(by(made, "alice"))
    asked = waiting(made, [request])
    (dry,) = give(by(made, "bob"), asked, key=keys() / "ada", dry_run=True)
    assert ("pending", "ada", True, None) == (
        *(dry.state, dry.signed_by, dry.dry_run),
        show_approval(made, request).signed_by,
    )
    (first,) = signed(made, "ada", request[:8])
    assert ("pending", "ada", None) == (first.state, first.signed_by, first.answered_by)
    (done,) = give(
        by(made, "bob", days=1), waiting(made, [request]), key=keys() / "ben", reason="checked"
    )
    assert ("given", "ada", "ben", NOON + DAY, "checked", False) == (
        *(done.state, done.signed_by, done.answered_by, done.answered_at),
        *(done.reason, done.dry_run),
    )
    assert "used" == work(by(made, "alice", days=2))
    assert [
        ("approval_requested", "alice"),
        ("approval_signed", "tester"),
        ("approval_given", "bob"),
        ("approval_used", "alice"),
    ] == events(made)


def test_who_asks_with_a_key_has_signed_the_request(made: Job) -> None:
    asking = replace(made, settings=settings(approver_key=keys() / "ben"))
    with pytest.raises(ApprovalNeeded) as caught:
        work(asking)
    assert "an approver other than ben types" in str(caught.value.hint)
    assert ["ben"] == [each.signed_by for each in list_approvals(made)]
    signed(made, "ada")
    assert "used" == work(asking)


@slow
def test_a_key_that_is_no_approvers_signs_no_request(made: Job) -> None:
    tried(replace(made, settings=settings(approver_key=keys() / "cleo")))
    assert [None] == [each.signed_by for each in list_approvals(made)]


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


def code_of(does: Callable[[], Any]) -> str:
    with pytest.raises(Refused) as caught:
        does()
    return caught.value.code


def test_who_asked_cannot_approve_and_the_attempt_is_kept(made: Job) -> None:
    request = tried(made)
    signed(made, "ada", request)
    for _ in range(2):
        assert "approval_own" == code_of(lambda: signed(made, "ada", request))
    assert ["requested", "signed", "denied_to_maker", "denied_to_maker"] == [
        event.removeprefix("approval_") for event, _ in events(made)
    ]
    assert "pending" == show_approval(made, request).state


# code, who signs what in place of the document: another approver's limit, key, bytes or list
WRONG = [
    ("approval_signature_wrong", "cleo", lambda content: content),
    ("approval_signature_wrong", "ben", lambda content: content.replace(b"2.2", b"9.2")),
    ("approval_signature_wrong", "ben", lambda content: content + b" "),
    ("approval_signature_wrong", "ben", lambda _: b""),
]


@pytest.mark.parametrize(("code", "name", "changed"), WRONG)
def test_only_a_signature_of_these_requests_by_an_approver_counts(
    made: Job, code: str, name: str, changed: Callable[[bytes], bytes]
) -> None:
    request = tried(made)
    signed(made, "ada", request)
    asked = waiting(made, [request])
    signature = signed_elsewhere(changed(document_of(asked)), name)
    before = kept(made)
    assert code == code_of(lambda: give(made, asked, signature=signature))
    assert before == kept(made)


@slow
def test_a_signature_for_another_purpose_is_none(made: Job) -> None:
    request = tried(made)
    signed(made, "ada", request)
    asked = waiting(made, [request])
    signature = signed_elsewhere(document_of(asked), "ben", "git")
    assert "approval_signature_wrong" == code_of(lambda: give(made, asked, signature=signature))


@slow
def test_an_old_signature_is_none_of_a_new_list(made: Job) -> None:
    tried(made)
    signed(made, "ada")
    old = signed_elsewhere(document_of(waiting(made, every=True)), "ben")
    tried(made, subject="r-2")
    asked = waiting(made, every=True)
    assert "approval_signature_wrong" == code_of(lambda: give(made, asked, signature=old))


@slow
def test_a_list_is_signed_at_once_and_each_of_it_is_verified(made: Job) -> None:
    own = tried(made, subject="r-0")
    signed(made, "ben", own)
    ids = {tried(made, subject=f"r-{place}") for place in (1, 2, 3)}
    signed(made, "ada", *ids)
    tried(made, subject="r-4", action="file_undo")
    asked = waiting(made, every=True, action="redemption_reverse")
    done = give(made, asked, key=keys() / "ben", leave_others=True)
    assert ids == {str(each.approval_id) for each in done}, "not what ben asks for himself"
    assert 1 == len({each.answer_signature for each in done})
    assert "used" == work(made, subject="r-2")
    with made.store() as store:
        store.connection.execute("update approvals set subject = 'r-9' where subject = 'r-3'")
    assert "approval_not_signed" == code_of(lambda: work(made, subject="r-1"))
    assert ["signature_wrong"] * 3 == [each.fault for each in verify_security(made).faults]


@slow
def test_one_signature_may_ask_for_some_and_approve_others(made: Job) -> None:
    first, second = tried(made, subject="r-1"), tried(made, subject="r-2")
    signed(made, "ada", first)
    assert {first: "given", second: "pending"} == {
        str(each.approval_id): each.state for each in signed(made, "ben")
    }
    assert [second] == [str(each.approval_id) for each in signed(made, "ada")]
    assert ["used", "used"] == [work(made, subject=subject) for subject in ("r-1", "r-2")]
    assert verify_security(made).ok
    assert [] == signed(made, "ben"), "nothing waits"


def test_a_signature_by_whom_it_is_not_for_is_none(made: Job) -> None:
    """Where somebody writes into the store that it was."""
    request = tried(made)
    approved(made, request)
    with made.store() as store:
        store.connection.execute("update approvers set limit_amount = 1, currency = 'GBP'")
    assert "approval_not_signed" == code_of(lambda: work(made))


def test_an_answer_without_two_signatures_is_none(made: Job) -> None:
    tried(made)
    with made.store() as store:
        store.connection.execute(
            "update approvals set answer = 'given', answered_by = 'ben', answered_at = requested_at"
        )
    assert "approval_not_signed" == code_of(lambda: work(made))
    assert "approvals_are_of_two_persons" in unsound(made)


# Approvers


@slow
def test_the_first_two_are_added_and_others_with_an_approval(made: Job) -> None:
    public = keys() / "cleo.pub"
    with pytest.raises(ApprovalNeeded, match="Adding an approver needs"):
        add_approver(made, "cleo", public)
    approved(made)
    assert "used" == add_approver(made, "cleo", public).approval
    with pytest.raises(ApprovalNeeded, match="Removing an approver needs"):
        remove_approver(made, "ada")
    signed(made, "ben")
    signed(made, "cleo")
    assert "used" == remove_approver(made, "ada").approval
    with made.store() as store:
        assert ["ben", "cleo"] == [each.name for each in find_approvers(store)]
        ever = find_approvers(store, removed=True)
    assert [True, False, False] == [each.removed_at is not None for each in ever]
    assert verify_security(made).ok, "what ada signed stands"
    tried(made)
    assert "approval_signature_wrong" == code_of(lambda: signed(made, "ada"))


@slow
def test_a_name_and_a_key_are_of_one_approver(made: Job) -> None:
    for name, key in [("ada", "cleo"), ("eve", "ada")]:
        assert "approver_known" == code_of(lambda: add_approver(made, name, keys() / f"{key}.pub"))  # noqa: B023
    with pytest.raises(NotFound):
        remove_approver(made, "eve")
    with pytest.raises(UsageError, match=r"1\.001 is no amount of one currency"):
        add_approver(made, "eve", keys() / "cleo.pub", limit=Decimal("1.001"))


@pytest.mark.parametrize("content", ["", "ssh-ed25519 AAAA", "ssh-rsa", "-----BEGIN OPENSSH"])
def test_only_a_public_key_is_added(made: Job, tmp_path: Path, content: str) -> None:
    path = tmp_path / "key"
    path.write_text(content)
    with pytest.raises(UsageError) as caught:
        add_approver(made, "eve", path)
    assert "key_unusable" == caught.value.code
    with pytest.raises(UsageError, match="is not a public key"):
        add_approver(made, "eve", keys() / "cleo")


@slow
def test_approvals_are_turned_on_and_kept_with_two_approvers(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder")
    assert "approvers_missing" == code_of(lambda: set_(made, "alder", approvals="on"))
    with_approvers(made)
    set_(made, "alder", approvals="on")
    with pytest.raises(ApprovalNeeded):
        remove_approver(made, "ada")
    approved(made)
    assert "approvers_missing" == code_of(lambda: remove_approver(made, "ada"))


def test_who_has_a_limit_does_not_count_as_one_who_can_approve_all(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder")
    for name in ("ada", "ben"):
        add_approver(made, name, keys() / f"{name}.pub", limit=Decimal(100))
    assert "approvers_missing" == code_of(lambda: set_(made, "alder", approvals="on"))
    assert None is add_approver(made, "cleo", keys() / "cleo.pub").approval


# what cleo may sign: institution, limit; the request; expected
MAY_SIGN = [
    (True, "alder", None, {}),
    (True, "alder", Decimal("2.20"), {}),
    (False, "alder", Decimal("2.19"), {}),
    (False, "brook", None, {}),
    (False, None, Decimal(100), {"amount": None, "currency": None}),
]


@pytest.mark.parametrize(("expected", "institution", "limit", "asked"), MAY_SIGN)
def test_an_approver_signs_within_their_institution_and_limit(
    made: Job, expected: bool, institution: str | None, limit: Decimal | None, asked: Any
) -> None:
    of = {"institution": institution, "limit": limit}
    with pytest.raises(ApprovalNeeded):
        add_approver(made, "cleo", keys() / "cleo.pub", **of)
    approved(made)
    add_approver(made, "cleo", keys() / "cleo.pub", **of)
    request = tried(made, **asked)
    signed(made, "ada", request)
    if expected:
        assert ["given"] == [each.state for each in signed(made, "cleo", request)]
    else:
        assert "approver_not_allowed" == code_of(lambda: signed(made, "cleo", request))


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
@pytest.mark.parametrize("again", ["give", "refuse"])
def test_an_answer_is_final_and_comes_in_time(
    made: Job, answered: str | None, days: int, code: str, again: str
) -> None:
    request = tried(made)
    if answered:
        answer(made, answered)
    before = kept(made)
    later = by(made, "bob", days)
    does = {
        "give": lambda: signed(later, "ben", request),
        "refuse": lambda: refuse(later, request, "so"),
    }
    assert (code, before) == (code_of(does[again]), kept(made))


def test_an_unknown_request_is_not_found_and_a_refusal_says_why(made: Job) -> None:
    with pytest.raises(NotFound, match="no request for an approval"):
        signed(made, "ada", "00000000-0000-4000-8000-000000000000")
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
    approved(made, tried(made))
    tried(by(made, "tester", days=0.1), institution="brook", subject="r-2")
    for expected, institution, state, days in LISTED:
        listed = list_approvals(by(made, "bob", days + 0.2), institution, state=state)
        assert expected == [each.subject for each in listed], (institution, state)


@slow
def test_of_two_who_answer_at_once_one_does(made: Job) -> None:
    """Each waits for the store; the second finds the answer of the first."""
    request = tried(made)
    signed(made, "ada", request)

    def answered(does: Callable[[], Any]) -> str:
        try:
            does()
        except Refused as refused:
            return refused.code
        return "done"

    gives, refuses = lambda: signed(made, "ben", request), lambda: refuse(made, request, "why")
    with ThreadPoolExecutor(2) as people:
        ends = list(people.map(answered, [gives, refuses]))
    assert ["approval_answered", "done"] == sorted(ends)
    assert 3 == len(events(made))


# The audits find what must not be

OF_ROWS = "acts_are_of_their_rows"
BREAKS = {
    "update approvals set answered_by = signed_by": "approvals_are_of_two_persons",
    "update approvals set answered_by = 'eve'": "approvals_are_of_two_persons",
    "update approvals set answer_signature = null": "approvals_are_of_two_persons",
    "update approvals set signed_by = 'ben', answered_by = 'ada'": OF_ROWS,
    "update approvers set public_key = name": OF_ROWS,
    "delete from acts where kind = 'approval_signed'": OF_ROWS,
    "delete from acts where kind = 'approver_added'": OF_ROWS,
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
    approved(made, tried(made))
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
    with_approvers(made)
    set_(made, approvals="on", approval_limit=limit)
    dry = accept_finding(made, "latest", "paid by cheque", dry_run=True)
    assert (expected, "accepted") == (dry.approval, dry.state)
    if expected is None:
        assert None is accept_finding(made, "latest", "paid by cheque").approval
        return
    with pytest.raises(ApprovalNeeded, match="Accepting a finding of the reconciliation") as caught:
        accept_finding(made, "latest", "paid by cheque")
    assert [("open",)] == found(made, "select state from reconciliation_findings")
    approved(made, str(caught.value.details["approval_id"]))
    with pytest.raises(ApprovalNeeded):
        accept_finding(made, "latest", "another reason")
    done = accept_finding(made, "latest", "paid by cheque")
    assert ("accepted", "used") == (done.state, done.approval)
