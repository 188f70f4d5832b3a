"""Connections: all that are open, for how many there is room, and which end so that others get in.

A connection is counted from its arrival, before any TLS, and it is unauthenticated until a key that
works came on it. Where there are too many, of one client or of all, the oldest that can be spared
is ended: first an unauthenticated one, whatever it does; then one between two requests; then one
that takes long to send a body or to read an answer. Only where no other can be spared is the newest
refused.
"""

from __future__ import annotations

import asyncio
from asyncio.sslproto import SSLProtocol
from collections import defaultdict
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from cardoffers_cli.http.clients import TrustedProxies, client_at
from cardoffers_cli.http.wire import READ_BYTES

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Coroutine

    from cardoffers_cli.http.limits import ServerLimits

    Serve = Callable[
        [asyncio.StreamReader, asyncio.StreamWriter, "ConnectionSlot"], Coroutine[Any, Any, None]
    ]


class Stage(Enum):
    """What a connection does."""

    WAITING = auto()
    """For a request, or for its client to hear a refusal."""
    MOVING = auto()
    """A body or an answer is on its way."""
    ANSWERING = auto()


class ConnectionSlot:
    """The place of one connection among the others."""

    def __init__(self, host: str, pools: list[Pool], transport: asyncio.Transport) -> None:
        self.host = host
        self.pools = pools
        self.transport = transport
        self.stage = Stage.WAITING
        self.is_authenticated = False
        self.task: asyncio.Task[None] | None = None

    @property
    def rank(self) -> int | None:
        """How soon it is ended for others: 0 first, None never."""
        if not self.is_authenticated:
            return 0
        return {Stage.WAITING: 1, Stage.MOVING: 2, Stage.ANSWERING: None}[self.stage]

    def become(self, stage: Stage | None = None, *, is_authenticated: bool | None = None) -> None:
        """Note what it does now, and whether a key that works came on it."""
        before = self.rank
        self.stage = stage or self.stage
        if is_authenticated is not None:
            self.is_authenticated = is_authenticated
        if before != self.rank:
            for pool in self.pools:
                pool.move(self, before)

    def end(self) -> None:
        """End the connection at once; what it was doing for nobody known ends with it."""
        self.transport.abort()
        self.lose()

    def lose(self) -> None:
        """Leave: the connection is no more."""
        for pool in self.pools:
            pool.remove(self)
        self.pools = []
        if self.task and not self.is_authenticated:
            self.task.cancel()


class Pool:
    """Connections that share limits: those of one client, or all."""

    def __init__(self, most: int, most_unauthenticated: int) -> None:
        self._most = most
        self._most_unauthenticated = most_unauthenticated
        self.slots: set[ConnectionSlot] = set()
        self._ranks: tuple[dict[ConnectionSlot, None], ...] = ({}, {}, {})
        """Those that can be spared, by rank, the oldest first."""

    def make_room(self) -> bool:
        """End what must end for one connection more; return whether there is room now."""
        if len(self._ranks[0]) >= self._most_unauthenticated:
            next(iter(self._ranks[0])).end()
        elif len(self.slots) >= self._most:
            spared = next((slot for rank in self._ranks for slot in rank), None)
            if spared is None:
                return False
            spared.end()
        return True

    def add(self, slot: ConnectionSlot) -> None:
        """Count a connection."""
        self.slots.add(slot)
        self._ranks[0][slot] = None

    def move(self, slot: ConnectionSlot, before: int | None) -> None:
        """Put a connection behind the others of its rank."""
        if before is not None:
            self._ranks[before].pop(slot, None)
        if slot.rank is not None and slot in self.slots:
            self._ranks[slot.rank][slot] = None

    def remove(self, slot: ConnectionSlot) -> None:
        """Forget a connection."""
        self.slots.discard(slot)
        for rank in self._ranks:
            rank.pop(slot, None)


class Arrivals:
    """Takes connections in. `serve` is run for each once it can be read."""

    def __init__(
        self,
        serve: Serve,
        limits: ServerLimits,
        proxies: TrustedProxies,
        tls: ssl.SSLContext | None,
        refusal: bytes,
    ) -> None:
        self._serve = serve
        self._limits = limits
        self._proxies = proxies
        self._tls = tls
        self._refusal = refusal
        self._everybody = Pool(limits.connections, limits.unauthenticated)
        self._by_client: defaultdict[str, Pool] = defaultdict(
            lambda: Pool(limits.connections_per_address, limits.connections_per_address)
        )
        self._tasks: set[asyncio.Task[None]] = set()
        self.is_ending = False

    @property
    def open(self) -> int:
        """How many connections are open."""
        return len(self._everybody.slots)

    def protocol(self) -> asyncio.BaseProtocol:
        """Return the protocol of a connection that was accepted."""
        return _Tls(self, self._tls, self._limits) if self._tls else _Plain(self)

    def arrive(self, transport: asyncio.Transport) -> ConnectionSlot | None:
        """Find a place for a connection; None where there is no room, and it is refused."""
        host = (transport.get_extra_info("peername") or ("",))[0]
        client = client_at(host)
        pools = [self._everybody]
        if not self._proxies.trust(host):
            pools.insert(0, self._by_client[client])
        slot = ConnectionSlot(host, pools, transport)
        if all(pool.make_room() for pool in pools):
            for pool in pools:
                pool.add(slot)
            return slot
        self._tidy(client)
        if self._tls is None:
            transport.write(self._refusal)
        transport.close()
        return None

    def begin(
        self, slot: ConnectionSlot, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve a connection, as a task of its own."""
        slot.task = asyncio.get_running_loop().create_task(self._serve(reader, writer, slot))
        self._tasks.add(slot.task)
        slot.task.add_done_callback(self._tasks.discard)

    def leave(self, slot: ConnectionSlot) -> None:
        """Forget a connection that was lost."""
        slot.lose()
        self._tidy(client_at(slot.host))

    def _tidy(self, client: str) -> None:
        if client in self._by_client and not self._by_client[client].slots:
            del self._by_client[client]

    async def end(self) -> None:
        """End every connection, each when it has the answer it waits for."""
        self.is_ending = True
        for slot in list(self._everybody.slots):
            if slot.task is None:
                slot.transport.abort()
            elif slot.stage is Stage.WAITING:
                slot.task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)


class _Counted(asyncio.BaseProtocol):
    """A connection that has its place from its first moment to its last."""

    _slot: ConnectionSlot | None = None

    def __init__(self, arrivals: Arrivals, *others: Any, **more: Any) -> None:
        super().__init__(*others, **more)
        self._arrivals = arrivals

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a place, or end."""
        self._slot = self._arrivals.arrive(transport)  # type: ignore[arg-type]
        if self._slot:
            super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave."""
        if self._slot:
            self._arrivals.leave(self._slot)
        super().connection_lost(exc)

    def begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve the connection, which can be read now."""
        if self._slot:
            self._arrivals.begin(self._slot, reader, writer)


class _Plain(_Counted, asyncio.StreamReaderProtocol):
    """A connection without TLS."""

    def __init__(self, arrivals: Arrivals) -> None:
        super().__init__(arrivals, _reader(), self.begin)


class _Tls(_Counted, SSLProtocol):  # type: ignore[misc]
    """A connection with TLS."""

    max_size = READ_BYTES

    def __init__(self, arrivals: Arrivals, tls: ssl.SSLContext, limits: ServerLimits) -> None:
        super().__init__(
            arrivals,
            asyncio.get_running_loop(),
            asyncio.StreamReaderProtocol(_reader(), self.begin),
            tls,
            None,
            server_side=True,
            ssl_handshake_timeout=limits.head_s,
            ssl_shutdown_timeout=limits.drop_s,
        )


def _reader() -> asyncio.StreamReader:
    return asyncio.StreamReader(READ_BYTES // 2)
