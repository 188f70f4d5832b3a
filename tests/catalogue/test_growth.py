"""Offers that come to cost more need a second person, where approvals are on."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from approving import approved
from cardoffers_cli.approvals.work import list_approvals
from cardoffers_cli.catalogue.importing import export_catalogue, import_catalogue
from cardoffers_cli.kernel.words.errors import Refused
from sizes import one_in
from tables import read, select
from work import kept, once, tell, with_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

# of-1 has a budget of 20.00, of-2 has none; what the new file says, and what the approval is of:
# an amount, `any` where that has no end, nothing where none is needed. The limit is GBP 50.00.
GROWTH = """
offer change                          approval
of-1  budget_amount=70.00             -
of-1  budget_amount=70.01             50.01
of-1  budget_amount=                  any
of-1  budget_amount=10.00             -
of-1  cashback_amount=9.00            -
of-1  min_spend=0                     -
of-2  cashback_amount=2.51            any
of-2  cashback_amount=0.50            -
of-2  commission_rate=0.9             any
of-2  min_spend=0.01                  any
of-2  min_spend=900                   -
of-2  expires_at=2031-01-01           any
of-2  starts_at=2020-01-01            any
of-2  max_redemptions_per_cardholder=1  -
of-2  budget_amount=5.00              -
of-2  title_en=Other                  -
of-3  budget_amount=900.00            -
"""


@once
def made_once(folder: Path) -> Job:
    """Make a store whose institution has approvals on, up to a limit, and its offers as a file."""
    made = with_catalogue(folder)
    tell(made, institutions="institution\nbirch")
    with made.store() as store:
        select(store, "update institutions set approvals = 'on', approval_limit = 50")
        select(store, "update offers set min_spend = 5")
        select(store, "update offer_versions set min_spend = 5")
    return made


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return made_once(tmp_path)


def file_of(made: Job, offer_id: str, **changes: str) -> Path:
    """Write a file with one offer, as it is but for some changes; of-3 is of-1 under a new id."""
    folder = made.path.with_name("exported")
    export_catalogue(made, folder)
    with (folder / "offers.csv").open() as exported:
        rows = {row["offer_id"]: row for row in csv.DictReader(exported)}
    row = {**rows.get(offer_id, rows["of-1"]), "offer_id": offer_id, **changes}
    path = made.path.with_name("offers.csv")
    with path.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(row))
        writer.writeheader()
        writer.writerow(row)
    return path


@pytest.mark.parametrize("line", read(GROWTH), ids=str)
@one_in(4)
def test_offers_that_come_to_cost_more_need_an_approval(made: Job, line: dict[str, str]) -> None:
    """rules.md#four-eyes"""
    name, _, value = line["change"].partition("=")
    path = file_of(made, line["offer"], **{name: value})
    before = kept(made)
    dry = import_catalogue(made, path, dry_run=True)
    assert ("needed" if line["approval"] else None) == dry.approval
    if not line["approval"]:
        assert None is import_catalogue(made, path).approval
        return
    with pytest.raises(Refused, match="Letting offers cost more needs"):
        import_catalogue(made, path)
    assert before["offers"] == kept(made)["offers"]
    (request,) = list_approvals(made)
    amount = None if line["approval"] == "any" else line["approval"]
    assert (amount, [line["offer"]]) == (
        request.amount and str(request.amount),
        [*request.details],
    )
    approved(made)
    assert "used" == import_catalogue(made, path).approval
    assert None is import_catalogue(made, path).approval


def test_a_request_names_the_terms_before_and_since(made: Job) -> None:
    with pytest.raises(Refused):
        import_catalogue(made, file_of(made, "of-1", budget_amount="99.00", min_spend="4"))
    (request,) = list_approvals(made)
    assert {
        "of-1": "min_spend 5.0000 -> 4.0000, budget_amount 20.0000 -> 99.0000"
    } == request.details


def test_without_approvals_offers_may_cost_more(made: Job) -> None:
    with made.store() as store:
        select(store, "update institutions set approvals = 'off'")
    done = import_catalogue(made, file_of(made, "of-1", budget_amount="999.00"))
    assert (None, 1) == (done.approval, done.changed)
