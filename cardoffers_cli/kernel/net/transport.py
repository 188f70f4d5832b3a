"""How requests are carried: to an address that is public, with failures named in one stable word.

What is the same for every request to a URL is prepared once: httpx's request line and headers, and
where aiohttp is to connect to. The pool of httpx slows down as connections grow; without it there
are no proxies, no netrc, no cookies and no redirects to be switched off. A name is resolved when a
connection is made, all its addresses are checked, and the connection goes to one of those very
addresses, so a name that changes its mind (DNS rebinding) gains nothing; one with a single refused
address is refused as a whole. The kinds of aiohttp tell little, so the word of a failure is found
by the whole chain of its causes, most telling kind first.
"""

from __future__ import annotations

import asyncio
import math
import socket
import ssl
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache, partial
from http import HTTPStatus
from threading import Thread
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import aiohttp
import httpx
import yarl
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.http import HttpProcessingError

from cardoffers_cli.kernel.words.addresses import refusal_of
from cardoffers_cli.kernel.words.errors import ConfigurationError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from aiohttp.client_proto import ResponseHandler
    from aiohttp.connector import Connection
    from aiohttp.http import RawResponseMessage
    from aiohttp.streams import StreamReader


_IDLE_S = 2.0
"""Seconds an unused connection is kept: receivers that hang up tend to do so after 5."""
_NO_TIME_OF_ITS_OWN = aiohttp.ClientTimeout()


@dataclass(frozen=True, kw_only=True)
class Destination:
    """What all requests to a URL have in common: where to connect, and how each begins."""

    place: aiohttp.ClientRequest
    beginning: bytes


def prepare(url: str, headers: Mapping[str, str]) -> Destination:
    """Prepare requests to a URL; needs the loop that they are sent in."""
    request = httpx.Request("POST", url, headers=headers)
    request.headers.pop("Content-Length")  # that of the body, which is another each time
    lines = [b"POST %s HTTP/1.1" % request.url.raw_path]
    lines += [b"%s: %s" % header for header in request.headers.raw]
    target = request.url
    place = yarl.URL.build(scheme=target.scheme, host=target.host, port=target.port)
    return Destination(
        place=aiohttp.ClientRequest("POST", place), beginning=b"\r\n".join([*lines, b""])
    )


class Reply:
    """The head of an answer, and its body for those who read it; `end` gives the connection back.

    A connection whose answer was not read to its end is closed.
    """

    def __init__(
        self, connection: Connection, message: RawResponseMessage, content: StreamReader
    ) -> None:
        self.status = message.code
        self.content = content
        self._headers = message.headers
        self._connection = connection

    def header(self, name: str) -> str | None:
        """Return a header; what was said more than once is one list (RFC 9110, 5.2)."""
        return ", ".join(self._headers.getall(name, ())) or None

    async def read(self, most: int) -> None:
        """Read the body as it comes, without unpacking it, and not beyond so many bytes."""
        size = 0
        while size < most and (chunk := await self.content.readany()):
            size += len(chunk)

    def end(self) -> None:
        """Give the connection back."""
        self._connection.release()


class Transport:
    """Posts what is prepared: no time of its own, nothing kept but connections."""

    def __init__(self, context: ssl.SSLContext, lookup: Lookup, *, allow_insecure: bool) -> None:
        self._connector = aiohttp.TCPConnector(
            limit=0,  # whoever sends has a limit
            ssl=context,
            resolver=CheckedResolver(lookup, allow_insecure=allow_insecure),
            socket_factory=partial(open_socket, allow_insecure=allow_insecure),
            keepalive_timeout=_IDLE_S,
        )
        self._used: WeakSet[ResponseHandler] = WeakSet()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._connector.close()

    async def post(
        self, destination: Destination, headers: Mapping[str, str], body: bytes
    ) -> Reply:
        """Send a request and return its answer as soon as its head is there.

        A used connection that turns out to be closed is replaced: that is no attempt. A receiver
        that hangs up after its answer cannot be told from one that stays until the next request is
        on its way. Requests may come twice (RFC 9110, 9.2.2), and are known by their id. So is one
        that said more than it was asked: what came before a request is no answer to it.
        """
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        end = f"{lines}Content-Length: {len(body)}\r\n\r\n".encode()
        request = b"%s%s%s" % (destination.beginning, end, body)
        while True:
            connection = await self._connector.connect(destination.place, [], _NO_TIME_OF_ITS_OWN)
            protocol = connection.protocol
            is_used = protocol in self._used
            if protocol is None or (is_used and protocol.should_close):
                connection.close()  # it was lost, or says something before it was asked
                continue
            try:
                self._used.add(protocol)
                return await self._ask(connection, protocol, request)
            except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
                connection.close()
                if not is_used:
                    raise
            except BaseException:
                connection.close()
                raise

    async def _ask(
        self, connection: Connection, protocol: ResponseHandler, request: bytes
    ) -> Reply:
        if protocol.transport is None:
            raise aiohttp.ServerDisconnectedError
        protocol.set_response_params(read_until_eof=True, auto_decompress=False)
        protocol.transport.write(request)
        while True:
            message, content = await protocol.read()
            if message.code >= HTTPStatus.OK or message.code == HTTPStatus.SWITCHING_PROTOCOLS:
                return Reply(connection, message, content)


def make_tls(ca_file: Path | None) -> ssl.SSLContext:
    """Return the context that verifies receivers: certificate, name, TLS 1.2 or newer."""
    if ca_file is None:
        return _default_tls()
    context = httpx.create_ssl_context(trust_env=False)
    try:
        context.load_verify_locations(cafile=ca_file)
    except OSError as error:
        raise ConfigurationError(
            f"The certificates in {ca_file} cannot be read: {error.strerror or error}.",
            code="ca_file_unreadable",
            hint="Name a file of certificates in PEM.",
        ) from None
    return context


@cache
def _default_tls() -> ssl.SSLContext:
    """Return the context of the authorities that everybody trusts, who take a while to read."""
    return httpx.create_ssl_context(trust_env=False)


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
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in addresses
        ]

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


ERRORS = {
    "timeout": "no complete answer within the deadline",
    "connection_refused": "nobody listens there",
    "connection_reset": "the connection was lost",
    "unreachable": "no way to the receiver",
    "tls": "no trusted TLS connection: certificate, name or protocol",
    "dns": "the name does not resolve",
    "address_refused": "the URL or what its name resolves to is not public",
    "protocol": "the answer is not HTTP, or too much of it",
    "redirect": "redirects are not followed",
    "http_error": "any other status than 2xx",
    "unexpected": "nobody foresaw this",
}
"""Error word -> what it says."""

_KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (UsageError, "address_refused"),
    (AddressRefused, "address_refused"),
    (aiohttp.ClientConnectorDNSError, "dns"),
    (ssl.SSLError, "tls"),
    (TimeoutError, "timeout"),
    (ConnectionRefusedError, "connection_refused"),
    (ConnectionError, "connection_reset"),
    (aiohttp.ClientPayloadError, "connection_reset"),
    (HttpProcessingError, "protocol"),
    (aiohttp.ServerDisconnectedError, "connection_reset"),
    (OSError, "unreachable"),
)


def error_of_status(status: int) -> str | None:
    """Return the word for a status; None means delivered."""
    if HTTPStatus(200) <= status < HTTPStatus(300):
        return None
    return "redirect" if HTTPStatus(300) <= status < HTTPStatus.BAD_REQUEST else "http_error"


def error_of(error: BaseException) -> str:
    """Return the word for what an attempt ended with."""
    chain = list(_causes(error))
    for kind, word in _KINDS:
        if any(isinstance(cause, kind) for cause in chain):
            return word
    return "unexpected"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


# What a receiver's Retry-After asks for (RFC 9110, 10.2.3): seconds, or an HTTP date.


_MOST_DIGITS = 9
"""A wait of more seconds is as good as for ever; 9 digits are 31 years."""


def retry_after_s(text: str, now: datetime) -> int | None:
    """Return the seconds to wait from `now` (naive UTC), never below 0; None if it says nothing."""
    wanted = text.strip()
    if wanted.isascii() and wanted.isdecimal():
        return int(wanted) if len(wanted) <= _MOST_DIGITS else 10**_MOST_DIGITS
    try:  # any of the three forms of RFC 9110, 5.6.7; the one without a zone means UTC too
        moment = parsedate_to_datetime(wanted)
        moment = (moment if moment.tzinfo is None else moment.astimezone(UTC)).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
    return max(0, math.ceil((moment - now).total_seconds()))
