"""What went wrong with an attempt, in one stable word of `ERRORS`.

The kinds of aiohttp tell little, so the word is found by what lies underneath: the whole chain of
causes is asked, most telling kind first.
"""

from __future__ import annotations

import math
import ssl
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING

import aiohttp
from aiohttp.http import HttpProcessingError

from cardoffers_cli.kernel.net.resolving import AddressRefused
from cardoffers_cli.kernel.words.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


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
