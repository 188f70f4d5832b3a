from __future__ import annotations

import gc
import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from buckets import object_store
from cardoffers_cli.kernel.store.opening import scratch_store
from sizes import (
    ELSE_EACH_TIME,
    FULL,
    GATE,
    LONGEST,
    ROWS_EACH_TIME,
    at_the_gate,
    is_tried,
    not_tried,
)
from sparks import SERVERS, Spark, running
from work import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from buckets import ObjectStore
    from cardoffers_cli.kernel.store.store import Store

pytest_plugins = ["command_line"]

# Tests start hundreds of processes. Each would compile all that it imports, if none may keep it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# How soon examples are drawn says how busy the machine is, and nothing of what they are drawn for.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")

# What is collected once stays to the end, and is not to be looked through again and again.
gc.set_threshold(20_000, 20, 50)

MAIN = sys.modules["__main__"]
if not hasattr(MAIN, "__file__"):
    # A process that xdist starts. PySpark takes it for a doctest, and ends it when imported.
    MAIN.__file__ = __file__


@pytest.fixture(scope="session")
def scratch() -> Iterator[Store]:
    with scratch_store(settings()) as store:
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


@pytest.fixture(scope="session")
def objects() -> Iterator[ObjectStore]:
    """An S3 server of this process of tests."""
    with object_store() as server:
        yield server


@pytest.fixture
def bucket(objects: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> str:
    """A URL below an empty bucket, which the environment lets everybody reach."""
    for name, value in objects.environment.items():
        monkeypatch.setenv(name, value)
    return f"{objects.new_bucket()}/history"


@pytest.fixture(params=["folder", pytest.param("bucket", marks=at_the_gate)])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place where a history may begin; each kind in turn."""
    if request.param == "folder":
        return str(tmp_path / "history")
    url: str = request.getfixturevalue("bucket")
    return url


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one process more than there are cores, as many tests wait; at the gate most do."""
    cores = os.cpu_count() or 1
    return 2 * cores + 1 if GATE else cores + 1


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "one_in(number): see tests/kit/sizes.py")
    config.addinivalue_line("markers", "slow: see tests/kit/sizes.py")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not tried at this level, as tests/kit/sizes.py says.

    Of a file that is named every table is tried whole, and what is slow too. At the gate the
    longest files come first.
    """
    if GATE:
        first = [str(Path(__file__).parent / f"{name}.py") for name in LONGEST]
        items.sort(key=lambda item: first.index(str(item.path)) if str(item.path) in first else 99)
    if FULL:
        return
    is_named = any("::" in each or each.endswith(".py") for each in config.args)
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    left_out = []
    for test in tests.values():
        mark = None if is_named else test[0].get_closest_marker("one_in")
        most = None if is_named or GATE else _most(test[0])
        left_out += [
            item
            for position, item in enumerate(test)
            if (item.get_closest_marker("slow") and not is_named and not GATE)
            or not is_tried(position, len(test), one_in=mark.args[0] if mark else 1, most=most)
        ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]


def pytest_collection_finish() -> None:
    gc.freeze()


def _most(item: pytest.Item) -> int | None:
    """Return how many rows of a test's table are tried each time, None for all."""
    folder = item.path.parent.relative_to(Path(__file__).parent)
    if folder == Path():
        return None
    rooms = (each.as_posix() for each in (folder, *folder.parents))
    return next((ROWS_EACH_TIME[each] for each in rooms if each in ROWS_EACH_TIME), ELSE_EACH_TIME)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the gate what was not tried, to the file that CARDOFFERS_NOT_TRIED names if any."""
    if not (GATE or os.environ.get("CI")):
        return
    skipped = terminalreporter.stats.get("skipped", [])
    names = not_tried({str(report.longrepr[2]) for report in skipped})
    if path := os.environ.get("CARDOFFERS_NOT_TRIED"):
        Path(path).write_text("".join(f"{name}\n" for name in names))
    if names:
        line = ", ".join(name.removeprefix("! ") for name in names)
        terminalreporter.write_line(f"Not tried here: {line}.")
