from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.kernel.store.opening import scratch_store
from cardoffers_cli.kernel.words.ids import CursorInvalid
from cardoffers_cli.reports import page_work
from cardoffers_cli.reports.questions import (
    By,
    Filters,
    count_redemptions,
    exported_redemptions,
    redemptions,
    settlement_totals,
    settlements,
    unresolved,
)
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.redemptions import reverse_redemption
from cardoffers_cli.river.settle import settle
from sizes import slow, tries
from tables import NOON, given, put, uid
from work import job, next_run, settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.reports.questions import UnknownTotal

CATALOGUE = {
    "institutions": "institution languages\nalder en|es\nbrook es|en\ncedar en",
    "merchants": "merchant\nbakery",
    "offers": "offer merchant cashback rate\nA bakery 1.00 0.1",
    "links": """
        institution  cardholder           offer
        alder        ch_8f38ffe45062a450  A
        brook        short                A
        cedar        short                A
        """,
}
HOLDER = {"alder": "ch_8f38ffe45062a450", "brook": "short", "cedar": "short"}
TIMES = [NOON + timedelta(hours=hour) for hour in range(3)]


def catalogue(store: Store) -> None:
    for word, text in CATALOGUE.items():
        given(store, word, text)


def redeem(store: Store, *refs: str, institution: str = "alder", now: datetime = NOON) -> None:
    """Let purchases redeem at `now`."""
    row = {"institution": institution, "cardholder": HOLDER[institution], "merchant": "bakery"}
    put(store, "purchases", [{"ref": ref, **row} for ref in refs])
    decide(store, job(now=now))


def refs(page: Any) -> list[str]:
    return [row["transaction_ref"] for row in page.rows]


def every_page(store: Store, report: Any, filters: Filters, limit: int) -> list[list[str]]:
    pages, cursor = [], None
    while True:
        page = report(store, filters, limit=limit, cursor=cursor)
        pages.append(refs(page))
        cursor = page.next_cursor
        if cursor is None:
            return pages


def test_a_redemption_has_the_fields_of_the_contract(store: Store) -> None:
    catalogue(store)
    redeem(store, "r1")
    (row,) = redemptions(store, Filters(), limit=10, cursor=None).rows
    assert {
        "created_at": NOON,
        "status": "pending",
        "merchant_funded_amount": Decimal("1.10"),
        "institution_payout_amount": Decimal("1.00"),
        "commission_amount": Decimal("0.10"),
        "currency": "GBP",
        "offer": {"id": "A", "title": "A", "merchant_name": "bakery"},
        "cardholder_token_masked": "ch_8…a450",
        "institution": "alder",
        "transaction_ref": "r1",
        "story": "on_hold",
        "story_at": NOON,
        "story_amount": Decimal("1.00"),
    } == {name: value for name, value in row.items() if name != "id"}
    assert "1.10" == str(row["merchant_funded_amount"])


def test_a_title_that_the_first_language_lacks_is_the_english_one(store: Store) -> None:
    catalogue(store)
    redeem(store, "r1", institution="brook")
    (row,) = redemptions(store, Filters(), limit=10, cursor=None).rows
    assert "A" == row["offer"]["title"]
    given(store, "texts", "offer language title\nA es pan")
    (row,) = redemptions(store, Filters(), limit=10, cursor=None).rows
    assert "pan" == row["offer"]["title"]


def test_a_short_token_shows_nothing(store: Store) -> None:
    catalogue(store)
    redeem(store, "r1", institution="brook")
    (row,) = redemptions(store, Filters(), limit=10, cursor=None).rows
    assert "…" == row["cardholder_token_masked"]


def test_a_ledger_entry_has_the_fields_of_the_decisions(store: Store) -> None:
    catalogue(store)
    redeem(store, "r1")
    (entry,) = settlements(store, Filters(), limit=10, cursor=None).rows
    (redemption,) = redemptions(store, Filters(), limit=10, cursor=None).rows
    assert {
        "redemption_id": redemption["id"],
        "offer_id": "A",
        "merchant_id": uid("bakery"),
        "transaction_ref": "r1",
        "currency": "GBP",
        "merchant_funded_amount": Decimal("1.10"),
        "commission_amount": Decimal("0.10"),
        "institution_payout_amount": Decimal("1.00"),
        "status": "pending",
        "created_at": NOON,
        "settles_at": NOON,
        "settled_at": None,
        "reversed_at": None,
        "reversal_reason": None,
        "settlement_id": None,
        "institution": "alder",
    } == {name: value for name, value in entry.items() if name != "id"}


@pytest.fixture(scope="module")
def history() -> Iterator[Store]:
    """A settled, a reversed and a pending redemption of alder's, and a pending one of brook's."""
    with scratch_store(settings()) as store:
        catalogue(store)
        redeem(store, "settled", now=TIMES[0])
        settle(store, run_no=next_run(store), now=TIMES[0], actor="tester")
        redeem(store, "reversed", now=TIMES[1])
        (row,) = redemptions(store, Filters(status="pending"), limit=1, cursor=None).rows
        reverse_redemption(
            store,
            str(row["id"]),
            reason="returned",
            run_no=next_run(store),
            now=TIMES[1],
            actor="tester",
        )
        redeem(store, "pending", now=TIMES[2])
        redeem(store, "brook", institution="brook", now=TIMES[2])
        yield store


TICK = timedelta(microseconds=1)


@pytest.mark.parametrize("report", [redemptions, settlements])
@pytest.mark.parametrize(
    ("filters", "rows"),
    [
        ({}, {"settled", "reversed", "pending", "brook"}),
        ({"institution_id": uid("alder")}, {"settled", "reversed", "pending"}),
        ({"institution_id": uid("brook")}, {"brook"}),
        ({"institution_id": uid("cedar")}, set()),
        ({"status": "settled"}, {"settled"}),
        ({"status": "reversed"}, {"reversed"}),
        ({"status": "pending"}, {"pending", "brook"}),
        ({"status": "pending", "institution_id": uid("alder")}, {"pending"}),
        ({"from_at": TIMES[1]}, {"reversed", "pending", "brook"}),
        ({"from_at": TIMES[1] + TICK}, {"pending", "brook"}),
        ({"to_at": TIMES[1]}, {"settled"}),
        ({"to_at": TIMES[1] + TICK}, {"settled", "reversed"}),
        ({"from_at": TIMES[1], "to_at": TIMES[2]}, {"reversed"}),
        ({"from_at": TIMES[1], "to_at": TIMES[1]}, set()),
    ],
)
def test_filters_and_half_open_windows(
    history: Store, report: Any, filters: dict[str, Any], rows: set[str]
) -> None:
    page = report(history, Filters(**filters), limit=10, cursor=None)
    assert rows == set(refs(page))
    assert page.next_cursor is None


@pytest.mark.parametrize("report", [redemptions, settlements])
def test_pages_go_from_new_to_old_and_end(history: Store, report: Any) -> None:
    (whole,) = every_page(history, report, Filters(), limit=4)
    assert ["reversed", "settled"] == whole[2:]
    for limit, sizes in ((1, [1, 1, 1, 1]), (2, [2, 2]), (3, [3, 1])):
        pages = every_page(history, report, Filters(), limit)
        assert sizes == [len(page) for page in pages]
        assert whole == [ref for page in pages for ref in page]


def test_a_cursor_serves_its_own_report_and_filters(history: Store) -> None:
    alder = Filters(institution_id=uid("alder"))
    cursor = redemptions(history, alder, limit=1, cursor=None).next_cursor
    assert ["reversed"] == refs(redemptions(history, alder, limit=1, cursor=cursor))
    for report, filters in (
        (settlements, alder),
        (redemptions, Filters()),
        (redemptions, Filters(institution_id=uid("brook"))),
        (redemptions, Filters(institution_id=uid("alder"), status="pending")),
        (redemptions, Filters(institution_id=uid("alder"), from_at=NOON)),
    ):
        with pytest.raises(CursorInvalid):
            report(history, filters, limit=1, cursor=cursor)
    for damaged in ("", cursor[:-1], cursor[::-1], f"{cursor}A", f"A{cursor[1:]}"):
        if damaged:
            with pytest.raises(CursorInvalid):
                redemptions(history, alder, limit=1, cursor=damaged)


@slow
@profile(max_examples=tries(3, 15), deadline=None)
@examples(
    before=st.lists(st.sampled_from(TIMES), min_size=1, max_size=8),
    meanwhile=st.lists(st.sampled_from(TIMES), max_size=6),
    limit=st.integers(1, 4),
)
def test_pages_are_stable_while_new_rows_arrive(
    scratch: Store, before: list[datetime], meanwhile: list[datetime], limit: int
) -> None:
    with scratch.transaction(keep=False):
        catalogue(scratch)
        for moment in sorted(set(before)):
            here = [f"old-{n}" for n, when in enumerate(before) if when == moment]
            redeem(scratch, *here, now=moment)
        seen, cursor, arrivals = [], None, list(enumerate(meanwhile))
        while True:
            page = redemptions(scratch, Filters(), limit=limit, cursor=cursor)
            seen += refs(page)
            cursor = page.next_cursor
            if cursor is None:
                break
            if arrivals:
                number, moment = arrivals.pop()
                redeem(scratch, f"new-{number}", now=moment)
    assert len(seen) == len(set(seen))
    assert {f"old-{n}" for n in range(len(before))} <= set(seen)


def test_what_resolves_to_nothing_most_purchases_first(store: Store) -> None:
    given(store, "institutions", "institution\nalder\nbrook")
    given(store, "merchants", "merchant\nbakery")
    given(store, "identifiers", "identifier merchant\nM1 bakery")
    given(
        store,
        "purchases",
        """
        ref  institution  cardholder  identifier  merchant  amount  at
        1    alder        ann         M9          -         1.00    12:00:00
        2    alder        ann         M9          -         2.50    12:00:02
        3    alder        ben         M9          -         3.00    12:00:01
        4    alder        ann         M1          -         4.00    12:00:00
        5    brook        ann         M9          -         5.00    12:00:00
        6    alder        ann         -           florist   6.00    12:00:00
        7    alder        ann         -           bakery    7.00    12:00:00
        8    brook        ann         -           -         8.00    12:00:00
        9    brook        ann         -           -         8.00    12:00:00
        10   alder        ann         M1          florist   9.00    12:00:00
        """,
    )
    names = ("institution", "merchant_identifier", "merchant_id", "purchases", "amount")
    rows = unresolved(store, Filters())
    assert [
        ("alder", "M9", None, 3, Decimal("6.50")),
        ("brook", None, None, 2, Decimal("16.00")),
        ("alder", None, uid("florist"), 1, Decimal("6.00")),
        ("brook", "M9", None, 1, Decimal("5.00")),
    ] == [tuple(row[name] for name in names) for row in rows]
    assert (2, NOON, NOON + timedelta(seconds=2)) == tuple(
        rows[0][name] for name in ("cardholders", "first_seen_at", "last_seen_at")
    )
    for filters, purchases in (
        ({"institution_id": uid("brook")}, [2, 1]),
        ({"from_at": NOON + timedelta(seconds=1)}, [2]),
        ({"to_at": NOON}, []),
    ):
        found = unresolved(store, Filters(**filters))
        assert purchases == [row["purchases"] for row in found]
    assert 1 == len(unresolved(store, Filters(), limit=1))


def counted(store: Store, by: By, **filters: Any) -> list[tuple[Any, ...]]:
    """Return the rows of counted redemptions: what they are of, counts, and money."""
    name = {"day": "day", "offer": "title", "merchant": "merchant_name"}[by]
    names = (name, "redemptions", "reversed", "merchant_funded_amount", "institution_payout_amount")
    rows = count_redemptions(store, Filters(**filters), by)
    return [tuple(str(row[name]) for name in names) for row in rows]


def test_nothing_is_counted_where_nothing_redeemed(store: Store) -> None:
    for by in get_args(By):
        assert [] == counted(store, by)


@slow
def test_redemptions_are_counted_by_day_with_the_days_between(store: Store) -> None:
    catalogue(store)
    evening = NOON + timedelta(hours=12)
    redeem(store, "1", "2", now=NOON)
    redeem(store, "3", now=evening - TICK)
    redeem(store, "4", now=evening)
    redeem(store, "5", now=evening + timedelta(days=2))
    assert [
        ("2026-06-04", "1", "0", "1.10", "1.00"),
        ("2026-06-03", "0", "0", "0.00", "0.00"),
        ("2026-06-02", "1", "0", "1.10", "1.00"),
        ("2026-06-01", "3", "0", "3.30", "3.00"),
    ] == counted(store, "day")
    for filters, days in (
        ({"from_at": evening}, [1, 0, 1, 0]),  # the last is the day of their purchases
        ({"to_at": evening}, [3]),
        ({"from_at": NOON + TICK, "to_at": evening}, [1]),
    ):
        assert days == [int(row[1]) for row in counted(store, "day", **filters)]


@pytest.mark.parametrize(("by", "name"), [("offer", "A"), ("merchant", "bakery")])
def test_counts_agree_with_the_redemptions_they_are_of(history: Store, by: By, name: str) -> None:
    for filters, counts in (
        ({}, ("4", "1", "4.40", "4.00")),
        ({"institution_id": uid("brook")}, ("1", "0", "1.10", "1.00")),
        ({"status": "reversed"}, ("1", "1", "1.10", "1.00")),
        ({"from_at": TIMES[1], "to_at": TIMES[2]}, ("1", "1", "1.10", "1.00")),
    ):
        assert [(name, *counts)] == counted(history, by, **filters)


def test_money_is_counted_in_each_currency_and_the_most_redeemed_come_first(store: Store) -> None:
    catalogue(store)
    given(store, "merchants", "merchant\ncinema")
    given(store, "offers", "offer merchant currency cashback\nJ cinema JPY 100\nB bakery GBP 9")
    given(store, "links", "cardholder offer\njoy J\nbob B")
    rows = "ref cardholder merchant currency\n1 joy cinema JPY\n2 joy cinema JPY\n3 bob bakery GBP"
    given(store, "purchases", rows)
    decide(store, job())
    assert [("J", "2", "200"), ("B", "1", "9.00")] == [
        (title, count, payout) for title, count, _, _, payout in counted(store, "offer")
    ]
    assert ["GBP", "JPY"] == [row["currency"] for row in count_redemptions(store, Filters(), "day")]
    assert 1 == len(count_redemptions(store, Filters(), "merchant", limit=1))


def test_titles_are_in_the_language_of_the_institution_asked_for(store: Store) -> None:
    catalogue(store)
    given(store, "texts", "offer language title\nA es pan")
    redeem(store, "1", institution="brook")
    assert ["A"] == [row[0] for row in counted(store, "offer")]
    assert ["pan"] == [row[0] for row in counted(store, "offer", institution_id=uid("brook"))]


@slow
def test_settlement_totals_add_up_by_state(store: Store) -> None:
    catalogue(store)
    redeem(store, "1", "2", "3")
    redeem(store, "4", institution="brook", now=TIMES[1])
    redeem(store, "5", institution="cedar", now=TIMES[2])
    by = {"reason": "r", "run_no": next_run(store), "now": TIMES[2], "actor": "tester"}
    for slug in ("alder", "cedar"):
        of = Filters(institution_id=uid(slug))
        (last, *_) = redemptions(store, of, limit=1, cursor=None).rows
        reverse_redemption(store, str(last["id"]), **by)
    totals = settlement_totals(store, Filters())
    assert [
        "alder GBP pending 2 2.20 0.20 2.00",
        "alder GBP reversed 1 1.10 0.10 1.00",
        "brook GBP pending 1 1.10 0.10 1.00",
        "cedar GBP reversed 1 1.10 0.10 1.00",
    ] == [" ".join(map(str, row.values())) for row in totals]
    assert totals[2:] == settlement_totals(store, Filters(from_at=TIMES[1]))
    assert totals[1::2] == settlement_totals(store, Filters(status="reversed"))
    assert totals[:2] == settlement_totals(store, Filters(institution_id=uid("alder")))


def totals_of(store: Store, filters: Filters) -> Sequence[UnknownTotal]:
    """Return what purchases of unknown merchants come to, as the page of them says."""
    return page_work.unknown(store, filters, limit=9).totals


def test_as_many_are_unresolved_as_there_are_rows(store: Store) -> None:
    catalogue(store)
    given(store, "purchases", "ref identifier\n1 x\n2 x\n3 y")
    given(store, "purchases", "ref institution cardholder merchant\n4 brook short nobody")
    for filters in (Filters(), Filters(institution_id=uid("alder")), Filters(from_at=TIMES[1])):
        rows, totals = unresolved(store, filters), totals_of(store, filters)
        assert len(rows) == sum(total["rows"] for total in totals)
        for name in ("purchases", "amount"):
            assert sum(row[name] for row in rows) == sum(total[name] for total in totals)
    assert 3 == sum(total["rows"] for total in totals_of(store, Filters()))


@pytest.fixture
def unknown(store: Store) -> Store:
    """Purchases of three unknown merchants, with what was said of two of them."""
    given(store, "institutions", "institution currency\nalder GBP\nbrook JPY")
    given(
        store,
        "purchases",
        """
        ref  institution  cardholder  identifier  currency  amount  at        descriptor
        1    alder        ann         M1          GBP       1.00    12:00:00  SHOP-1
        2    alder        ann         M1          GBP       2.00    12:00:05  SHOP-1
        3    alder        ben         M1          GBP       3.00    12:00:01  SHOP-2
        4    alder        ann         M2          GBP       90.00   12:00:02  -
        5    brook        ann         M1          JPY       5       12:00:09  ZETA
        6    brook        ann         M1          JPY       5       12:00:00  ALPHA
        """,
    )
    return store


def test_an_unknown_merchant_has_the_text_that_most_often_came_with_it(unknown: Store) -> None:
    names = ("institution", "merchant_identifier", "merchant_descriptor", "descriptors")
    assert [
        ("alder", "M1", "SHOP-1", 2),
        ("brook", "M1", "ZETA", 2),
        ("alder", "M2", None, 0),
    ] == [tuple(row[name] for name in names) for row in unresolved(unknown, Filters())]


@pytest.mark.parametrize(
    ("expected", "order"),
    [("M1 M2", "purchases"), ("M2 M1", "amount"), ("M1 M2", "last seen")],
)
def test_unknown_merchants_come_in_the_order_asked_for(
    unknown: Store, expected: str, order: Any
) -> None:
    rows = unresolved(unknown, Filters(), order=order, each_currency=True)
    found = [row["merchant_identifier"] for row in rows if row["currency"] == "GBP"]
    assert expected.split() == found


@pytest.mark.parametrize("order", ["purchases", "amount", "last seen"])
def test_the_first_unknown_merchants_are_of_all_or_of_each_currency(
    unknown: Store, order: Any
) -> None:
    first, *_ = every = unresolved(unknown, Filters(), order=order)
    assert [first] == unresolved(unknown, Filters(), order=order, limit=1)
    firsts = unresolved(unknown, Filters(), order=order, limit=1, each_currency=True)
    assert firsts == [
        next(row for row in every if row["currency"] == currency) for currency in ("GBP", "JPY")
    ]


def test_unknown_merchants_are_added_up_in_each_currency(unknown: Store) -> None:
    names = ("currency", "purchases", "amount", "cardholders", "rows")
    assert ["GBP 4 96.00 2 2", "JPY 2 10 1 1"] == [
        " ".join(str(row[name]) for name in names) for row in totals_of(unknown, Filters())
    ]


def test_a_day_counts_what_was_decided_and_what_was_purchased_on_it(store: Store) -> None:
    catalogue(store)
    row = {"cardholder": HOLDER["alder"], "merchant": "bakery"}
    days = {"1": "2026-05-30T23:59:59Z", "2": "2026-06-01T00:00:00Z", "3": "2026-06-01T11:00:00Z"}
    put(store, "purchases", [{"ref": ref, "at": at, **row} for ref, at in days.items()])
    decide(store, job(now=NOON + timedelta(days=1)))
    names = ("redemptions", "institution_payout_amount", "purchase_day_redemptions")
    rows = count_redemptions(store, Filters(), "day")
    assert [
        ("2026-06-02", "3", "3.00", "0", "0.00"),
        ("2026-06-01", "0", "0.00", "2", "2.00"),
        ("2026-05-31", "0", "0.00", "0", "0.00"),
        ("2026-05-30", "0", "0.00", "1", "1.00"),
    ] == [
        tuple(str(row[name]) for name in ("day", *names, "purchase_day_payout_amount"))
        for row in rows
    ]


def test_an_exported_redemption_has_its_purchase_and_the_plain_one_has_not(store: Store) -> None:
    catalogue(store)
    redeem(store, "1")
    (exported,) = exported_redemptions(store, Filters(), limit=1, cursor=None).rows
    (plain,) = redemptions(store, Filters(), limit=1, cursor=None).rows
    beside = {"purchase_amount": Decimal("20.00"), "transacted_at": NOON}
    assert {**plain, **beside, "merchant_id": uid("bakery")} == exported
