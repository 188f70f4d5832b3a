"""Connections: all that are open, for how many there is room, and which end so that others get in.

A connection is counted from its arrival, and is unauthenticated until a key that works came on it.
Where there are too many, of one client or of all, the oldest that can be spared is ended: first an
unauthenticated one, then one between two requests, then one that takes long to send a body or to
read an answer; else the newest is refused. One client is an address. Requests of a proxy that the
operator names (`serve_trusted_proxies`) count for the last address in `X-Forwarded-For` that is not
a trusted proxy's; from anybody else that header means nothing. A proxy that is not named is one
client like others: its connections with a key that works are never ended while any is without.
"""

from __future__ import annotations

import asyncio
import re
from asyncio.sslproto import SSLProtocol
from collections import defaultdict
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Any, Self

from cardoffers_cli.http.wire import READ_BYTES

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Coroutine, Mapping

    from cardoffers_cli.http.contract.messages import Answer, Call
    from cardoffers_cli.http.listening import ServerLimits


if TYPE_CHECKING:
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


Address = IPv4Address | IPv6Address

_PORT = re.compile(r"^(?:\[(?P<six>[^\]]+)\]|(?P<four>[^:]+))(?::\d+)?$")
_ONE_CLIENT_BITS = 64
"""An IPv6 network of this length is one client's."""


@dataclass(frozen=True)
class TrustedProxies:
    """The proxies whose word is taken for whom a request comes from."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def of(cls, text: str) -> Self:
        """Read addresses and networks between commas, as the setting has them."""
        return cls(tuple(map(ip_network, filter(None, map(str.strip, text.split(","))))))

    def trust(self, host: str) -> bool:
        """Say whether a host is one of them."""
        address = _address(host) if self.networks else None
        return address is not None and any(address in network for network in self.networks)

    def client(self, host: str, headers: Mapping[str, str]) -> str:
        """Return the client that a request from a host counts for."""
        if self.trust(host):
            for address in reversed(headers.get("x-forwarded-for", "").split(",")):
                if _address(address) is None:
                    break
                if not self.trust(address):
                    return client_at(address)
        return client_at(host)


@lru_cache(maxsize=4096)
def client_at(host: str) -> str:
    """Return the client that an address belongs to."""
    address = _address(host)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address, _ONE_CLIENT_BITS), strict=False))
    return str(address or host)


def _address(text: str) -> Address | None:
    """Read an address, which some proxies write with a port; an IPv4 address in IPv6 is itself."""
    with_port = _PORT.match(text.strip())
    bare = (with_port["six"] or with_port["four"]) if with_port else text.strip()
    try:
        address = ip_address(bare)
    except ValueError:
        return None
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address


# Wrong keys from one client are answered later and later; keys that work never are.
#
# Many people may share an address (a bank's gateway, a proxy), so nobody is locked out for what
# others of the address do: a key is judged first, and only the answer to one that is wrong waits.
# It is 401 or 403 as ever, and how long it takes depends on how many came before it and not on the
# key.


CODES = frozenset({"unauthenticated", "token_revoked", "token_expired"})

_FIRST_S = 0.1
_MOST_LEVELS = 10
"""So far a count goes beyond what is free; nobody is slowed for long after the last wrong key."""
_MOST_CLIENTS = 10_000
_MINUTE_S = 60.0


class WrongKeys:
    """How many wrong keys each client sent lately; moments are of one monotonic clock."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._seen: dict[str, tuple[float, float]] = {}
        """Count and moment of the last, the client that came last at the end."""

    def __len__(self) -> int:
        """Return how many clients are remembered."""
        return len(self._seen)

    def count(self, client: str, now: float) -> float:
        """Count a wrong key and return the seconds that its answer waits."""
        free = self._limits.wrong_keys_per_minute
        level, last = self._seen.pop(client, (0.0, now))
        level = max(0.0, level - (now - last) * free / _MINUTE_S) + 1
        level = min(level, free + _MOST_LEVELS)
        self._seen[client] = (level, now)
        if len(self._seen) > _MOST_CLIENTS:
            del self._seen[next(iter(self._seen))]
        if level <= free:
            return 0
        return min(self._limits.slowest_s, _FIRST_S * 2 ** (level - free - 1))


def is_wrong(call: Call, answer: Answer) -> bool:
    """Say whether a key was refused: not what it may do, and not that there was none."""
    return answer.code in CODES and "authorization" in call.headers
