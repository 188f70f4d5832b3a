"""Months of a time zone: what settled on either side of their midnight, and a zone that changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from approving import approved, with_approvers
from cardoffers_cli.documents.closing import close_invoices, close_statement, preview
from cardoffers_cli.documents.kinds import STATEMENT
from cardoffers_cli.documents.verifying import verify
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.periods import Period
from cardoffers_cli.river.settlements import settle_due
from cardoffers_cli.storage.doctor import offending
from settled import redeem_in
from sizes import slow
from tables import read, select
from work import kept, new_store, once, settings, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


# Midnight of a month's first day in a zone, in UTC: with both changes of the clock, one at midnight
MIDNIGHTS = """
month    zone                 from_at           to_at
2026-10  UTC                  2026-10-01        2026-11-01
2026-10  Europe/Madrid        2026-09-30T22:00  2026-10-31T23:00
2026-03  Europe/Madrid        2026-02-28T23:00  2026-03-31T22:00
2026-11  America/New_York     2026-11-01T04:00  2026-12-01T05:00
2026-03  Pacific/Kiritimati   2026-02-28T10:00  2026-03-31T10:00
2026-10  Pacific/Pago_Pago    2026-10-01T11:00  2026-11-01T11:00
2018-11  America/Sao_Paulo    2018-11-01T03:00  2018-12-01T02:00
2026-12  Asia/Kathmandu       2026-11-30T18:15  2026-12-31T18:15
"""


@pytest.mark.parametrize("line", read(MIDNIGHTS), ids=str)
def test_a_month_is_cut_at_midnight_of_its_zone(line: dict[str, str]) -> None:
    """rules.md#statements"""
    period = Period.of(line["month"], moment("2026-01-01"), line["zone"])
    assert (moment(line["from_at"]), moment(line["to_at"])) == (period.from_at, period.to_at)
    assert (period, period) == (
        Period.ending(period.to_at),
        Period.at(period.from_at, line["zone"]),
    )
    assert period.after.from_at == period.to_at


@once
def settled(folder: Path) -> Job:
    """Make a store with 1.00 settled an hour before midnight UTC of 1 November, 3.00 an hour after.

    That is after midnight in Madrid, and before it in New York.
    """
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery",
        offers="offer merchant cashback\nO1 bakery 1.00\nO3 bakery 3.00",
        links="institution cardholder offer\nalder ann O1\nalder ann O3",
    )
    for at, offer in [("2026-10-31T23:30", "O1"), ("2026-11-01T00:30", "O3")]:
        with made.store() as store:
            redeem_in(store, moment(at), read(f"offer\n{offer}"))
        settle_due(replace(made, now=moment(at)))
    return replace(made, now=moment("2026-12-02"))


# The zone of an institution: what October and November pay, and what the first closed says
CUT = """
zone              october  november  to
-                 1.00     3.00      2026-11-01T00:00
Europe/Madrid     0.00     4.00      2026-10-31T23:00
America/New_York  4.00     0.00      2026-11-01T04:00
"""


@pytest.mark.parametrize("line", read(CUT), ids=str)
def test_what_settled_by_midnight_of_the_zone_is_on_the_statement(
    tmp_path: Path, line: dict[str, str]
) -> None:
    made = settled(tmp_path)
    set_institution(made, "alder", {}, settings={"time_zone": line["zone"]})
    before = preview(made, "alder", "2026-10")
    october, november = (close_statement(made, "alder", f"2026-{month}") for month in (10, 11))
    assert (line["october"], line["november"]) == (str(october.payable), str(november.payable))
    assert (before.payable, before.from_, before.to) == (
        *(october.payable, october.from_),
        october.to,
    )
    assert (moment(line["to"]), october.to) == (october.to, november.from_)
    assert line["zone"] == october.time_zone
    assert october == close_statement(made, "alder", "2026-10")
    assert [("2026-10", True), ("2026-11", True)] == [
        (each.period, each.ok) for each in verify(made, STATEMENT)
    ]


@slow
def test_a_zone_that_changes_counts_from_the_next_month(tmp_path: Path) -> None:
    """A month begins where the one before ended: nothing is on two statements, or on none."""
    made = settled(tmp_path)
    set_institution(made, "alder", {}, settings={"time_zone": "America/New_York"})
    october = close_statement(made, "alder", "2026-10")
    set_institution(made, "alder", {}, settings={"time_zone": "Europe/Madrid"})
    assert october == close_statement(made, "alder", "2026-10")
    november = close_statement(made, "alder", "2026-11")
    assert (moment("2026-11-01T04:00"), moment("2026-11-30T23:00")) == (
        november.from_,
        november.to,
    )
    assert ("4.00", "0.00") == (str(october.payable), str(november.payable))
    assert ("America/New_York", "Europe/Madrid") == (october.time_zone, november.time_zone)


# The zone, when it is: whether October can be closed then, as the last month
ENDED = """
zone              now               is_closed
Europe/Madrid     2026-10-31T22:59  no
Europe/Madrid     2026-10-31T23:00  yes
America/New_York  2026-11-01T03:59  no
America/New_York  2026-11-01T04:00  yes
"""


@slow
@pytest.mark.parametrize("line", read(ENDED), ids=str)
def test_a_month_has_ended_when_it_has_in_its_zone(tmp_path: Path, line: dict[str, str]) -> None:
    made = replace(settled(tmp_path), now=moment(line["now"]))
    set_institution(made, "alder", {}, settings={"time_zone": line["zone"]})
    if line["is_closed"] == "yes":
        assert "ALDER-2026-000001" == close_statement(made, "alder", "last-month").number
        return
    with pytest.raises(Refused, match="has not ended"):
        close_statement(made, "alder", "2026-10")


@slow
def test_invoices_are_cut_in_the_zone_of_the_settings(tmp_path: Path) -> None:
    made = replace(settled(tmp_path), settings=settings(time_zone="America/New_York"))
    closed = close_invoices(made, "2026-10")
    assert (1, moment("2026-11-01T04:00")) == (closed.invoices, closed.to)
    assert closed.documents == close_invoices(made, "2026-10").documents
    (invoice,) = closed.documents
    assert "America/New_York" == invoice.time_zone


@slow
def test_each_month_of_invoices_has_an_act_of_its_own(tmp_path: Path) -> None:
    """Midnight of Madrid is of the month before in UTC, which the act is not named by."""
    made = replace(settled(tmp_path), settings=settings(time_zone="Europe/Madrid"))
    for month in ("2026-09", "2026-10", "2026-11"):
        close_invoices(made, month)
    with made.store() as store:
        subjects = "select subject from act_rows where kind = 'invoices_closed' order by all"
        assert [("2026-09",), ("2026-10",), ("2026-11",)] == select(store, subjects)
        assert (0, None) == offending(store, "acts_are_of_their_rows")


@slow
def test_a_change_of_the_zone_needs_a_second_person_where_approvals_are_on(tmp_path: Path) -> None:
    """rules.md#four-eyes"""
    made = settled(tmp_path)
    with_approvers(made)
    set_institution(made, "alder", {}, settings={"approvals": "on"})
    before = kept(made)["institutions"]
    with pytest.raises(Refused, match="Changing the time zone of an institution needs"):
        set_institution(made, "alder", {}, settings={"time_zone": "Europe/Madrid"})
    assert before == kept(made)["institutions"]
    approved(made)
    done = set_institution(made, "alder", {}, settings={"time_zone": "Europe/Madrid"})
    assert ("used", "Europe/Madrid") == (done.approval, done.time_zone)
