from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.catalogue.importing import import_catalogue
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.offers.work import AddRequest, FeedRequest, add_offer, read_feed
from cardoffers_cli.reports.work import (
    WindowFunnel,
    count_window,
    read_funnel,
    report_page,
    window_of,
)
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.redemptions import reverse
from cardoffers_cli.river.settlements import settle_due
from sizes import one_in, slow
from tables import NOON, uid
from work import kept, new_store, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

MONTH = timedelta(days=30)
SECOND = timedelta(seconds=1)
FIRST_YEAR = datetime(1, 1, 5)  # noqa: DTZ001 - moments are naive UTC


@pytest.fixture
def job(tmp_path: Path) -> Job:
    job = new_store(tmp_path)
    tell(
        job,
        institutions="institution\nalder",
        merchants="merchant\nbakery",
        offers="offer merchant\nA bakery",
    )
    return job


def views_at(job: Job, *moments: datetime) -> None:
    rows = "\n".join(f"widget_view {moment.isoformat()}" for moment in moments)
    tell(job, engagement=f"event at\n{rows}")


def window(found: WindowFunnel) -> tuple[datetime, datetime]:
    return found.window["from"], found.window["to"]


def test_it_has_what_the_contract_says_and_nothing_else(job: Job) -> None:
    with job.store() as store:
        found = count_window(store, uid("alder"), window_of(NOON, None, None))
    assert {
        "window": {"from": NOON - MONTH, "to": NOON},
        "data": {
            "widget_views": 0,
            "unique_cardholders": 0,
            "offer_impressions": 0,
            "offer_add_successes": 0,
            "redemptions": 0,
        },
    } == found
    read = read_funnel(job, "alder")
    assert ["window", "data", "people"] == list(read)
    assert found == WindowFunnel.cut(read)


@pytest.mark.parametrize(
    ("expected", "asked"),
    [
        ((NOON - MONTH, NOON), {}),
        ((NOON - SECOND, NOON), {"from_at": NOON - SECOND}),
        ((NOON - 2 * MONTH, NOON - MONTH), {"to_at": NOON - MONTH}),
        ((NOON, NOON + SECOND), {"from_at": NOON, "to_at": NOON + SECOND}),
    ],
)
def test_what_is_not_said_of_the_window_is_as_usual(
    job: Job, expected: tuple[datetime, datetime], asked: dict[str, datetime]
) -> None:
    assert expected == window(read_funnel(job, "alder", **asked))


def test_the_usual_window_is_the_last_thirty_days(job: Job) -> None:
    views_at(job, NOON - MONTH - SECOND, NOON - MONTH, NOON - SECOND)
    assert 2 == read_funnel(job, "alder")["data"]["widget_views"]


@pytest.mark.parametrize("by", ["day", "offer", "merchant"])
@one_in(3)
def test_a_window_that_ends_now_includes_what_happens_now(job: Job, by: Any) -> None:
    views_at(job, NOON - SECOND, NOON, NOON + SECOND)
    tell(
        job,
        links="offer\nA",
        purchases="ref merchant at\n1 bakery 2026-05-31T12:00Z",
    )
    match_purchases(job)
    now = read_funnel(job, "alder", by=by)
    assert (2, 1, 0, 1, 1) == tuple(now["data"].values())
    assert {"saw": 1, "added": 1, "redeemed": 1, "all_who_redeemed": 1} == now["people"]
    assert 1 == sum(row["redemptions"] for row in now["by"])
    assert (NOON - MONTH, NOON) == window(now)
    until = read_funnel(job, "alder", to_at=NOON)
    assert (1, 1, 0, 1, 0) == tuple(until["data"].values())


def test_what_happens_now_is_in_no_window_before(job: Job) -> None:
    views_at(job, NOON - MONTH, NOON)
    found = read_funnel(job, "alder", compare=True, from_at=NOON - MONTH + SECOND)
    assert (1, 1) == (found["data"]["widget_views"], found["previous"]["data"]["widget_views"])
    assert (NOON - 2 * MONTH + 2 * SECOND, NOON - MONTH + SECOND) == window(found["previous"])


def test_the_window_before_has_the_same_length_and_ends_where_this_one_begins(job: Job) -> None:
    views_at(job, *(NOON - hours * timedelta(hours=1) for hours in (1, 2, 3, 4, 5)))
    start = NOON - timedelta(hours=2)
    found = read_funnel(job, "alder", from_at=start, compare=True)
    assert (start, NOON) == window(found)
    assert (NOON - timedelta(hours=4), start) == window(found["previous"])
    views = (found["data"]["widget_views"], found["previous"]["data"]["widget_views"])
    assert (2, 2) == views


def test_a_redemption_counts_when_it_was_made_whatever_became_of_it(job: Job) -> None:
    later = replace(job, now=NOON + timedelta(days=1))
    tell(
        job,
        links="offer added_at\nA 2026-05-20T00:00Z",
        purchases="ref merchant at\n1 bakery 2026-05-25T00:00Z\n2 bakery 2026-05-25T00:00Z",
    )
    match_purchases(job)
    settle_due(job)
    reversed_id = str(report_page("redemptions", job, limit=1).rows[0]["id"])
    reverse(reversed_id, "returned", later)
    assert 2 == read_funnel(later, "alder", from_at=NOON)["data"]["redemptions"]
    assert 0 == read_funnel(later, "alder", to_at=NOON)["data"]["redemptions"]


def test_a_link_of_a_file_is_an_offer_added(job: Job, tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text(
        "institution,cardholder_token,card_token,offer_id,added_at\n"
        "alder,ann,card,A,2026-05-31T00:00:00Z\n"
        "alder,ann,card,A,2026-06-01T00:00:00Z\n"  # the link is known, and stays as it was
        "alder,bob,card,A,2026-05-31T00:00:00Z\n"
        "alder,cy,card,A,2026-04-01T00:00:00Z\n"
    )
    import_catalogue(job, path)
    assert 2 == read_funnel(job, "alder")["data"]["offer_add_successes"]


@slow
def test_a_feed_is_a_view_and_its_impressions_and_an_add_counts_once(job: Job) -> None:
    tell(job, offers="offer merchant\nB bakery", programs="offer\nA\nB")
    asked = {"cardholder_token": "ann"}
    tomorrow = NOON + timedelta(days=1)
    for _ in range(2):
        assert 2 == len(read_feed("alder", FeedRequest(**asked), job)["offers"])
    assert 1 == len(read_feed("alder", FeedRequest(**asked, limit=1), job)["offers"])
    for _ in range(2):
        add_offer("alder", AddRequest(**asked, offer_id="A", card_token="card"), job)  # noqa: S106
    read_feed("alder", FeedRequest(**asked), job, dry_run=True)
    found = read_funnel(job, "alder", to_at=tomorrow, by="offer")
    assert (3, 1, 5, 1, 0) == tuple(found["data"].values())
    assert [("A", 3, 1), ("B", 2, 0)] == [
        (row["offer_id"], row["offer_impressions"], row["offer_add_successes"])
        for row in found["by"]
    ]
    assert (3, 1, 5, 1, 0) == tuple(read_funnel(job, "alder")["data"].values())
    assert (0,) * 5 == tuple(read_funnel(job, "alder", to_at=NOON)["data"].values())


def test_an_event_of_a_file_that_a_feed_has_recorded_is_the_same(job: Job, tmp_path: Path) -> None:
    tell(job, programs="offer\nA")
    read_feed("alder", FeedRequest(cardholder_token="ann"), job)  # noqa: S106
    path = tmp_path / "engagement.csv"
    path.write_text(
        "institution,cardholder_token,event,offer_id,occurred_at\n"
        f"alder,ann,widget_view,,{NOON.isoformat()}Z\n"
        f"alder,ann,offer_impression,A,{NOON.isoformat()}Z\n"
    )
    result = import_catalogue(job, path)
    assert (0, 2) == (result["new"], result["same"])


def test_reading_it_writes_nothing(job: Job) -> None:
    before = kept(job)
    for by in ("day", "offer", "merchant"):
        read_funnel(job, "alder", by=by, compare=True)  # type: ignore[arg-type]
    assert before == kept(job)


@pytest.mark.parametrize(
    ("code", "asked"),
    [
        ("window_empty", {"from_at": NOON}),
        ("window_empty", {"from_at": NOON + SECOND}),
        ("window_empty", {"from_at": NOON, "to_at": NOON}),
        ("window_empty", {"from_at": NOON, "to_at": NOON - SECOND}),
        ("window_too_early", {"to_at": FIRST_YEAR}),
        ("window_too_early", {"from_at": FIRST_YEAR, "compare": True}),
    ],
)
def test_a_window_without_time_is_refused(job: Job, code: str, asked: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as refused:
        read_funnel(job, "alder", **asked)
    assert code == refused.value.code


def test_an_unknown_institution_is_not_found(job: Job) -> None:
    with pytest.raises(NotFound):
        read_funnel(job, "brook")
