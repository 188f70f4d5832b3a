"""Sample data in the layout of a profile is read by it without a finding."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl
import pytest

from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.intake.layouts import open_layout
from cardoffers_cli.intake.transactions import FileReading
from cardoffers_cli.sample.plan import Plan
from cardoffers_cli.sample.work import sample_profile
from layouts import LAYOUTS, MadeLayout
from sizes import slow

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 12, 31)  # noqa: DTZ001 - moments are naive UTC inside the product
ROWS = 120
TOKENS = """
cardholder_token = {constant = "9fb6f85a8aac50e20c422cac18b44258"}
card_token = {constant = "ct_527b"}
"""
PLAN = Plan(rows=ROWS, seed=1, institutions=1, links=0)


@slow
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_sample_is_good_in_its_layout(layout: MadeLayout, tmp_path: Path) -> None:
    profile = parse_profile(layout.profile + TOKENS, "P.toml")
    path, again = tmp_path / "sample", tmp_path / "again"
    for to in (path, again):
        sample_profile(profile, PLAN, to, named="P.toml", decimals=2)
    assert path.read_bytes() == again.read_bytes()
    with open_layout(str(path), FileReading(now=NOW, profile=profile)) as file:
        found = pl.concat(chunk.findings for chunk in file.chunks())
        assert [] == found.filter(pl.col("level") == "error").rows()
        assert ROWS == file.received
