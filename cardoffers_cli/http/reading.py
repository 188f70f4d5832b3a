"""Requests, read within limits."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from cardoffers_cli.contract.limits import BODY_BYTES, body_too_large
from cardoffers_cli.contract.messages import Call
from cardoffers_cli.contract.problems import Problem

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive

    from cardoffers_cli.http.limits import Limits


def call_of(request: Request, request_id: str) -> Call:
    """Return a request as a call, still without its body; path and query are as they were sent."""
    return Call(
        method=request.method,
        path=request.scope["raw_path"].decode("latin-1"),
        query=request.scope["query_string"].decode("latin-1"),
        headers=_headers(request),
        request_id=request_id,
    )


def _headers(request: Request) -> dict[str, str]:
    """Return the headers by lower-case name; one sent twice is a list (RFC 9110, 5.3)."""
    found: dict[str, str] = {}
    for name, value in request.headers.items():
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


class Body:
    """The body of one request: read to its end, or refused and dropped."""

    def __init__(self, request: Request, limits: Limits) -> None:
        self._receive: Receive = request.receive
        self._limits = limits
        length = request.headers.get("content-length")
        is_chunked = "transfer-encoding" in request.headers
        self.most_bytes = BODY_BYTES if is_chunked else int(length or 0)
        """What it may come to: its length, where that was told."""
        self.is_over = self.most_bytes == 0

    async def read(self) -> bytes:
        """Return the whole body; raises `Problem` where it is too large, too slow or cut off."""
        if self.most_bytes > BODY_BYTES:
            raise body_too_large()
        try:
            async with asyncio.timeout(self._limits.body_s):
                return await self._gathered()
        except TimeoutError:
            raise Problem(
                408,
                "body_too_slow",
                f"The body did not arrive within {self._limits.body_s:g} seconds.",
            ) from None

    async def _gathered(self) -> bytes:
        body = bytearray()
        while not self.is_over:
            body += await self._chunk()
            if len(body) > BODY_BYTES:
                raise body_too_large()
        return bytes(body)

    async def _chunk(self) -> bytes:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.is_over = True
            raise Problem(400, "body_cut_off", "The body ended before its end.")
        self.is_over = not message.get("more_body", False)
        chunk: bytes = message.get("body", b"")
        return chunk

    async def drop(self) -> None:
        """Read what is left of a refused body, for a moment, and keep nothing of it.

        A connection closed on a sender who still sends is reset, and the answer is lost with it.
        """
        with suppress(TimeoutError, Problem):
            async with asyncio.timeout(self._limits.drop_s):
                while not self.is_over:
                    await self._chunk()
