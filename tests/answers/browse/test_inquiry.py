"""An asking is stopped at any moment: before it begins, while it waits or reads, and afterwards."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random
from time import sleep
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.answers.browse import inquiry
from cardoffers_cli.answers.browse.inquiry import Asking, Inquiry
from cardoffers_cli.copies.work import publish
from cardoffers_cli.kernel.words.errors import Interrupted
from complaints import complaints
from grinding import DERIVING, ENDLESS, grind
from sizes import one_in, slow
from work import held, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.kernel.store.job import Job

LATE_S = 60


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job on a store with a snapshot, where `ENDLESS` is looked for endlessly."""
    made = grind(complaints(tmp_path_factory.mktemp("endless")), DERIVING)
    publish(made)
    return replace(made, settings=settings(lock_wait_s=LATE_S))


@pytest.fixture
def asker(scene: Job) -> Inquiry:
    return Inquiry(scene, lambda: scene.now, "alder")


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as thread:
        yield thread


def refs(asker: Inquiry, text: str, asking: Asking) -> list[str]:
    return [row["transaction_ref"] for row in asker.answer(asking, asker.search, text).rows]


@slow
def test_what_is_stopped_before_it_begins_is_not_asked(asker: Inquiry, scene: Job) -> None:
    asking = Asking()
    asking.stop()
    with held(scene.path), pytest.raises(Interrupted):
        refs(asker, ENDLESS, asking)


def test_what_is_stopped_while_it_waits_reads_nothing(
    asker: Inquiry, scene: Job, thread: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inquiry, "PATIENCE_S", LATE_S)
    asking = Asking()
    with held(scene.path):
        waiting = thread.submit(refs, asker, ENDLESS, asking)
        sleep(0.1)
        asking.stop()
    with pytest.raises(Interrupted):
        waiting.result(LATE_S)


def test_a_snapshot_is_read_no_longer_either(
    asker: Inquiry, scene: Job, thread: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inquiry, "PATIENCE_S", 0)
    asking = Asking()
    with held(scene.path):
        reading = thread.submit(refs, asker, ENDLESS, asking)
        while asker.source.snapshot_at is None:
            sleep(0.01)
        asking.stop()
        with pytest.raises(Interrupted):
            reading.result(LATE_S)
        assert ["won", "won"] == refs(asker, "won", Asking())


@slow
def test_what_is_stopped_afterwards_stops_nothing_else(asker: Inquiry) -> None:
    for _ in range(10):
        asking = Asking()
        assert ["won", "won"] == refs(asker, "won", asking)
        asking.stop()


@slow
@pytest.mark.parametrize("seed", range(3))
@one_in(3)
def test_no_moment_is_a_wrong_one(asker: Inquiry, thread: ThreadPoolExecutor, seed: int) -> None:
    chance = Random(seed)  # noqa: S311 - moments, not secrets
    for _ in range(10):
        asking = Asking()
        endless = thread.submit(refs, asker, ENDLESS, asking)
        sleep(chance.uniform(0, 0.1))
        asking.stop()
        after = thread.submit(refs, asker, "won", Asking())
        with pytest.raises(Interrupted):
            endless.result(LATE_S)
        assert ["won", "won"] == after.result(LATE_S)
