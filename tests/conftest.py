from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.store.opening import scratch_store
from tables import NOON
from work import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.store.store import Store


@pytest.fixture(scope="session")
def scratch() -> Iterator[Store]:
    with scratch_store(settings(), NOON) as store:
        yield store


@pytest.fixture
def store(scratch: Store) -> Iterator[Store]:
    """An empty store; what a test writes is gone after it."""
    with scratch.transaction(keep=False):
        yield scratch
