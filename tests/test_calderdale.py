"""Real purchases of a council, with answers that a plain loop gave: every number, to the penny.

The data lies beside the repository, not in it; without it these tests are skipped.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commands import cardoffers
from sizes import at_the_gate, slow
from tables import snapshot
from work import job

DATA = Path(__file__).parents[2] / "shared" / "data" / "calderdale"
SLUGS = ("alder", "brook")

pytestmark = [
    slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="the data is not beside the repository"),
]

Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return json.loads((DATA / "expected.json").read_text())


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory, expected: dict[str, Any]) -> Ask:
    """Return a function that runs a command on one store and returns its document."""
    store = tmp_path_factory.mktemp("calderdale") / "store.duckdb"

    def run(*words: object, exit_code: int = 0) -> Any:
        at = ("--store", store, "--as-of", expected["as_of"], "--format", "json")
        return cardoffers(*words, *at, exit_code=exit_code).document

    run.store = store  # type: ignore[attr-defined]
    run("init")
    return run


@pytest.fixture(scope="module")
def first(ask: Ask) -> dict[str, Any]:
    """Do the main job once; return what each command answered."""
    return main_job(ask)


def main_job(ask: Ask) -> dict[str, Any]:
    return {
        "catalogue": ask("catalog", "import", DATA / "catalog"),
        **{slug: ask("import", DATA / f"{slug}.csv", "-i", slug, exit_code=3) for slug in SLUGS},
        "match": ask("match"),
        "report": ask("report", "redemptions", "--all")["data"],
        "ledger": ask("report", "settlements", "--all")["data"],
    }


def money(rows: list[dict[str, Any]], name: str) -> int:
    """Return a sum in pence."""
    return sum(round(row[name] * 100) for row in rows)


@pytest.mark.parametrize("slug", SLUGS)
def test_imports_count_what_they_must(
    first: dict[str, Any], expected: dict[str, Any], slug: str
) -> None:
    told = first[slug]
    codes = {row["code"]: row["rows"] for row in told["findings"] if row["level"] == "error"}
    assert expected["institutions"][slug] == {
        **{name: told[name] for name in ("institution_id", "received", "accepted")},
        **{name: told[name] for name in ("duplicates", "conflicts", "invalid")},
        "amount_accepted": f"{told['amount_accepted']:.2f}",
        "row_codes": codes,
    }


def test_the_catalogue_is_taken_whole(first: dict[str, Any], expected: dict[str, Any]) -> None:
    taken = {row["kind"]: row["new"] for row in first["catalogue"]["files"]}
    assert 0 == first["catalogue"]["rejected"]
    assert (expected["links"], expected["offers"]) == (taken["links"], taken["offers"])


def test_one_match_redeems_what_the_plain_loop_redeems(
    first: dict[str, Any], expected: dict[str, Any]
) -> None:
    told = first["match"]
    assert (expected["purchases"], expected["redeemed"], expected["merchant_unresolved"]) == (
        told["considered"],
        told["redeemed"],
        told["merchant_unresolved"],
    )


def test_every_redemption_has_its_offer_and_its_three_amounts(first: dict[str, Any]) -> None:
    with (DATA / "expected_redemptions.csv").open(newline="") as file:
        meant = sorted(tuple(row.values()) for row in csv.DictReader(file))
    names = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")
    found = sorted(
        (
            row["institution"],
            row["transaction_ref"],
            row["offer_id"],
            *(f"{row[name]:.2f}" for name in names),
        )
        for row in first["ledger"]
    )
    assert meant == found


@pytest.mark.parametrize("slug", SLUGS)
def test_the_totals_are_the_expected_ones(
    first: dict[str, Any], expected: dict[str, Any], slug: str
) -> None:
    rows = [row for row in first["ledger"] if row["institution"] == slug]
    names = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")
    assert expected["totals"][slug] == {
        "redemptions": len(rows),
        **{name: f"{money(rows, name) / 100:.2f}" for name in names},
    }


def test_the_report_of_redemptions_agrees_with_the_ledger(first: dict[str, Any]) -> None:
    names = ("merchant_funded_amount", "institution_payout_amount")
    paid = {row["redemption_id"]: [row[name] for name in names] for row in first["ledger"]}
    assert paid == {row["id"]: [row[name] for name in names] for row in first["report"]}


@at_the_gate  # each time, of small data: test_story.py
def test_everything_again_changes_nothing(ask: Ask, first: dict[str, Any]) -> None:
    before = kept(ask)
    again = main_job(ask)
    assert before == kept(ask)
    assert (0, 0) == (again["catalogue"]["new"], again["catalogue"]["changed"])
    for slug in SLUGS:
        assert (0, first[slug]["import_id"]) == (
            again[slug]["accepted"],
            again[slug]["already_imported"],
        )
        assert (first[slug]["accepted"] + first[slug]["duplicates"], 0) == (
            again[slug]["duplicates"],
            again[slug]["conflicts"],
        )
    assert (0, first["match"]["merchant_unresolved"]) == (
        again["match"]["redeemed"],
        again["match"]["considered"],
    )
    assert (first["report"], first["ledger"]) == (again["report"], again["ledger"])


def kept(ask: Ask) -> dict[str, Any]:
    """Return every row of the store but the records of runs, and of what a run turned down."""
    with job(ask.store).store(read_only=True) as store:
        return snapshot(store, "runs", "imports", "duplicates", "rejects", "acts")


# Refunds: the real ones name no purchase; those that do are made up over purchases that redeemed


def with_refunds(ask: Ask, folder: Path, name: str) -> tuple[Ask, dict[str, Any]]:
    """Import refunds into a copy of the store; return what asks it, and what was told of each."""
    store = folder / "store.duckdb"
    shutil.copyfile(ask.store, store)  # type: ignore[attr-defined]
    store.chmod(0o600)
    as_of = json.loads((DATA / "expected.json").read_text())["as_of"]

    def run(*words: object, exit_code: int | None = 0) -> Any:
        at = ("--store", store, "--as-of", as_of, "--format", "json")
        return cardoffers(*words, *at, exit_code=exit_code).document

    rows = read_rows(f"{name}.csv")
    told = {}
    for slug in SLUGS:
        own = [row for row in rows if row["institution"] == slug]
        names = [column for column in own[0] if column != "institution"]
        with (folder / f"{slug}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(own)
        told[slug] = run("refund", "import", folder / f"{slug}.csv", "-i", slug, exit_code=None)
    return run, told


def read_rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_real_refunds_have_the_candidates_that_a_plain_loop_finds(
    ask: Ask, first: dict[str, Any], tmp_path: Path
) -> None:
    assert first
    run, told = with_refunds(ask, tmp_path, "refunds")
    assert 379 == sum(each["accepted"] for each in told.values())
    assert (379, 379) == tuple(run("refund", "apply")[name] for name in ("considered", "waiting"))
    found = {
        row["refund_ref"]: (slug, row["candidates"], row["exact_candidates"])
        for slug in SLUGS
        for row in run("refund", "list", "-i", slug, "--all")
    }
    meant = read_rows("expected_refunds.csv")
    assert {
        row["refund_ref"]: (
            row["institution"],
            int(row["candidates"]),
            int(row["exact_candidates"]),
        )
        for row in meant
    } == found
    best = {
        row["refund_ref"]: row["transaction_ref"]
        for slug in SLUGS
        for row in run("refund", "suggest", "-i", slug)
        if row["rank"] == 1 and row["equal_amount"]
    }
    unique = {row["refund_ref"]: row["transaction_ref"] for row in meant if row["transaction_ref"]}
    assert unique == {ref: best[ref] for ref in unique}


def test_referenced_refunds_move_what_a_plain_loop_moves(
    ask: Ask, first: dict[str, Any], tmp_path: Path
) -> None:
    assert first
    run, told = with_refunds(ask, tmp_path, "refunds_referenced")
    meant = json.loads((DATA / "expected_refunds.json").read_text())["refunds_referenced"]
    assert (meant["outcomes"]["duplicate_conflict"], 25) == (
        sum(each["conflicts"] for each in told.values()),
        sum(each["duplicates"] for each in told.values()),
    )
    applied = run("refund", "apply")
    assert {name: meant["outcomes"][name] for name in ("reversed", "kept", "already_reversed")} == {
        name: applied[name] for name in ("reversed", "kept", "already_reversed")
    }
    assert (69, 15) == (applied["refused"], applied["waiting"])
    found = {
        (slug, row["refund_ref"]): (
            row["outcome"],
            "" if row["net_after"] is None else f"{row['net_after']:.2f}",
        )
        for slug in SLUGS
        for row in run("refund", "list", "-i", slug, "--all")
    }
    assert {
        (row["institution"], row["refund_ref"]): (row["outcome"], row["net_after"])
        for row in read_rows("expected_refunds_referenced.csv")
        if row["row"] != "duplicate"
    } == found
    ledger = run("report", "settlements", "--all")["data"]
    for slug in SLUGS:
        live = [row for row in ledger if row["institution"] == slug and row["status"] != "reversed"]
        names = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")
        assert meant["ledger_less_reversed"][slug] == {
            "live": len(live),
            **{name: f"{money(live, name) / 100:.2f}" for name in names},
        }
    assert run("doctor", "--strict")["ok"]
    again = run("refund", "apply")
    assert (15, 15, 0) == tuple(again[name] for name in ("considered", "waiting", "reversed"))
