"""A nightly run whose drop folder holds purchases and what came back of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cardoffers_cli.jobs.night.order import Order
from cardoffers_cli.jobs.night.run import run_night
from sizes import slow
from work import file_of, found, short_nights, with_catalogue

PURCHASES = """
ref  cardholder  identifier  amount
r-1  c0          M0          20.00
r-2  c1          M0          20.00
r-3  c2          M1          20.00
"""
REFUNDS = """refund_ref,original_transaction_ref,amount,refunded_at
RF-1,r-1,20.00,2026-06-01T12:00:00Z
RF-2,r-1,5.00,2026-06-01T12:00:01Z
RF-3,r-9,5.00,2026-06-01T12:00:02Z
"""


@slow
@pytest.mark.parametrize("first", ["refunds", "purchases"])
def test_refunds_are_applied_between_match_and_settle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    short_nights(monkeypatch, "import", "match", "refund", "settle", "audits")
    made = with_catalogue(tmp_path)
    folder = tmp_path / "drop" / "alder"
    folder.mkdir(parents=True)
    names = ("a.csv", "b.csv") if first == "refunds" else ("b.csv", "a.csv")
    (folder / names[0]).write_text(REFUNDS)
    file_of(folder / names[1], PURCHASES)
    for name in names:
        (folder / f"{name}.done").touch()
    told = run_night(made, Order(drop=tmp_path / "drop"))
    assert ["imported", "imported"] == [each["status"] for each in told["imports"]]
    counts = {step["name"]: step["counts"] for step in told["steps"]}
    assert (3, 1, 1, 1) == tuple(
        counts["refund"][name] for name in ("considered", "reversed", "refused", "waiting")
    )
    assert (3, 2) == (counts["match"]["redeemed"], counts["settle"]["settled"])
    assert [("r-1", "reversed"), ("r-2", "settled"), ("r-3", "settled")] == found(
        made, "select transaction_ref, status from redemption_facts order by all"
    )
    assert ["refunds_refused"] == [
        each["code"] for each in told["findings"] if each["level"] != "note"
    ]


TAKEN_BACK = "GBP\u00a01.00 of payout taken back, 1 refund refused, 1 refund waits"
# what came in -> the figure on the night's page, and what stands beside it
FIGURES = [(REFUNDS, [("1", TAKEN_BACK)]), (None, [])]


@slow
@pytest.mark.parametrize(("refunds", "figures"), FIGURES)
def test_the_page_of_a_night_tells_of_refunds_where_there_are_any(
    tmp_path: Path, refunds: str | None, figures: list[tuple[str, str]]
) -> None:
    """A night with its pages: 2 s."""
    made = with_catalogue(tmp_path)
    folder = tmp_path / "drop" / "alder"
    folder.mkdir(parents=True)
    file_of(folder / "bought.csv", PURCHASES)
    (folder / "bought.csv.done").touch()
    if refunds:
        (folder / "back.csv").write_text(refunds)
        (folder / "back.csv.done").touch()
    told = run_night(made, Order(drop=tmp_path / "drop"))
    assert told.reports is not None
    page = (Path(told.reports) / "index.html").read_text("utf-8")
    found = re.findall(
        r'<dt>refunds linked</dt>\s*<dd>(\d+)</dd><dd class="beside">([^<]*)</dd>', page
    )
    assert figures == found
    assert bool(figures) == ("refund" in page)
