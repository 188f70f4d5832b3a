"""A whole sample of some size, read back as data: does it look like a bank's?"""

from __future__ import annotations

import gzip
import json
from datetime import date
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from cardoffers_cli.sample.plan import Plan
from cardoffers_cli.sample.sample import write_sample
from sizes import slow

if TYPE_CHECKING:
    from pathlib import Path

ROWS, LINKS = 20_000, 8_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    made = list(write_sample(folder, Plan(rows=ROWS, seed=11, links=LINKS, institutions=4)))
    assert len(made) == len({file.path for file in made})
    return folder


def table(folder: Path, name: str) -> pl.DataFrame:
    return pl.read_csv(folder / "catalog" / f"{name}.csv", infer_schema=False)


def transactions(folder: Path, slug: str) -> pl.DataFrame:
    return pl.read_csv(folder / "transactions" / f"{slug}.csv", infer_schema=False)


def everything(folder: Path) -> pl.DataFrame:
    slugs = table(folder, "institutions")["slug"]
    frames = [transactions(folder, slug).with_columns(institution=pl.lit(slug)) for slug in slugs]
    return pl.concat(frames)


@pytest.mark.parametrize(
    ("column", "form"),
    [
        ("cardholder_token", r"^[0-9a-f]{64}$"),
        ("card_token", r"^ct_[0-9a-f]{32}$"),
        ("card_acceptor_id", r"^[0-9]{15}$"),
        ("amount", r"^[0-9]{1,6}\.[0-9]{2}$"),
        ("transaction_ref", r"^[A-Z]{3}[0-9]-[0-9a-f]{16}$"),
        ("transacted_at", r"^2026-(07|08|09)-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z$"),
    ],
)
def test_every_cell_of_a_clean_file_has_its_form(folder: Path, column: str, form: str) -> None:
    assert everything(folder)[column].str.contains(form).all()


@pytest.mark.parametrize(("refunds", "expected"), [(None, 6), (0, 0), (30, 30), (300, 300)])
def test_refunds_are_of_purchases_and_of_no_more_than_these(
    tmp_path: Path, refunds: int | None, expected: int
) -> None:
    made(tmp_path, institutions=1, refunds=refunds)
    files = list((tmp_path / "refunds").glob("*.csv"))
    assert bool(expected) == bool(files)
    for path in files:
        rows = pl.read_csv(path, infer_schema=False)
        assert (expected, expected) == (rows.height, rows["refund_ref"].n_unique())
        found = rows.join(
            transactions(tmp_path, path.stem).unique("transaction_ref", maintain_order=True),
            left_on="original_transaction_ref",
            right_on="transaction_ref",
        )
        assert expected // 2 <= found.height
        cents = pl.Decimal(18, 2)
        assert found.filter(
            (pl.col("cardholder_token") != pl.col("cardholder_token_right"))
            | (pl.col("amount").cast(cents) > pl.col("amount_right").cast(cents))
            | (pl.col("refunded_at") < pl.col("transacted_at"))
            | (pl.col("refunded_at") >= "2026-10-01")
        ).is_empty()


def test_rows_and_links_add_up(folder: Path) -> None:
    assert (ROWS, LINKS) == (everything(folder).height, table(folder, "links").height)


def test_amounts_are_positive_and_skewed(folder: Path) -> None:
    amounts = transactions(folder, "larkmere")["amount"].cast(pl.Decimal(18, 2))
    assert amounts.min() > 0
    assert amounts.mean() > amounts.median() * 3 / 2


def test_some_rows_repeat_and_a_few_conflict(folder: Path) -> None:
    rows = everything(folder)
    again = ROWS - rows.select("institution", "transaction_ref").n_unique()
    harmless = ROWS - rows.n_unique()
    assert 0.006 < again / ROWS < 0.012
    assert 0.0003 < (again - harmless) / ROWS < 0.002


def test_cardholders_shop_from_once_to_some_200_times(folder: Path) -> None:
    counts = everything(folder).group_by("institution", "cardholder_token").len()["len"]
    assert counts.min() == 1
    assert 100 < counts.max() <= 220
    assert counts.median() < counts.mean()


def test_some_purchases_are_at_merchants_nobody_knows(folder: Path) -> None:
    known = table(folder, "merchant_identifiers")["merchant_identifier"]
    unknown = everything(folder).filter(~pl.col("card_acceptor_id").is_in(known.implode())).height
    assert 0.06 < unknown / ROWS < 0.10


def test_a_few_merchants_see_much_of_the_trade(folder: Path) -> None:
    counts = transactions(folder, "larkmere")["card_acceptor_id"].str.slice(0, 11).value_counts()
    busiest = counts["count"].sort(descending=True)
    assert busiest.head(5).sum() > busiest.sum() / 5


def test_days_and_hours_have_their_rush(folder: Path) -> None:
    moments = everything(folder)["transacted_at"].str.to_datetime("%Y-%m-%dT%H:%M:%SZ")
    hours = moments.dt.hour()
    assert (hours == 12).sum() > 10 * (hours == 3).sum()
    weekdays = moments.dt.weekday()
    assert (weekdays == 6).sum() > (weekdays == 1).sum()


def test_rows_arrive_nearly_in_order(folder: Path) -> None:
    moments = transactions(folder, "larkmere")["transacted_at"]
    assert not moments.is_sorted()
    days = moments.str.slice(0, 10)
    assert (days == days.sort()).mean() > 0.7


def test_a_link_occurs_once_and_names_an_offer_of_the_program(folder: Path) -> None:
    links = table(folder, "links")
    key = ["institution", "cardholder_token", "offer_id"]
    assert links.height == links.select(key).n_unique()
    programs = table(folder, "program_offers")
    assert links.join(programs, on=["institution", "offer_id"], how="anti").is_empty()


def test_an_event_occurs_once_and_names_an_offer_of_the_program(folder: Path) -> None:
    events = table(folder, "engagement")
    assert events.height == events.n_unique()
    impressions = events.filter(event="offer_impression")
    programs = table(folder, "program_offers")
    assert impressions.join(programs, on=["institution", "offer_id"], how="anti").is_empty()
    assert events.filter(event="widget_view")["offer_id"].null_count() == events.height - len(
        impressions
    )


def test_an_impression_is_of_a_view_and_of_an_offer_that_was_running(folder: Path) -> None:
    events = table(folder, "engagement")
    impressions = events.filter(event="offer_impression")
    visit = ["institution", "cardholder_token", "occurred_at"]
    assert impressions.join(events.filter(event="widget_view"), on=visit, how="anti").is_empty()
    shown = impressions.join(table(folder, "offers"), on="offer_id")
    assert shown["occurred_at"].is_between(shown["starts_at"], shown["expires_at"], "left").all()


def test_most_links_come_out_of_an_impression_just_before(folder: Path) -> None:
    links, events = table(folder, "links"), table(folder, "engagement")
    key = ["institution", "cardholder_token", "offer_id"]
    moments = pl.col("added_at", "occurred_at").str.to_datetime("%Y-%m-%dT%H:%M:%SZ")
    pairs = links.join(events, on=key).with_columns(moments)
    thought = pairs["added_at"] - pairs["occurred_at"]
    led = pairs.filter(thought.is_between(pl.duration(seconds=1), pl.duration(minutes=10)))
    assert 0.5 < led.select(key).n_unique() / links.height < 0.8


def test_some_visits_lead_to_nothing_and_some_show_several_offers(folder: Path) -> None:
    events = table(folder, "engagement")
    views = events.filter(event="widget_view")
    assert table(folder, "links").height * 0.62 < views.height
    assert 1.5 < (events.height - views.height) / views.height < 3


def test_names_and_ids_are_unique(folder: Path) -> None:
    merchants = table(folder, "merchants")
    assert merchants.height == merchants["merchant_id"].n_unique() == merchants["name"].n_unique()
    identifiers = table(folder, "merchant_identifiers").drop("merchant_id")
    assert identifiers.height == identifiers.n_unique()
    offers = table(folder, "offers")
    assert offers.height == offers["offer_id"].n_unique()


def test_offers_are_of_known_merchants_and_of_the_currency_of_their_program(folder: Path) -> None:
    offers = table(folder, "offers")
    assert offers.join(table(folder, "merchants"), on="merchant_id", how="anti").is_empty()
    institutions = table(folder, "institutions").select(
        institution="slug", institution_currency="currency"
    )
    programs = table(folder, "program_offers").join(offers, on="offer_id")
    joined = programs.join(institutions, on="institution")
    assert programs.height == joined.height
    assert (joined["currency"] == joined["institution_currency"]).all()


def test_british_programs_share_some_offers_and_not_all(folder: Path) -> None:
    programs = table(folder, "program_offers")
    larkmere, tarnhollow = (
        set(programs.filter(institution=slug)["offer_id"]) for slug in ("larkmere", "tarnhollow")
    )
    assert larkmere & tarnhollow
    assert larkmere - tarnhollow
    assert tarnhollow - larkmere


def test_offers_differ_in_window_budget_limit_segment_and_language(folder: Path) -> None:
    offers = table(folder, "offers")
    some = {
        "starts inside": (offers["starts_at"] > "2026-07-03").sum(),
        "ends inside": (offers["expires_at"] < "2026-10-01").sum(),
        "no budget": offers["budget_amount"].null_count(),
        "limited": offers["max_redemptions_per_cardholder"].is_not_null().sum(),
        "segments": offers["segments"].is_not_null().sum(),
        "paused": (offers["paused"] == "true").sum(),
        "no Spanish": offers["title_es"].null_count(),
        "no Portuguese": offers["title_pt-BR"].null_count(),
    }
    assert {} == {name: count for name, count in some.items() if not 0 < count < offers.height}
    assert offers["title_en"].null_count() == 0


def made(folder: Path, **options: Any) -> list[Path]:
    plan = Plan(**({"rows": 300, "seed": 3, "links": 90} | options))
    return [file.path for file in write_sample(folder, plan)]


@slow
def test_a_sample_cut_in_files_holds_the_same_rows(tmp_path: Path) -> None:
    made(tmp_path / "whole")
    made(tmp_path / "cut", files=4)
    cut = [transactions(tmp_path / "cut", f"larkmere-{part}") for part in (1, 2, 3, 4)]
    assert transactions(tmp_path / "whole", "larkmere").equals(pl.concat(cut))


@slow
def test_json_lines_json_and_gzip_hold_the_same_rows(tmp_path: Path) -> None:
    made(tmp_path / "csv")
    made(tmp_path / "json", kind="json")
    made(tmp_path / "jsonl", kind="jsonl", gzip=True)
    expected = transactions(tmp_path / "csv", "larkmere").to_dicts()
    document = (tmp_path / "json" / "transactions" / "larkmere.json").read_text()
    packed = (tmp_path / "jsonl" / "transactions" / "larkmere.jsonl.gz").read_bytes()
    lines = gzip.decompress(packed).decode().splitlines()
    assert expected == json.loads(document, parse_float=str)
    assert expected == [json.loads(line, parse_float=str) for line in lines]


def test_the_period_is_as_asked(tmp_path: Path) -> None:
    made(tmp_path, start=date(2025, 2, 1), days=7)
    days = transactions(tmp_path, "larkmere")["transacted_at"].str.slice(0, 10)
    assert [f"2025-02-0{day}" for day in range(1, 8)] == sorted(set(days))
    assert table(tmp_path, "links")["added_at"].is_between("2025-02-01", "2025-02-08").all()


@slow
def test_more_links_than_a_program_has_room_for_fill_it(tmp_path: Path) -> None:
    made(tmp_path, links=1_000_000, institutions=1)
    offers = table(tmp_path, "program_offers").height
    assert table(tmp_path, "links").height % offers == 0


@pytest.mark.parametrize("rows", [1, 2, 3, 17])
def test_tiny_samples_are_made_too(tmp_path: Path, rows: int) -> None:
    made(tmp_path, rows=rows, institutions=1, links=1, files=2)
    parts = [transactions(tmp_path, f"larkmere-{part}").height for part in (1, 2)]
    assert rows == sum(parts)
