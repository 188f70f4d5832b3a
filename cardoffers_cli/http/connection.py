"""One connection of a client: requests in, answers out, one after the other, each in its time."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING
from uuid import uuid4

from cardoffers_cli.http.arrivals import Stage
from cardoffers_cli.http.bodies import Body
from cardoffers_cli.http.contract.messages import Call
from cardoffers_cli.http.contract.problems import Problem
from cardoffers_cli.http.wire import HttpConnection, told_bytes

if TYPE_CHECKING:
    import h11

    from cardoffers_cli.http.access_log import AccessLog
    from cardoffers_cli.http.arrivals import Arrivals, ConnectionSlot
    from cardoffers_cli.http.handler import MetricsHandler, RequestHandler
    from cardoffers_cli.http.limits import ServerLimits


@dataclass(eq=False, repr=False)
class Connection:
    """Serves one client until either side ends it."""

    wire: HttpConnection
    slot: ConnectionSlot
    arrivals: Arrivals
    door: RequestHandler | MetricsHandler
    log: AccessLog
    limits: ServerLimits
    _has_answered: bool = field(default=False, init=False)

    async def serve(self) -> None:
        """Answer requests until there are no more."""
        with suppress(OSError):  # clients come and go
            while not self.arrivals.is_ending and await self._exchange():
                self.slot.become(Stage.WAITING)
                await asyncio.sleep(0)  # who sends many requests at once leaves others their turn
            self.slot.become(Stage.WAITING)
            await self.wire.hear_out()

    async def _exchange(self) -> bool:
        """Answer one request; return whether another may follow."""
        began, request_id = perf_counter(), str(uuid4())
        method = None
        try:
            head = await self._head()
        except Problem as refusal:
            answer = refusal.answer(request_id)
        else:
            if head is None:
                return False
            self.slot.become(Stage.ANSWERING)
            began = perf_counter()
            call = _call(head, request_id)
            method = call.method
            body = Body(self.wire, self.limits, told_bytes(head))
            answer = await self.door.answer(call, body, self.slot)
        try:
            named = answer.with_headers(x_request_id=request_id)
            self.slot.become(Stage.MOVING)
            is_last = method is None or self.arrivals.is_ending
            return await self.wire.send(named, is_last=is_last)
        finally:
            self._has_answered = True
            self.log.request(request_id, method, answer, perf_counter() - began)

    async def _head(self) -> h11.Request | None:
        """Return the next head, None where there is none; raises `Problem` 408 and what is no HTTP.

        Between requests a connection may be idle, for longer where a key that works came on it.
        """
        limits = self.limits
        if self._has_answered:
            idle_s = limits.keep_alive_s if self.slot.is_authenticated else limits.head_s
            try:
                async with asyncio.timeout(idle_s):
                    if not await self.wire.begin():
                        return None
            except TimeoutError:
                return None
        try:
            async with asyncio.timeout(limits.head_s):
                return await self.wire.head()
        except TimeoutError:
            raise Problem(408, "head_too_slow", "The head of the request did not arrive.") from None


def _call(head: h11.Request, request_id: str) -> Call:
    """Return a head as a call, still without its body; path and query are as they were sent."""
    path, _, query = head.target.decode("latin-1").partition("?")
    headers: dict[str, str] = {}  # by lower-case name; one sent twice is a list (RFC 9110, 5.3)
    for raw, text in head.headers:
        name, value = raw.decode("latin-1"), text.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Call(
        method=head.method.decode("latin-1"),
        path=path,
        query=query,
        headers=headers,
        request_id=request_id,
    )
