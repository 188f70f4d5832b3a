"""`cardoffers catalog` and `cardoffers institution`, as their users meet them."""

from pathlib import Path
from typing import Any

import pytest

from sizes import slow
from work import new_store

MERCHANT = "9c4e1852-991b-5a75-a73e-d9ba1d2b977c"
INSTITUTIONS = (
    "slug,name,plan,currency,languages,max_active_offers,widget_limit,settlement_hold_days\n"
    "alder,Alder,growth,GBP,en|es,10,5,0\n"
)
MERCHANTS = f"merchant_id,name,category\n{MERCHANT},=Kiosk,press\nkiosk,Kiosk,press\n"
LINKS = (
    "institution,cardholder_token,card_token,offer_id,added_at\n"
    "alder,4111111111111111,ct,of-1,2026-01-01\n"
)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cardoffers: Any) -> Path:
    """A working directory with a store and a folder of files."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / "institutions.csv").write_text(INSTITUTIONS)
    (folder / "merchants.csv").write_text(MERCHANTS)
    assert 0 == cardoffers("init", "-q").exit_code
    return folder


def test_rejected_rows_end_with_3_and_say_how_to_mend_them(work: Path, cardoffers: Any) -> None:
    outcome = cardoffers("catalog", "import", work, "--errors", "errors.csv", "--format", "json")
    assert 3 == outcome.exit_code
    assert {"file": "merchants.csv", "kind": "merchants", "received": 2, "new": 1} | {
        "changed": 0,
        "same": 0,
        "rejected": 1,
        "findings": [
            {
                "code": "value_invalid",
                "level": "error",
                "rows": 1,
                "lines": [3],
                "messages": ["merchant_id must be a UUID"],
                "fix": "write the value as the message says",
            }
        ],
    } == outcome.document["files"][1]
    assert [3, 2, 1] == [outcome.document[name] for name in ("received", "new", "rejected")]
    assert [
        "line,transaction_ref,column,code,level,message,file",
        "3,,merchant_id,value_invalid,error,merchant_id must be a UUID,merchants.csv",
    ] == Path("errors.csv").read_text().splitlines()


def test_one_file_may_be_imported_alone(work: Path, cardoffers: Any) -> None:
    outcome = cardoffers("catalog", "import", work / "institutions.csv")
    assert 0 == outcome.exit_code
    assert [
        "file\treceived\tnew\tchanged\tsame\trejected",
        "institutions.csv\t1\t1\t0\t0\t0",
    ] == outcome.stdout.splitlines()


def test_a_card_number_is_refused_and_shown_nowhere(work: Path, cardoffers: Any) -> None:
    (work / "links.csv").write_text(LINKS)
    outcome = cardoffers("catalog", "import", work, "--errors", "errors.csv", "--format", "json")
    found = outcome.document["files"][-1]["findings"]
    assert ["card_number"] == [finding["code"] for finding in found]
    shown = outcome.stdout + outcome.stderr + Path("errors.csv").read_text()
    assert "4111111111111111" not in shown


def test_a_dry_run_keeps_nothing(work: Path, cardoffers: Any) -> None:
    outcome = cardoffers("catalog", "import", work, "--dry-run", "--format", "json")
    assert (3, True) == (outcome.exit_code, outcome.document["dry_run"])
    assert [] == cardoffers("institution", "list", "--format", "json").document


@slow
def test_an_export_is_not_guarded_and_leaves_links_out(work: Path, cardoffers: Any) -> None:
    cardoffers("catalog", "import", work)
    outcome = cardoffers("catalog", "export", "out")
    assert 0 == outcome.exit_code
    assert "Links are left out" in outcome.stderr
    assert f"{MERCHANT},=Kiosk,press" in Path("out/merchants.csv").read_text().splitlines()
    assert not Path("out/links.csv").exists()


def test_institutions_are_listed_shown_and_set(work: Path, cardoffers: Any) -> None:
    cardoffers("catalog", "import", work)
    words = ("--plan", "enterprise", "--languages", "es,en", "--format", "json")
    assert 0 == cardoffers("institution", "set", "alder", *words).exit_code
    shown = cardoffers("institution", "show", "alder", "--format", "json").document
    assert ("enterprise", ["es", "en"]) == (shown["plan"], shown["languages"])
    assert "alder\t" in cardoffers("institution", "list").stdout
    assert 5 == cardoffers("institution", "show", "aldr").exit_code
    assert 2 == cardoffers("institution", "set", "alder", "--plan", "gold").exit_code


def test_every_missing_column_of_every_file_is_named_at_once(
    tmp_path: Path, cardoffers: Any
) -> None:
    new_store(tmp_path)
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / "institutions.csv").write_text("slug,Currency\nalder,GBP\n")
    (folder / "merchants.csv").write_text("merchant_id,name,category\n")
    (folder / "offers.csv").write_text("offer_id,title_en\n")
    store = ("--store", tmp_path / "store.duckdb")
    ended = cardoffers("catalog", "import", folder, *store, "--format", "json")
    assert (14, "header_column_missing") == (ended.exit_code, ended.error["code"])
    assert (
        "institutions.csv: The header lacks the columns name, plan, currency, languages, "
        "max_active_offers, widget_limit. offers.csv: The header lacks the columns merchant_id, "
        "min_spend, cashback_amount, currency, starts_at, expires_at." == ended.error["message"]
    )
    assert "write it exactly currency" in ended.error["hint"]


def test_what_is_wrong_with_a_value_stands_on_the_screen(tmp_path: Path, cardoffers: Any) -> None:
    new_store(tmp_path)
    (tmp_path / "institutions.csv").write_text(
        "slug,name,plan,currency,languages,max_active_offers,widget_limit\n"
        "alder,Alder,gold,GBP,en,9,9\nBirch,Birch,growth,POUND,en,9,9\n"
    )
    store = ("--store", tmp_path / "store.duckdb")
    words = ("catalog", "import", tmp_path / "institutions.csv", *store)
    shown = " ".join(cardoffers(*words, "--format", "table").stdout.split())
    for message in ("plan must be one of starter, growth, enterprise", "currency must be an ISO"):
        assert message in shown
    found = cardoffers(*words, "--format", "json").document["files"][0]["findings"]
    assert [("value_invalid", 2, 3)] == [
        (each["code"], each["rows"], len(each["messages"])) for each in found
    ]
