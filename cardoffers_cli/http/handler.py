"""One connection of a client, and what becomes of its requests, one after the other.

A request is refused by its head, or read whole and answered by the worker. The key is judged before
the body is read. One that is missing or mistyped is refused at once; one that is known to work
gives room to a body; any other goes to the worker without its body, to be refused there, and noted,
as the contract says. What is open to everybody waits for no worker.

What is known of keys is kept in memory (`http/contract/gate.py`). A key that is not there is not
refused for that: the store is read once more, once for all calls that wait, and then it is told.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING
from uuid import uuid4

from cardoffers_cli.http.arrivals import Stage, is_wrong
from cardoffers_cli.http.contract.gate import Keyring, check_head, presented_key
from cardoffers_cli.http.contract.messages import Answer, Call, Problem, busy, internal
from cardoffers_cli.http.contract.routes import Route, find_route, ready
from cardoffers_cli.http.wire import Body, HttpConnection, told_bytes
from cardoffers_cli.night.metrics import CONTENT_TYPE

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from datetime import datetime
    from uuid import UUID

    import h11

    from cardoffers_cli.http.access_log import AccessLog
    from cardoffers_cli.http.arrivals import Arrivals, ConnectionSlot, TrustedProxies, WrongKeys
    from cardoffers_cli.http.listening import ServerLimits
    from cardoffers_cli.http.wire import Bodies
    from cardoffers_cli.http.worker import Worker


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


# Whether calls would be answered: the store is had within a bound, whoever may hold it now.
#
# Everybody may ask, so whoever asks shares one look at the store, which is kept for a moment.


READY_S = 2.0
"""How long the store is waited for."""
_KEPT_S = 1.0
_AGAIN_S = 0.1


class Readiness:
    """Looks for the store; `read_keyring` promises the keys, whole if they are the store's own."""

    def __init__(self, read_keyring: Callable[[], Future[Keyring]]) -> None:
        self._read_keyring = read_keyring
        self._look: asyncio.Task[bool] | None = None
        self._kept_until = 0.0

    async def is_ready(self) -> bool:
        """Return whether the store was had, now or a moment ago."""
        loop = asyncio.get_running_loop()
        if self._look is None or (self._look.done() and loop.time() >= self._kept_until):
            self._look = loop.create_task(self._is_had())
        return await asyncio.shield(self._look)

    async def _is_had(self) -> bool:
        try:
            async with asyncio.timeout(READY_S):
                while True:
                    keyring = await asyncio.wrap_future(self._read_keyring())
                    if keyring.is_whole:
                        return True
                    await asyncio.sleep(_AGAIN_S)
        except Exception:  # noqa: BLE001  no store, a damaged one, a busy one: not ready, and no word
            return False
        finally:
            self._kept_until = asyncio.get_running_loop().time() + _KEPT_S


METRICS = "/metrics"


def asks_for_metrics(call: Call) -> bool:
    """Say whether a call is for the metrics, which are no part of the contract."""
    return call.method == "GET" and call.path == METRICS


def metrics_answer(text: str) -> Answer:
    """Answer with metrics."""
    headers = {"content-type": CONTENT_TYPE}
    return Answer(status=200, body=text.encode(), headers=headers, route=METRICS)


class MetricsHandler:
    """Takes requests on a socket of this machine, which has nothing but metrics."""

    def __init__(self, metrics: Callable[[], str]) -> None:
        self._metrics = metrics

    async def answer(self, call: Call, _body: Body, _slot: ConnectionSlot) -> Answer:
        """Answer one request."""
        if asks_for_metrics(call):
            return metrics_answer(self._metrics())
        return Problem(404, "not_found", f"Here is only GET {METRICS}.").answer(call.request_id)


@dataclass(eq=False, repr=False)
class RequestHandler:
    """Takes every request, whatever its path."""

    worker: Worker
    log: AccessLog
    known_keys: ApiKeys
    wrong_keys: WrongKeys
    bodies: Bodies
    proxies: TrustedProxies
    metrics: Callable[[], str] | None = None

    def __post_init__(self) -> None:
        self._readiness = Readiness(self.worker.read_keyring)

    async def answer(self, call: Call, body: Body, slot: ConnectionSlot) -> Answer:
        """Answer one request; a wrong key is answered late where many came before it."""
        answer = await self._judged(call, body, slot)
        if is_wrong(call, answer):
            slot.become(is_authenticated=False)
            client = self.proxies.client(slot.host, call.headers)
            now = asyncio.get_running_loop().time()
            await asyncio.sleep(self.wrong_keys.count(client, now))
        return answer

    async def _judged(self, call: Call, body: Body, slot: ConnectionSlot) -> Answer:
        route: Route | None = None
        try:
            check_head(call)
            if self.metrics and asks_for_metrics(call):
                return metrics_answer(self.metrics())
            route, _ = find_route(call.method, call.path)
            body.check()
            return await self._admitted(call, body, route, slot)
        except Problem as refusal:
            return refusal.answer(call.request_id, route=route and route.template)
        except Exception as fault:  # noqa: BLE001  whatever it is, the client hears nothing of it
            self.log.fault(call.request_id, fault)
            return internal().answer(call.request_id, route=route and route.template)

    async def _admitted(self, call: Call, body: Body, route: Route, slot: ConnectionSlot) -> Answer:
        if route.needs_store:
            is_ready = await self._readiness.is_ready()
            response = ready() if is_ready else busy().answer(call.request_id)
            return replace(response, route=route.template)
        if route.scope is None:  # its body, if it has one, means nothing
            return await asyncio.to_thread(self.worker.answer_open, call)
        owner = await self.known_keys.owner(presented_key(call))
        if owner is None:
            return await self._worked(replace(call, is_head_only=True), route)
        slot.become(Stage.MOVING, is_authenticated=True)
        with self.bodies.entered(owner) as take:
            full_call = replace(call, body=await body.read(take))
            slot.become(Stage.ANSWERING)
            answer = await self._worked(full_call, route)
        if is_wrong(call, answer):  # it was revoked since
            self.known_keys.forget()
        return answer

    async def _worked(self, call: Call, route: Route) -> Answer:
        promise = self.worker.put(call, may_be_old=route.is_read, is_alone=route.is_alone)
        return await asyncio.wrap_future(promise)


_READ_EVERY_S = 0.25
_READ_PART = 8
"""However many wrong keys come, the store is not read for them more often, nor for a greater part
of the time than one in this."""
_LATEST_S = 1.0
"""Nor is a key that was made just now told of later than this for that."""


class ApiKeys:
    """The keys that work. `read` reads them anew, from a moment after it is called."""

    def __init__(
        self, read: Callable[[], Future[Keyring]], clock: Callable[[], datetime], *, wait_s: float
    ) -> None:
        self._read = read
        self._clock = clock
        self._wait_s = wait_s
        self._keyring = Keyring()
        self._coming: asyncio.Task[Keyring] | None = None
        self._turn = asyncio.Lock()
        self._not_before = 0.0

    async def owner(self, text: str) -> UUID | None:
        """Return whose key this is, None for nobody's.

        Raises `Problem` 503 where the store is held for too long to say that it is nobody's.
        """
        try:
            async with asyncio.timeout(self._wait_s):
                while (owner := self._keyring.owner(text, self._clock())) is None:
                    keyring = await self._renewed()
                    if keyring.is_whole:
                        return keyring.owner(text, self._clock())
        except TimeoutError:
            raise busy() from None
        return owner

    def forget(self) -> None:
        """Keep nothing in memory, because a key in it was refused by the store."""
        self._keyring = Keyring()

    async def _renewed(self) -> Keyring:
        """Return the keys as the store has them after this call, read once for all who wait."""
        if self._coming is None:
            self._coming = asyncio.create_task(self._renew())
        return await asyncio.shield(self._coming)

    async def _renew(self) -> Keyring:
        loop = asyncio.get_running_loop()
        async with self._turn:
            await asyncio.sleep(max(0, self._not_before - loop.time()))
            self._coming = None  # who comes from now on may ask for a younger key
            began = loop.time()
            keyring = await asyncio.wrap_future(self._read())
            part_s = min(_READ_PART * (loop.time() - began), _LATEST_S)
            self._not_before = began + max(_READ_EVERY_S, part_s)
        if keyring.is_whole or not self._keyring.is_whole:
            self._keyring = keyring
        return keyring
