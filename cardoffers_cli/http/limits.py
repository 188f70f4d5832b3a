"""What clients may ask of the server, beyond the limits of a call in `contract/limits.py`."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Sizes in bytes, times in seconds."""

    body_s: float = 30
    """For the whole body, however steadily it trickles."""
    head_s: float = 10
    drop_s: float = 2
    """How long the rest of a refused body is read, so that its sender hears the refusal."""
    held_bytes: int = 256 * MIB
    """The bodies of all calls that are being read, wait or are answered."""
    waiting_calls: int = 1000
    batch_calls: int = 64
    """Calls that one opening of the store answers."""
    batch_bytes: int = 32 * MIB
    connections: int = 500
