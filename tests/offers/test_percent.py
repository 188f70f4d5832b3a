"""Percent offers: their terms, who is shown them, and what is refused."""

from __future__ import annotations

import csv
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.catalogue.importing import export_catalogue, import_catalogue
from cardoffers_cli.institutions.work import set_institution, show_institution
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.offers.work import (
    AddRequest,
    FeedRequest,
    add_offer,
    program,
    read_feed,
    show_offer,
)
from sizes import slow
from tables import read, uid
from work import found, new_store, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

ANN, CARD = {"cardholder_token": "ann"}, {"card_token": "card"}
FIXED = {
    "offer_id": "o1",
    "merchant_id": str(uid("bakery")),
    "title_en": "Bread",
    "min_spend": "10",
    "currency": "GBP",
    "starts_at": "2026-01-01T00:00:00Z",
    "expires_at": "2027-01-01T00:00:00Z",
    "cashback_amount": "1.50",
}
PERCENT = {
    **FIXED,
    "cashback_amount": "",
    "reward_type": "percent",
    "cashback_percent": "7.5",
    "max_cashback_amount": "5",
}


@pytest.fixture
def job(tmp_path: Path) -> Job:
    made = new_store(tmp_path)
    tell(
        made,
        institutions="institution percent\nalder yes\nbrook no",
        merchants="merchant\nbakery",
        offers="offer merchant percent cap\nten bakery 10 5.00\nfixed bakery - -",
        programs="institution offer\nalder ten\nalder fixed\nbrook ten\nbrook fixed",
    )
    return made


def write(folder: Path, kind: str, *rows: dict[str, str]) -> Path:
    path = folder / f"{kind}.csv"
    with path.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


# code and column of what is refused (-: nothing) of a row with these cells
TERMS = read("""
    code                  column                 kind     cells
    -                     -                      fixed    -
    -                     -                      fixed    reward_type=fixed,commission_basis=cashback
    -                     -                      fixed    commission_basis=spend
    -                     -                      percent  -
    -                     -                      percent  cashback_percent=0.01
    -                     -                      percent  cashback_percent=100.00
    -                     -                      percent  commission_basis=spend,max_commission_amount=2,budget_amount=100
    -                     -                      percent  currency=JPY,max_cashback_amount=1
    percent_out_of_range  cashback_percent       percent  cashback_percent=0
    percent_out_of_range  cashback_percent       percent  cashback_percent=100.01
    value_invalid         cashback_percent       percent  cashback_percent=7.555
    required_missing      cashback_percent       percent  cashback_percent=
    cap_required          max_cashback_amount    percent  max_cashback_amount=
    cap_required          max_commission_amount  percent  commission_basis=spend,budget_amount=100
    cap_required          max_commission_amount  fixed    commission_basis=spend,budget_amount=100
    cap_below_minor_unit  max_cashback_amount    percent  max_cashback_amount=0.009
    cap_below_minor_unit  max_cashback_amount    percent  currency=JPY,max_cashback_amount=0.5
    amount_precision      max_cashback_amount    percent  max_cashback_amount=1.005
    reward_terms_mixed    cashback_amount        percent  cashback_amount=1
    reward_terms_mixed    cashback_percent       fixed    cashback_percent=5
    reward_terms_mixed    max_cashback_amount    fixed    max_cashback_amount=5
    required_missing      cashback_amount        fixed    cashback_amount=
    value_invalid         reward_type            percent  reward_type=points
""")  # noqa: E501 - a table


def test_terms_are_taken_or_refused_by_a_code(tmp_path: Path, job: Job) -> None:
    rows = []
    for number, case in enumerate(TERMS):
        cells = [cell.split("=") for cell in (case["cells"] or "").split(",") if cell]
        kind = PERCENT if case["kind"] == "percent" else FIXED
        names = dict.fromkeys(
            [*PERCENT, "budget_amount", "commission_basis", "max_commission_amount"]
        )
        row = {name: kind.get(name, "") for name in names}
        rows.append({**row, **dict(cells), "offer_id": f"of-{number}"})
    result = import_catalogue(job, write(tmp_path, "offers", *rows), errors=tmp_path / "errors.csv")
    with (tmp_path / "errors.csv").open() as report:
        said = {int(row["line"]): (row["code"], row["column"]) for row in csv.DictReader(report)}
    expected = {
        line: (case["code"], case["column"]) for line, case in enumerate(TERMS, 2) if case["code"]
    }
    assert expected == said
    assert len(TERMS) - len(expected) == result["new"]


@slow
def test_what_is_exported_is_imported_as_it_was(tmp_path: Path, job: Job) -> None:
    rows = [PERCENT, {**PERCENT, "offer_id": "o2", "commission_basis": "spend"}]
    names = dict.fromkeys(name for row in rows for name in row)
    rows = [{name: row.get(name, "") for name in names} for row in rows]
    import_catalogue(job, write(tmp_path, "offers", *rows))
    export_catalogue(job, tmp_path / "out")
    header = (tmp_path / "out" / "offers.csv").read_text().splitlines()[0]
    assert header.endswith("reward_type,cashback_percent,max_cashback_amount,commission_basis")
    result = import_catalogue(job, tmp_path / "out")
    assert (0, 0) == (result["new"], result["changed"])


def test_a_change_of_percent_is_a_version(tmp_path: Path, job: Job) -> None:
    import_catalogue(job, write(tmp_path, "offers", PERCENT))
    import_catalogue(job, write(tmp_path, "offers", {**PERCENT, "cashback_percent": "8"}))
    import_catalogue(job, write(tmp_path, "offers", FIXED))
    assert [
        ("cashback_percent", "7.50", "8.00"),
        ("cashback_amount", None, "1.5000"),
        ("cashback_percent", "8.00", None),
        ("max_cashback_amount", "5.0000", None),
        ("reward_type", "percent", None),
    ] == found(job, "select field, old_value, new_value from audit_log order by audit_no, field")
    versions = show_offer("o1", job).versions
    assert [None, Decimal("8.00"), Decimal("7.50")] == [row.cashback_percent for row in versions]
    assert [Decimal("1.50"), 5, 5] == [row.cashback_amount for row in versions]


def test_a_percent_offer_is_only_of_who_accepts_it(tmp_path: Path, job: Job) -> None:
    place = {"institution": "brook", "offer_id": "ten", "position": "9"}
    refused = import_catalogue(job, write(tmp_path, "program_offers", place))
    assert ["percent_not_accepted"] == [row["code"] for row in refused["files"][0]["findings"]]
    change = {**PERCENT, "offer_id": "fixed"}
    refused = import_catalogue(job, write(tmp_path, "offers", change))
    assert ["percent_not_accepted"] == [row["code"] for row in refused["files"][0]["findings"]]


def ids(job: Job, institution: str) -> list[str]:
    feed = read_feed(institution, FeedRequest(**ANN), job)
    return [offer["id"] for offer in feed["offers"]]


def test_who_knows_only_the_specification_never_sees_one(job: Job) -> None:
    assert (["fixed"], ["ten", "fixed"]) == (ids(job, "brook"), ids(job, "alder"))
    request = AddRequest(offer_id="ten", **ANN, **CARD)
    with pytest.raises(CardoffersError, match="no such offer"):
        add_offer("brook", request, job)
    assert "added" == add_offer("alder", request, job).status


def test_an_institution_that_accepts_says_so(job: Job) -> None:
    assert "accepts_percent" not in show_institution(job, "brook")
    set_institution(job, "brook", {"accepts_percent": "true"})
    assert show_institution(job, "brook").accepts_percent
    assert ["ten", "fixed"] == ids(job, "brook")
    set_institution(job, "brook", {"accepts_percent": "false"})
    assert ["fixed"] == ids(job, "brook")


def test_the_feed_says_the_most_and_the_percent(job: Job) -> None:
    feed = read_feed("alder", FeedRequest(**ANN), job)
    members = ("cashback_amount", "reward_type", "cashback_percent")
    assert [(Decimal(5), "percent", Decimal(10)), (Decimal(1), None, None)] == [
        tuple(offer.get(name) for name in members) for offer in feed["offers"]
    ]
    assert [Decimal(10), None] == [row.cashback_percent for row in program("alder", job)]


def test_one_is_created_by_hand(cardoffers: Any, job: Job) -> None:
    line = "offer create of-9 -i alder --merchant bakery --title Bread --min-spend 10"
    end = "--expires 2027-01-01T00:00:00Z --starts 2026-01-01T00:00:00Z"
    percent = "--percent 10 --max 5 --commission-basis spend --commission-rate 0.01"
    on = f"--store {job.path}"
    refused = cardoffers(*f"{line} {end} {on}".split())
    assert (2, True) == (refused.exit_code, "ashback_amount is empty" in refused.stderr.lower())
    assert 0 == cardoffers(*f"{line} {end} {percent} {on}".split()).exit_code
    offer = show_offer("of-9", job)
    assert ("percent", Decimal(10), "spend", None) == (
        *(offer.reward_type, offer.cashback_percent),
        *(offer.commission_basis, offer.commission_amount),
    )
    listed = cardoffers(*f"offer list -i alder --format csv {on}".split()).stdout
    assert "cashback_percent" in listed.splitlines()[0]
