"""The ASGI application: a request becomes a call, its answer becomes a response."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from cardoffers_cli.contract.limits import BODY_BYTES, check_head
from cardoffers_cli.contract.problems import Problem, busy, internal
from cardoffers_cli.contract.routes import Route, find_route
from cardoffers_cli.http.reading import Body, call_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import Receive, Scope, Send

    from cardoffers_cli.contract.messages import Answer, Call
    from cardoffers_cli.http.access_log import AccessLog
    from cardoffers_cli.http.limits import Limits
    from cardoffers_cli.http.worker import Worker


class Door:
    """Takes every request, whatever its path."""

    def __init__(self, worker: Worker, log: AccessLog, limits: Limits) -> None:
        self._worker = worker
        self._log = log
        self._limits = limits
        self._held_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request and write its line into the log."""
        began = perf_counter()
        request = Request(scope, receive)
        request_id = str(uuid4())
        body = Body(request, self._limits)
        answer = await self._answer(request, request_id, body)
        try:
            await _respond(answer, request_id, body, send)
        finally:
            self._log.request(request_id, request.method, answer, perf_counter() - began)

    async def _answer(self, request: Request, request_id: str, body: Body) -> Answer:
        route: Route | None = None
        try:
            call = call_of(request, request_id)
            check_head(call)
            route, _ = find_route(call.method, call.path)
            return await self._worked(call, body, route)
        except Problem as refusal:
            return refusal.answer(request_id, route=route and route.template)
        except Exception as fault:  # noqa: BLE001  whatever it is, the client hears nothing of it
            self._log.fault(request_id, fault)
            return internal().answer(request_id, route=route and route.template)

    async def _worked(self, call: Call, body: Body, route: Route) -> Answer:
        with self._room(body.most_bytes):
            whole = replace(call, body=await body.read())
            may_be_old = route.is_read or route.scope is None
            return await asyncio.wrap_future(self._worker.put(whole, may_be_old=may_be_old))

    @contextmanager
    def _room(self, size_bytes: int) -> Iterator[None]:
        """Count a body among those in hand; raises `Problem` where they would be too many."""
        counted = min(size_bytes, BODY_BYTES)
        if self._held_bytes + counted > self._limits.held_bytes:
            raise busy()
        self._held_bytes += counted
        try:
            yield
        finally:
            self._held_bytes -= counted


async def _respond(answer: Answer, request_id: str, body: Body, send: Send) -> None:
    """Send an answer; where the body was not read to its end, the connection ends with it."""
    closing = {} if body.is_over else {"connection": "close"}
    headers = {**answer.headers, "x-request-id": request_id, **closing}
    response = Response(answer.body, int(answer.status), headers)
    start = {
        "type": "http.response.start",
        "status": response.status_code,
        "headers": response.raw_headers,
    }
    await send(start)
    if not body.is_over:
        await send({"type": "http.response.body", "body": response.body, "more_body": True})
        await body.drop()
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    else:
        await send({"type": "http.response.body", "body": response.body, "more_body": False})
