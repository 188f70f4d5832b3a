"""Requests read within limits: the head is checked first, then the body is read or refused."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from cardoffers_cli.contract.problems import Problem

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive

    from cardoffers_cli.http.limits import Limits


def path_of(request: Request) -> str:
    """Return the path as it was sent, still percent-encoded."""
    raw: bytes = request.scope["raw_path"]
    return raw.decode("latin-1")


def query_of(request: Request) -> str:
    """Return the query string as it was sent."""
    raw: bytes = request.scope["query_string"]
    return raw.decode("latin-1")


def headers_of(request: Request) -> dict[str, str]:
    """Return the headers by lower-case name; one sent twice is a list (RFC 9110, 5.3)."""
    found: dict[str, str] = {}
    for name, value in request.headers.items():
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def check_head(request: Request, limits: Limits) -> None:
    """Refuse a path with its query, or headers, that are longer than anybody needs."""
    target = len(request.scope["raw_path"]) + len(request.scope["query_string"])
    if target > limits.target_bytes:
        raise Problem(414, "target_too_long", "The path and the query are too long.")
    head = sum(len(name) + len(value) for name, value in request.headers.raw)
    if head > limits.head_bytes:
        raise Problem(431, "headers_too_large", "The headers of the request are too large.")


class Body:
    """The body of one request: read to its end, or refused and dropped."""

    def __init__(self, request: Request, limits: Limits) -> None:
        self._receive: Receive = request.receive
        self._limits = limits
        length = request.headers.get("content-length")
        is_chunked = "transfer-encoding" in request.headers
        self.most_bytes = limits.body_bytes if is_chunked else int(length or 0)
        """What it may come to: its length, where that was told."""
        self.is_over = self.most_bytes == 0

    async def read(self) -> bytes:
        """Return the whole body; raises `Problem` where it is too large, too slow or cut off."""
        if self.most_bytes > self._limits.body_bytes:
            raise self._too_large()
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
            if len(body) > self._limits.body_bytes:
                raise self._too_large()
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

    def _too_large(self) -> Problem:
        most = self._limits.body_bytes
        return Problem(413, "body_too_large", f"A body may have {most:,} bytes at most.")
