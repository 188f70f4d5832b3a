"""Four eyes as two people see it: who asks, who approves, and the same command again."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from approving import keys, with_approvers
from cardoffers_cli.river.engines import match_purchases
from sizes import slow
from tables import NOON
from work import file_of, new_store, once, taken, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


@once
def with_money(folder: Path) -> Job:
    """Make a store in which ann has earned GBP 2.00 with r-1, and approvals are on."""
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery",
        identifiers="identifier merchant\nM1 bakery",
        offers="offer merchant cashback rate\nA bakery 2.00 0.1",
        links="cardholder offer\nann A",
    )
    taken(made, file_of(folder / "tx.csv", [{"ref": "r-1", "identifier": "M1"}]))
    match_purchases(made)
    with_approvers(made)
    return made


@pytest.fixture
def run(tmp_path: Path, cardoffers: Any) -> Any:
    """Run a command as somebody, who has a key; return how it ended."""
    made = with_money(tmp_path)

    def run(who: str, line: str, *more: str) -> Any:
        words = [*line.split(), *more, "--store", str(made.path)]
        at = ["--as-of", NOON.isoformat(), "--format", "json"]
        key = str(keys() / who)
        return cardoffers(*words, *at, CARDOFFERS_ACTOR=who, CARDOFFERS_APPROVER_KEY=key)

    return run


REVERSE = ("redemption reverse r-1 -i alder --yes --reason", "goods returned")


@slow
def test_two_people_reverse_what_one_may_not(run: Any) -> None:
    assert 0 == run("ada", "institution set alder --approvals on --approval-limit 2").exit_code
    planned = run("ada", *REVERSE, "--dry-run")
    assert (0, "needed") == (planned.exit_code, planned.document["approval"])
    asked = run("ada", *REVERSE)
    assert (4, "approval_required") == (asked.exit_code, asked.error["code"])
    request = asked.error["approval_id"]
    assert f"cardoffers approve give {request}" in asked.error["hint"]
    assert request == run("ada", *REVERSE).error["approval_id"]
    (listed,) = run("ben", "approve list --state pending").document
    assert {
        "approval_id": request,
        "action": "redemption_reverse",
        "subject": "r-1",
        "amount": 2.2,
        "details": {
            "redemption_id": planned.document["redemption_id"],
            "offer_id": "A",
            "merchant_name": "bakery",
            "institution_payout_amount": 2.0,
            "reason": "goods returned",
        },
    } == {name: listed[name] for name in ("approval_id", "action", "subject", "amount", "details")}
    assert ("ada", None) == (listed["signed_by"], listed["answered_by"])
    own = run("ada", f"approve give {request}", "--yes")
    assert (4, "approval_own") == (own.exit_code, own.error["code"])
    given = run("ben", f"approve give {request[:6]}", "--yes")
    assert (0, "given") == (given.exit_code, given.document["state"])
    another = run("ada", REVERSE[0], "another reason")
    assert (4, True) == (another.exit_code, another.error["approval_id"] != request)
    done = run("ada", *REVERSE)
    assert (0, "reversed", "used") == (
        done.exit_code,
        done.document["status"],
        done.document["approval"],
    )
    assert [
        "approval_policy_changed",
        "approval_requested",
        "approval_signed",
        "approval_denied_to_maker",
        "approval_given",
        "approval_requested",
        "approval_signed",
        "approval_used",
    ] == [event for event in events(run) if event.startswith("approval_")]
    assert 0 == run("ben", "doctor --strict").exit_code


def events(run: Any) -> list[str]:
    return [each["event"] for each in reversed(run("ben", "audit list").document)]


def test_up_to_the_limit_one_person_is_enough(run: Any) -> None:
    run("ada", "institution set alder --approvals on --approval-limit 2.20")
    done = run("ada", *REVERSE)
    assert (0, False) == (done.exit_code, "approval" in done.document)


@slow
def test_nobody_turns_it_off_alone(run: Any) -> None:
    run("ada", "institution set alder --approvals on")
    turn_off = "institution set alder --approvals off"
    request = run("ada", turn_off).error["approval_id"]
    assert 4 == run("ada", f"approve give {request}", "--yes").exit_code
    assert 4 == run("ada", turn_off).exit_code
    assert 0 == run("ben", f"approve refuse {request}", "--reason", "we want it").exit_code
    assert "refused it before (we want it)" in run("ada", turn_off).error["message"]


@slow
@pytest.mark.parametrize(
    "line",
    ["approve give latest --dry-run", "approve refuse latest --reason no --dry-run"],
)
def test_a_dry_run_answers_nothing(run: Any, line: str) -> None:
    run("ada", "institution set alder --approvals on")
    run("ada", "institution set alder --approvals off")
    ended = run("ben", line)
    assert (0, True) == (ended.exit_code, ended.document["dry_run"])
    assert ["pending"] == [each["state"] for each in run("ben", "approve list").document]
    assert 4 == run("ada", "approve give latest --dry-run").exit_code
    assert ["approval_requested", "approval_signed"] == events(run)[-2:]


@slow
def test_status_and_the_page_of_a_night_say_that_requests_wait(run: Any, tmp_path: Path) -> None:
    """A nightly run with its pages takes over a second."""
    (tmp_path / "drop").mkdir()
    run("ada", "institution set alder --approvals on")
    assert "approvals_pending" not in run("ada", "status").document
    request = run("ada", *REVERSE).error["approval_id"]
    assert 1 == run("ada", "status").document["approvals_pending"]
    assert 0 == run("ada", "nightly", str(tmp_path / "drop")).exit_code
    (page,) = tmp_path.rglob("reports/*/index.html")
    assert "requests for an approval" in page.read_text()
    assert "cardoffers approve list --state pending" in page.read_text()
    run("ben", f"approve give {request}", "--yes")
    assert "approvals_pending" not in run("ada", "status").document


@slow
def test_a_key_on_another_machine_signs_a_document(run: Any, tmp_path: Path) -> None:
    run("ada", "institution set alder --approvals on")
    for reason in ("goods returned", "paid twice"):
        run("ada", REVERSE[0], reason)
    content = tmp_path / "requests.json"
    assert 0 == run("ben", f"approve document --all -o {content}").exit_code
    sign = ("ssh-keygen", "-q", "-Y", "sign", "-n", "cardoffers", "-f", keys() / "ben", content)
    subprocess.run(sign, check=True)
    given = run("cleo", f"approve give --all --signature {content}.sig --yes")
    assert [("given", "ben")] * 2 == [
        (each["state"], each["answered_by"]) for each in given.document
    ]
    assert 0 == run("ada", *REVERSE).exit_code
    assert 0 == run("ada", "audit verify").exit_code


# expected, how the command is typed
WRONG = [
    ("key_unusable", "approve give latest --yes --key nothing"),
    (None, "approve give --yes"),
    (None, "approve give latest --signature nothing --yes"),
    (None, "approve document"),
    (None, "approve give --all --kind nothing --yes"),
    ("key_unusable", "approver add eve --key nothing.pub"),
    (None, "approver add two,words --key nothing.pub"),
]


@slow
@pytest.mark.parametrize(("code", "line"), WRONG)
def test_what_cannot_be_signed_is_said(run: Any, code: str | None, line: str) -> None:
    run("ada", "institution set alder --approvals on")
    run("ada", *REVERSE)
    ended = run("ben", line)
    assert 2 == ended.exit_code, ended
    assert code in {None, ended.error["code"]}


@slow
def test_approvers_are_listed_with_their_keys(run: Any) -> None:
    asked = run("ada", f"approver add cleo --key {keys() / 'cleo.pub'} -i alder --limit 50")
    assert (4, "approval_required") == (asked.exit_code, asked.error["code"])
    assert 0 == run("ben", "approve give latest --yes").exit_code
    added = run("ada", f"approver add cleo --key {keys() / 'cleo.pub'} -i alder --limit 50")
    assert ("alder", 50.0, "GBP", "used") == tuple(
        added.document[name] for name in ("institution", "limit_amount", "currency", "approval")
    )
    listed = run("ada", "approver list").document
    assert ["ada", "ben", "cleo"] == [each["name"] for each in listed]
    assert {"ssh-ed25519"} == {each["public_key"].split()[0] for each in listed}
    assert 4 == run("ada", "approver remove cleo").exit_code
