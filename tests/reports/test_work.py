from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.night.status import status
from cardoffers_cli.reports import work as reports
from cardoffers_cli.reports.questions import Filters, unresolved
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.settlements import settle_due
from tables import uid
from work import file_of, job, new_store, once, taken, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return with_redemptions(tmp_path)


@once
def with_redemptions(folder: Path) -> Job:
    """Make a store with 25 redemptions of alder's and an unresolved purchase."""
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder\nbrook",
        merchants="merchant\nbakery",
        identifiers="identifier merchant\nM1 bakery",
        offers="offer merchant\nA bakery",
        links="cardholder offer\nann A",
    )
    rows = [{"ref": f"{n:02}", "identifier": "M1"} for n in range(25)]
    taken(made, file_of(folder / "tx.csv", [*rows, {"ref": "x", "identifier": "M9"}]))
    match_purchases(made)
    return made


@pytest.mark.parametrize("report", ["redemptions", "settlements"])
def test_every_row_comes_once_whatever_the_pages(
    made: Job, report: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "ROWS_AT_A_TIME", 10)
    rows = reports.whole_report(
        report, made, institution=None, status=None, from_at=None, to_at=None
    ).rows
    assert [f"{n:02}" for n in range(25)] == sorted(row["transaction_ref"] for row in rows)


def test_a_writer_may_come_between_the_pages(made: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "ROWS_AT_A_TIME", 10)
    rows = reports.whole_report(
        "settlements", made, institution="alder", status=None, from_at=None, to_at=None
    ).rows
    first = next(rows)
    assert 25 == settle_due(job(made.path, lock_wait_s=0))["settled"]
    assert 25 == len({first["id"], *(row["id"] for row in rows)})


def test_an_institution_is_named_by_slug_or_id(made: Job) -> None:
    for name, rows in (("alder", 25), (str(uid("alder")).upper(), 25), ("brook", 0), (None, 25)):
        page = reports.report_page("redemptions", made, institution=name, limit=100)
        assert rows == len(page.rows)
    with pytest.raises(NotFound):
        reports.report_page("redemptions", made, institution="elm", limit=1)


def test_unresolved_identifiers_are_told(made: Job) -> None:
    with made.store(read_only=True) as store:
        rows = unresolved(store, Filters(institution_id=uid("alder")), limit=5)
    assert [("M9", 1)] == [(row["merchant_identifier"], row["purchases"]) for row in rows]


def test_the_state_of_everything_agrees(made: Job) -> None:
    told, _ = status(made)
    alder, brook = told["institutions"]
    names = ("imports", "purchases", "links", "pending", "settled", "reversed")
    assert (1, 26, 1, 25, 0, 0) == tuple(alder[name] for name in names)
    assert {0} == {brook[name] for name in names}
    assert (25, 1, 0, 0) == tuple(
        told[name] for name in ("due", "merchant_unresolved", "not_matched_yet", "open_adjustments")
    )
