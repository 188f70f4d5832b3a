from __future__ import annotations

from pathlib import Path

from cardoffers_cli.kernel.sheets.exports import sample_data

CHECKOUT = Path(__file__).parents[3]


def test_in_a_checkout_the_sample_data_lies_beside_the_package() -> None:
    assert CHECKOUT / "sample_data" == sample_data()
