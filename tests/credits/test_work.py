"""What a person sees of credited rows: a list, one of them, and what leads to it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.answers.find import find
from cardoffers_cli.answers.search import PurchaseFilter
from cardoffers_cli.answers.timelines import tell_timeline
from cardoffers_cli.credits.work import credit_rows, show_credit
from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.row_kinds import CREDITS
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from tables import NOON
from work import found, new_store, once, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

SENT = """\
redemption_id,transaction_ref,amount,status,credited_at,failure_code,credit_ref
{p1},,5.00,failed,2026-06-02T10:00:00Z,R02,c1
{p1},,5.00,credited,2026-06-03T10:00:00Z,,c2
,p1,5.00,credited,2026-06-04T10:00:00Z,,c3
,p2,5.00,credited,2026-06-03T11:00:00Z,,c4
,p3,5.00,credited,2026-06-03T12:00:00Z,,c5
00000000-0000-4000-8000-000000000000,p1,7.00,reversed,2026-06-03T13:00:00Z,,c6
"""


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return with_credits(tmp_path)


@once
def with_credits(folder: Path) -> Job:
    """Make a store of two purchases that redeemed and one that did not, and what was credited."""
    made = new_store(folder)
    tell(
        made,
        institutions="institution plan\nalder growth\nbrook growth",
        merchants="merchant\nbakery",
        identifiers="identifier merchant\nM1 bakery",
        offers="offer merchant min_spend\nA bakery 10.00",
        links="cardholder offer\nann A",
        purchases="""
        ref  cardholder  identifier  amount  card   at
        p1   ann         M1          20.00   card   2026-06-01T09:00:00Z
        p2   ann         M1          25.00   card   2026-06-01T10:00:00Z
        p3   ann         M1          4.99    card   2026-06-01T11:00:00Z
        """,
    )
    match_purchases(made)
    ((redemption_id,),) = found(
        made,
        "select redemption_id from redemptions"
        " where purchase_no in (select purchase_no from purchases where transaction_ref = 'p1')",
    )
    path = folder / "credited.csv"
    path.write_text(SENT.format(p1=redemption_id))
    later = replace(made, now=NOON + timedelta(days=7))
    import_file(str(path), "alder", later, ImportOptions(kind=CREDITS), outputs=Outputs())
    return made


def test_credited_rows_are_listed_the_newest_first(made: Job) -> None:
    rows, credited = credit_rows(made, "alder", limit=2)
    assert (["c3", "c6"], 6) == ([row.credit_ref for row in rows], credited)
    rows, credited = credit_rows(made, None, limit=9, status="credited", everywhere=True)
    assert (["c3", "c5", "c4", "c2"], 4) == ([row.credit_ref for row in rows], credited)
    day = NOON.replace(day=3, hour=0)
    span = {"from_at": day, "to_at": day.replace(hour=12)}
    rows, _ = credit_rows(made, "alder", limit=9, **span)
    assert ["c4", "c2"] == [row.credit_ref for row in rows]
    assert ([], 0) == credit_rows(made, "brook", limit=9)


SHOWN = [
    # a row, the purchase whose redemption it is of, and what else was sent for that
    ("c1", "p1", ["c2", "c3"]),
    ("c3", "p1", ["c1", "c2"]),
    ("c4", "p2", []),
    ("c5", None, []),
    ("c6", None, []),
]


@pytest.mark.parametrize(("ref", "purchase", "others"), SHOWN)
def test_a_credited_row_is_shown_beside_what_is_owed(
    made: Job, ref: str, purchase: str | None, others: list[str]
) -> None:
    shown = show_credit(made, "alder", ref)
    assert (purchase, others) == (
        shown.owed_transaction_ref,
        [each.credit_ref for each in shown.others],
    )
    owed = (Decimal("1.00"), "pending") if purchase else (None, None)
    assert owed == (shown.institution_payout_amount, shown.redemption_status)
    assert (int(ref[1]) + 1, "alder") == (shown.line, shown.institution)


@pytest.mark.parametrize(("ref", "institution"), [("c9", "alder"), ("c1", "brook")])
def test_what_was_not_sent_is_not_found(made: Job, ref: str, institution: str) -> None:
    with pytest.raises(NotFound) as told:
        show_credit(made, institution, ref)
    assert "credit_not_found" == told.value.code
    assert "`cardoffers credit list" in (told.value.hint or "")


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("c2", [("c2", "credited row", "credited")]),
        ("c1", [("c1", "credited row", "credit_failed")]),
        ("p2", [("p2", "purchase", "pending"), ("c4", "credited row", "credited")]),
        ("c[1]", []),
    ],
)
def test_a_reference_finds_credited_rows(
    made: Job, ref: str, expected: list[tuple[str, str, str]]
) -> None:
    told = find("alder", PurchaseFilter(ref=ref), made, limit=9)
    assert expected == [(each.transaction_ref, each.kind, each.state) for each in told.data]


ALL_OF_P1 = [
    ("credit failed", "c1: R02", 1),
    ("credited", "c2", 1),
    ("credited", "c3", 1),
    ("credit received", "credited.csv, line 2", 1),
    ("credit received", "credited.csv, line 3", 1),
    ("credit received", "credited.csv, line 4", 1),
]
ALL_OF_C6 = [("credit reversed", "c6", 1), ("credit received", "credited.csv, line 7", 1)]


@pytest.mark.parametrize(
    ("id_", "kind", "expected"),
    [
        ("c3", "credit", ALL_OF_P1),
        ("c2", "credit", ALL_OF_P1),
        ("{redemption}", "redemption", ALL_OF_P1),
        ("c6", "credit", ALL_OF_C6),
        ("{import}", "import", [("credit received", "credited.csv", 6)]),
    ],
)
def test_a_timeline_tells_what_was_credited(
    made: Job, id_: str, kind: str, expected: list[tuple[str, str, int]]
) -> None:
    names = {
        "redemption": show_credit(made, "alder", "c1").redemption_id,
        "import": show_credit(made, "alder", "c1").import_id,
    }
    told = tell_timeline(id_.format(**names), "alder", made)
    assert kind == told.kind
    assert expected == [
        (each.event, each.detail, each.times) for each in told.events if "credit" in each.event
    ]
