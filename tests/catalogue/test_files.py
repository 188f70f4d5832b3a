from __future__ import annotations

import csv
import gzip
import json
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from cardoffers_cli.catalogue.files import KINDS, CatalogueFile, catalogue_files, read_row
from cardoffers_cli.kernel.words.errors import FileUnusable, NotFound
from cardoffers_cli.kernel.words.findings import CATALOGUE_CODES

if TYPE_CHECKING:
    from pathlib import Path

MERCHANT = "9c4e1852-991b-5a75-a73e-d9ba1d2b977c"

GOOD: dict[str, dict[str, str]] = {
    "institutions": {
        "slug": "alder",
        "institution_id": "7c9a1745-303f-576b-af43-a4367a33b2ad",
        "name": "Alder Bank",
        "plan": "growth",
        "currency": "GBP",
        "languages": "en|es",
        "max_active_offers": "10",
        "widget_limit": "50",
        "settlement_hold_days": "0",
        "webhook_url": "https://alder.example/hook",
    },
    "merchants": {"merchant_id": MERCHANT, "name": "Kiosk, the", "category": "grocery"},
    "merchant_identifiers": {
        "merchant_id": MERCHANT,
        "merchant_identifier_type": "pix_key",
        "merchant_identifier": "loja@pix.example",
    },
    "offers": {
        "offer_id": "of-1",
        "merchant_id": MERCHANT,
        "title_en": "Five off",
        "title_es": "Cinco menos",
        "min_spend": "25.00",
        "cashback_amount": "5.00",
        "currency": "GBP",
        "commission_rate": "0.05",
        "budget_amount": "100.00",
        "starts_at": "2026-01-01T00:00:00Z",
        "expires_at": "2026-02-01T00:00:00Z",
        "segments": "gold|student",
        "max_redemptions_per_cardholder": "3",
        "paused": "true",
    },
    "program_offers": {"institution": "alder", "offer_id": "of-1", "position": "1"},
    "links": {
        "institution": "alder",
        "cardholder_token": "ch_8ae8fd416ffb1580c86c6fd3",
        "card_token": "ct_6362c631e71cc95c88da7b25",
        "offer_id": "of-1",
        "added_at": "2026-01-02T00:00:00Z",
    },
    "engagement": {
        "institution": "alder",
        "cardholder_token": "ch_8ae8fd416ffb1580c86c6fd3",
        "event": "offer_impression",
        "offer_id": "of-1",
        "occurred_at": "2026-01-02T00:00:00Z",
    },
}

# kind, column, text -> code
WRONG = [
    ("institutions", "slug", "", "required_missing"),
    ("institutions", "slug", "Alder", "value_invalid"),
    ("institutions", "slug", "al der", "value_invalid"),
    ("institutions", "institution_id", "alder", "value_invalid"),
    ("institutions", "name", "", "required_missing"),
    ("institutions", "name", "Al\u200bder", "control_character"),
    ("institutions", "name", "A" * 201, "value_invalid"),
    ("institutions", "plan", "gold", "value_invalid"),
    ("institutions", "currency", "gbp", "value_invalid"),
    ("institutions", "currency", "XXX", "value_invalid"),
    ("institutions", "languages", "en|de", "value_invalid"),
    ("institutions", "languages", "en|en", "value_invalid"),
    ("institutions", "languages", "en|", "value_invalid"),
    ("institutions", "max_active_offers", "0", "value_invalid"),
    ("institutions", "max_active_offers", "1.5", "value_invalid"),
    ("institutions", "max_active_offers", "", "required_missing"),
    ("institutions", "widget_limit", "-1", "value_invalid"),
    ("institutions", "settlement_hold_days", "one", "value_invalid"),
    ("merchants", "merchant_id", "", "required_missing"),
    ("merchants", "merchant_id", "9c4e1852", "value_invalid"),
    ("merchants", "category", "", "required_missing"),
    ("merchant_identifiers", "merchant_identifier_type", "card", "value_invalid"),
    ("merchant_identifiers", "merchant_identifier", "", "required_missing"),
    ("merchant_identifiers", "merchant_identifier", "7\u202e8", "control_character"),
    ("offers", "offer_id", "of 1", "value_invalid"),
    ("offers", "offer_id", "é", "value_invalid"),
    ("offers", "title_en", "", "required_missing"),
    ("offers", "min_spend", "-1", "value_invalid"),
    ("offers", "min_spend", "1e3", "value_invalid"),
    ("offers", "min_spend", "1,000.00", "value_invalid"),
    ("offers", "min_spend", " 5", "value_invalid"),
    ("offers", "min_spend", "1000000000000", "value_invalid"),
    ("offers", "min_spend", "5.001", "amount_precision"),
    ("offers", "cashback_amount", "0.00", "value_invalid"),
    ("offers", "cashback_amount", "5.123", "amount_precision"),
    ("offers", "budget_amount", "99.999", "amount_precision"),
    ("offers", "currency", "EURO", "value_invalid"),
    ("offers", "commission_rate", "1.01", "value_invalid"),
    ("offers", "commission_rate", "5%", "value_invalid"),
    ("offers", "commission_rate", "0.1234567", "value_invalid"),
    ("offers", "starts_at", "01/02/2026", "value_invalid"),
    ("offers", "starts_at", "2026-02-30", "value_invalid"),
    ("offers", "starts_at", "2026-01-01T24:00:00Z", "value_invalid"),
    ("offers", "expires_at", "2026-01-01T00:00:00Z", "value_invalid"),
    ("offers", "expires_at", "2026-01-01T01:00:00+01:00", "value_invalid"),
    ("offers", "segments", "gold||student", "value_invalid"),
    ("offers", "segments", "gold|gold", "value_invalid"),
    ("offers", "max_redemptions_per_cardholder", "0", "value_invalid"),
    ("offers", "paused", "maybe", "value_invalid"),
    ("program_offers", "institution", "", "required_missing"),
    ("program_offers", "position", "first", "value_invalid"),
    ("links", "cardholder_token", "", "required_missing"),
    ("links", "cardholder_token", "ana@bank.example", "personal_data"),
    ("links", "cardholder_token", "4111 1111 1111 1111", "card_number"),
    ("links", "card_token", "4111111111111111", "card_number"),
    ("links", "card_token", "ct 1", "token_invalid"),
    ("links", "card_token", "t" * 257, "token_invalid"),
    ("links", "added_at", "yesterday", "value_invalid"),
    ("engagement", "institution", "", "required_missing"),
    ("engagement", "cardholder_token", "", "required_missing"),
    ("engagement", "cardholder_token", "ana@bank.example", "personal_data"),
    ("engagement", "cardholder_token", "4111-1111-1111-1111", "card_number"),
    ("engagement", "cardholder_token", "ch 1", "token_invalid"),
    ("engagement", "event", "", "required_missing"),
    ("engagement", "event", "click", "value_invalid"),
    ("engagement", "event", "Widget_View", "value_invalid"),
    ("engagement", "event", "widget_view", "value_invalid"),  # of an offer
    ("engagement", "offer_id", "", "required_missing"),  # an impression
    ("engagement", "offer_id", "of 1", "value_invalid"),
    ("engagement", "occurred_at", "", "required_missing"),
    ("engagement", "occurred_at", "2026-02-30", "value_invalid"),
]

# kind, column, text -> value
FINE: list[tuple[str, str, str, Any]] = [
    ("institutions", "institution_id", "", None),
    ("institutions", "languages", "pt-BR", "pt-BR"),
    ("institutions", "settlement_hold_days", "", 0),
    ("institutions", "webhook_url", "", None),
    ("merchants", "merchant_id", MERCHANT.upper(), MERCHANT),
    ("merchants", "name", "=Größe 1", "=Größe 1"),
    ("merchant_identifiers", "merchant_identifier_type", "", "card_acceptor"),
    ("merchant_identifiers", "merchant_identifier", " 007 ", " 007 "),
    ("offers", "title_es", "", None),
    ("offers", "min_spend", "0", Decimal("0.0000")),
    ("offers", "cashback_amount", "0.01", Decimal("0.0100")),
    ("offers", "commission_rate", "", Decimal("0.000000")),
    ("offers", "commission_rate", "1", Decimal("1.000000")),
    ("offers", "budget_amount", "", None),
    ("offers", "starts_at", "2026-01-01", datetime(2026, 1, 1)),  # noqa: DTZ001
    ("offers", "starts_at", "2026-01-01 02:00+02:00", datetime(2026, 1, 1)),  # noqa: DTZ001
    ("offers", "expires_at", "2026-01-01T00:00:01", datetime(2026, 1, 1, 0, 0, 1)),  # noqa: DTZ001
    ("offers", "segments", "", None),
    ("offers", "paused", "", False),
    ("offers", "paused", "NO", False),
    ("program_offers", "position", "0", 0),
    ("engagement", "occurred_at", "2026-01-02 02:00+02:00", datetime(2026, 1, 2)),  # noqa: DTZ001
]


def judge(kind: str, **cells: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    page = read_row(KINDS[kind], {**GOOD[kind], **cells})
    return page.rows, page.findings


@pytest.mark.parametrize(("kind", "column", "text", "code"), WRONG)
def test_a_wrong_cell_is_a_finding(kind: str, column: str, text: str, code: str) -> None:
    rows, findings = judge(kind, **{column: text})
    blamed = "offer_id" if text == "widget_view" else column
    assert [(1, blamed, code, "error")] == findings.drop("message").rows()
    assert 0 == rows.height


def test_a_message_never_quotes_a_token() -> None:
    tokens = [text for kind, column, text, _ in WRONG if text and column.endswith("_token")]
    said = [judge("links", card_token=token)[1]["message"].item() for token in tokens]
    assert [] == [token for token in tokens for message in said if token in message]


@pytest.mark.parametrize(("kind", "column", "text", "value"), FINE)
def test_a_cell_is_read(kind: str, column: str, text: str, value: Any) -> None:
    rows, findings = judge(kind, **{column: text})
    assert [] == findings.rows()
    assert [value] == rows[column].to_list()


@pytest.mark.parametrize("kind", KINDS)
def test_a_good_row_has_no_findings(kind: str) -> None:
    rows, findings = judge(kind)
    assert (1, 0) == (rows.height, findings.height)


def test_a_view_is_of_no_offer() -> None:
    rows, findings = judge("engagement", event="widget_view", offer_id="")
    assert [] == findings.rows()
    assert [("widget_view", None)] == rows["event", "offer_id"].rows()


def test_a_row_has_one_finding_for_each_cell_that_is_wrong() -> None:
    _, findings = judge("offers", offer_id="", min_spend="x", currency="?", paused="?")
    assert ["offer_id", "min_spend", "currency", "paused"] == findings["column"].to_list()


def test_a_currency_without_decimals_takes_whole_amounts_only() -> None:
    _, findings = judge(
        "offers", currency="JPY", min_spend="100", cashback_amount="5.0", budget_amount=""
    )
    assert [("cashback_amount", "amount_precision")] == findings["column", "code"].rows()


def test_every_code_can_be_explained() -> None:
    assert {code for *_, code in WRONG} <= CATALOGUE_CODES.keys()


# Files


def write(path: Path, *rows: dict[str, str]) -> Path:
    """Write rows as the kind of file that the name asks for."""
    text = path.with_name("text")
    if ".json" in path.suffixes:
        text.write_text(json.dumps(rows), "utf-8")
    elif ".jsonl" in path.suffixes:
        text.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    else:
        with text.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    content = text.read_bytes()
    text.unlink()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def read(file: CatalogueFile) -> tuple[pl.DataFrame, pl.DataFrame]:
    pages = list(file.pages())
    return pl.concat(page.rows for page in pages), pl.concat(page.findings for page in pages)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".json", ".json.gz", ".jsonl", ".jsonl.gz"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_form_of_file_says_the_same(tmp_path: Path, kind: str, suffix: str) -> None:
    (file,) = catalogue_files(write(tmp_path / f"{kind}{suffix}", GOOD[kind]))
    rows, findings = read(file)
    assert (kind, 1, []) == (file.kind.name, file.received, findings.rows())
    assert judge(kind)[0].drop("line").rows() == rows.drop("line").rows()


def test_json_may_use_its_own_types(tmp_path: Path) -> None:
    path = tmp_path / "offers.json"
    own = {"min_spend": 25.00, "paused": True, "segments": ["gold", "student"]}
    path.write_text(json.dumps({"offers": [{**GOOD["offers"], **own}]}))
    (file,) = catalogue_files(path)
    assert judge("offers")[0].drop("line").rows() == read(file)[0].drop("line").rows()


def test_lines_are_those_of_the_editor(tmp_path: Path) -> None:
    path = tmp_path / "merchants.csv"
    path.write_text(f'merchant_id,name,category\n\n{MERCHANT},Kiosk,x\nx,y\n"x,y,z\nz,y,x\n')
    (file,) = catalogue_files(path)
    rows, findings = read(file)
    assert [3] == rows["line"].to_list()
    assert [(4, "field_count"), (5, "unclosed_quote"), (6, "value_invalid")] == findings[
        "line", "code"
    ].rows()
    assert 4 == file.received


def test_a_folder_is_taken_in_the_order_of_references(tmp_path: Path) -> None:
    for kind in sorted(KINDS):
        write(tmp_path / f"{kind}.csv", GOOD[kind])
    (tmp_path / "notes.txt").write_text("mine")
    assert [*KINDS] == [file.kind.name for file in catalogue_files(tmp_path)]


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_another_name_is_known_by_its_columns(
    tmp_path: Path, kind: str, suffix: str
) -> None:
    named = write(tmp_path / f"{kind}.{suffix}", GOOD[kind])
    (file,) = catalogue_files(named.rename(tmp_path / "upload.txt"))
    assert kind == file.kind.name


def test_what_is_no_catalogue_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as none:
        catalogue_files(tmp_path)
    write(tmp_path / "offers.csv", GOOD["offers"])
    write(tmp_path / "offers.json", GOOD["offers"])
    with pytest.raises(FileUnusable) as twice:
        catalogue_files(tmp_path)
    (tmp_path / "upload.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FileUnusable) as unknown:
        catalogue_files(tmp_path / "upload.csv")
    (tmp_path / "merchants.csv").write_text("merchant_id,name\n1,2\n")
    with pytest.raises(FileUnusable) as lacking:
        read(catalogue_files(tmp_path / "merchants.csv")[0])
    assert [
        "catalogue_missing",
        "catalogue_file_twice",
        "catalogue_kind_unknown",
        "header_column_missing",
    ] == [error.value.code for error in (none, twice, unknown, lacking)]


@pytest.mark.parametrize(("name", "text"), [("csv", "merchant_id,name,category\n"), ("json", "[]")])
def test_a_file_without_rows_is_a_warning(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / f"merchants.{name}"
    path.write_text(text)
    rows, findings = read(catalogue_files(path)[0])
    assert 0 == rows.height
    assert [("rows_missing", "warning")] == findings["code", "level"].rows()


def test_an_unknown_column_is_a_warning_for_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "merchants.csv", {**GOOD["merchants"], "colour": "red"})
    rows, findings = read(catalogue_files(path)[0])
    assert 1 == rows.height
    assert [("column_unknown", "warning")] == findings["code", "level"].rows()
