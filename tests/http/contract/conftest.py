"""One situation for every test of the contract, and both doors into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.river.engines import match_purchases
from doors import DOORS, open_door
from work import new_store, once, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from doors import Door

SITUATION = {
    "institutions": """
        institution  plan     max_active_offers  languages
        alder        growth   3                  en|es
        brook        starter  100                es|en
        """,
    "merchants": "merchant category\nbakery food\ncinema leisure",
    "identifiers": "identifier merchant\nM1 bakery\nM2 cinema",
    "offers": """
        offer   merchant  cashback  rate  min_spend  segments  paused  budget  expires_at
        bread   bakery    3.00      0.1   10.00      -         no      -       2026-12-01
        film    cinema    5.00      0     0          gold      no      -       2026-12-01
        closed  cinema    5.00      0     0          -         yes     -       2026-12-01
        spent   cinema    5.00      0     0          -         no      4.99    2026-12-01
        old     cinema    5.00      0     0          -         no      -       2026-05-30
        cake    bakery    1.00      0     0          -         no      -       2026-12-01
        tea     bakery    1.00      0     0          -         no      -       2026-12-01
        theirs  bakery    2.00      0     0          -         no      -       2026-12-01
        """,
    "programs": """
        institution  offer
        alder        bread
        alder        film
        alder        closed
        alder        spent
        alder        old
        alder        cake
        alder        tea
        brook        bread
        brook        theirs
        """,
    "links": """
        institution  cardholder  offer
        alder        ann         bread
        alder        full        bread
        alder        full        cake
        alder        full        tea
        brook        ann         bread
        brook        bea         theirs
        """,
    "purchases": """
        institution  ref  cardholder  identifier  at
        alder        a1   ann         M1          09:00:00
        alder        a2   ann         M1          09:30:00
        alder        a3   ann         M1          10:00:00
        brook        b1   ann         M1          10:00:00
        brook        b2   bea         M1          10:30:00
        """,
    "engagement": """
        institution  cardholder  event             offer  at
        alder        ann         widget_view       -      10:00:00
        alder        ann         offer_impression  bread  10:00:00
        brook        bea         widget_view       -      10:00:00
        """,
    "keys": """
        key           institution  scopes                         created     expires     revoked
        alderall      alder        offers|reporting|transactions  2026-01-01  2027-01-01  -
        legacy        alder        -                              2026-01-01  -           -
        offers        alder        offers                         2026-01-01  2027-01-01  -
        transactions  alder        transactions                   2026-01-01  2027-01-01  -
        reporting     alder        reporting                      2026-01-01  2027-01-01  -
        revoked       alder        offers|reporting|transactions  2026-01-01  2027-01-01  2026-05-01
        expired       alder        offers|reporting|transactions  2025-01-01  2026-01-01  -
        both          alder        offers|reporting|transactions  2025-01-01  2026-01-01  2026-05-01
        brookall      brook        offers|reporting|transactions  2026-01-01  2027-01-01  -
        """,
}
"""Two institutions that share an offer, with redemptions of each; every sort of key.

`unknown` is a key that nobody has.
"""


@once
def situation(folder: Path) -> Job:
    """Make a store with the situation in a folder."""
    job = new_store(folder)
    tell(job, **SITUATION)
    match_purchases(job)
    return job


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """The situation, for a module whose tests leave it as it is, or do not mind."""
    return situation(tmp_path_factory.mktemp("situation"))


@pytest.fixture(scope="module", params=DOORS)
def door(request: pytest.FixtureRequest, job: Job) -> Iterator[Door]:
    """Each of the doors into the situation."""
    with open_door(request.param, job) as door:
        yield door


@pytest.fixture
def fresh(tmp_path: Path) -> Job:
    """The situation, for one test that changes it."""
    return situation(tmp_path)
