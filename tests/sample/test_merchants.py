from __future__ import annotations

import pytest

from cardoffers_cli.sample.chance import Chance
from cardoffers_cli.sample.merchants import identifiers, make_merchants
from cardoffers_cli.sample.plan import MARKETS, Market


@pytest.mark.parametrize("market", MARKETS.values(), ids=MARKETS)
def test_names_and_acceptor_ids_differ_in_the_largest_market_too(market: Market) -> None:
    merchants = make_merchants(Chance(7), market, purchases=100_000_000, share=1.0)
    assert 18_036 > merchants.known > 18_000
    assert merchants.catalogue["name"].n_unique() == merchants.known
    rows = identifiers(merchants.table).filter(merchant_identifier_type="card_acceptor")
    acceptors = rows["merchant_identifier"]
    assert acceptors.n_unique() == acceptors.len()
    assert acceptors.str.contains(r"^\d{15}$").all()
