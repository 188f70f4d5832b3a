"""Four eyes as two people see it: who asks, who approves, and the same command again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

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
    return made


@pytest.fixture
def run(tmp_path: Path, cardoffers: Any) -> Any:
    """Run a command as somebody, some days after the purchase; return how it ended."""
    made = with_money(tmp_path)

    def run(who: str, line: str, *more: str) -> Any:
        words = [*line.split(), *more, "--store", str(made.path)]
        at = ["--as-of", NOON.isoformat(), "--format", "json"]
        return cardoffers(*words, *at, CARDOFFERS_ACTOR=who)

    return run


REVERSE = ("redemption reverse r-1 -i alder --yes --reason", "goods returned")


@slow
def test_two_people_reverse_what_one_may_not(run: Any) -> None:
    assert 0 == run("alice", "institution set alder --approvals on --approval-limit 2").exit_code
    planned = run("alice", *REVERSE, "--dry-run")
    assert (0, "needed") == (planned.exit_code, planned.document["approval"])
    asked = run("alice", *REVERSE)
    assert (4, "approval_required") == (asked.exit_code, asked.error["code"])
    request = asked.error["approval_id"]
    assert f"cardoffers approve give {request}" in asked.error["hint"]
    assert request == run("alice", *REVERSE).error["approval_id"]
    (listed,) = run("bob", "approve list --state pending").document
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
    own = run("alice", f"approve give {request}")
    assert (4, "approval_own") == (own.exit_code, own.error["code"])
    given = run("bob", f"approve give {request[:6]}")
    assert (0, "given") == (given.exit_code, given.document["state"])
    another = run("alice", REVERSE[0], "another reason")
    assert (4, True) == (another.exit_code, another.error["approval_id"] != request)
    done = run("alice", *REVERSE)
    assert (0, "reversed", "used") == (
        done.exit_code,
        done.document["status"],
        done.document["approval"],
    )
    assert [
        "approval_policy_changed",
        "approval_requested",
        "approval_denied_to_maker",
        "approval_given",
        "approval_requested",
        "approval_used",
    ] == [event for event in events(run) if event.startswith("approval_")]
    assert 0 == run("bob", "doctor --strict").exit_code


def events(run: Any) -> list[str]:
    return [each["event"] for each in reversed(run("bob", "audit list").document)]


def test_up_to_the_limit_one_person_is_enough(run: Any) -> None:
    run("alice", "institution set alder --approvals on --approval-limit 2.20")
    done = run("alice", *REVERSE)
    assert (0, False) == (done.exit_code, "approval" in done.document)


@slow
def test_nobody_turns_it_off_alone(run: Any) -> None:
    run("alice", "institution set alder --approvals on")
    turn_off = "institution set alder --approvals off"
    request = run("alice", turn_off).error["approval_id"]
    assert 4 == run("alice", f"approve give {request}", "--yes").exit_code
    assert 4 == run("alice", turn_off).exit_code
    assert 0 == run("bob", f"approve refuse {request}", "--reason", "we want it").exit_code
    assert "refused it before (we want it)" in run("alice", turn_off).error["message"]


@slow
@pytest.mark.parametrize(
    "line",
    ["approve give latest --dry-run", "approve refuse latest --reason no --dry-run"],
)
def test_a_dry_run_answers_nothing(run: Any, line: str) -> None:
    run("alice", "institution set alder --approvals on")
    run("alice", "institution set alder --approvals off")
    ended = run("bob", line)
    assert (0, True) == (ended.exit_code, ended.document["dry_run"])
    assert ["pending"] == [each["state"] for each in run("bob", "approve list").document]
    assert 4 == run("alice", "approve give latest --dry-run").exit_code
    assert ["approval_policy_changed", "approval_requested"] == events(run)[-2:]


@slow
def test_status_and_the_page_of_a_night_say_that_requests_wait(run: Any, tmp_path: Path) -> None:
    """A nightly run with its pages takes over a second."""
    (tmp_path / "drop").mkdir()
    run("alice", "institution set alder --approvals on")
    assert "approvals_pending" not in run("alice", "status").document
    request = run("alice", *REVERSE).error["approval_id"]
    assert 1 == run("alice", "status").document["approvals_pending"]
    assert 0 == run("alice", "nightly", str(tmp_path / "drop")).exit_code
    (page,) = tmp_path.rglob("reports/*/index.html")
    assert "requests for an approval" in page.read_text()
    assert "cardoffers approve list --state pending" in page.read_text()
    run("bob", f"approve give {request}")
    assert "approvals_pending" not in run("alice", "status").document
