"""What is told of what is rare: rows without a reference, money that waits or went back, ages."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.answers.browse import pages
from cardoffers_cli.answers.browse import pages as summaries
from cardoffers_cli.answers.browse.inquiry import AnsweredFrom, Inquiry
from cardoffers_cli.answers.browse.pages import Line, broken
from cardoffers_cli.copies.work import publish
from cardoffers_cli.kernel.words.row_kinds import REFUNDS
from cardoffers_cli.merchants.suggestions import Suggestion
from cardoffers_cli.refunds.apply import apply_refunds
from cardoffers_cli.refunds.linking import RefundLink, link_refund
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from discovering import unknown_world
from sizes import slow
from tables import NOON
from work import file_of, held, new_store, once, taken, tell

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


def asking(made: Job) -> Inquiry:
    return Inquiry(made, lambda: made.now, "alder")


def told(lines: Iterable[Line]) -> list[str]:
    return [line.text for line in lines]


# the reference, the money and the webhook at a glance
GLANCES = [
    (
        "won",
        "GBP 3.00 settled 2026-06-03 12:00 UTC (merchant 3.30, commission 0.30)",
        "no webhook is configured, so the institution was not told",
    ),
    (
        "second",
        "GBP 2.00 taken back 2026-06-03 12:00 UTC (merchant 2.00, commission 0.00)",
        "the webhook is stopped",
    ),
    ("small", "none", "none"),
    ("free", "none", "none"),
]


@pytest.mark.parametrize(("ref", "money", "webhook"), GLANCES, ids=[ref for ref, *_ in GLANCES])
def test_money_and_webhook_are_seen_at_a_glance(
    made: Job, ref: str, money: str, webhook: str
) -> None:
    inquiry = asking(made)
    case = inquiry.case(inquiry.search(f"ref:{ref}").rows[0])
    _, *glance = told(pages.glance(case))
    assert [f"Money    {money}", f"Webhook  {webhook}"] == glance


def test_a_row_without_a_reference_is_told(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder")
    taken(made, file_of(tmp_path / "tx.csv", "ref amount\n- 20.00"))
    inquiry = asking(made)
    case = inquiry.case(inquiry.search("rejected").rows[0])
    assert ["A row without a reference: tx.csv, line 2"] == [
        line.replace(f"{tmp_path}/", "") for line in told(pages.glance(case))
    ]
    assert [
        "It was rejected (required missing), and kept no reference.",
        "It came in tx.csv, line 2.",
    ] == [line.replace(f"{tmp_path}/", "") for line in told(pages.why_page(case))]
    assert told(pages.why_page(case)) == told(pages.timeline_page(case))
    assert ["There is no one purchase to answer for."] == told(pages.answer_page(case, None))


def test_what_is_left_out_is_said(made: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cardoffers_cli.answers.browse.inquiry.LIMIT", 2)
    assert [
        "2 found as a reference among 14 purchases, 1 rejected row, 2 duplicates.",
        "There are more than are shown: add a day, an amount or a state.",
    ] == told(summaries.summary(asking(made).search("s*")))


@pytest.mark.parametrize(
    ("hours", "said"),
    [
        (3, "SNAPSHOT of 2026-06-01 12:00 UTC, 3 h old. It is held."),
        (-3, "SNAPSHOT of 2026-06-01 12:00 UTC. It is held."),
    ],
)
def test_a_snapshot_says_how_old_it_is(hours: int, said: str) -> None:
    source = AnsweredFrom(NOON + timedelta(hours=hours), snapshot_at=NOON, busy="It is held.")
    assert [said] == told(summaries.age(source))
    assert [] == told(summaries.age(replace(source, snapshot_at=None)))


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (40, ["yes  enrolled  the offer was added"]),
        (30, ["yes  enrolled  the offer was", "               added"]),
        (20, ["yes  enrolled  the", "          offer was", "          added"]),
    ],
)
def test_what_follows_is_set_in(width: int, shown: list[str]) -> None:
    line = Line("yes  enrolled  the offer was added", indent=15)
    assert shown == told(broken([line], width))


def test_ids_are_not_broken() -> None:
    id_ = "3c37632d-cb7d-86bf-af18-6fb83a8d6b75"
    assert ["settlement", id_] == told(broken([Line(f"settlement {id_}")], 40))


BACK = "GBP 1.00 of cashback taken back"
# what is looked for in a store with refunds -> what the panel says of what came back
CAME_BACK = {
    "ref:p1": [
        "named  2026-06-02 12:00 UTC  refund of GBP 20.00",
        f"  linked, reversed, referenced, GBP 0.00 of GBP 20.00 left, {BACK}",
    ],
    "ref:p2": [
        "one  2026-06-03 12:00 UTC  refund of GBP 24.00",
        f"  linked, reversed, by tester, GBP 1.00 of GBP 25.00 left, {BACK}",
    ],
    "ref:p3": [
        "much  2026-06-03 12:00 UTC  refund of GBP 25.01",
        "  refused, refund exceeds purchase, GBP 25.00 of GBP 25.00 left",
    ],
    "ref:p4": [],
}


@pytest.mark.parametrize("wanted", CAME_BACK)
def test_what_came_back_of_a_purchase_is_told_as_why_tells_it(tmp_path: Path, wanted: str) -> None:
    inquiry = asking(with_refunds(tmp_path))
    page = told(pages.why_page(inquiry.case(inquiry.search(wanted).rows[0])))
    begins = page.index("What came back") + 1 if "What came back" in page else len(page)
    assert CAME_BACK[wanted] == page[begins : begins + 2]


@pytest.mark.parametrize("typed", ["RF-1", "ref:RF-1", "RF-*"])
def test_a_refund_is_found_by_its_own_reference(tmp_path: Path, typed: str) -> None:
    made = with_refunds(tmp_path)
    file = tmp_path / "refunds.csv"
    file.write_text(
        "refund_ref,amount,refunded_at,original_transaction_ref\nRF-1,1.00,2026-06-05T12:00:00Z,p3\n"
    )
    later = replace(made, now=NOON + timedelta(days=9))
    import_file(str(file), "alder", later, ImportOptions(kind=REFUNDS), outputs=Outputs())
    inquiry = asking(later)
    (row,) = inquiry.search(typed).rows
    case = inquiry.case(row)
    assert ("refund", "RF-1") == (row["kind"], case.ref)
    assert told(pages.why_page(case))[0].startswith("The refund RF-1 of GBP 1.00 waits")
    assert told(pages.glance(case))[0].startswith("RF-1")


@once
def with_refunds(folder: Path) -> Job:
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery",
        identifiers="identifier merchant\nM1 bakery",
        offers="offer merchant min_spend\nA bakery 10.00",
        links="cardholder offer\nann A",
        purchases="""
        ref  cardholder  identifier  amount  at
        p1   ann         M1          20.00   2026-06-01T12:00:00Z
        p2   ann         M1          25.00   2026-06-01T13:00:00Z
        p3   ann         M1          25.00   2026-06-02T13:00:00Z
        p4   ann         M1          25.00   2026-06-02T13:00:00Z
        """,
        refunds="""
        ref     original  cardholder  identifier  amount  at
        named   p1        ann         M1          20.00   2026-06-02T12:00:00Z
        much    p3        ann         M1          25.01   2026-06-03T12:00:00Z
        one     -         ann         M1          24.00   2026-06-03T12:00:00Z
        """,
    )
    match_purchases(made)
    apply_refunds(made)
    link_refund(made, "alder", RefundLink(refund_ref="one", transaction_ref="p2", reason="till"))
    return made


@slow
def test_unknown_merchants_are_told_with_the_command_that_answers(tmp_path: Path) -> None:
    job = unknown_world(tmp_path)
    lines = told(pages.merchants_page(asking(job).merchants()))
    assert (
        "Unknown merchants that may be known",
        "     1 purchase, GBP 20.00; 1 link to its offers; 0 leading characters as its own",
        "     cardoffers merchant accept 101 'Luna Books' --reason \"…\"",
    ) == (lines[0], *lines[3:5])
    assert " LUNA BOOKS #101 may be Luna Books" in lines[2]
    publish(job)
    with held(job.path):
        assert lines == told(pages.merchants_page(asking(job).merchants()))


def test_a_name_that_does_not_stand_in_a_command_gives_way_to_its_id(tmp_path: Path) -> None:
    (first, *_) = asking(unknown_world(tmp_path)).merchants()
    hostile = Suggestion(**{**first, "merchant_name": "=cinema\x1b[31m"})
    (command,) = (line for line in told(pages.merchants_page([hostile])) if "accept" in line)
    assert f"accept 101 {first.merchant_id} --reason" in command
