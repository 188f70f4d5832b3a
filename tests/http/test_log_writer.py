"""A log that nobody reads, or that is gone, holds up nothing."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import TYPE_CHECKING

from cardoffers_cli.http.access_log import LogWriter

if TYPE_CHECKING:
    from collections.abc import Callable


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.005)


def test_lines_are_written_in_their_order() -> None:
    written: list[str] = []
    with LogWriter(written.append, most_lines=1000, end_s=10) as log:
        for number in range(500):
            log(str(number))
    assert [str(number) for number in range(500)] == written


def test_lines_that_nobody_reads_are_counted_and_told_of_later() -> None:
    written: list[str] = []
    is_read = threading.Event()

    def write(line: str) -> None:
        is_read.wait(10)
        written.append(line)

    with LogWriter(write, most_lines=3, end_s=10) as log:
        log("first")  # in the hands of the thread, or one of three
        for number in range(10):
            log(str(number))
        is_read.set()
        wait_until(lambda: len(written) >= 4)
        log("last")
    *kept, dropped, last = [line for line in written if line]
    assert "last" == last
    assert 11 == len(kept) + json.loads(dropped)["dropped_lines"]
    assert json.loads(dropped)["time"].endswith("Z")


def test_lines_that_fail_are_counted_and_told_of_when_one_can_be_written() -> None:
    written: list[str] = []
    failed: list[str] = []

    def write(line: str) -> None:
        if len(failed) < 5:
            failed.append(line)
            raise BrokenPipeError
        written.append(line)

    with LogWriter(write, most_lines=100, end_s=10) as log:
        for number in range(5):
            log(str(number))
        wait_until(lambda: len(failed) == 5)
        log("again")
    assert ["again", 5] == [written[0], json.loads(written[1])["dropped_lines"]]


def test_the_end_waits_for_lines_and_not_for_ever() -> None:
    reading, writing = os.pipe()
    with LogWriter(lambda line: _write(writing, line), most_lines=9, end_s=0.2) as log:
        log("x" * (1 << 20))  # more than a pipe holds
        began = time.monotonic()
    assert 0.1 < time.monotonic() - began < 5
    os.close(reading)  # the thread ends with an error of its own now
    time.sleep(0.05)
    os.close(writing)


def _write(number: int, line: str) -> None:
    os.write(number, line.encode())
