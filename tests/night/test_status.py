"""The screen that tells a newcomer what to do next."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.sheets.exports import copy_sample_data
from cardoffers_cli.kernel.store.runs import start_run
from cardoffers_cli.night.status import status as read_status
from cardoffers_cli.storage.stores import init
from commands import seen
from sizes import one_in, slow
from tables import NOON
from work import job, new_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BOUGHT, HELD = ("--as-of", "2026-10-01"), ("--as-of", "2026-10-08")

FILLED = (
    ("catalog", "import", "catalog", *BOUGHT),
    ("import", "transactions/tarnhollow.csv", "-i", "tarnhollow", *BOUGHT),
    ("match", *BOUGHT),
)


@pytest.fixture
def status(
    cardoffers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[str]]:
    """Return a function that runs commands on a new store and returns the rows of what waits."""
    copy_sample_data(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CARDOFFERS_CLOCK_TOLERANCE_HOURS", str(10**6))
    cardoffers("init")

    def after(*commands: tuple[str, ...], at: tuple[str, str] = BOUGHT) -> list[str]:
        for words in commands:
            assert 0 == cardoffers(*words).exit_code
        shown = cardoffers("status", *at, "--format", "table").stdout
        _, _, rows = shown.partition("What waits, and what to do next\n")
        return [" ".join(line.split()) for line in rows.splitlines()[1:]]

    return after


@slow
def test_each_step_names_the_next(status: Callable[..., list[str]]) -> None:
    assert ["the store is empty cardoffers catalog import DIR"] == status()
    assert ["no transactions yet cardoffers import FILE -i larkmere"] == status(FILLED[0])
    assert ["239 purchases to match cardoffers match"] == status(FILLED[1])
    unknown = "14 purchases of unknown merchants cardoffers report unresolved"
    held = "33 ledger entries on hold, the first until 2026-10-08 cardoffers settle"
    unset = "33 redemptions without a webhook cardoffers webhook set -i INST --url URL"
    assert [unknown, unset, held] == status(FILLED[2])
    assert ["33 ledger entries due cardoffers settle", unknown, unset] == status(at=HELD)
    assert [unknown, unset] == status(("settle", *HELD), at=HELD)


@slow
def test_acts_of_another_day_are_counted(status: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """rules.md#acts: here all are, as the commands say that it is 2026."""
    monkeypatch.setenv("CARDOFFERS_CLOCK_TOLERANCE_HOURS", "24")
    assert "2 misdated acts in the log cardoffers audit list" in status(*FILLED)


def test_a_clock_that_went_back_is_told(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    begin = {"kind": "match", "now": NOON, "actor": "tester"}
    with made.store() as store, store.transaction():
        start_run(store, **begin)
    back = replace(made, machine=lambda _: NOON - timedelta(hours=1))
    assert [None, NOON] == [read_status(each)[0].clock_went_back_from for each in (made, back)]
    init(made := job(tmp_path / "rehearsal.duckdb"), rehearsal=True)
    with made.store() as store, store.transaction():
        start_run(store, **begin)
    assert None is read_status(replace(made, now=NOON - timedelta(hours=1)))[0].clock_went_back_from


@slow
def test_webhooks_that_failed_are_told_with_their_cause(
    status: Any, cardoffers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARDOFFERS_ALLOW_INSECURE_WEBHOOKS", "1")
    status(*FILLED, ("settle", *HELD))
    to_nobody = ("--url", "http://127.0.0.1:9/", "--from", "all")
    assert 0 == cardoffers("webhook", "set", "-i", "tarnhollow", *to_nobody, *HELD).exit_code
    assert 3 == cardoffers("webhook", "send", *HELD).exit_code
    told = "33 webhooks failed (connection_refused), tried again from 2026-10-08 00:00 UTC"
    assert f"{told} cardoffers webhook list --state failed" in status(at=HELD)


@slow
def test_the_money_stands_beside_its_currency(cardoffers: Any, status: Any) -> None:
    status(*FILLED)
    shown = cardoffers("status", *HELD, "--format", "table").stdout
    rows = [" ".join(line.split()) for line in shown.splitlines()]
    assert "institution currency pending to settle settled payout reversed" in rows
    assert "tarnhollow GBP 33 74.00 0 0.00 0" in rows


@slow
def test_redemptions_of_the_last_days_are_drawn(status: Any) -> None:
    status(*FILLED)
    for looks in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        shown = seen("status", "--as-of", "2026-10-09", **looks)
        _, _, rows = shown.partition("Redemptions of the last 30 days\n")
        assert [
            "institution  a day                           most a day  in all",
            "─" * 63,
            "larkmere     ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁           0       0",
            "tarnhollow   ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█▁▁▁▁▁▁▁▁          33      33",
        ] == [line.rstrip() for line in rows.splitlines()[:4]]


@slow
@pytest.mark.parametrize("form", ["tsv", "json", "md"])
@one_in(3)
def test_a_picture_is_for_the_eye_only(cardoffers: Any, status: Any, form: str) -> None:
    status(*FILLED)
    assert "▁" not in cardoffers("status", *HELD, "--format", form).stdout
