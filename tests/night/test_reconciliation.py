"""A nightly run of an institution that says what it credited, and of one that never did."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cardoffers_cli.night.options import NightOptions
from cardoffers_cli.night.run import run_night
from cardoffers_cli.night.status import status
from crediting import begin, redeem, row_of, send
from sizes import slow
from tables import NOON
from work import found, new_store, once, short_nights

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from cardoffers_cli.kernel.store.job import Job

OPEN = "cardoffers reconcile list --state open --code not_credited"


@once
def redeemed(folder: Path) -> Job:
    """Return a store with two redemptions of brook, which has no webhook."""
    made = new_store(folder)
    new = {"institution": "brook", "owed": "5.00", "at": NOON, "event": None, "reversed_at": None}
    with made.store() as store:
        begin(store)
        redeem(store, [new, new])
    return made


def night(made: Job, days: int) -> tuple[Any, Any]:
    """Run the night so many days later; return the counts of its step, and its findings."""
    folder = made.path.parent / "drop"
    folder.mkdir(exist_ok=True)
    told = run_night(replace(made, now=NOON + timedelta(days=days)), NightOptions(drop=folder))
    ((counts),) = [step.counts for step in told.steps if step.name == "reconcile"]
    findings = [each for each in told.findings if each["level"] != "note"]
    return counts, findings


@slow
def test_a_night_tells_what_is_open_until_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_nights(monkeypatch, "reconcile")
    made = redeemed(tmp_path)
    assert ({}, []) == night(made, 8)
    assert [] == found(made, "from runs where kind = 'reconcile'")
    with made.store() as store:
        send(store, [row_of("c5.00@1", 1, NOON)], ["brook", "brook"])
    counts, (finding,) = night(made, 9)
    assert (1, 2, 1, 2) == tuple(
        counts[name] for name in ("open", "redemptions", "credited_rows", "verdicts")
    )
    assert ("not_credited", "warning", OPEN) == tuple(
        finding[name] for name in ("code", "level", "next")
    )
    assert "1 open finding, GBP 5.00 in all" in finding["message"]
    told, _ = status(made)
    assert [("not_credited", 1)] == [(each.code, each.findings) for each in told.open_findings]
    with made.store() as store:
        send(store, [row_of("c5.00@9", 2, NOON)], ["brook", "brook"])
    counts, findings = night(made, 10)
    assert (0, 1, []) == (counts["open"], counts["resolved"], findings)
    assert [] == status(made)[0].open_findings


def test_what_does_not_add_up_stops_no_night(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_nights(monkeypatch, "reconcile")
    made = redeemed(tmp_path)
    with made.store() as store:
        send(store, [row_of("c5.00@1", 1, NOON, by="ref")], ["brook", "brook"])
        store.connection.execute("update redemptions set purchase_no = 1")
    counts, (finding,) = night(made, 9)
    assert ({}, "control_totals_differ", "error") == (counts, finding["code"], finding["level"])
    assert [] == found(made, "from reconciliation_verdicts")
