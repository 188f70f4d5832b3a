"""What a person does with findings: list them, show one, accept it; and what others ask of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.answers.money_trails import stories_of
from cardoffers_cli.credits.findings import accept_finding, finding_rows, show_finding
from cardoffers_cli.credits.questions import open_findings
from cardoffers_cli.credits.work import reconcile
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from crediting import begin, redeem, row_of, send
from sizes import slow
from tables import NOON, uid
from work import kept, new_store, once

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

NOW = NOON + timedelta(days=40)


@once
def reconciled(folder: Path) -> Job:
    """Return a store with one redemption credited, one of 35 days not, and an unknown row."""
    made = replace(new_store(folder), now=NOW)
    redeemed = [
        {"institution": "brook", "owed": Decimal(owed), "event": None, "reversed_at": None}
        | {"at": NOON + timedelta(days=5)}
        for owed in ("5.00", "2.50")
    ]
    with made.store() as store:
        begin(store)
        redeem(store, redeemed)
        rows = [row_of("c5.00@7", 1, NOON), row_of("c1.25@30", None, NOON, institution="brook")]
        send(store, rows, ["brook", "brook"])
    reconcile(made)
    return made


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return reconciled(tmp_path)


def listed(made: Job, **filters: Any) -> list[tuple[Any, ...]]:
    rows, found = finding_rows(made, limit=10, **filters)
    assert len(rows) == found
    names = ("code", "transaction_ref", "credit_ref", "amount", "credited_amount", "age_days")
    return [tuple(each[name] for name in (*names, "state")) for each in rows]


NOT_CREDITED = ("not_credited", "p2", None, Decimal("2.50"), Decimal("0.00"), 35, "open")
UNKNOWN = ("credited_unknown", None, "c2", None, Decimal("1.25"), 10, "open")


def test_findings_are_listed_the_oldest_first(made: Job) -> None:
    assert [NOT_CREDITED, UNKNOWN] == listed(made)
    assert [UNKNOWN] == listed(made, code="credited_unknown")
    assert [NOT_CREDITED, UNKNOWN] == listed(made, institution="brook", state="open")
    assert [] == listed(made, institution="alder")
    assert [] == listed(made, state="resolved")


def test_a_finding_is_shown_with_its_rows_and_what_to_do(made: Job) -> None:
    (finding, unknown), _ = finding_rows(made, limit=10)
    shown = show_finding(made, str(finding.finding_id)[:8])
    assert (uid("redemption 2"), [], NOW) == (shown.redemption_id, shown.rows, shown.first_found_at)
    assert "not credited for 7 days" in shown.meaning
    (row,) = show_finding(made, str(unknown.finding_id)).rows
    assert ("c2", "credited", Decimal("1.25")) == (row.credit_ref, row.status, row.amount)
    with pytest.raises(NotFound):
        show_finding(made, str(uid("nothing")))


def test_an_accepted_finding_is_open_no_more(made: Job) -> None:
    (finding, _), _ = finding_rows(made, limit=10)
    before = kept(made)
    dry = accept_finding(made, str(finding.finding_id), "paid by cheque", dry_run=True)
    assert ("accepted", True, before) == (dry.state, dry.dry_run, kept(made))
    accept_finding(made, str(finding.finding_id), " paid by cheque ")
    shown = show_finding(made, str(finding.finding_id))
    assert ("accepted", "tester", "paid by cheque", None) == (
        *(shown[name] for name in ("state", "accepted_by", "accepted_reason", "next")),
    )
    assert [UNKNOWN, (*NOT_CREDITED[:-1], "accepted")] == listed(made)
    assert (1, 1, 0) == tuple(reconcile(made)[name] for name in ("open", "accepted", "resolved"))
    with pytest.raises(Refused, match="is accepted already") as caught:
        accept_finding(made, str(finding.finding_id), "again")
    assert "finding_not_open" == caught.value.code
    with pytest.raises(UsageError):
        accept_finding(made, str(finding.finding_id), " ")


@slow
def test_a_dry_run_finds_the_same_and_keeps_nothing(made: Job) -> None:
    with made.store() as store:
        send(store, [row_of("c2.50@39", 2, NOON)], ["brook", "brook"])
    before = kept(made)
    dry = reconcile(made, "brook", dry_run=True)
    assert before == kept(made)
    told = reconcile(made, "brook")
    assert (1, 1, True, False) == (dry.open, dry.resolved, dry.dry_run, told.dry_run)
    assert dry.verdicts == told.verdicts
    with pytest.raises(NotFound):
        reconcile(made, "nobody")


def test_others_ask_what_is_open_before_a_moment(made: Job) -> None:
    with made.store(read_only=True) as store:
        found = {
            days: [
                (each.code, each.findings, each.amount)
                for each in open_findings(store, uid("brook"), before=NOON + timedelta(days=days))
            ]
            for days in (5, 6, 31)
        }
        assert [] == open_findings(store, uid("alder"))
    old, unknown = ("not_credited", 1, Decimal("2.50")), ("credited_unknown", 1, Decimal("1.25"))
    assert {5: [], 6: [old], 31: [unknown, old]} == found


def test_why_says_what_was_credited(made: Job) -> None:
    with made.store(read_only=True) as store:
        found = stories_of(store, uid("brook"), [1, 2])
    assert [
        ("credited", "credited", NOON + timedelta(days=7)),
        ("credit_late", "not_credited", None),
    ] == [
        (row["story"], row["verdict"], row["story_at"] if row["verdict"] == "credited" else None)
        for row in (found[1], found[2])
    ]
