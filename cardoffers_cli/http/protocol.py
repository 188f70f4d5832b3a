"""Connections: HTTP/1.1 as uvicorn speaks it, with a deadline for heads and refusals as problems.

uvicorn waits for the head of a request for ever, and answers what is no HTTP in its own words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from cardoffers_cli.contract.limits import headers_too_large
from cardoffers_cli.contract.problems import Problem, busy

if TYPE_CHECKING:
    import asyncio

    from cardoffers_cli.http.access_log import AccessLog
    from cardoffers_cli.http.limits import Limits

HEAD_MOST_BYTES = 64 << 10
"""What a connection keeps of a head that has no end yet; the contract judges whole ones."""

STATE = "shared"
"""The name under which the application's state holds what a connection needs."""


class Shared(NamedTuple):
    """What all connections share."""

    limits: Limits
    log: AccessLog


class Protocol(H11Protocol):
    """One connection of a client."""

    _head_timer: asyncio.TimerHandle | None = None
    _is_refused = False

    @property
    def _shared(self) -> Shared:
        shared: Shared = self.app_state[STATE]
        return shared

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head, unless there are too many connections."""
        super().connection_made(transport)
        if len(self.connections) > self._shared.limits.connections:
            self._refuse(busy())
            self.transport.close()
        else:
            self._watch_head()

    def data_received(self, data: bytes) -> None:
        """Read on; what comes after a refusal is not heard."""
        if self._is_refused:
            return
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client."""
        self._stop_watching()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  ours says no more than it
        """Refuse what is no HTTP/1.1."""
        unread, _ = self.conn.trailing_data
        if len(unread) > HEAD_MOST_BYTES:
            self._refuse(headers_too_large())
        else:
            self._refuse(Problem(400, "malformed", "The request is not HTTP/1.1."))

    def _watch_head(self) -> None:
        """Give a head that is awaited its deadline; one that is whole needs none."""
        is_awaited = self.conn.their_state is h11.IDLE and self.conn.our_state is h11.IDLE
        if not is_awaited or self._is_refused:
            self._stop_watching()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self._shared.limits.head_s, self._too_slow)

    def _stop_watching(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _too_slow(self) -> None:
        self._refuse(Problem(408, "head_too_slow", "The head of the request did not arrive."))

    def _refuse(self, problem: Problem) -> None:
        """Answer a problem without the application, and close when its sender had time to hear."""
        self._is_refused = True
        self._stop_watching()
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            request_id = str(uuid4())
            answer = problem.answer(request_id)
            headers = {
                **answer.headers,
                "content-length": str(len(answer.body)),
                "x-request-id": request_id,
                "connection": "close",
            }
            events: list[h11.Event] = [
                h11.Response(status_code=answer.status, headers=list(headers.items())),
                h11.Data(data=answer.body),
                h11.EndOfMessage(),
            ]
            self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
            self._shared.log.request(request_id, None, answer, 0)
        self.loop.call_later(self._shared.limits.drop_s, self.transport.close)
