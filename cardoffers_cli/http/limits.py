"""What clients may ask of the server, beyond the limits of a call in `http/contract/gate.py`.

A connection is unauthenticated until a key that works came on it, and again after one that does
not. No body is read there, its times are short, and it is the first to be ended when there are too
many connections. Limits for each address are there so that one client cannot have all of a limit;
an IPv6 address counts by its /64, which is one client's, and behind a proxy see `clients.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

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
