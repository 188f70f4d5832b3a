"""Unknown merchants of a sample: what purchases say of them, and the truth beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.sample.merchants import KINDS, TRUTH
from cardoffers_cli.sample.plan import Plan
from cardoffers_cli.sample.sample import write_sample
from cardoffers_cli.sample.work import sample

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("strangers")
    for _ in write_sample(folder, Plan(rows=8000, seed=3, institutions=4, unknown_merchants=COUNT)):
        pass
    return folder


def read(folder: Path, part: str, name: str = "*") -> pl.DataFrame:
    files = sorted((folder / part).glob(f"{name}.csv"))
    return pl.concat([pl.read_csv(file, infer_schema=False) for file in files])


@pytest.fixture(scope="module")
def bought(folder: Path) -> pl.DataFrame:
    """Return the purchases at unknown identifiers, with the truth of each."""
    made = read(folder, "transactions")
    return made.join(
        read(folder, "truth"), left_on="card_acceptor_id", right_on="merchant_identifier"
    )


def test_the_truth_is_of_four_kinds_and_names_merchants_of_the_catalogue(folder: Path) -> None:
    truth = read(folder, "truth")
    assert (TRUTH, COUNT, {*KINDS}) == (truth.columns, truth.height, {*truth["kind"]})
    assert COUNT == truth["merchant_identifier"].n_unique()
    of_known = truth["kind"].is_in(KINDS[:2])
    assert of_known.to_list() == truth["merchant_id"].is_not_null().to_list()
    known = read(folder, "catalog", "merchants")["merchant_id"]
    assert truth["merchant_id"].drop_nulls().is_in(known.implode()).all()


def test_no_unknown_identifier_is_in_the_catalogue(folder: Path, bought: pl.DataFrame) -> None:
    known = read(folder, "catalog", "merchant_identifiers")["merchant_identifier"]
    unknown = read(folder, "truth")["merchant_identifier"]
    assert not unknown.is_in(known.implode()).any()
    made = read(folder, "transactions")
    assert bought.height == made.filter(~pl.col("card_acceptor_id").is_in(known.implode())).height


def test_every_purchase_says_what_its_merchant_is_called(folder: Path) -> None:
    form = r"^([A-Z]{2,6} ?\*)?\p{Lu}[\p{Lu} -]{2,24}( #[0-9]{4}| [0-3][0-9]/[01][0-9])?$"
    assert read(folder, "transactions")["merchant_descriptor"].str.contains(form).all()


def test_an_aggregator_sells_for_many_and_the_others_have_one_name(bought: pl.DataFrame) -> None:
    name = pl.col("merchant_descriptor").str.replace("( #| [0-9]).*$", "")
    names = bought.group_by("kind", "card_acceptor_id").agg(
        purchases=pl.len(), names=name.n_unique()
    )
    many = names.filter(pl.col("kind") == "aggregator", pl.col("purchases") > 5)
    assert many.height > 1
    assert (many["names"] > 1).all()
    assert (names.filter(pl.col("kind") != "aggregator")["names"] == 1).all()


def test_a_sample_that_asks_for_none_says_nothing_of_names(tmp_path: Path) -> None:
    list(write_sample(tmp_path, Plan(rows=100, seed=1)))
    assert not (tmp_path / "truth").exists()
    assert "merchant_descriptor" not in read(tmp_path, "transactions").columns


@pytest.mark.parametrize("count", [-1, 9001])
def test_more_than_there_are_numbers_for_are_refused(tmp_path: Path, count: int) -> None:
    with pytest.raises(UsageError, match="9000"):
        list(sample(tmp_path, Plan(rows=100, seed=1, unknown_merchants=count)))
