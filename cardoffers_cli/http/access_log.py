"""The log of requests: one JSON line each, and where a fault happened.

It holds no path, query, header or body, and no message of an exception: any of them may carry a
token or a key. A request is found again by its id, which its answer carries too.
"""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.words.json_text import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cardoffers_cli.http.contract.messages import Answer
    from cardoffers_cli.http.counting import RequestCounts

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
    found = {"class": type(error).__qualname__, "places": places}
    cause = error.__cause__ or error.__context__
    return {**found, "cause": _located(cause)} if cause else found
