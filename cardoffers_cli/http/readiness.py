"""Whether calls would be answered: the store is had within a bound, whoever may hold it now.

Everybody may ask, so whoever asks shares one look at the store, which is kept for a moment.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from cardoffers_cli.http.contract.keyring import Keyring

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
