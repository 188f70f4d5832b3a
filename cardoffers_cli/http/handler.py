"""What becomes of a request: refused by its head, or read whole and answered by the worker.

The key is judged before the body is read. One that is missing or mistyped is refused at once; one
that is known to work gives room to a body; any other goes to the worker without its body, to be
refused there, and noted, as the contract says. What is open to everybody waits for no worker.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cardoffers_cli.http.arrivals import Stage
from cardoffers_cli.http.clients import is_wrong
from cardoffers_cli.http.contract.gate import check_head, presented_key
from cardoffers_cli.http.contract.messages import Answer
from cardoffers_cli.http.contract.problems import Problem, busy, internal
from cardoffers_cli.http.contract.routes import Route, find_route, ready
from cardoffers_cli.night.metrics import CONTENT_TYPE

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from cardoffers_cli.http.access_log import AccessLog
    from cardoffers_cli.http.arrivals import ConnectionSlot
    from cardoffers_cli.http.bodies import Bodies, Body
    from cardoffers_cli.http.clients import TrustedProxies, WrongKeys
    from cardoffers_cli.http.contract.gate import Keyring
    from cardoffers_cli.http.contract.messages import Call
    from cardoffers_cli.http.keys import ApiKeys
    from cardoffers_cli.http.worker import Worker


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
