from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from complaints import complaints
from hostile import hostile_store

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job on the scene of `complaints`, which these tests only look at."""
    return complaints(tmp_path_factory.mktemp("complaints"))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job on a store full of hostile names, which these tests only look at."""
    return hostile_store(tmp_path_factory.mktemp("hostile"))
