"""From a host name to a socket, and never to an address that is not public.

A name is resolved when a connection is made, all its addresses are checked, and the connection goes
to one of those very addresses: nothing is resolved a second time, so a name that changes its mind
(DNS rebinding) gains nothing. TLS and the Host header keep the name. A name with a single refused
address is refused as a whole.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Thread
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from cardoffers_cli.kernel.words.addresses import refusal_of

Lookup = Callable[[str], Sequence[str]]
"""Name -> addresses, as text; may take its time, and raises `OSError` when there are none."""

_RECEIVE_BUFFER = 8 * 1024
"""Bytes the system takes in ahead of us: enough for any answer, and it slows a flood down."""


class AddressRefused(OSError):
    """A name resolves to an address that no webhook goes to."""


def look_up(name: str) -> list[str]:
    """Ask the system for the addresses of a name."""
    addresses = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in addresses))


class CheckedResolver(AbstractResolver):
    """Resolves a name, and refuses it when any of its addresses is not public."""

    def __init__(self, lookup: Lookup, *, allow_insecure: bool) -> None:
        self._lookup = lookup
        self._allow_insecure = allow_insecure

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return every address of a name; the family wanted is any."""
        del family
        addresses = await _in_thread(self._lookup, host)
        if not addresses:
            raise OSError("the name has no address")
        if not self._allow_insecure:
            refuse(addresses)
        return [_result(host, address, port) for address in addresses]

    async def close(self) -> None:
        """Do nothing: a resolver holds nothing."""


def refuse(addresses: Sequence[str]) -> None:
    """Raise `AddressRefused` when any address is not public."""
    for address in addresses:
        if why := refusal_of(address):
            raise AddressRefused(f"not public: {why}")


def open_socket(info: tuple[Any, ...], *, allow_insecure: bool) -> socket.socket:
    """Make the socket for an address: the last door, that every connection passes."""
    family, kind, protocol, _, address = info
    if not allow_insecure:
        refuse([address[0]])
    new_socket = socket.socket(family, kind, protocol)
    new_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
    return new_socket


def _result(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        proto=0,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )


async def _in_thread(lookup: Lookup, name: str) -> Sequence[str]:
    """Look up in a thread of its own, which nobody waits for: not the others, nor the end.

    The system cannot be told to give up, and a pool of threads fills with names that hang.
    """
    future: Future[Sequence[str]] = Future()
    future.set_running_or_notify_cancel()

    def work() -> None:
        try:
            future.set_result(lookup(name))
        except BaseException as error:  # noqa: BLE001  it is raised where it is awaited
            future.set_exception(error)

    Thread(target=work, name=f"look up {name}", daemon=True).start()
    return await asyncio.wrap_future(future)
