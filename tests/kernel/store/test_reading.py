"""What people are answered from: the store, or while it is held, the snapshot beside it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.copies.work import publish
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.layout import snapshot_path
from cardoffers_cli.kernel.store.lock import store_lock
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import NotFound, StoreBusy
from tables import NOON, select
from work import held, new_store, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job, Reading


@pytest.fixture
def made(tmp_path: Path) -> Job:
    """A job on a store with a snapshot, which does not know what came last."""
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder")
    publish(made)
    tell(made, institutions="institution\nbirch")
    return made


def slugs(source: Reading) -> list[str]:
    return [slug for (slug,) in select(source.store, "select slug from institutions order by slug")]


def patient(made: Job, wait_s: int) -> Job:
    return replace(made, settings=replace(made.settings, lock_wait_s=wait_s))


@contextmanager
def held_for(path: Path, seconds: float) -> Iterator[None]:
    """Hold the store for some seconds, whatever happens meanwhile."""
    lock = store_lock(path, command="import", since=NOON, wait_s=5).__enter__()
    leave = Timer(seconds, lock.__exit__, (None, None, None))
    leave.start()
    try:
        yield
    finally:
        leave.join()


def test_a_free_store_is_read_itself(made: Job) -> None:
    with reading(made) as source:
        assert ["alder", "birch"] == slugs(source)
        assert (None, None) == (source.snapshot_at, source.busy)


def test_of_a_held_store_the_snapshot_is_read(made: Job) -> None:
    with held(made.path), reading(made, patience_s=0) as source:
        assert ["alder"] == slugs(source)
        assert NOON == source.snapshot_at
        assert "held by `import`" in str(source.busy)


def test_a_store_that_is_free_soon_is_read_itself(made: Job) -> None:
    with held_for(made.path, 0.3), reading(made, patience_s=5) as source:
        assert ["alder", "birch"] == slugs(source)


def test_nobody_waits_longer_than_the_settings_say(made: Job) -> None:
    began = monotonic()
    with held(made.path), reading(patient(made, 0)) as source:
        assert ["alder"] == slugs(source)
    assert monotonic() - began < 1


def test_without_a_snapshot_the_store_is_waited_for(made: Job) -> None:
    snapshot_path(made.path).unlink()
    with held_for(made.path, 0.3), reading(made, patience_s=0) as source:
        assert ["alder", "birch"] == slugs(source)


@pytest.mark.parametrize("snapshot", [None, b"no database"], ids=["none", "damaged"])
def test_with_nothing_to_read_the_holder_is_named(made: Job, snapshot: bytes | None) -> None:
    snapshot_path(made.path).unlink()
    if snapshot is not None:
        snapshot_path(made.path).write_bytes(snapshot)
    with (
        held(made.path),
        pytest.raises(StoreBusy, match="held by `import`") as caught,
        reading(patient(made, 1), patience_s=0),
    ):
        pass
    assert "import" == caught.value.details["holder"]["command"]
    assert "`cardoffers store publish`" in str(caught.value.hint)


def test_a_damaged_snapshot_is_no_reason_to_give_up(made: Job) -> None:
    snapshot_path(made.path).write_bytes(b"no database")
    with held_for(made.path, 0.3), reading(made, patience_s=0) as source:
        assert ["alder", "birch"] == slugs(source)


def test_what_a_snapshot_does_not_know_may_have_come_since(made: Job) -> None:
    with (
        held(made.path),
        pytest.raises(NotFound) as caught,
        reading(made, patience_s=0) as source,
    ):
        find_institution(source.store, "birch")
    assert NOON == caught.value.details["snapshot_at"]


def test_the_job_is_told_what_is_read(made: Job) -> None:
    told: list[Reading] = []
    listening = replace(made, on_reading=told.append)
    with reading(listening):
        pass
    with held(made.path), reading(listening, patience_s=0):
        pass
    assert [None, NOON] == [source.snapshot_at for source in told]
