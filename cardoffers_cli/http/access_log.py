"""The log of requests: one JSON line each, and where a fault happened.

It holds no path, query, header or body, and no message of an exception: any of them may carry a
token or a key. A request is found again by its id, which its answer carries too.
"""

from __future__ import annotations

import threading
import traceback
from collections import deque
from typing import TYPE_CHECKING, Any, Self

from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.words.json_text import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cardoffers_cli.http.contract.messages import Answer
    from cardoffers_cli.http.wire import RequestCounts


METHODS = frozenset(
    {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}
)


class AccessLog:
    """Writes a line for each request. `write` takes a line without its end, from any thread.

    `counts`, if there are any, count each request too.
    """

    def __init__(self, write: Callable[[str], None], counts: RequestCounts | None = None) -> None:
        self._write = write
        self._counts = counts
        self._faults: dict[str, Mapping[str, Any]] = {}

    def fault(self, request_id: str, error: BaseException) -> None:
        """Keep where a request failed, for its line."""
        self._faults[request_id] = _located(error)

    def request(self, request_id: str, method: str | None, answer: Answer, seconds: float) -> None:
        """Write the line of a request; a method that HTTP does not know is left out."""
        method = method if method in METHODS else None
        if self._counts:
            self._counts.count(method, answer.route, int(answer.status), seconds)
        line = {
            "time": f"{real_now().isoformat(timespec='milliseconds')}Z",
            "request_id": request_id,
            "method": method,
            "route": answer.route,
            "status": int(answer.status),
            "duration_ms": round(seconds * 1000),
            "bytes": len(answer.body),
            "key_prefix": answer.key_prefix,
            "institution": answer.institution,
            "code": answer.code,
            "unknown_fields": answer.unknown_fields,
        }
        fault = self._faults.pop(request_id, None)
        self._write(dumps({**line, "fault": fault} if fault else line))

    def outside(self, error: BaseException) -> None:
        """Write of a fault that belongs to no request."""
        self._write(dumps({"fault": _located(error)}))


def _located(error: BaseException) -> Mapping[str, Any]:
    """Return the class of an error and the places of its traceback, and the same of its cause."""
    places = [
        f"{frame.f_code.co_filename}:{line} {frame.f_code.co_name}"
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    fields = {"class": type(error).__qualname__, "places": places}
    cause = error.__cause__ or error.__context__
    return {**fields, "cause": _located(cause)} if cause else fields


# The log as a stream that somebody reads, or does not: no answer ever waits for it.
#
# Lines wait in a queue of limited length and a thread of their own writes them. Where nobody reads
# (a full pipe), further lines are counted and not kept, and a line says how many were dropped as
# soon as one can be written again. A stream that is gone (a closed pipe) ends nothing either.


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
