"""Wrong keys from one client are answered later and later; keys that work never are.

Many people may share an address (a bank's gateway, a proxy), so nobody is locked out for what
others of the address do: a key is judged first, and only the answer to one that is wrong waits. It
is 401 or 403 as ever, and how long it takes depends on how many came before it and not on the key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardoffers_cli.http.contract.messages import Answer, Call
    from cardoffers_cli.http.limits import ServerLimits

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
