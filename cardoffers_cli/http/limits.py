"""What one client, or all of them, may ask of the server."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Sizes in bytes, times in seconds."""

    body_bytes: int = 8 * MIB
    body_s: float = 30
    """For the whole body, however steadily it trickles."""
    head_bytes: int = 16 << 10
    head_s: float = 10
    target_bytes: int = 8 << 10
    """Path and query."""
    drop_s: float = 2
    """How long the rest of a refused body is read, so that its sender hears the refusal."""
    held_bytes: int = 256 * MIB
    """The bodies of all calls that are being read, wait or are answered."""
    waiting_calls: int = 1000
    batch_calls: int = 64
    """Calls that one opening of the store answers."""
    batch_bytes: int = 32 * MIB
    connections: int = 500
