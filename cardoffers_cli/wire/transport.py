"""How requests are carried: httpx's requests and responses over aiohttp's connections.

The pool of httpx itself slows down as connections grow. The transport is used without a client of
httpx, whose redirects, cookies, proxies and netrc would only have to be switched off, at half the
speed.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from cardoffers_cli.domain.errors import ConfigurationError
from cardoffers_cli.wire.resolving import CheckedResolver, Lookup, open_socket

if TYPE_CHECKING:
    import ssl
    from pathlib import Path

_IDLE_S = 2.0
"""Seconds an unused connection is kept: receivers that hang up tend to do so after 5."""
_IS_USED_AGAIN: ContextVar[bool] = ContextVar("is_used_again")
"""Whether the connection of the request under way has carried one before."""


def make_transport(
    context: ssl.SSLContext, lookup: Lookup, *, allow_insecure: bool
) -> httpx.AsyncBaseTransport:
    """Make the transport: no proxies, no netrc, no cookies, no redirects, no time of its own."""

    def session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=0,  # whoever sends has a limit
            ssl=context,
            resolver=CheckedResolver(lookup, allow_insecure=allow_insecure),
            socket_factory=partial(open_socket, allow_insecure=allow_insecure),
            keepalive_timeout=_IDLE_S,
        )
        trace = aiohttp.TraceConfig()
        trace.on_connection_reuseconn.append(_note_used_again)
        return aiohttp.ClientSession(
            connector=connector,
            middlewares=(_renew, _mend),
            trace_configs=[trace],
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
        )

    return AiohttpTransport(verify=context, client=session)


async def _note_used_again(*_: Any) -> None:
    _IS_USED_AGAIN.set(True)


async def _renew(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Take another connection when a used one turns out to be closed: that is no attempt.

    A receiver that hangs up after its answer cannot be told from one that stays until the next
    request is on its way. Requests may come twice (RFC 9110, 9.2.2), and are known by their id.
    """
    while True:
        _IS_USED_AGAIN.set(False)
        try:
            return await handler(request)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
            if not _IS_USED_AGAIN.get():
                raise


async def _mend(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Mend what httpx-aiohttp does: it writes names small, and fails on a reason not in UTF-8."""
    for name in list(request.headers):
        request.headers[name.title()] = request.headers.pop(name)
    response = await handler(request)
    response.reason = None
    return response


def make_tls(ca_file: Path | None) -> ssl.SSLContext:
    """Return the context that verifies receivers: certificate, name, TLS 1.2 or newer."""
    context = httpx.create_ssl_context(trust_env=False)
    if ca_file is not None:
        try:
            context.load_verify_locations(cafile=ca_file)
        except OSError as error:
            raise ConfigurationError(
                f"The certificates in {ca_file} cannot be read: {error.strerror or error}.",
                code="ca_file_unreadable",
                hint="Name a file of certificates in PEM.",
            ) from None
    return context
