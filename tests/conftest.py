from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.store.opening import scratch_store
from sparks import SERVERS, Spark, running
from tables import NOON
from work import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.store.store import Store


MAIN = sys.modules["__main__"]
if not hasattr(MAIN, "__file__"):
    # A process that xdist starts. PySpark takes it for a doctest, and ends it when imported.
    MAIN.__file__ = __file__


@pytest.fixture(scope="session")
def scratch() -> Iterator[Store]:
    with scratch_store(settings(), NOON) as store:
        yield store


@pytest.fixture
def store(scratch: Store) -> Iterator[Store]:
    """An empty store; what a test writes is gone after it."""
    with scratch.transaction(keep=False):
        yield scratch


@pytest.fixture(scope="session", params=SERVERS)
def spark(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Spark]:
    """A server of Spark Connect; each of them in turn."""
    with running(request.param, tmp_path_factory.mktemp("spark")) as server:
        yield server
