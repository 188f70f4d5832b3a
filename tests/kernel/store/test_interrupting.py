"""A statement is broken off from another thread: at any moment, and no other than is meant."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from random import Random
from threading import Timer
from time import sleep
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from cardoffers_cli.kernel.words.errors import Interrupted
from complaints import complaints
from grinding import LOOKING, grind
from sizes import one_in, slow
from tables import select, uid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

SOON_S = 0.1
LATE_S = 60
"""Far less than what is endless takes, and far more than a busy machine may need."""

REJECTS = "answers/search:rejects"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job on a store where it takes endlessly long to tell the rejected rows of `free`."""
    return grind(complaints(tmp_path_factory.mktemp("endless")), LOOKING)


@pytest.fixture
def store(made: Job) -> Iterator[Store]:
    with made.store() as store:
        yield store


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as thread:
        yield thread


def of(ref: str) -> dict[str, Any]:
    wanted = dict.fromkeys(("pattern", "from_at", "to_at"))
    return {"institution_id": uid("alder"), "ref": ref, "limit": 10, **wanted}


def quick(store: Store) -> list[str]:
    return [row["slug"] for row in store.rows("kernel/store/institutions:find", slug_or_id=None)]


def endless(store: Store) -> None:
    store.rows(REJECTS, **of("free"))


def frames() -> Iterator[pl.DataFrame]:
    names = ("merchant_identifier_type", "merchant_identifier", "currency")
    return repeat(pl.DataFrame({"identifier": [1], "minor_unit": [2]} | {n: ["X"] for n in names}))


def ended(running: Future[Any], store: Store) -> None:
    """Hold that it is interrupted, and not only in the end."""
    try:
        with pytest.raises(Interrupted):
            running.result(LATE_S)
    finally:
        store.connection.interrupt()  # a test that fails has to end, too


@slow
@pytest.mark.parametrize(
    "runs",
    [
        pytest.param(endless, id="rows"),
        pytest.param(lambda store: store.execute(REJECTS, **of("free")), id="execute"),
        pytest.param(lambda store: store.frame(REJECTS, **of("free")), id="frame"),
        pytest.param(lambda store: [*store.pages(REJECTS, **of("free"))], id="pages"),
        pytest.param(lambda store: store.gather("river/stage:merchants", frames()), id="gather"),
    ],
)
@one_in(3)
def test_what_runs_is_broken_off_and_nothing_runs_after_it(
    store: Store, thread: ThreadPoolExecutor, runs: Callable[[Store], None]
) -> None:
    running = thread.submit(runs, store)
    sleep(SOON_S)
    store.interrupt()
    ended(running, store)
    with pytest.raises(Interrupted):
        quick(store)


def test_what_was_interrupted_before_does_not_begin(store: Store) -> None:
    store.interrupt()
    with pytest.raises(Interrupted):
        endless(store)


def test_a_store_that_was_closed_is_not_interrupted(made: Job) -> None:
    with made.store() as store:
        pass
    store.interrupt()


def test_what_was_broken_off_in_a_transaction_is_not_kept(made: Job) -> None:
    def breaks_off(store: Store) -> None:
        with store.transaction():
            store.execute("kernel/store/info:add_currencies", currencies=["XTS"], minor_units=[2])
            store.interrupt()
            quick(store)

    with made.store() as store, pytest.raises(Interrupted):
        breaks_off(store)
    with made.store() as store:
        assert [(0,)] == select(store, "select count(*) from currencies where currency = 'XTS'")


def test_no_other_store_is_interrupted(made: Job, thread: ThreadPoolExecutor) -> None:
    with made.store(read_only=True) as store, made.store(read_only=True) as other:
        running = thread.submit(endless, store)
        sleep(SOON_S)
        store.interrupt()
        while not running.done():
            assert ["alder", "brook"] == quick(other)
        ended(running, store)
        assert ["alder", "brook"] == quick(other)


def test_an_interrupt_of_the_engine_itself_is_that_of_a_command(store: Store) -> None:
    timer = Timer(SOON_S, store.connection.interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless(store)
    timer.join()
    assert ["alder", "brook"] == quick(store)


@slow
@pytest.mark.parametrize("seed", range(4))
@one_in(3)
def test_no_moment_is_a_wrong_one(made: Job, thread: ThreadPoolExecutor, seed: int) -> None:
    """Also not that between two statements, nor that in which one begins."""
    chance = Random(seed)  # noqa: S311 - repeatable

    def runs(store: Store) -> None:
        for _ in range(chance.randrange(4)):
            assert ["alder", "brook"] == quick(store)
        endless(store)

    for _ in range(25):
        with made.store(read_only=True) as store:
            running = thread.submit(runs, store)
            sleep(chance.uniform(0, 0.003))
            store.interrupt()
            ended(running, store)
    with made.store(read_only=True) as store:
        assert ["alder", "brook"] == quick(store)
