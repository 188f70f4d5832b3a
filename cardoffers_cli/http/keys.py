"""Whose key a call presents, before its body is read.

What is known of keys is kept in memory (`http/contract/gate.py`). A key that is not there is not
refused for that: the store is read once more, once for all calls that wait, and then it is told.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from cardoffers_cli.http.contract.gate import Keyring
from cardoffers_cli.http.contract.problems import busy

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from datetime import datetime
    from uuid import UUID

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
