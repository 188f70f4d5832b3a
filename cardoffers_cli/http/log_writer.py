"""The log as a stream that somebody reads, or does not: no answer ever waits for it.

Lines wait in a queue of limited length and a thread of their own writes them. Where nobody reads
(a full pipe), further lines are counted and not kept, and a line says how many were dropped as soon
as one can be written again. A stream that is gone (a closed pipe) ends nothing either.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Self

from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.words.json_text import dumps

if TYPE_CHECKING:
    from collections.abc import Callable


class LogWriter:
    """Writes lines in a thread, for the length of a `with` block; `write` may block, and may fail.

    The end of the block waits for lines that are not written yet, at most `end_s` seconds; the
    thread is left to itself then, and ends with the process.
    """

    def __init__(self, write: Callable[[str], None], *, most_lines: int, end_s: float) -> None:
        self._write = write
        self._most_lines = most_lines
        self._end_s = end_s
        self._lines: deque[str] = deque()
        self._dropped = 0
        self._changed = threading.Condition()
        self._is_ending = self._is_failing = False
        self._thread = threading.Thread(target=self._work, name="log", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        with self._changed:
            self._is_ending = True
            self._changed.notify()
        self._thread.join(self._end_s)

    def __call__(self, line: str) -> None:
        """Take a line, from any thread; it is written later, or counted as dropped."""
        with self._changed:
            if len(self._lines) < self._most_lines:
                self._lines.append(line)
            else:
                self._dropped += 1
            self._changed.notify()

    def _work(self) -> None:
        while lines := self._next():
            line, count = lines
            try:
                self._write(line)
            except (OSError, ValueError):
                with self._changed:
                    self._dropped += count
                    self._is_failing = True
            else:
                self._is_failing = False

    def _next(self) -> tuple[str, int] | None:
        """Return what to write and for how many lines it stands; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._lines or self._is_owing() or self._is_ending)
            if self._lines:
                return self._lines.popleft(), 1
            if self._is_owing():
                count, self._dropped = self._dropped, 0
                now = f"{real_now().isoformat(timespec='milliseconds')}Z"
                return dumps({"time": now, "dropped_lines": count}), count
        return None

    def _is_owing(self) -> bool:
        """Say whether lines were dropped, which nobody was told and somebody may hear."""
        return self._dropped > 0 and not self._is_failing
