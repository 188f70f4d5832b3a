"""Health: the sign of life of a server, for whatever watches it.

It says that this process answers, and nothing of the store: a night that holds the store is no
reason to restart a server.
"""

from __future__ import annotations

from cardoffers_cli.contract.messages import Answer


def tell() -> Answer:
    """Answer that there is an answer."""
    return Answer.of(200, {"status": "ok"})
