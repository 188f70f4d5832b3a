"""The queue before the store: order, batches, deadlines, and who is answered while it is held."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.http.contract.gate import Keyring
from cardoffers_cli.http.contract.messages import Answer, Call, Problem, busy
from cardoffers_cli.http.contract.routes import API, ROUTES
from cardoffers_cli.http.listening import ServerLimits
from cardoffers_cli.http.worker import Worker
from cardoffers_cli.kernel.store.lock import Lock, store_lock
from tables import NOON

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path


class Ledger:
    """Answers calls under a real lock, and keeps which came together in which order."""

    def __init__(self, path: Path, *, has_snapshot: bool) -> None:
        self.path = path
        self.has_snapshot = has_snapshot
        self.batches: list[list[str]] = []
        self.keyrings = 0

    is_open = False

    def give_way(self) -> None:
        pass

    def let_go(self) -> None:
        pass

    def answer_all(self, calls: Sequence[Call], *, wait_s: float) -> list[Answer]:
        with store_lock(self.path, command="serve", since=NOON, wait_s=wait_s):
            self.batches.append([call.path for call in calls])
            if any(call.path == "/fault" for call in calls):
                raise ZeroDivisionError
            return [Answer(status=200, body=call.path.encode()) for call in calls]

    def read_keyring(self, *, wait_s: float) -> Keyring:
        with store_lock(self.path, command="serve", since=NOON, wait_s=wait_s):
            self.keyrings += 1
        if self.keyrings == 3:
            raise ZeroDivisionError
        return Keyring(is_whole=True)

    def answer_busy(self, calls: Sequence[Call]) -> list[Answer]:
        return [
            Answer(status=200, body=b"old")
            if self.has_snapshot and call.method == "GET"
            else busy().answer(call.request_id)
            for call in calls
        ]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "store.duckdb", has_snapshot=True)


@contextmanager
def working(
    ledger: Ledger, faults: dict[str, BaseException] | None = None, **limits: Any
) -> Iterator[Worker]:
    told = {} if faults is None else faults
    worker = Worker(
        ledger,  # type: ignore[arg-type]
        ServerLimits(**limits),
        wait_s=2,
        on_fault=told.__setitem__,
        on_fault_outside=lambda fault: told.__setitem__("outside", fault),
    )
    worker.start()
    try:
        yield worker
    finally:
        worker.stop(within_s=10)


def held(ledger: Ledger) -> Lock:
    return store_lock(ledger.path, command="import", since=NOON, wait_s=5)


def put(worker: Worker, path: str, method: str = "POST", body: bytes = b"") -> Future[Answer]:
    call = Call(method=method, path=path, request_id=path, body=body)
    return worker.put(call, may_be_old=method == "GET")


def test_calls_are_answered_each_with_its_own(ledger: Ledger) -> None:
    with working(ledger) as worker:
        promises = {path: put(worker, path) for path in map(str, range(200))}
        answers = {path: promise.result(10).body.decode() for path, promise in promises.items()}
    assert {path: path for path in promises} == answers


def test_what_waited_is_answered_in_one_opening_and_in_its_order(ledger: Ledger) -> None:
    with working(ledger) as worker:
        with held(ledger):
            promises = [put(worker, str(number)) for number in range(40)]
            time.sleep(0.6)
        for promise in promises:
            promise.result(10)
    assert [[str(number) for number in range(40)]] == ledger.batches


@pytest.mark.parametrize(
    ("sizes", "limits"),
    [
        ([3, 3, 1], {"batch_calls": 3}),
        ([2, 2, 2, 1], {"batch_bytes": 25}),
        ([1] * 7, {"batch_bytes": 5}),
    ],
)
def test_a_batch_has_its_limits(ledger: Ledger, sizes: list[int], limits: dict[str, int]) -> None:
    with working(ledger, **limits) as worker:
        with held(ledger):
            promises = [put(worker, str(number), body=b"0123456789") for number in range(7)]
            time.sleep(0.4)
        for promise in promises:
            promise.result(10)
    assert sizes == [len(batch) for batch in ledger.batches if batch]


def test_few_calls_that_are_work_of_their_own_are_taken_at_once(ledger: Ledger) -> None:
    with working(ledger, batch_calls_alone=2) as worker:
        with held(ledger):
            promises = [put(worker, "first")]
            time.sleep(0.1)  # the first is in the hands of the thread, and put back
            for path in ("A1", "A2", "x", "A3", "y", "A4", "A5"):
                call = Call(method="POST", path=path, request_id=path)
                promises.append(worker.put(call, may_be_old=False, is_alone=path[0] == "A"))
            time.sleep(0.4)
        for promise in promises:
            promise.result(10)
    assert [["first", "A1", "A2", "x", "y"], ["A3", "A4"], ["A5"]] == ledger.batches


def test_only_events_and_feeds_are_work_that_is_done_together() -> None:
    together = {route.template.removeprefix(API) for route in ROUTES if not route.is_alone}
    assert {"/transactions", "/transactions/batch", "/offers"} == together


def test_a_reader_is_soon_answered_from_the_snapshot_and_a_writer_waits(ledger: Ledger) -> None:
    with working(ledger) as worker, held(ledger):
        began = time.monotonic()
        write, read = put(worker, "/write"), put(worker, "/read", "GET")
        assert b"old" == read.result(5).body
        assert 0.9 < time.monotonic() - began < 1.9
        assert not write.done()
        assert 503 == write.result(5).status
        assert 1.9 < time.monotonic() - began < 4
    assert [] == ledger.batches


def test_a_reader_without_a_snapshot_waits_like_a_writer(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "store.duckdb", has_snapshot=False)
    with working(ledger) as worker:
        with held(ledger):
            read = put(worker, "/read", "GET")
            time.sleep(1.4)
            assert not read.done()
        assert b"/read" == read.result(5).body


def test_who_waited_for_the_store_is_answered_when_it_is_free(ledger: Ledger) -> None:
    with working(ledger) as worker:
        with held(ledger):
            write = put(worker, "/write")
            time.sleep(1)
        assert b"/write" == write.result(1.5).body


def test_when_too_many_wait_the_next_is_refused_at_once(ledger: Ledger) -> None:
    with working(ledger, waiting_calls=3, batch_calls=1) as worker, held(ledger):
        promises = [put(worker, "0")]
        time.sleep(0.1)  # the first is in the hands of the thread
        promises += [put(worker, str(number)) for number in range(1, 4)]
        with pytest.raises(Problem) as refused:
            put(worker, "one more")
        assert (503, "5") == (refused.value.status, refused.value.headers["retry-after"])
        assert [503] * 4 == [promise.result(5).status for promise in promises]


def test_a_fault_is_told_and_the_thread_goes_on(ledger: Ledger) -> None:
    faults: dict[str, BaseException] = {}
    with working(ledger, faults) as worker:
        failed = put(worker, "/fault").result(5)
        assert (500, "internal") == (failed.status, failed.code)
        assert b"/next" == put(worker, "/next").result(5).body
    assert [("/fault", ZeroDivisionError)] == [
        (path, type(error)) for path, error in faults.items()
    ]


def test_who_has_left_is_no_trouble(ledger: Ledger) -> None:
    with working(ledger) as worker:
        with held(ledger):
            left, stays = put(worker, "/left"), put(worker, "/stays")
            assert left.cancel()
            time.sleep(0.4)
        assert b"/stays" == stays.result(5).body


def test_what_was_taken_in_is_answered_before_the_end(ledger: Ledger) -> None:
    with working(ledger) as worker:
        with held(ledger):
            promises = [put(worker, str(number)) for number in range(9)]
        worker.stop(within_s=10)
        assert [True] * 9 == [promise.done() for promise in promises]
    assert [str(number) for number in range(9)] == [
        path for batch in ledger.batches for path in batch
    ]


def test_wrong_keys_are_answered_after_all_others(ledger: Ledger) -> None:
    with working(ledger, batch_calls=3) as worker:
        with held(ledger):
            promises = [put(worker, "first")]
            time.sleep(0.1)  # the first is in the hands of the thread
            wrong = Call(method="POST", path="wrong", request_id="wrong", is_head_only=True)
            promises += [worker.put(wrong, may_be_old=False)]
            promises += [put(worker, str(number)) for number in range(4)]
        for promise in promises:
            promise.result(10)
    assert ["first", "0", "1", "2", "3", "wrong"] == [
        path for batch in ledger.batches for path in batch
    ]


def test_who_left_before_the_call_was_taken_costs_nothing(ledger: Ledger) -> None:
    with working(ledger, batch_calls=1) as worker:
        with held(ledger):
            first = put(worker, "first")
            time.sleep(0.1)
            put(worker, "left").cancel()
            last = put(worker, "last")
        assert [b"first", b"last"] == [promise.result(10).body for promise in (first, last)]
    assert [["first"], ["last"]] == [batch for batch in ledger.batches if batch]


def test_keys_are_read_once_for_all_who_ask_and_a_fault_is_theirs(ledger: Ledger) -> None:
    with working(ledger) as worker:
        assert worker.read_keyring().result(5).is_whole
        with held(ledger):
            call = put(worker, "/call")
            time.sleep(0.1)
            asked = [worker.read_keyring() for _ in range(5)]
            asked[0].cancel()
        assert [True] * 4 == [promise.result(5).is_whole for promise in asked[1:]]
        assert b"/call" == call.result(5).body
        assert 2 == ledger.keyrings
        with pytest.raises(ZeroDivisionError):
            worker.read_keyring().result(5)
        assert b"/next" == put(worker, "/next").result(5).body
