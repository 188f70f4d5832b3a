"""How requests are carried: the bytes that httpx says, over the connections of aiohttp.

What is the same for every request to a URL is prepared once: httpx's request line and headers, and
where aiohttp is to connect to. An attempt adds its signature and the body, and is written as one
piece. The pool of httpx slows down as connections grow, and a session of aiohttp does anew for each
request what is done here once. Without either there are no proxies, no netrc, no cookies and no
redirects to be switched off.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from http import HTTPStatus
from typing import TYPE_CHECKING
from weakref import WeakSet

import aiohttp
import httpx
import yarl

from cardoffers_cli.kernel.net.resolving import CheckedResolver, Lookup, open_socket
from cardoffers_cli.kernel.words.errors import ConfigurationError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping
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
        return _usual_tls()
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
def _usual_tls() -> ssl.SSLContext:
    """Return the context of the authorities that everybody trusts, who take a while to read."""
    return httpx.create_ssl_context(trust_env=False)
