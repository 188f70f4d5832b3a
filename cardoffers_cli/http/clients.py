"""Who counts as one client: an address, also behind a proxy.

An address is what a connection comes from. A proxy that the operator names
(`serve_trusted_proxies`) is not counted as a client; its requests count for the last address in
`X-Forwarded-For` that is not a trusted proxy's, which is what the proxy itself has seen. From
anybody else the header means nothing, because anybody can write it. A proxy that is not named is
one client like others: whose key works is not slowed for others there, and its connections with a
key that works are never ended for others while any is left without.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cardoffers_cli.http.contract.messages import Answer, Call
    from cardoffers_cli.http.limits import ServerLimits


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
