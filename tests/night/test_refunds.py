"""A nightly run whose drop folder holds purchases and what came back of them."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from cardoffers_cli.night.options import NightObserver, NightOptions
from cardoffers_cli.night.run import run_night
from sizes import one_in, slow
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
    told = run_night(made, NightOptions(drop=tmp_path / "drop"))
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


class CutOff(NightObserver):
    """Ends the process of a night, as it were, when a step begins."""

    def __init__(self, step: str | None) -> None:
        self._step = step

    def begins(self, step: str, position: int, of: int) -> None:  # noqa: ARG002
        if step == self._step:
            raise KeyboardInterrupt


BOUGHT_SINCE = """
ref  cardholder  identifier  amount  at
r-4  c0          M0          20.00   2026-06-04T11:30:00Z
"""
REFUNDED_SINCE = """refund_ref,original_transaction_ref,amount,refunded_at
RF-1,r-1,20.00,2026-06-04T11:00:00Z
"""


def what_two_nights_pay(folder: Path, cut_off_at: str | None) -> list[object]:
    """Run a night with purchases, and three days later one with a refund; return what is paid."""
    made = with_catalogue(folder)
    drop = folder / "drop"
    (drop / "alder").mkdir(parents=True)
    file_of(drop / "alder" / "bought.csv", PURCHASES)
    (drop / "alder" / "bought.csv.done").touch()
    with suppress(KeyboardInterrupt):
        run_night(made, NightOptions(drop=drop), CutOff(cut_off_at))
    file_of(drop / "alder" / "more.csv", BOUGHT_SINCE)
    (drop / "alder" / "back.csv").write_text(REFUNDED_SINCE)
    for name in ("more.csv", "back.csv"):
        (drop / "alder" / f"{name}.done").touch()
    run_night(replace(made, now=made.now + timedelta(days=3)), NightOptions(drop=drop))
    facts = "select transaction_ref, offer_id, status from redemption_facts order by all"
    return [found(made, facts), found(made, "select state, count(*) from refund_states group by 1")]


@slow
@pytest.mark.parametrize("cut_off_at", ["match", "refund", "second_look"])
@one_in(2)
def test_a_night_that_is_cut_off_pays_what_an_undisturbed_one_pays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut_off_at: str
) -> None:
    short_nights(monkeypatch, "import", "match", "refund", "settle", "second_look")
    (tmp_path / "undisturbed").mkdir()
    (tmp_path / "cut_off").mkdir()
    paid = what_two_nights_pay(tmp_path / "undisturbed", None)
    assert [("linked", 1)] == paid[1]
    assert paid == what_two_nights_pay(tmp_path / "cut_off", cut_off_at)


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
    told = run_night(made, NightOptions(drop=tmp_path / "drop"))
    assert told.reports is not None
    page = (Path(told.reports) / "index.html").read_text("utf-8")
    found = re.findall(
        r'<dt>refunds linked</dt>\s*<dd>(\d+)</dd><dd class="beside">([^<]*)</dd>', page
    )
    assert figures == found
    assert bool(figures) == ("refund" in page)
