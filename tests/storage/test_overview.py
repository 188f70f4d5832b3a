from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.storage.overview import redemptions_by_day
from tables import NOON, given

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.kernel.store.store import Store

MIDNIGHT = NOON - timedelta(hours=12)
TICK = timedelta(microseconds=1)


def test_each_of_the_last_30_days_is_counted(store: Store) -> None:
    given(store, "institutions", "institution\nalder\nbrook")
    given(store, "merchants", "merchant\nbakery")
    given(store, "offers", "offer merchant\nA bakery")
    given(
        store,
        "redemptions",
        """
        institution  offer  at
        alder        A      2026-05-02T23:59:59.999Z
        alder        A      2026-05-03T00:00:00.000Z
        alder        A      2026-05-31T23:59:59.999Z
        alder        A      2026-06-01T00:00:00.000Z
        alder        A      2026-06-01T12:00:00.000Z
        alder        A      2026-06-01T12:00:00.001Z
        """,
    )
    nothing = [0] * 30
    expected = {"alder": [1, *nothing[:27], 1, 2], "brook": nothing}
    assert expected == redemptions_by_day(store, NOON)


@pytest.mark.parametrize("now", [MIDNIGHT - TICK, MIDNIGHT, NOON])
def test_there_are_always_30_days(store: Store, now: datetime) -> None:
    given(store, "institutions", "institution\nalder")
    assert {"alder": [0] * 30} == redemptions_by_day(store, now)


def test_without_institutions_there_is_nothing(store: Store) -> None:
    assert {} == redemptions_by_day(store, NOON)
