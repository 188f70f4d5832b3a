"""Where to listen (address, port and TLS), and what clients may ask of the server.

The limits of a call are in `http/contract/gate.py`. A connection is unauthenticated until a key
that works came on it, and again after one that does not. No body is read there, its times are
short, and it is the first to be ended when there are too many connections. Limits for each address
are there so that one client cannot have all of a limit; an IPv6 address counts by its /64, which is
one client's, and behind a proxy see `arrivals.py`.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.errors import ConfigurationError, NetworkFailure, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


BACKLOG = 1024
"""Connections that wait to be accepted: beyond, a client tries again after a second at least."""
_SOCKET_BYTES = 128 << 10
"""What the system keeps of a connection, each way, for whoever does not read on."""


@dataclass(frozen=True, kw_only=True)
class ListeningPlace:
    """Where to listen. Port 0 is any that is free; `is_plain_allowed` does without TLS anywhere.

    Metrics are told on the port if `has_metrics`, and on the socket of this machine if there is
    one.
    """

    host: str
    port: int
    tls_cert: Path | None = None
    tls_key: Path | None = None
    is_plain_allowed: bool = False
    has_metrics: bool = False
    metrics_socket: Path | None = None

    @property
    def host_in_url(self) -> str:
        """The host as a URL has it: an IPv6 address in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host


def tls_of(place: ListeningPlace) -> ssl.SSLContext | None:
    """Return the TLS of a place, None where it has none; raises what is wrong with its files."""
    if not place.tls_cert and not place.tls_key:
        return None
    if not place.tls_cert or not place.tls_key:
        raise UsageError(
            "TLS needs both a certificate and its key.",
            hint="Give --tls-cert FILE and --tls-key FILE.",
        )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # An empty password keeps OpenSSL from asking the terminal for one.
        context.load_cert_chain(place.tls_cert, place.tls_key, password="")
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None)
        raise ConfigurationError.from_table(
            "http", "tls_unusable", reason=reason or type(error).__name__
        ) from None
    return context


@contextmanager
def listener_at(place: ListeningPlace, *, is_plain: bool) -> Iterator[socket.socket]:
    """Listen for the length of the block; in plain text to this machine only, unless allowed."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            place.host, place.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        host = str(address[0])
        if is_plain and not (place.is_plain_allowed or ipaddress.ip_address(host).is_loopback):
            raise UsageError.from_table("http", "tls_missing", host=host)
        # What is set here, every accepted connection takes over. asyncio sets TCP_NODELAY only
        # where the protocol is said to be TCP, and it is 0 as made.
        made = socket.create_server(address, family=family, backlog=BACKLOG)
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, made.detach())
        for kind in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            listener.setsockopt(socket.SOL_SOCKET, kind, _SOCKET_BYTES)
    except OSError as error:
        raise NetworkFailure(
            f"It is not possible to listen on {place.host}, port {place.port}: {error.strerror}.",
            code="listen_failed",
            hint="Choose another with --host and --port; ports below 1024 need permission.",
        ) from None
    with listener:
        yield listener


@contextmanager
def local_socket(path: Path) -> Iterator[socket.socket]:
    """Listen on a socket of this machine, for its owner and group, for the length of the block.

    One that a killed server left there is replaced; anything else of that name is left alone.
    """
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            if path.is_socket():
                path.unlink()
            listener.bind(str(path))
            path.chmod(0o660)
        except OSError as error:
            raise NetworkFailure(
                f"It is not possible to listen on {path}: {error.strerror or error}.",
                code="listen_failed",
                hint="Name a short path, in a folder to write to, with --metrics-socket.",
            ) from None
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True, kw_only=True)
class ServerLimits:
    """Sizes in bytes, times in seconds."""

    connections: int = 1000
    connections_per_address: int = 100
    unauthenticated: int = 500
    """Of all connections, those without a key that works; beyond, the oldest of them is ended."""

    head_s: float = 5
    """For a whole head, and for a TLS handshake."""
    keep_alive_s: float = 15
    """Between the requests of a client whose key works; others have `head_s`."""
    body_s: float = 30
    """For the whole body, however steadily it trickles."""
    body_grace_s: float = 5
    """From when on a body must have come at `body_bytes_per_s`, taken over all its time."""
    body_bytes_per_s: float = 1 * KIB
    answer_s: float = 15
    """How long a client may take to read an answer."""
    drop_s: float = 2
    """How long the rest of a refused body is read, so that its sender hears the refusal."""
    drop_bytes: int = 16 * MIB

    head_bytes: int = 64 * KIB
    """What is kept of a head, or of a chunk's, that has no end yet; the contract judges whole
    heads."""
    framing_bytes: int = 128 * KIB
    """What may come beside the bytes of a body: the heads of chunks, their extensions, trailers."""
    held_bytes: int = 256 * MIB
    """The bodies of all calls that are being read, wait or are answered, as far as they came."""
    held_bytes_per_institution: int = 64 * MIB
    calls_per_institution: int = 100
    """Calls of one institution that are being read, wait or are answered."""
    waiting_calls: int = 1000
    batch_calls: int = 64
    """Calls that one use of the store answers."""
    batch_calls_alone: int = 1
    """Of them, those that are work of their own: who waits for the store waits for these."""
    batch_bytes: int = 32 * MIB

    wrong_keys_per_minute: int = 10
    """Of an address; from then on each is answered later than the one before."""
    slowest_s: float = 5
    """The latest that a wrong key is answered for that."""

    log_lines: int = 10_000
    """Lines of the log that wait for a reader; further ones are counted and not kept."""
    log_s: float = 2
    """How long a stop waits until they are written."""
