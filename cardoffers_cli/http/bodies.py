"""Bodies: what those in hand take, and how one is read within its limits.

Memory is counted as bytes come and not as they are announced, for each institution and for all, so
who announces much and sends nothing takes nothing from anybody.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cardoffers_cli.http.contract.limits import BODY_BYTES, body_too_large
from cardoffers_cli.http.contract.problems import Problem, busy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from uuid import UUID

    from cardoffers_cli.http.limits import ServerLimits
    from cardoffers_cli.http.wire import HttpConnection


class Bodies:
    """The calls in hand, and what of their bodies came."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._calls: Counter[UUID] = Counter()
        self._bytes: Counter[UUID] = Counter()

    @contextmanager
    def entered(self, owner: UUID) -> Iterator[Callable[[int], None]]:
        """Count a call of an institution for the length of the block.

        Gives what counts bytes of its body. Both raise `Problem` 503 where it would be too much.
        """
        if self._calls[owner] >= self._limits.calls_per_institution:
            raise busy()
        taken = 0

        def take(count: int) -> None:
            nonlocal taken
            if (
                self._bytes[owner] + count > self._limits.held_bytes_per_institution
                or self._bytes.total() + count > self._limits.held_bytes
            ):
                raise busy()
            self._bytes[owner] += count
            taken += count

        self._calls[owner] += 1
        try:
            yield take
        finally:
            self._calls[owner] -= 1
            self._bytes[owner] -= taken
            if not self._calls[owner]:
                del self._calls[owner], self._bytes[owner]


class Body:
    """The body of one request, which comes over a wire."""

    def __init__(self, wire: HttpConnection, limits: ServerLimits, told_bytes: int) -> None:
        self._wire = wire
        self._limits = limits
        self._told_bytes = told_bytes

    def check(self) -> None:
        """Raise `Problem` 413 where its own head says that it is too large."""
        if self._told_bytes > BODY_BYTES:
            raise body_too_large()

    async def read(self, take: Callable[[int], None]) -> bytes:
        """Return the whole body; raises `Problem` where it is too large, too slow or cut off."""
        limits, loop = self._limits, asyncio.get_running_loop()
        began = loop.time()
        body = bytearray()
        try:
            async with asyncio.timeout(min(limits.body_s, limits.body_grace_s)) as deadline:
                while piece := await self._wire.piece():
                    if len(body) + len(piece) > BODY_BYTES:
                        raise body_too_large()
                    take(len(piece))
                    body += piece
                    due_s = limits.body_grace_s + len(body) / limits.body_bytes_per_s
                    deadline.reschedule(began + min(limits.body_s, due_s))
        except TimeoutError:
            raise Problem(
                408,
                "body_too_slow",
                f"A body has {limits.body_s:g} seconds, and {limits.body_bytes_per_s:g} bytes in"
                " each at least.",
            ) from None
        return bytes(body)
